import { expect, test } from 'vitest';
import { firstAddress, readAddresses } from './addresses.ts';

const URL_OF_ONE = 'postgres://service:p%40ss,word@one:5432/accounts?sslmode=verify-full';

test('an address of one host is taken as it stands', () => {
  expect(readAddresses(URL_OF_ONE)).toEqual({ urls: [URL_OF_ONE], mustTakeWrites: false });
  expect(readAddresses('postgres://%2Fvar%2Frun/accounts')).toMatchObject({ mustTakeWrites: false });
});

test('several hosts are an address each, and only one that takes writes will do', () => {
  const read = readAddresses('postgresql://service:p%40ss,word@one:5432,[::1]:5433,three/accounts?ssl=require');
  expect(read).toEqual({
    mustTakeWrites: true,
    urls: ['one:5432', '[::1]:5433', 'three'].map(
      (host) => `postgresql://service:p%40ss,word@${host}/accounts?ssl=require`,
    ),
  });
});

test.each(['read-write', 'primary'])('target_session_attrs=%s asks for a server that takes writes', (wish) => {
  const read = readAddresses(`${URL_OF_ONE}&target_session_attrs=${wish}`);
  expect(read).toEqual({ urls: [URL_OF_ONE], mustTakeWrites: true });
});

test.each(['any', 'standby', 'read-only', ''])('target_session_attrs=%s is rejected', (wish) => {
  const read = readAddresses(`postgres://service:secret@one,two/accounts?target_session_attrs=${wish}`);
  expect(read).toMatch(/^target_session_attrs must be read-write or primary(?!.*secret)/);
});

test.each([
  'mysql://u:secret@h/d',
  'secret',
  'postgres://u:secret@h:70000/d',
  'postgres://u:secret@one,,two/d',
  'postgres://u:secret@one,/d',
])('%s is no address, and what is said of it holds no password', (value) => {
  expect(readAddresses(value)).toMatch(/^the form is postgres:(?!.*secret)/);
});

test('role and database are those of the first address', () => {
  const { username, pathname } = firstAddress('postgres://service:secret@one:1,two:2/accounts');
  expect([username, pathname]).toEqual(['service', '/accounts']);
});
