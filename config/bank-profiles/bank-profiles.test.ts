import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadConfiguration } from '../configuration.ts';

const folder = mkdtempSync(join(tmpdir(), 'bank-profiles-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SEPA = JSON.parse(readFileSync(join(import.meta.dirname, 'sepa.json'), 'utf8'));

/** Loads a configuration with a bank's profile in a file next to it. */
function load(patch: object) {
  writeFileSync(join(folder, 'bank.json'), JSON.stringify({ ...SEPA, ...patch }));
  writeFileSync(join(folder, 'configuration.json'), JSON.stringify({ bankProfiles: { 'my-bank': 'bank.json' } }));
  return loadConfiguration({ CONFIG_FILE: join(folder, 'configuration.json') });
}

test('a bank’s own profile is one more file, next to those shipped', () => {
  const { bankProfiles } = load({ silenceHours: 6 });
  expect([...bankProfiles.keys()]).toEqual(['sepa', 'de-gbic', 'uk', 'swift-cgi', 'swift-cgi-03', 'my-bank']);
  expect(bankProfiles.get('my-bank')).toEqual({ ...SEPA, code: 'my-bank', silenceHours: 6 });
});

test.each([
  [
    { paymentMessage: 'pain.001.001.04' },
    /bank\.json: paymentMessage must be one of pain\.001\.001\.03, pain\.001\.001\.09/,
  ],
  [{ schemes: {} }, /schemes must have a scheme/],
  [{ lengths: { name: 141, remittance: 140, reference: 35 } }, /lengths\.name must be a whole number from 1 to 140/],
  [{ silenceHours: 0 }, /silenceHours must be a whole number/],
  [{ characters: 'latin' }, /characters must be one of sepa, swift-x, utf-8/],
  [{ endsBy: 'camt.052' }, /endsBy must be one of/],
  [{ addresses: 'lines' }, /must have addresses in lines with pain\.001\.001\.03/],
  [
    { schemes: { sepa: { ...SEPA.schemes.sepa, clearingSystem: 'XX' } } },
    /schemes\.sepa\.clearingSystem must be one of/,
  ],
  [{ surprise: true }, /surprise is no setting/],
])('%j stops a start, by path and rule', (patch, message) => {
  expect(() => load(patch)).toThrow(message);
});
