import { mkdirSync } from 'node:fs';
import { customerKey, exchangeWith, fileBankDirectory } from '../../../dev/servers/file-bank-exchange.ts';
import { freePort } from '../../../dev/servers/ports.ts';
import { FILES_ACCOUNT_NUMBER, FILES_PROVIDER } from '../../../dev/start/development-bank.ts';
import { writeStatusReport } from '../../../sandbox/file-bank/messages/status-report.ts';
import { hostKey } from '../../../sandbox/file-bank/sftp/keys.ts';
import type { ServiceInstallation } from '../../harness/servers/started-service.ts';

// What the night of bank-files.test.ts begins with, and a message that its bank sends by mistake.

/** Payments gather for ten minutes, over which the clock is moved, before a file takes them. */
export const WINDOW = 'PT10M';
const BY_WINDOW = { pollSeconds: 1, files: 'per-window', windowSeconds: 600 };

/** The bank that `npm start` offers, with settings of its own. */
export async function exchangeSettings({ dataDirectory, environment }: ServiceInstallation): Promise<object> {
  const directory = fileBankDirectory(dataDirectory);
  mkdirSync(directory, { recursive: true });
  const sftpPort = await freePort();
  const passphrase = 'a passphrase that the test knows';
  environment.SANDBOX_SFTP_PORT = String(sftpPort);
  environment.SFTP_PASSPHRASE = passphrase;
  const privateKeyFile = customerKey(directory, FILES_PROVIDER, passphrase);
  const { provider } = exchangeWith(
    { customer: FILES_PROVIDER, place: 'GB', accountNumber: FILES_ACCOUNT_NUMBER, settings: BY_WINDOW },
    { sftpPort, hostKeyFingerprint: hostKey(directory).fingerprint, privateKeyFile },
  );
  return { providers: { [FILES_PROVIDER]: provider } };
}

export const MISTAKE = 'pain.002-by-mistake.xml';

/** The bank's rejection of a payment that it never had. */
export function rejectedByMistake(reference: string): string {
  const version = 'pain.001.001.09';
  const file = { messageId: 'NEVER-SENT', version, count: '1', controlSum: null };
  const place = {
    customer: '',
    fileId: '',
    messageId: file.messageId,
    version,
    batchId: 'NEVER-SENT-1',
    instructionId: `${reference}1`,
    endToEndId: reference,
  };
  const status = {
    kind: 'status',
    place,
    status: 'RJCT',
    reasons: ['AC04'],
    additional: null,
    bankReference: null,
  } as const;
  const createdAt = new Date('2026-11-27T00:00:00Z');
  const report = { messageId: 'MISTAKE', createdAt, file, rejection: null, isWhole: false, payments: [status] };
  // It says nothing of a file.
  return writeStatusReport(report).replace(/<GrpSts>\w+<.GrpSts>/, '');
}
