import { expect, test } from 'vitest';
import { isSameAddress, proofExpiresAt, proofProblem } from './proofs.ts';

const ADDRESS = 'https://accounts.example/open-banking/GB/accounts';

test.each([
  ['as it is', ADDRESS],
  ['with a query', `${ADDRESS}?metadata.page.size=1`],
  ['with a fragment', `${ADDRESS}#top`],
  ['with scheme and host in capitals', ADDRESS.replace('https://accounts', 'HTTPS://Accounts')],
  ['with the port that https has anyway', ADDRESS.replace('.example', '.example:443')],
  ['with dot segments', ADDRESS.replace('GB/', 'FR/../GB/./')],
  ['with a letter that is escaped without need', ADDRESS.replace('GB', '%47%42')],
])('an address %s is the same', (_, sent) => {
  expect(isSameAddress(sent, ADDRESS)).toBe(true);
});

test('escapes that are needed are the same in small letters, and differ from the characters that they encode', () => {
  expect(isSameAddress(`${ADDRESS}/a%2fb`, `${ADDRESS}/a%2Fb`)).toBe(true);
  expect(isSameAddress(`${ADDRESS}/a%2fb`, `${ADDRESS}/a/b`)).toBe(false);
});

test.each([
  ['by plain http', ADDRESS.replace('https', 'http')],
  ['at another host', ADDRESS.replace('accounts.example', 'accounts.example.attacker.example')],
  ['at another port', ADDRESS.replace('.example', '.example:8443')],
  ['with credentials', ADDRESS.replace('//', '//me:secret@')],
  ['with a path more', `${ADDRESS}/1`],
  ['with a slash more', `${ADDRESS}/`],
  [
    'with a path in other letters',
    ADDRESS.replace('accounts', 'Accounts').replace('Accounts.', 'accounts.').toUpperCase(),
  ],
  ['that is only a path', '/open-banking/GB/accounts'],
  ['that is empty', ''],
])('an address %s is another', (_, sent) => {
  expect(isSameAddress(sent, ADDRESS)).toBe(false);
});

const NOW = new Date('2026-03-02T09:30:00Z');
const SECONDS = NOW.getTime() / 1_000;
const REQUEST = { method: 'GET', addresses: [ADDRESS], accessTokenHash: 'hash' };
const problemAt = (iat: unknown) =>
  proofProblem({ jti: 'one', htm: 'GET', htu: ADDRESS, iat, ath: 'hash' }, REQUEST, NOW);

test('a proof is good for a minute, by clocks that are half a minute off, and is remembered as long', () => {
  for (const iat of [SECONDS, SECONDS - 90, SECONDS + 30, SECONDS - 0.5]) {
    expect([iat, problemAt(iat)]).toEqual([iat, null]);
    expect(proofExpiresAt(iat).getTime()).toBeGreaterThanOrEqual(NOW.getTime());
  }
  for (const iat of [SECONDS - 90.1, SECONDS + 30.1, 0, -1, Number.POSITIVE_INFINITY, String(SECONDS), null, undefined])
    expect([iat, problemAt(iat)]).toEqual([iat, 'iat must be the current time']);
});
