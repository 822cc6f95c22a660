import { execFile } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { calculateJwkThumbprint, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { WEAK_ED25519_KEYS, WEAK_RSA_KEYS, pemOf as weakPemOf } from '../harness/parties/weak-keys.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';
import { entryArguments } from '../tools/run/entries.ts';

let database: TestDatabase;
let api: TestApi;
const folder = mkdtempSync(join(tmpdir(), 'machine-user-keys-'));

beforeAll(async () => {
  database = await createTestDatabase('machine_user_operation');
  api = await startApi(database);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
  rmSync(folder, { recursive: true });
});

interface Ran {
  readonly status: number;
  readonly output: string;
  readonly errors: string;
}

function operate(words: readonly string[], change: NodeJS.ProcessEnv = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const command = [...entryArguments('cli/operate.ts'), 'machine-user', ...words];
    const env = { ...process.env, DATABASE_URL: database.url, ...change };
    execFile(process.execPath, command, { env }, (error, output, errors) => {
      resolve({ status: typeof error?.code === 'number' ? error.code : 0, output, errors });
    });
  });
}

function keyFile(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

interface Registered {
  readonly id: string;
  readonly kid: string;
}

async function register(name: string, file: string, ...roles: string[]): Promise<Registered> {
  const words = ['register', name, '--key', file, '--json', ...roles.flatMap((role) => ['--role', role])];
  const { status, output, errors } = await operate(words);
  expect({ status, errors }).toEqual({ status: 0, errors: '' });
  return JSON.parse(output);
}

async function statusOf(path: string, user: Registered, algorithm: string, privateKey: KeyObject): Promise<number> {
  const now = Math.floor(Date.now() / 1000);
  const token = await new SignJWT({ iss: user.id, sub: user.id, aud: TEST_AUDIENCE, iat: now, exp: now + 600 })
    .setProtectedHeader({ alg: algorithm, kid: user.kid })
    .sign(privateKey);
  return (await fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;
}

test('registers a machine user by its PEM: its tokens count with the id and kid that are printed, and the audit says who did it', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const file = keyFile('ledger.pem', pemOf(publicKey));
  const user = await register('ledger', file, 'operator', 'viewer');
  expect(Object.keys(user)).toEqual(['id', 'kid']);
  expect(user.kid).toBe(await calculateJwkThumbprint(publicKey.export({ format: 'jwk' }), 'sha256'));
  expect(await statusOf('/clients', user, 'EdDSA', privateKey)).toBe(200);
  expect(await statusOf('/machine-users', user, 'EdDSA', privateKey), 'no admin').toBe(403);
  const after = { name: 'ledger', roles: ['operator', 'viewer'], kid: user.kid };
  const entry = { resource: 'machine-user', action: 'created', requestId: null, before: null, after };
  expect(await auditOf(api.database.reader, user.id)).toEqual([{ ...entry, actor: userInfo().username }]);
});

test('takes a JWK under its own kid and algorithm, and RSA and P-256 keys as PEM', async () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const jwk = { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'ledger-2026', alg: 'PS256', use: 'sig' };
  const named = await register('jwk', keyFile('rsa.jwk', JSON.stringify(jwk)), 'viewer');
  expect(named.kid).toBe('ledger-2026');
  expect(await statusOf('/clients', named, 'PS256', rsa.privateKey)).toBe(200);
  const plain = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const second = await register('rsa', keyFile('rsa.pem', pemOf(plain.publicKey)), 'viewer');
  expect(await statusOf('/clients', second, 'RS256', plain.privateKey)).toBe(200);
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const third = await register('ec', keyFile('ec.pem', pemOf(ec.publicKey)), 'viewer');
  expect(await statusOf('/clients', third, 'ES256', ec.privateKey)).toBe(200);
});

/** One in 64 has a kid that looks like an option of the command. */
async function keyPairWithDash(): Promise<KeyPairKeyObjectResult> {
  const pair = generateKeyPairSync('ed25519');
  const kid = await calculateJwkThumbprint(pair.publicKey.export({ format: 'jwk' }), 'sha256');
  return kid.startsWith('-') ? pair : keyPairWithDash();
}

test('a key is added and the old one revoked, whose kid begins with a dash; a revoked user stops on a running API; the list shows it all', async () => {
  const [old, next] = [await keyPairWithDash(), generateKeyPairSync('ed25519')];
  const user = await register('rotates', keyFile('old.pem', pemOf(old.publicKey)), 'viewer');
  const file = keyFile('next.pem', pemOf(next.publicKey));
  const added: Registered = JSON.parse((await operate(['add-key', user.id, '--key', file, '--json'])).output);
  expect(added.id).toBe(user.id);
  expect(await statusOf('/clients', added, 'EdDSA', next.privateKey)).toBe(200);
  expect(await operate(['revoke', user.id, '--kid', user.kid])).toMatchObject({ status: 0, errors: '' });
  await until(
    () => statusOf('/clients', user, 'EdDSA', old.privateKey),
    (status) => status === 401,
  );
  expect(await statusOf('/clients', added, 'EdDSA', next.privateKey)).toBe(200);
  expect(JSON.parse((await operate(['revoke', user.id, '--json'])).output)).toEqual({ id: user.id, status: 'revoked' });
  await until(
    () => statusOf('/clients', added, 'EdDSA', next.privateKey),
    (status) => status === 401,
  );
  const { machineUsers } = JSON.parse((await operate(['list', '--json'])).output);
  const listed = machineUsers.find(({ id }: Registered) => id === user.id);
  expect(listed).toMatchObject({ name: 'rotates', roles: ['viewer'], status: 'revoked' });
  expect(listed.keys).toEqual([
    { kid: user.kid, algorithm: 'EdDSA', status: 'revoked' },
    { kid: added.kid, algorithm: 'EdDSA', status: 'active' },
  ]);
  expect((await operate(['list'])).output).toContain(`${user.id}  revoked  rotates  (viewer)`);
});

