import { expect, test } from 'vitest';
import {
  readChoice,
  readEnvironment,
  readHttpUrl,
  readPort,
  readRequired,
  warnOfPlainDatabase,
} from '../environment.ts';

const DATABASE_URL = 'postgres://service:secret-password@127.0.0.1:5432/service';

test('what is unset or blank has its default', () => {
  expect(readEnvironment({ DATABASE_URL, PORT: ' ' })).toMatchObject({
    port: 3000,
    sandboxPort: 3100,
    publicUrl: 'http://127.0.0.1:3000',
    sandboxUrl: 'http://127.0.0.1:3100',
    sandboxBankSecret: null,
    sftpPassphrase: null,
    pgpPassphrase: null,
    logLevel: 'info',
    apiRunsLoops: true,
    host: null,
    databaseReadUrl: null,
  });
  expect(
    readEnvironment({ DATABASE_URL, PORT: '8080', SANDBOX_PORT: '0', LOG_LEVEL: 'warn', API_LOOPS: 'off' }),
  ).toMatchObject({
    port: 8080,
    sandboxPort: 0,
    publicUrl: 'http://127.0.0.1:8080',
    logLevel: 'warn',
    apiRunsLoops: false,
  });
});

test.each(['http', '-1', '65536', '1e3', '80.5', '0x50', '٣'])(
  'PORT=%s is rejected in one line that says why',
  (PORT) => {
    expect(() => readPort({ PORT }, 'PORT', 3000)).toThrow(
      new RegExp(`^PORT must be a whole number from 0 to 65535, not "${PORT}"\\.$`),
    );
  },
);

test('addresses are http or https, without a slash at the end and without credentials', () => {
  expect(readHttpUrl({ U: 'https://example.com/base//' }, 'U', '')).toBe('https://example.com/base');
  for (const U of ['example.com', 'ftp://example.com', '//x', 'javascript:alert(1)']) {
    expect(() => readHttpUrl({ U }, 'U', ''), U).toThrow(/^U must be an http or https address/);
  }
  expect(() => readHttpUrl({ U: 'http://u:p4ss@example.com' }, 'U', '')).toThrow(/^(?!.*p4ss)/);
});

test('mail goes to a mail server, or nowhere, and an error never repeats its password', () => {
  expect(readEnvironment({ DATABASE_URL }).mail).toEqual({ smtpUrl: null, from: 'no-reply@localhost' });
  const given = { DATABASE_URL, SMTP_URL: 'smtps://user:p4ss@mail.example.com', MAIL_FROM: 'Bank <bank@example.com>' };
  expect(readEnvironment(given).mail).toEqual({ smtpUrl: given.SMTP_URL, from: given.MAIL_FROM });
  for (const SMTP_URL of ['mail.example.com:25', 'https://user:p4ss@mail.example.com', 'p4ss']) {
    expect(() => readEnvironment({ DATABASE_URL, SMTP_URL }), SMTP_URL).toThrow(/^SMTP_URL must be (?!.*p4ss)/);
  }
});

test('an error never repeats the database password', () => {
  for (const url of ['secret-password', 'mysql://u:secret-password@h/d', 'postgres://u:secret-password@one,/d']) {
    expect(() => readEnvironment({ DATABASE_URL: url })).toThrow(/^DATABASE_URL (?!.*secret-password)/);
    expect(() => readEnvironment({ DATABASE_URL, DATABASE_READ_URL: url })).toThrow(
      /^DATABASE_READ_URL (?!.*secret-password)/,
    );
  }
  const standby = `${DATABASE_URL}?target_session_attrs=standby`;
  expect(() => readEnvironment({ DATABASE_URL: standby })).toThrow(
    /target_session_attrs must be read-write or primary/,
  );
  expect(() => readEnvironment({})).toThrow('DATABASE_URL is not set. Set it to postgres://');
});

test('a database across a network in clear text is warned of once, without its password, unless the address says that it is meant', () => {
  const warnings = (url: string, env: NodeJS.ProcessEnv = {}) => {
    const lines: unknown[] = [];
    warnOfPlainDatabase({ DATABASE_URL: url, ...env }, { warn: (line: unknown) => void lines.push(line) });
    return lines;
  };
  const remote = 'postgres://service:secret-password@postgres.internal:5432/service';
  expect(warnings(remote)).toEqual([expect.stringMatching(/not encrypted: add sslmode=verify-full(?!.*secret)/)]);
  for (const url of [`${remote}?sslmode=verify-full`, `${remote}?sslmode=disable`, `${remote}?ssl=require`])
    expect(warnings(url), url).toEqual([]);
  expect(warnings(remote, { PGSSL: 'require' })).toEqual([]);
  for (const host of ['localhost', '127.0.0.1', '[::1]', '%2Fvar%2Frun%2Fpostgresql'])
    expect(warnings(`postgres://service:secret@${host}/service`), host).toEqual([]);
  const several = 'postgres://service:secret@127.0.0.1:5432,postgres.internal:5432/service';
  expect(warnings(several)).toHaveLength(1);
  expect(warnings(`${several}?sslmode=verify-full`)).toEqual([]);
  expect(warnings('postgres://service:secret@localhost/service', { DATABASE_READ_URL: remote })).toHaveLength(1);
});

test('a choice is one of its list', () => {
  expect(() => readChoice({ C: 'x' }, 'C', ['a', 'b'], 'a')).toThrow('C must be one of a, b, not "x".');
  expect(readChoice({}, 'C', ['a', 'b'], 'a')).toBe('a');
  expect(readRequired({ R: ' r ' }, 'R', '')).toBe('r');
});
