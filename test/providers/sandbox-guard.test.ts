import { type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAdaptorServer, type ServerType } from '@hono/node-server';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import { partiesFile, registerDevelopmentParties } from '../../dev/start/development-parties.ts';
import { sandboxApp } from '../../sandbox/app.ts';
import { ACCOUNT_ACTIONS } from '../../sandbox/bank/accounts.ts';
import { Bank } from '../../sandbox/bank/bank.ts';
import { PAYMENT_ACTIONS } from '../../sandbox/bank/payments/payments.ts';
import { SandboxClock } from '../../sandbox/clock/clock.ts';
import { FileBank } from '../../sandbox/file-bank/file-bank.ts';
import { Mailbox } from '../../sandbox/mail/mailbox.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { SANDBOX_SECRET, temporaryDirectory } from '../harness/servers/sandbox.ts';

// The whole sandbox, as `npm start` has it: every route that is added joins these tests.

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
const READING = ['GET', 'HEAD', 'OPTIONS'];
const HAS_FORMS = /^\/(front-office|third-party)(\/|$)/;

const directory = temporaryDirectory();
let database: TestDatabase;
let bank: Bank;
let fileBank: FileBank;
let mailbox: Mailbox;
let clock: SandboxClock;
let server: ServerType | undefined;
let port: number;
let app: ReturnType<typeof sandboxApp>;

beforeAll(async () => {
  database = await createTestDatabase('sandbox-guard');
  await database.asOwner(
    `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET service.clock_offset = 'sandbox'`,
  );
  const place = { dataDirectory: directory.path, sandboxPort: 1 };
  const registrar = createDatabase({
    url: database.url,
    maxConnections: 1,
    applicationName: 'test',
    deadlineMs: 60_000,
  });
  await registerDevelopmentParties(registrar, place);
  await registrar.close();
  const onFailure = (error: unknown) => {
    throw error;
  };
  clock = await SandboxClock.open(database.url);
  bank = await Bank.open({
    journalFile: join(directory.path, 'bank.journal'),
    callbacks: { url: 'http://127.0.0.1:1/callbacks', secret: SANDBOX_SECRET },
    now: clock.now,
    actions: { ...ACCOUNT_ACTIONS, ...PAYMENT_ACTIONS },
    onFailure,
  });
  fileBank = await FileBank.open({ directory: join(directory.path, 'file-bank'), now: clock.now, onFailure });
  mailbox = await Mailbox.open({ file: join(directory.path, 'mail.journal'), onFailure });
  const service = { apiUrl: 'http://127.0.0.1:1', publicUrl: 'http://127.0.0.1:1', audience: 'test' };
  app = sandboxApp({
    bank,
    fileBank,
    sftp: { port: 1, hostKeyFingerprint: '' },
    mailbox,
    clock,
    consentWalk: { ...service, partiesFile: partiesFile(directory.path), redirectUris: ['http://127.0.0.1:1/'] },
    hosts: ['sandbox'],
    logger: pino({ level: 'silent' }),
  });
  const listening = createAdaptorServer({ fetch: app.fetch });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  port = (listening.address() as AddressInfo).port;
});

afterAll(async () => {
  if (server !== undefined) await new Promise((resolve) => server?.close(resolve));
  await Promise.all([bank?.close(), fileBank?.close(), mailbox?.close(), clock?.close()]);
  await database?.drop();
  directory.remove();
});

/** Every method and path that something answers, each parameter with a value. */
function routes(): { readonly method: string; readonly path: string }[] {
  const all = app.routes.filter(({ method, path }) => method !== 'ALL' && !path.endsWith('/*'));
  const filled = all.map(({ method, path }) => `${method} ${path.replace(/:\w+(\{[^}]*\})?/g, 'one')}`);
  return [...new Set(filled)].map((line) => ({ method: line.split(' ')[0] ?? '', path: line.split(' ')[1] ?? '' }));
}

const changing = () => routes().filter(({ method }) => !READING.includes(method));

function send(
  { method, path }: { readonly method: string; readonly path: string },
  headers: IncomingHttpHeaders,
  body = '{}',
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const sentBody = method === 'POST' ? body : '';
    const usual = { host: `127.0.0.1:${port}`, 'content-length': String(Buffer.byteLength(sentBody)) };
    const sent = request({ port, host: '127.0.0.1', method, path, headers: { ...usual, ...headers } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end(sentBody);
  });
}

/** The routes that do not answer with this status. */
async function otherwise(asked: ReturnType<typeof routes>, status: number, headers: IncomingHttpHeaders) {
  const found: string[] = [];
  for (const route of asked) {
    const answer = await send(route, headers);
    if (answer.status !== status) found.push(`${route.method} ${route.path}: ${answer.status}`);
  }
  return found;
}