test('one public key belongs to one machine user, under any kid, also when two register it at once and once it is revoked', async () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  const sent = (name: string) => ({
    workflow: { code: 'direct' },
    data: { machineUser: { name, roles: ['approver'], key: { kid: `kid-of-${name}`, algorithm: 'ES256', jwk } } },
  });
  const both = await Promise.all(
    ['maker', 'approver'].map((name) => api.call('POST', '/machine-users', sent(name), { as: 'admin' })),
  );
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  expect(both.find(({ status }) => status === 409)?.body.code).toBe('common.state.illegal_transition');
  const winner = both.find(({ status }) => status === 201)?.body.data.machineUser;
  const file = keyFile('same.pem', pemOf(publicKey));
  const again = await operate(['register', 'third', '--role', 'operator', '--key', file]);
  expect(again).toMatchObject({ status: 1, output: '' });
  expect(again.errors).toMatch(/^This public key is registered already[^\n]*\n$/);
  await operate(['revoke', winner.id]);
  expect(await operate(['register', 'fourth', '--role', 'operator', '--key', file])).toMatchObject({ status: 1 });
  const path = `/machine-users/${winner.id}/keys`;
  const own = { workflow: { code: 'direct' }, data: { machineUserKey: { kid: 'again', algorithm: 'ES256', jwk } } };
  expect((await api.call('POST', path, own, { as: 'admin' })).status).toBe(409);
});

test('what cannot be a key, a role, a name or a user is rejected with the reason: exit status 1, and nothing is stored', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const good = keyFile('good.pem', pemOf(publicKey));
  const secretPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const secretJwk = privateKey.export({ format: 'jwk' });
  const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey;
  const unknown = '01890a5d-ac96-774b-bcce-b302099a8057';
  const rejected: [string[], RegExp][] = [
    [['register', 'x', '--role', 'operator', '--key', keyFile('secret.pem', secretPem)], /is a private key/],
    [['register', 'x', '--role', 'operator', '--key', keyFile('secret.jwk', JSON.stringify(secretJwk))], /private key/],
    [['register', 'x', '--role', 'operator', '--key', keyFile('weak.pem', pemOf(weak))], /must have 2048 to 8192 bits/],
    [['register', 'x', '--role', 'operator', '--key', keyFile('text.pem', 'none')], /neither PEM .* nor a JWK/],
    [['register', 'x', '--role', 'king', '--key', good], /There is no role "king"/],
    [['register', 'x\u202e', '--role', 'viewer', '--key', good], /The name is not usable: bidirectional-character/],
    [['add-key', unknown, '--key', good], /No machineUser with id/],
    [['revoke', unknown], /No machineUser with id/],
  ];
  for (const [what, jwk, rule] of [...WEAK_RSA_KEYS.slice(0, 1), ...WEAK_ED25519_KEYS.slice(0, 1)]) {
    const [weakPem, weakJwk] = [keyFile(`${what}.pem`, weakPemOf(jwk)), keyFile(`${what}.jwk`, JSON.stringify(jwk))];
    rejected.push([['register', 'x', '--role', 'operator', '--key', weakPem], new RegExp(rule)]);
    rejected.push([['register', 'x', '--role', 'operator', '--key', weakJwk], new RegExp(rule)]);
  }
  const before = (await operate(['list', '--json'])).output;
  const answers = await Promise.all(
    rejected.map(async ([words, reason]) => ({ words, reason, ...(await operate(words)) })),
  );
  for (const { words, reason, status, output, errors } of answers) {
    expect({ status, output }, words.join(' ')).toEqual({ status: 1, output: '' });
    expect(errors).toMatch(reason);
    expect(errors.trim().split('\n')).toHaveLength(1);
    expect(errors).not.toContain(secretJwk.d);
  }
  expect((await operate(['list', '--json'])).output).toBe(before);
});

test('what could not be tried ends with exit status 2', async () => {
  const file = keyFile('tried.pem', pemOf(generateKeyPairSync('ed25519').publicKey));
  const words = ['register', 'x', '--role', 'viewer', '--key'];
  expect(await operate([...words, join(folder, 'missing.pem')])).toMatchObject({ status: 2, output: '' });
  expect(await operate(['register', 'x', '--key', file])).toMatchObject({ status: 2, output: '' });
  expect(await operate(['enthrone'])).toMatchObject({ status: 2, output: '' });
  const away = await operate([...words, file], { DATABASE_URL: 'postgres://u:canary@127.0.0.1:1/none' });
  expect(away).toMatchObject({ status: 2, output: '' });
  expect(away.errors).not.toContain('canary');
});
