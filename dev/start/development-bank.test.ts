import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadConfiguration } from '../../config/configuration.ts';
import { FILES_PROVIDER, filesEnvironment } from './development-bank.ts';

let dataDirectory: string;

beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'start-'));
  mkdirSync(join(dataDirectory, 'run'));
  for (const name of ['CONFIG_FILE', 'SFTP_PASSPHRASE', 'SANDBOX_SFTP_PORT', 'SANDBOX_SFTP_AUTHORIZED_KEYS'])
    vi.stubEnv(name, undefined);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dataDirectory, { recursive: true });
});

async function started() {
  const environment = await filesEnvironment(dataDirectory);
  const configuration = loadConfiguration(environment);
  const exchange = configuration.fileExchanges.get(FILES_PROVIDER);
  if (exchange?.transport.kind !== 'sftp') throw new Error('there is no exchange over SFTP');
  const key = readFileSync(exchange.transport.privateKeyFile, 'utf8');
  return { environment, configuration, transport: exchange.transport, key };
}

test('the bank is the last provider, reached with keys and a passphrase that stay from start to start', async () => {
  const [first, second] = [await started(), await started()];
  expect(first.configuration.providers.map(({ code }) => code).at(-1)).toBe(FILES_PROVIDER);
  expect(String(first.transport.port)).toBe(first.environment.SANDBOX_SFTP_PORT);
  expect([second.key, second.transport.hostKeys]).toEqual([first.key, first.transport.hostKeys]);
  expect(ssh2.utils.parseKey(first.key)).toBeInstanceOf(Error);
  expect(ssh2.utils.parseKey(first.key, first.environment.SFTP_PASSPHRASE)).not.toBeInstanceOf(Error);
});

test('with another passphrase the bank lets another key in', async () => {
  const first = await started();
  vi.stubEnv('SFTP_PASSPHRASE', 'of the operator');
  // As the sandbox reads it: any free one.
  vi.stubEnv('SANDBOX_SFTP_PORT', '0');
  const second = await started();
  expect(ssh2.utils.parseKey(second.key, 'of the operator')).not.toBeInstanceOf(Error);
  expect(second.key).not.toBe(first.key);
  expect(second.transport.port).toBeGreaterThan(0);
  const publicKey = readFileSync(`${second.transport.privateKeyFile}.pub`, 'utf8').trim();
  expect(readFileSync(join(dataDirectory, 'sandbox/file-bank/authorized_keys'), 'utf8')).toContain(publicKey);
});

test('where an operator names the keys that the bank lets in, there is no such provider', async () => {
  vi.stubEnv('SANDBOX_SFTP_AUTHORIZED_KEYS', '/keys');
  const environment = await filesEnvironment(dataDirectory);
  expect(loadConfiguration(environment).fileExchanges.size).toBe(0);
});
