import { join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { pino } from 'pino';
import { sandboxApp } from './app.ts';
import { ACCOUNT_ACTIONS } from './bank/accounts.ts';
import { Bank } from './bank/bank.ts';
import { PAYMENT_ACTIONS } from './bank/payments/payments.ts';
import { SandboxClock } from './clock/clock.ts';
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

/** Null where there is no clock to move. */
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
  callbackUrl: settings.bankCallbackUrl,
  callbackSecret: settings.bankSecret,
  now,
  actions: { ...ACCOUNT_ACTIONS, ...PAYMENT_ACTIONS },
  onFailure: (error) => stop(`The sandbox cannot write to ${settings.directory}: ${messageOf(error)}`),
});
const mailbox = await Mailbox.open({ file: join(settings.directory, 'mail.journal'), onFailure: cannotWrite });
const smtp = await startSmtpCatcher({
  port: settings.smtpPort,
  host: settings.host,
  mailbox,
  now,
  onFailure: cannotWrite,
}).catch((error: unknown) => stop(`The sandbox cannot catch mail on port ${settings.smtpPort}: ${messageOf(error)}`));

const { consentWalk, hosts } = settings;
const server = createAdaptorServer({ fetch: sandboxApp({ bank, mailbox, clock, consentWalk, hosts, logger }).fetch });
server.on('error', (error) => stop(`The sandbox cannot listen on port ${settings.port}: ${messageOf(error)}`));
server.listen(settings.port, settings.host, () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : settings.port;
  logger.info({ port, smtpPort: smtp.port, callbackUrl: settings.bankCallbackUrl }, 'sandbox ready');
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
  await smtp.close();
  await Promise.all([bank.close(), mailbox.close(), clock?.close()]);
  process.exit(0);
}

process.on('SIGTERM', end);
process.on('SIGINT', end);

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
