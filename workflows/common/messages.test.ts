import { expect, test } from 'vitest';
import { staticDetails } from './messages.ts';

test('a workflow’s details lead to its page in the console, and to the command where there is none', () => {
  expect(staticDetails('outgoing-transfer', 'outgoing-transfer/1', 'https://console.example')).toBe(
    'To see what it waits for: https://console.example/outgoing-transfers/1 or `npm run -s operate -- why 1`',
  );
  expect(staticDetails('account-connection', 'account-connection/2', 'https://console.example')).toContain(
    'https://console.example/accounts/2',
  );
  expect(staticDetails('consent', 'consent/3', null)).toBe('To see what it waits for: `npm run -s operate -- why 3`');
  expect(staticDetails('housekeeping', 'housekeeping', 'https://console.example')).toBeUndefined();
});
