import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setting } from '../../cli/common/data-directory.ts';
import { sftpPassphrase } from '../../cli/common/local-secrets.ts';
import { localConfigurationFiles } from '../../config/configuration.ts';
import { hostKey } from '../../sandbox/file-bank/sftp/keys.ts';
import { customerKey, exchangeWith, fileBankDirectory } from '../servers/file-bank-exchange.ts';
import { freePort } from '../servers/ports.ts';

/** The last bank of a start, so that only those who name it meet it: it takes ISO 20022 files, by the SFTP server of the sandbox. */
export const FILES_PROVIDER = 'sandbox-files';
export const FILES_ACCOUNT_NUMBER = '10000017';
/** A person watches. */
const POLL_SECONDS = 1;
const ANY_PORT = 0;

/** An operator who names the keys that the bank lets in decides about its customers. */
function isOffered(): boolean {
  return setting(process.env, 'SANDBOX_SFTP_AUTHORIZED_KEYS') === undefined;
}

/**
 * What the sandbox and the service need to exchange files: keys of both sides, a port, and a configuration file below the operator's own,
 * which may change or remove the provider.
 */
export async function filesEnvironment(dataDirectory: string): Promise<NodeJS.ProcessEnv> {
  if (!isOffered()) return { CONFIG_FILE: localConfigurationFiles(process.env) };
  const directory = fileBankDirectory(dataDirectory);
  const passphrase = setting(process.env, 'SFTP_PASSPHRASE') ?? sftpPassphrase(dataDirectory);
  const givenPort = Number(setting(process.env, 'SANDBOX_SFTP_PORT') ?? ANY_PORT);
  const sftpPort = givenPort === ANY_PORT ? await freePort() : givenPort;
  const named = { customer: FILES_PROVIDER, place: 'GB', accountNumber: FILES_ACCOUNT_NUMBER } as const;
  const { provider } = exchangeWith(
    { ...named, settings: { pollSeconds: POLL_SECONDS } },
    {
      sftpPort,
      hostKeyFingerprint: hostKey(directory).fingerprint,
      privateKeyFile: customerKey(directory, FILES_PROVIDER, passphrase),
    },
  );
  const file = join(dataDirectory, 'run', 'file-bank.json');
  writeFileSync(file, `${JSON.stringify({ providers: { [FILES_PROVIDER]: provider } }, null, 2)}\n`);
  const [local = '', ...own] = localConfigurationFiles(process.env).split(delimiter);
  return {
    CONFIG_FILE: [local, file, ...own].join(delimiter),
    SANDBOX_SFTP_PORT: String(sftpPort),
    SFTP_PASSPHRASE: passphrase,
  };
}

/** Tells the bank whose account it is, so that money can be paid into it before it has paid anything. */
export async function openFilesAccount(sandboxUrl: string): Promise<void> {
  if (!isOffered()) return;
  const answer = await fetch(`${sandboxUrl}/file-bank/customers/${FILES_PROVIDER}`, {
    method: 'POST',
    body: JSON.stringify({ accounts: [FILES_ACCOUNT_NUMBER] }),
  });
  if (!answer.ok) throw new Error(`The sandbox answers ${answer.status} about its customer ${FILES_PROVIDER}.`);
}
