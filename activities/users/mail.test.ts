import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { expect, onTestFinished, test } from 'vitest';
import { MailNotTaken, sendMail } from './mail.ts';

const LINK = 'https://accounts.example.com/sign-up/one-time-secret';

/** A test mail server; `received` lists accepted mail and whether it came encrypted. */
async function startMailServer(offersEncryption: boolean) {
  const received: { encrypted: boolean; text: string }[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: offersEncryption ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    logger: false,
    onData(stream, session, callback) {
      let text = '';
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      stream.once('end', () => {
        received.push({ encrypted: session.secure, text });
        callback();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, received };
}

function send(smtpUrl: string): Promise<void> {
  const mail = { id: 'a', to: 'ada@example.com', date: new Date(), subject: 'Invitation', text: LINK, html: LINK };
  return sendMail({ smtpUrl, from: 'bank@example.com' }, mail, AbortSignal.timeout(30_000));
}

test('an e-mail with a one-time link never leaves in plain text: a server whose STARTTLS was stripped gets none', async () => {
  const server = await startMailServer(false);
  const rejected = await send(server.url).catch((error: unknown) => error);
  expect(rejected).toBeInstanceOf(MailNotTaken);
  // No mailbox has this attempt's link, so it is deleted.
  expect(rejected).toMatchObject({ forCertain: true });
  expect(server.received).toEqual([]);
});

test('it leaves encrypted where the server offers STARTTLS, and in plain text only where SMTP_URL says so', async () => {
  const encrypted = await startMailServer(true);
  await send(`${encrypted.url}?tls.rejectUnauthorized=false`);
  expect(encrypted.received).toMatchObject([{ encrypted: true, text: expect.stringContaining('one-time-secret') }]);
  const plain = await startMailServer(false);
  await send(`${plain.url}?requireTLS=false`);
  expect(plain.received).toMatchObject([{ encrypted: false }]);
});