test('the routes of all stand-ins are found', () => {
  const paths = routes().map(({ path }) => path.split('/')[1]);
  for (const folder of ['bank', 'directory', 'mail', 'clock', 'third-party', 'front-office']) {
    expect(paths).toContain(folder);
  }
  expect(changing().length).toBeGreaterThan(15);
});

describe('every route', () => {
  test.each([
    'attacker.example',
    'attacker.example:3100',
    'localhost.attacker.example',
    '127.0.0.1.attacker.example',
    'sandbox.attacker.example',
    '10.0.0.1',
  ])('rejects the foreign Host %j', async (host) => {
    expect(await otherwise(routes(), 421, { host })).toEqual([]);
    expect(await otherwise([{ method: 'GET', path: '/no-such-path' }], 421, { host })).toEqual([]);
  });

  test.each(['localhost', 'LOCALHOST:3100', '127.0.0.1', '127.0.0.53:1', '[::1]:3100', 'sandbox:3100'])(
    'answers to the Host %s',
    async (host) => {
      for (const route of routes().filter(({ method }) => method === 'GET')) {
        expect((await send(route, { host })).status, route.path).not.toBe(421);
      }
    },
  );
});

describe('every route that changes something', () => {
  test.each<[string, IncomingHttpHeaders]>([
    ['of another site', { origin: 'https://attacker.example', 'sec-fetch-site': 'cross-site' }],
    ['of another site, in an old browser', { origin: 'https://attacker.example' }],
    ['without a name, in an old browser', { origin: 'null' }],
    ['without a name', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['that shows no origin', { 'sec-fetch-site': 'cross-site' }],
    ['of another port', { origin: 'http://127.0.0.1:3000', 'sec-fetch-site': 'same-site' }],
    ['of another port, in an old browser', { origin: 'http://127.0.0.1:3000' }],
    ['with an origin that is none', { origin: 'attacker' }],
  ])('rejects a page %s', async (_, headers) => {
    for (const type of [{ 'content-type': 'text/plain' }, JSON_TYPE, FORM_TYPE, {}]) {
      expect(await otherwise(changing(), 403, { ...headers, ...type })).toEqual([]);
    }
  });

  test('rejects what a form can send where it takes JSON, even from its own pages', async () => {
    const own = { origin: `http://127.0.0.1:${port}`, 'sec-fetch-site': 'same-origin' };
    for (const type of ['text/plain;charset=UTF-8', 'multipart/form-data; boundary=x', 'text/json']) {
      expect(await otherwise(changing(), 415, { ...own, 'content-type': type })).toEqual([]);
    }
    const withoutForms = changing().filter(({ path }) => !HAS_FORMS.test(path));
    expect(await otherwise(withoutForms, 415, { ...own, ...FORM_TYPE })).toEqual([]);
  });

  test('takes its own pages’ requests, and those of programs, whatever type they name', async () => {
    const own = { origin: `http://127.0.0.1:${port}` };
    const asked: IncomingHttpHeaders[] = [
      {},
      FORM_TYPE,
      { 'content-type': 'text/plain;charset=UTF-8' },
      { ...own, ...JSON_TYPE },
      { ...own, ...JSON_TYPE, 'sec-fetch-site': 'same-origin' },
      { origin: 'null', ...JSON_TYPE, 'sec-fetch-site': 'same-origin' },
    ];
    for (const route of changing()) {
      for (const headers of asked) {
        const { status } = await send(route, headers);
        expect([403, 415, 421], `${route.method} ${route.path} ${JSON.stringify(headers)}`).not.toContain(status);
      }
    }
    for (const route of changing().filter(({ path }) => HAS_FORMS.test(path))) {
      const { status } = await send(route, { ...own, ...FORM_TYPE, 'sec-fetch-site': 'same-origin' }, 'a=b');
      expect([403, 415, 421], route.path).not.toContain(status);
    }
  });

  test('what is rejected changes nothing', async () => {
    const before = await send({ method: 'GET', path: '/clock' }, {});
    const move = { method: 'POST', path: '/clock' };
    const foreign = { origin: 'https://attacker.example', 'content-type': 'text/plain' };
    expect((await send(move, foreign, '{"advanceBy": "P1D"}')).status).toBe(403);
    const { offsetSeconds } = JSON.parse((await send({ method: 'GET', path: '/clock' }, {})).text);
    expect(offsetSeconds).toBe(JSON.parse(before.text).offsetSeconds);
    const faults = { method: 'POST', path: '/directory/faults' };
    expect((await send(faults, foreign, '{"errorRate": 1}')).status).toBe(403);
    expect((await send(faults, FORM_TYPE, '{"latencyMs": 0}')).text, 'as curl -d sends it').toContain('"errorRate":0');
  });
});
