import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  consoleClientSecret,
  developmentPassword,
  encryptionKey,
  installationName,
  sandboxBankSecret,
} from '../../cli/common/local-secrets.ts';

test.each([
  ['encryption-key', encryptionKey],
  ['audience', installationName],
  ['sandbox-bank-secret', sandboxBankSecret],
  ['console-client-secret', consoleClientSecret],
  ['development-password', developmentPassword],
] as const)('%s is made once, readable by its owner only, and again where a kill left an empty file', (name, read) => {
  const directory = mkdtempSync(join(tmpdir(), 'start-secrets-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, name), '');
  const made = read(directory);
  expect(made).not.toBe('');
  expect(read(directory)).toBe(made);
  expect(readdirSync(directory)).toEqual([name]);
  expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
});
