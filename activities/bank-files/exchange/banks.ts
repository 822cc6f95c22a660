import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Environment } from '../../../config/environment.ts';
import type { FileExchange, SftpSettings } from '../../../config/schema/file-exchange.ts';
import type { EventServices } from '../../providers/reports/events.ts';
import { rejectPlainKeys } from '../pgp/keys.ts';
import { pgpWith } from '../pgp/pgp.ts';
import { readBankMessage } from '../read-bank-message.ts';
import type { BankServices } from './bank.ts';
import { folderTransport } from './folder.ts';
import { isPlainKey, type SftpSecrets, sftpTransport } from './sftp.ts';
import { type OpenTransport, TransportFailed } from './transport.ts';

type LoggingServices = EventServices & { readonly logger: Logger };
type Passphrases = Pick<Environment, 'sftpPassphrase'> & Partial<Pick<Environment, 'pgpPassphrase'>>;

/** The banks of the configuration with which files are exchanged. Throws if a private key is not encrypted. */
export async function exchangedBanks({
  sftpPassphrase,
  pgpPassphrase = null,
  ...services
}: LoggingServices & Passphrases): Promise<(BankServices & LoggingServices)[]> {
  const { fileExchanges, bankProfiles } = services.configuration;
  const banks = [...fileExchanges].map(async ([provider, settings]) => {
    const profile = bankProfiles.get(settings.profile);
    if (profile === undefined) throw new Error(`${provider} has no profile ${settings.profile}`);
    rejectPlainKey(provider, settings.transport);
    const pgp = settings.pgp ?? null;
    if (pgp !== null) await rejectPlainKeys(pgp, `providers.${provider}.iso20022.pgp`);
    const wrapping = pgp === null ? {} : { pgp: pgpWith(pgp, pgpPassphrase) };
    const bank = { provider, profile, settings, readBankMessage, ...wrapping };
    return { ...services, bank, openTransport: transportOf(settings.transport, sftpPassphrase) };
  });
  return Promise.all(banks);
}

function transportOf(transport: FileExchange['transport'], passphrase: string | null): OpenTransport {
  if (transport.kind === 'folder') return folderTransport(transport);
  // Read when it is needed: a key that cannot be read stops no other bank, and one that has been replaced is used from then on.
  let opened: { readonly privateKey: string; readonly openTransport: Promise<OpenTransport> } | null = null;
  return async () => {
    const privateKey = await keyIn(transport);
    if (opened?.privateKey !== privateKey) {
      opened = { privateKey, openTransport: openedWith(transport, { privateKey, passphrase: passphrase ?? '' }) };
    }
    return (await opened.openTransport)();
  };
}

/** Who reads the disk could pay with it: no process starts with such a key. One that cannot be read stops its own bank only. */
function rejectPlainKey(provider: string, transport: FileExchange['transport']): void {
  if (transport.kind !== 'sftp') return;
  let privateKey: string;
  try {
    privateKey = readFileSync(transport.privateKeyFile, 'utf8');
  } catch {
    return;
  }
  if (!isPlainKey(privateKey)) return;
  throw new Error(`The private key of ${provider} for SFTP is not encrypted. Encrypt it: ssh-keygen -p -f FILE.`);
}

async function openedWith(settings: SftpSettings, secrets: SftpSecrets): Promise<OpenTransport> {
  return sftpTransport(settings, secrets);
}

async function keyIn({ privateKeyFile }: SftpSettings): Promise<string> {
  try {
    return await readFile(privateKeyFile, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed';
    throw new TransportFailed(`private key: ${code}`, { cause: error });
  }
}
