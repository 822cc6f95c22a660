import { spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { writeEndpoints } from '../../cli/common/endpoints.ts';
import { startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { fasArguments } from '../tools/run/entries.ts';
import { type FasUser, fasUser, jsonLines } from './fas-runs.ts';

// The bundle of fas as a process, against the real API.

/** With room for what is to come; it was 5.1 MB when this was written. */
const BUNDLE_BYTES_MAX = 5_500_000;

let database: TestDatabase;
let api: TestApi;
let user: FasUser;
/** The same API under another name, which a profile calls live. */
let liveUrl: string;

const CLIENT = {
  identity: { type: 'individual', givenName: 'Ada', familyName: 'Lovelace', country: 'GB' },
  profile: { identityType: 'individual', residentialAddress: { country: 'GB', city: 'London' } },
};

beforeAll(async () => {
  database = await createTestDatabase('fas');
  api = await startApi(database);
  user = fasUser();
  const { id, kid, privateKey } = api.users.operator;
  const key = user.file('operator.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  liveUrl = api.url.replace('127.0.0.1', 'localhost');
  for (const [mode, url] of [['test', api.url] as const, ['live', liveUrl] as const]) {
    const { status, errors } = await user.fas([
      ...['profiles', 'add', mode, '--mode', mode, '--url', url, '--machine-user', id],
      ...['--key-file', key, '--key-id', kid, '--audience', TEST_AUDIENCE],
    ]);
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
  }
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
  user?.remove();
});

function clientFile(name: string, body: object = CLIENT): string {
  return `@${user.file(name, JSON.stringify(body))}`;
}

test('the bundle is one executable file within its size', () => {
  const [file = ''] = fasArguments();
  expect(file).toMatch(/fas\.mjs$/);
  const { size, mode } = statSync(file);
  expect(size).toBeLessThan(BUNDLE_BYTES_MAX);
  expect(mode & 0o111).not.toBe(0);
  expect(readFileSync(file, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
});

test('profiles are kept for their user only, with the path of a key and never the key', async () => {
  const file = join(user.folder, '.config/fas/profiles.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).not.toMatch(/PRIVATE/);
  const { output } = await user.fas(['profiles', 'list', '--json']);
  expect(JSON.parse(output).profiles).toMatchObject([
    { name: 'test', isCurrent: true, mode: 'test', keyFile: join(user.folder, 'operator.pem') },
    { name: 'live', isCurrent: false, mode: 'live' },
  ]);
});

test('whoami shows the world, and whether the service accepts the caller', async () => {
  const accepted = await user.fas(['whoami', '--json']);
  expect(accepted.status, accepted.errors).toBe(0);
  expect(JSON.parse(accepted.output)).toMatchObject({ mode: 'test', profile: 'test', isAccepted: true });
  const { id } = api.users.operator;
  expect(JSON.parse(accepted.output).machineUser).toBe(id);
  const other = user.file(
    'other.pem',
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  );
  const strange = await user.fas(['whoami'], { environment: { FAS_KEY_FILE: other, FAS_KEY_ID: 'strange' } });
  expect(strange.status).toBe(5);
  expect(strange.output).toMatch(/^\[TEST\] test: .*does not accept it/s);
});

test('a flag goes before the environment, and that before the file', async () => {
  const elsewhere = { FAS_BASE_URL: 'http://127.0.0.1:1/elsewhere' };
  const targetOf = async (words: string[], environment: NodeJS.ProcessEnv) => {
    const data = clientFile('any.json');
    const typed = ['clients', 'create', '--data', data, '--dry-run', '--json', ...words];
    const { output, errors } = await user.run(typed, environment);
    const [{ note }] = jsonLines(errors) as [{ note: string }];
    return { url: JSON.parse(output).url, note };
  };
  expect(await targetOf([], {})).toEqual({ url: `${api.url}/clients`, note: `[TEST] test: ${api.url}` });
  // What another address is, nothing says: it is live.
  expect(await targetOf([], elsewhere)).toEqual({
    url: 'http://127.0.0.1:1/elsewhere/clients',
    note: '[LIVE] test: http://127.0.0.1:1/elsewhere',
  });
  expect((await targetOf([], { ...elsewhere, FAS_MODE: 'test' })).note).toMatch(/^\[TEST\]/);
  expect((await targetOf(['--base-url', 'http://127.0.0.1:2'], elsewhere)).url).toBe('http://127.0.0.1:2/clients');
  expect((await targetOf([], { FAS_PROFILE: 'live' })).note).toBe(`[LIVE] live: ${liveUrl}`);
  expect((await targetOf(['--profile', 'test'], { FAS_PROFILE: 'live', ...elsewhere })).note).toBe(
    `[TEST] test: ${api.url}`,
  );
  // What FAS_MODE says of the environment's address says nothing of an address that is typed.
  const typed = ['--base-url', 'http://127.0.0.1:2'];
  expect((await targetOf(typed, { ...elsewhere, FAS_MODE: 'test' })).note).toMatch(/^\[LIVE\]/);
  expect((await targetOf(['--base-url', api.url], { FAS_PROFILE: 'live' })).note).toMatch(/^\[TEST\]/);
  const known = { FAS_BASE_URL: `${liveUrl}/v1`, FAS_MODE: 'test' };
  expect((await targetOf([], known)).note, 'a profile calls it live').toMatch(/^\[LIVE\]/);
  expect((await targetOf(['--profile', 'live'], { FAS_MODE: 'test' })).note).toMatch(/^\[LIVE\]/);
  expect((await targetOf(['--profile', 'test'], { FAS_MODE: 'live' })).note).toMatch(/^\[LIVE\]/);
  const unknown = await user.run(['whoami', '--profile', 'none']);
  expect(unknown).toMatchObject({ status: 3, output: '' });
});

test('an operation by its name takes a resource, data, or the whole body, from a file or standard input', async () => {
  const ids = new Set<string>();
  const forms: readonly object[] = [
    CLIENT,
    { client: CLIENT },
    { data: { client: CLIENT } },
    { workflow: { code: 'direct' }, data: { client: CLIENT } },
  ];
  for (const form of forms) {
    const { status, output, errors } = await user.run([
      'clients',
      'create',
      '--data',
      clientFile('c.json', form),
      '--json',
    ]);
    expect(status, errors).toBe(0);
    expect(jsonLines(errors)).toEqual([{ note: `[TEST] test: ${api.url}` }]);
    ids.add(JSON.parse(output).data.client.id);
  }
  const piped = await user.fas(['clients', 'create', '--data', '-'], { input: JSON.stringify(CLIENT) });
  expect(piped.status, piped.errors).toBe(0);
  expect(piped.output).toMatch(/id: [0-9a-f-]{36}$/m);
  expect(ids.size).toBe(4);
  const [id = ''] = ids;
  const got = await user.run(['api', 'GET', `/clients/${id}`, '--json']);
  expect(JSON.parse(got.output).data.client.id).toBe(id);
  const listed = await user.run(['clients', 'list', '--query', 'metadata.page.size=2']);
  expect(listed.output.split('\n')[0]).toMatch(/^id\b/);
  expect(listed.output).toContain(id);
});

test('the same Idempotency-Key has one effect, and the second answer says so', async () => {
  const words = ['clients', 'create', '--data', clientFile('once.json'), '--idempotency-key', 'fas-once', '--json'];
  const [first, second] = [await user.fas(words), await user.fas(words)];
  expect(second.output).toBe(first.output);
  expect(second.errors).toMatch(/done before/);
});

test('amounts keep all their digits, sent and shown', async () => {
  const clientId = await moneyWorld(api).client();
  const account = await moneyWorld(api).account(clientId);
  const amount = '9999999999999.90';
  const credit = `{"accountId":"${account}","amount":${amount},"currency":"GBP","scope":"external","scheme":"swift"}`;
  const words = ['provisioned-account-credits', 'create', '--data', `@${user.file('credit.json', credit)}`, '--json'];
  const { status, output, errors } = await user.fas(words);
  expect(status, errors).toBe(0);
  expect(output).toContain('"amount":9999999999999.9');
  const balance = await user.run(['accounts', 'list-statements', account]);
  expect(balance.output, balance.errors).toContain('9999999999999.9');
  const shown = await user.run([...words, '--dry-run']);
  expect(JSON.parse(shown.output).body).toContain(credit);
});

test('what the service rejects ends with 1 and its reasons, what it does not allow with 5', async () => {
  const wrong = await user.fas(['clients', 'create', '--data', clientFile('wrong.json', { identity: {} }), '--json']);
  expect(wrong).toMatchObject({ status: 1, output: '' });
  const [, { error }] = jsonLines(wrong.errors) as [unknown, { error: Record<string, unknown> }];
  expect(error).toMatchObject({ reason: 'rejected', status: 1, httpStatus: 400 });
  expect(error.code).toMatch(/^common\.validation\./);
  expect(error.requestId).toEqual(expect.any(String));
  const forbidden = await user.run(['machine-users', 'list']);
  expect(forbidden).toMatchObject({ status: 5, output: '' });
  const missing = await user.run(['clients', 'get', '01a2160e-d86f-7053-b7fc-75e61b6a7026']);
  expect(missing).toMatchObject({ status: 1, output: '' });
});

test('what is not answered ends with 2, and the key under which it can be repeated', async () => {
  // Takes each request and cuts the line.
  let requests = 0;
  const keys = new Set<unknown>();
  const cutting = createServer(({ socket, headers }) => {
    requests += 1;
    keys.add(headers['idempotency-key']);
    socket.destroy();
  });
  await once(cutting.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void cutting.close());
  const address = cutting.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const given = { environment: { FAS_BASE_URL: `http://127.0.0.1:${port}`, FAS_MODE: 'test' } };
  const { status, output, errors } = await user.fas(['clients', 'create', '--data', clientFile('cut.json')], given);
  expect({ status, output }).toEqual({ status: 2, output: '' });
  expect(requests).toBe(4);
  expect(keys.size).toBe(1);
  expect(errors).toContain(`--idempotency-key ${[...keys][0]}`);
});

/** A server that gives one answer after another, the last again and again; null cuts the line. */
async function answering(answers: readonly ({ status: number; body: string } | null)[]): Promise<NodeJS.ProcessEnv> {
  let count = 0;
  const server = createServer((request, response) => {
    const answer = answers[Math.min(count, answers.length - 1)] ?? null;
    count += 1;
    if (answer === null) return void request.socket.destroy();
    const headers = { 'content-type': 'application/json', 'retry-after': '0', location: '/elsewhere' };
    response.writeHead(answer.status, headers).end(answer.body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { FAS_BASE_URL: `http://127.0.0.1:${port}`, FAS_MODE: 'test' };
}

const rejectedWith = (status: number, code: string) => ({ status, body: JSON.stringify({ code, message: 'No.' }) });

test.each([
  ['408 of every attempt', [{ status: 408, body: '' }]],
  ['a request under the same key that is in progress', [rejectedWith(409, 'common.idempotency.in_progress')]],
  ['a redirection', [{ status: 302, body: '' }]],
  ['a page that is not of the service', [{ status: 404, body: '<html>' }]],
  ['a fault', [rejectedWith(500, 'common.fault')]],
  ['429 after a lost attempt', [null, rejectedWith(429, 'common.rate_limit.exceeded')]],
  ['401 after a lost attempt', [null, rejectedWith(401, 'common.authentication.token_invalid')]],
  ['403 after 503', [{ status: 503, body: '' }, rejectedWith(403, 'common.authorization.role_missing')]],
])('a write may have taken effect after %s: it ends with 2 and its key', async (_, answers) => {
  const words = ['clients', 'create', '--data', clientFile('unsettled.json'), '--idempotency-key', 'unsettled-1'];
  const { status, output, errors } = await user.run(words, await answering(answers));
  expect({ status, output }, errors).toEqual({ status: 2, output: '' });
  expect(errors).toContain(
    'It is not known whether it was done. To repeat it with one effect: --idempotency-key unsettled-1',
  );
});

test('a rejection is final if no attempt can have taken effect, or if it is the answer under the key', async () => {
  const words = ['clients', 'create', '--data', clientFile('settled.json')];
  const wrong = rejectedWith(400, 'common.validation.field_invalid');
  for (const [answers, status] of [
    [[rejectedWith(429, 'common.rate_limit.exceeded')], 1] as const,
    [[rejectedWith(403, 'common.authorization.role_missing')], 5] as const,
    [[null, wrong], 1] as const,
  ]) {
    const ran = await user.run(words, await answering(answers));
    expect(ran.status, ran.errors).toBe(status);
    expect(ran.errors).not.toMatch(/idempotency-key/);
  }
});

test('what has no key at the service is sent once, and asks for none', async () => {
  let requests = 0;
  const keys: unknown[] = [];
  const cutting = createServer(({ socket, headers }) => {
    requests += 1;
    keys.push(headers['idempotency-key']);
    socket.destroy();
  });
  await once(cutting.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void cutting.close());
  const address = cutting.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const environment = { FAS_BASE_URL: `http://127.0.0.1:${port}`, FAS_MODE: 'test' };
  const data = clientFile('callback.json', {});
  const { status, errors } = await user.run(['provider-callbacks', 'receive', 'x', '--data', data], environment);
  expect({ status, requests, keys }, errors).toEqual({ status: 2, requests: 1, keys: [undefined] });
  expect(errors).toContain('It is not known whether it was done.');
  const queried = ['api', 'POST', '/user-authentications?x=1', '--data', data];
  expect((await user.run(queried, environment)).status).toBe(2);
  expect(requests).toBe(2);
});

test('a link’s token comes from a file, and neither it nor a password is ever shown', async () => {
  const token = 'token-of-a-link';
  const words = ['sign-up', 'submit', `@${user.file('token', `${token}\n`)}`];
  const form = ['--data', `@${user.file('form', 'password=a-new-one&action=accept')}`];
  const dryRun = await user.run([...words, ...form, '--dry-run', '--profile', 'live']);
  expect(dryRun.output).toContain(`POST ${liveUrl}/sign-up/{token}`);
  expect(dryRun.output).toContain('password=…&action=accept');
  const environment = await answering([{ status: 404, body: '<html>' }]);
  const failed = await user.run(['sign-up', 'show', words[2] ?? ''], environment);
  expect(failed.errors).toContain('GET /sign-up/{token} answered 404');
  expect(`${dryRun.output}${dryRun.errors}${failed.errors}`).not.toMatch(/token-of-a-link|a-new-one/);
  expect((await user.run(['sign-up', 'show', token])).status).toBe(3);
  const json = { user: { email: 'a@example.com', password: 'a-new-one' } };
  const shown = await user.run(['users', 'create', '--data', clientFile('user.json', json), '--dry-run', '--json']);
  expect(JSON.parse(JSON.parse(shown.output).body).data.user).toEqual({ email: 'a@example.com', password: '…' });
});

test.each([
  [['clients', 'get', ''], 'clientId is empty'],
  [['clients', 'get', '..'], 'clientId is empty, or of dots'],
  [['api', 'GET', '/clients/../accounts'], 'would name another route'],
  [['api', 'GET', '/clients/%2e%2E/accounts'], 'would name another route'],
  [['api', 'GET', '/clients', '--data', '-'], 'A GET has no body'],
])('%j is a mistake, and nothing is sent', async (words, message) => {
  const { status, output, errors } = await user.run(words);
  expect({ status, output }).toEqual({ status: 3, output: '' });
  expect(errors).toContain(message);
});

test('output that is no longer read ends with 141, whatever was found', async () => {
  const environment = { PATH: process.env.PATH, HOME: user.folder };
  const child = spawn(process.execPath, [...fasArguments(), 'completion', 'bash'], { env: environment });
  child.stdout.destroy();
  expect(await once(child, 'exit')).toEqual([141, null]);
});

test('--confirm of fas api is the id that the operation’s own command would ask for', async () => {
  const id = '01a2160e-d86f-7053-b7fc-75e61b6a7026';
  const asked = async (path: string) =>
    (await user.run(['api', 'POST', path, '--profile', 'live'])).errors.match(/--confirm (\S+)/)?.[1];
  expect(await asked(`/outgoing-transfers/${id}/recall?x=1`)).toBe(id);
  expect(await asked(`/v1/clients/${id}/relations`)).toBe(id);
  expect(await asked('/outgoing-transfers?x=1')).toBe('live');
});

test('where it is live, a payment wants its confirmation, and nothing is sent before', async () => {
  const world = moneyWorld(api);
  const clientId = await world.client();
  const [from, to] = [await world.account(clientId, { amount: 100 }), await world.account(clientId)];
  const transfer = {
    ...{ clientId, currency: 'GBP', amount: 25, scope: 'internal' },
    source: { type: 'client-account', accountId: from },
    destination: { type: 'client-account', accountId: to },
  };
  const words = ['outgoing-transfers', 'create', '--data', clientFile('pay.json', transfer), '--profile', 'live'];
  expect((await user.fas(words)).status).toBe(4);
  expect((await user.run([...words, '--confirm', 'test'])).status).toBe(4);
  expect(await world.balance(to)).toMatchObject({ available: 0 });
  const shown = await user.fas([...words, '--dry-run']);
  expect(shown.output).toMatch(/^POST .*\/outgoing-transfers$/m);
  expect(shown.output).toContain('authorization: Bearer …');
  expect(await world.balance(to)).toMatchObject({ available: 0 });
  const paid = await user.fas([...words, '--confirm', 'live']);
  expect(paid.status, paid.errors).toBe(0);
  expect(await world.balance(to)).toMatchObject({ available: 25 });
});

test('operators’ commands act on the database, with the world named and rejections on standard error', async () => {
  const environment = { DATABASE_URL: database.url, TEMPORAL_ADDRESS: '127.0.0.1:1', FAS_MODE: 'test' };
  const held = await user.fas(['ledger', 'check', '--json'], { environment });
  expect(held, held.errors).toMatchObject({ status: 0, output: '{"violations":[]}\n' });
  const closed = await user.fas(['submissions', 'close', '--reason', 'a drill', '--json'], { environment });
  expect(JSON.parse(closed.output)).toMatchObject({ submissions: 'closed' });
  expect(jsonLines(closed.errors)).toEqual([{ note: expect.stringMatching(/^\[TEST\] 127\.0\.0\.1/) }]);
  const day = '2999-01-01';
  const rejected = await user.fas(['fees', 'sweep', day], { environment });
  expect(rejected).toMatchObject({ status: 1, output: '' });
  expect(rejected.errors).toContain(`${day} has not begun`);
});

test('a database, and a Temporal that was not started here, are live until FAS_MODE says otherwise', async () => {
  const { host, pathname } = new URL(database.url);
  const worldOf = async (environment: NodeJS.ProcessEnv) => {
    const typed = ['submissions', 'open', '--reason', 'a drill', '--dry-run'];
    return (await user.run(typed, environment)).errors.trim();
  };
  const there = { DATABASE_URL: database.url, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  expect(await worldOf(there)).toBe(`[LIVE] ${host}${pathname}`);
  expect(await worldOf({ ...there, FAS_MODE: 'test' })).toBe(`[TEST] ${host}${pathname}`);
  expect(await worldOf({ ...there, FAS_PROFILE: 'test' }), 'a profile says nothing of it').toMatch(/^\[LIVE\]/);
  const started = mkdtempSync(join(user.folder, 'started-'));
  mkdirSync(join(started, 'run'));
  writeEndpoints(started, {
    ...{ apiUrl: api.url, publicUrl: api.url, sandboxUrl: api.url, apiMetricsUrl: api.url, workerMetricsUrl: api.url },
    ...{ databaseUrl: database.url, temporalAddress: '127.0.0.1:7233', temporalNamespace: 'default', uiUrl: null },
    ...{ audience: TEST_AUDIENCE, hasDevelopmentUsers: true },
  });
  const here = { DATA_DIR: started };
  expect(await worldOf(here)).toBe(`[TEST] started here: ${host}${pathname}`);
  expect(await worldOf({ ...here, TEMPORAL_ADDRESS: '127.0.0.1:7233' })).toMatch(/^\[TEST\]/);
  expect(await worldOf({ ...here, FAS_MODE: 'live' })).toMatch(/^\[LIVE\]/);
  const elsewhere = { ...here, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  expect(await worldOf(elsewhere)).toBe(`[LIVE] Temporal at 127.0.0.1:1/default: ${host}${pathname}`);
  expect(await worldOf({ ...elsewhere, FAS_MODE: 'test' })).toMatch(/^\[TEST\]/);
  expect(await worldOf({ ...here, TEMPORAL_NAMESPACE: 'other' })).toMatch(/^\[LIVE\]/);
});

test('Ctrl-C ends a read with 130, and a write as one whose outcome is not known', async () => {
  // Takes each request, and never answers.
  const silent = createServer(() => silent.emit('taken'));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    silent.closeAllConnections();
    silent.close();
  });
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const environment = { FAS_BASE_URL: `http://127.0.0.1:${port}`, FAS_MODE: 'test' };
  const writing = ['clients', 'create', '--data', clientFile('never.json')];
  for (const [words, status] of [[['clients', 'list'], 130] as const, [writing, 2] as const]) {
    const taken = once(silent, 'taken');
    const ran = user.fas(words, { environment, interruptedBy: taken });
    expect(await ran).toMatchObject({ status, output: '', errors: expect.stringContaining('Interrupted.') });
  }
});

test('a key file that cannot be used is named and never quoted', async () => {
  const secret = 'MC4CAQAwBQYDK2VwBCIEIJ';
  const broken = user.file('broken.pem', `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----\n`);
  const { status, output, errors } = await user.fas(['clients', 'list'], { environment: { FAS_KEY_FILE: broken } });
  expect({ status, output }).toEqual({ status: 5, output: '' });
  expect(errors).toContain(broken);
  expect(errors).not.toContain(secret);
  const inline = await user.run(['clients', 'create', '--data', '{"password":"x"}']);
  expect(inline).toMatchObject({ status: 3, output: '' });
});

test('colours are for terminals: a pipe gets none', async () => {
  const { output, errors } = await user.fas(['clients', 'list'], { environment: { TERM: 'xterm-256color' } });
  expect(`${output}${errors}`).not.toContain('\u001b');
});

const SHELLS = { bash: '/bin/bash', zsh: '/usr/bin/zsh', fish: '/usr/bin/fish' };

/** Programs that print what the script offers after these words, each in a line: a file's name where it offers files. */
const COMPLETED_BY: Readonly<Record<keyof typeof SHELLS, (script: string, words: readonly string[]) => string>> = {
  bash: (script, words) =>
    `${script}\nCOMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _fas; printf '%s\\n' "\${COMPREPLY[@]:-a-file}"`,
  // Its own functions run on a terminal only: these print what they are given.
  zsh: (script, words) => `compdef() { :; }; _files() { print a-file; }; _describe() { print -l -- \${(P)2%%:*}; }
${script}\nwords=(${quoted(words)}); CURRENT=${words.length}; _fas`,
  fish: (script, words) =>
    `function __fish_complete_path; echo a-file; end\n${script}\ncomplete -C "${words.join(' ')}" | string replace -r '\\t.*' ''`,
};

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ');

test.for(['bash', 'zsh', 'fish'] as const)(
  '%s completes nouns, commands, options, values and files',
  async (shell, { skip }) => {
    if (!existsSync(SHELLS[shell])) return skip(`no ${shell}: its completion is not tried`);
    const { output: script } = await user.fas(['completion', shell]);
    const [program = '', ...before] = [process.execPath, ...fasArguments()];
    writeFileSync(join(user.folder, 'fas'), `#!/bin/sh\nexec ${program} ${before.join(' ')} "$@"\n`, { mode: 0o755 });
    const complete = (...words: string[]) => {
      const file = user.file(`completion.${shell}`, COMPLETED_BY[shell](script, ['fas', ...words]));
      const env = { ...user.environment, PATH: `${user.folder}:${process.env.PATH}` };
      const { stdout, stderr } = spawnSync(SHELLS[shell], [file], { env, encoding: 'utf8' });
      expect(stderr).toBe('');
      return stdout.trim().split('\n').sort();
    };
    expect(complete('outgoing-t')).toEqual(['outgoing-transfers']);
    expect(complete('outgoing-transfers', 're')).toEqual(['recall', 'retry-submission']);
    expect(complete('clients', 'create', '--da')).toEqual(['--data']);
    expect(complete('whoami', '--profile', '')).toEqual(['live', 'test']);
    expect(complete('profiles', 'add', 'x', '--mode', 'l')).toEqual(['live']);
    expect(complete('clients', 'create', '--data', '')).toEqual(['a-file']);
  },
);
