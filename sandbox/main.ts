import { join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { pino } from 'pino';
import { sandboxApp } from './app.ts';
import { ACCOUNT_ACTIONS } from './bank/accounts.ts';
import { Bank } from './bank/bank.ts';
import { PAYMENT_ACTIONS } from './bank/payments/payments.ts';
import { SandboxClock } from './clock/clock.ts';
import { FileBank } from './file-bank/file-bank.ts';
import { startSftpServer } from './file-bank/sftp/server.ts';
import { CONSOLE_CLIENT_ID } from './identity/addresses.ts';
import { SANDBOX_PEOPLE } from './identity/people.ts';
import { createIdentityProvider } from './identity/provider.ts';
import { Mailbox } from './mail/mailbox.ts';
import { startSmtpCatcher } from './mail/smtp.ts';
import { type SandboxSettings, sandboxSettings } from './settings.ts';

/** The sandbox: stand-ins for the outside world, in a separate process. */
const DRAIN_MS_MAX = 5_000;

const logger = pino({ base: { process: 'sandbox' } });

function stop(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function settingsOrStop(): SandboxSettings {
  try {
    return sandboxSettings(process.env);
  } catch (error) {
    stop(error instanceof Error ? error.message : String(error));
  }
}

/** Null if there is no clock to move. */
function openClock({ clockDatabaseUrl }: SandboxSettings): Promise<SandboxClock> | null {
  if (clockDatabaseUrl === null) return null;
  return SandboxClock.open(clockDatabaseUrl).catch((error: unknown) =>
    stop(`The sandbox cannot read its clock: ${messageOf(error)}`),
  );
}

const settings = settingsOrStop();
const cannotWrite = (error: unknown) => stop(`The sandbox cannot write to ${settings.directory}: ${messageOf(error)}`);
const clock = await openClock(settings);
const now = clock?.now ?? (() => new Date());
const bank = await Bank.open({
  journalFile: join(settings.directory, 'bank.journal'),
  callbacks: { url: settings.bankCallbackUrl, secret: settings.bankSecret },
  now,
  actions: { ...ACCOUNT_ACTIONS, ...PAYMENT_ACTIONS },
  onFailure: cannotWrite,
});
const fileBankDirectory = join(settings.directory, 'file-bank');
const fileBank = await FileBank.open({ directory: fileBankDirectory, now, onFailure: cannotWrite });
const sftp = await startSftpServer({
  bank: fileBank,
  directory: fileBankDirectory,
  host: settings.host,
  port: settings.sftpPort,
  authorizedKeys: settings.sftpAuthorizedKeys,
}).catch((error: unknown) => stop(`The sandbox cannot take files on port ${settings.sftpPort}: ${messageOf(error)}`));
const mailbox = await Mailbox.open({ file: join(settings.directory, 'mail.journal'), onFailure: cannotWrite });
const smtp = await startSmtpCatcher({
  port: settings.smtpPort,
  host: settings.host,
  mailbox,
  now,
  onFailure: cannotWrite,
}).catch((error: unknown) => stop(`The sandbox cannot catch mail on port ${settings.smtpPort}: ${messageOf(error)}`));

/** Null where no console is to be signed in to. */
function openIdentityProvider({ identity }: SandboxSettings) {
  if (identity === null) return null;
  const { issuer, consoleUrl, consoleSecret } = identity;
  return createIdentityProvider({
    issuer,
    client: { id: CONSOLE_CLIENT_ID, secret: consoleSecret },
    clientUrls: [consoleUrl],
    people: SANDBOX_PEOPLE,
  });
}

const { consentWalk, hosts } = settings;
const identityProvider = await openIdentityProvider(settings);
const server = createAdaptorServer({
  fetch: sandboxApp({ bank, fileBank, sftp, mailbox, clock, identityProvider, consentWalk, hosts, logger }).fetch,
});
server.on('error', (error) => stop(`The sandbox cannot listen on port ${settings.port}: ${messageOf(error)}`));
server.listen(settings.port, settings.host, () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : settings.port;
  logger.info(
    { port, smtpPort: smtp.port, sftpPort: sftp.port, callbackUrl: settings.bankCallbackUrl },
    'sandbox ready',
  );
});

let ending = false;

/** Finishes requests in flight, then closes the books, which contain all pending timers. */
async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  setTimeout(() => process.exit(0), DRAIN_MS_MAX).unref();
  bank.closing.abort();
  const drained = new Promise<void>((resolve) => server.close(() => resolve()));
  const dropIdle = setInterval(() => 'closeIdleConnections' in server && server.closeIdleConnections(), 50);
  await drained;
  clearInterval(dropIdle);
  await Promise.all([smtp.close(), sftp.close()]);
  await Promise.all([bank.close(), fileBank.close(), mailbox.close(), clock?.close()]);
  process.exit(0);
}

process.on('SIGTERM', end);
process.on('SIGINT', end);

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
