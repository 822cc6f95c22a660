import { expect, test } from 'vitest';
import { loadConfiguration, localConfigurationFiles } from '../configuration.ts';
import { readConsoleSettings } from './console.ts';

const configuration = loadConfiguration({ CONFIG_FILE: localConfigurationFiles({}) });
const GIVEN = {
  CONSOLE_URL: 'https://console.example.com/',
  CONSOLE_ISSUER: 'https://login.example.com/realm/',
  CONSOLE_CLIENT_ID: 'console',
  CONSOLE_CLIENT_SECRET: 'a-secret',
};

test('the console is on this machine, on a port of its own, and people are those of the identity provider', () => {
  expect(readConsoleSettings({ ...GIVEN, CONSOLE_URL: '' }, configuration)).toEqual({
    port: 3200,
    host: '127.0.0.1',
    url: 'http://127.0.0.1:3200',
    identityProvider: {
      // With its slash: an issuer is compared letter by letter.
      issuer: 'https://login.example.com/realm/',
      clientId: 'console',
      clientSecret: 'a-secret',
      scope: 'openid profile email',
      rolesClaim: 'groups',
      rolesByClaimValue: new Map([
        ['sandbox-viewers', 'viewer'],
        ['sandbox-operators', 'operator'],
        ['sandbox-approvers', 'approver'],
        ['sandbox-compliance', 'compliance'],
        ['sandbox-admins', 'admin'],
      ]),
    },
    sessionMinutes: 480,
    recentSignInMinutes: 15,
    remediesOff: [],
    temporalUiUrl: null,
  });
  expect(readConsoleSettings({ ...GIVEN, TEMPORAL_UI_URL: 'https://ui.example.com/' }, configuration)).toMatchObject({
    url: 'https://console.example.com',
    temporalUiUrl: 'https://ui.example.com',
  });
});

test.each([
  [{ CONSOLE_ISSUER: '' }, /^CONSOLE_ISSUER is not set\. /],
  [{ CONSOLE_CLIENT_ID: ' ' }, /^CONSOLE_CLIENT_ID is not set\. /],
  [{ CONSOLE_CLIENT_SECRET: '' }, /^CONSOLE_CLIENT_SECRET is not set\. /],
  [{ CONSOLE_PORT: 'x' }, /^CONSOLE_PORT must be a whole number/],
  [{ CONSOLE_URL: 'http://console.example.com' }, /^CONSOLE_URL must be an https address, or one of this machine/],
  [{ CONSOLE_URL: 'https://example.com/console' }, /^CONSOLE_URL must have no path/],
  [{ CONSOLE_ISSUER: 'http://login.example.com' }, /^CONSOLE_ISSUER must be an https address, or one of this machine/],
  [{ CONSOLE_ISSUER: 'http://127.0.0.1.example.com' }, /^CONSOLE_ISSUER must be an https address/],
  [{ CONSOLE_ISSUER: 'login' }, /^CONSOLE_ISSUER must be an http or https address/],
  [{ TEMPORAL_UI_URL: 'ftp://ui' }, /^TEMPORAL_UI_URL must be an http or https address/],
])('%j stops the console in one line that names the variable and its rule, and never the secret', (change, line) => {
  const read = () => readConsoleSettings({ ...GIVEN, ...change }, configuration);
  expect(read).toThrow(line);
  expect(read).toThrow(/^(?!.*a-secret)/);
});

test.each(['http://127.0.0.1:3100/identity', 'http://localhost:3100', 'http://sandbox.localhost:3100/identity'])(
  'an issuer on this machine needs no https: %s',
  (CONSOLE_ISSUER) => {
    const settings = readConsoleSettings({ ...GIVEN, CONSOLE_ISSUER }, configuration);
    expect(settings.identityProvider.issuer).toBe(CONSOLE_ISSUER);
  },
);

test('without a group that has a role the console does not start, as no person could sign in', () => {
  const empty = { console: { ...configuration.console, roles: {} } };
  expect(() => readConsoleSettings(GIVEN, empty)).toThrow(/^console\.roles is empty/);
});
