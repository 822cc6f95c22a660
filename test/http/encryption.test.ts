import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ROUTES } from '../../api/routes.ts';
import { createKeyring, type Keyring } from '../../db/common/keyring.ts';
import { readSigningKey } from '../../db/open-banking/signing-keys.ts';
import { CONFIDENTIAL_PATHS } from '../../db/re-encryption.ts';
import { reEncryption } from '../../loops/keys/re-encryption.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { dumpDatabase } from '../harness/http/dump.ts';
import { moneyWorld } from '../harness/money.ts';
import { type ScriptedDirectory, startScriptedDirectory } from '../harness/parties/directory.ts';
import { verificationsOf } from '../harness/parties/verifications.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';
import { createDrains, type Receiver, sequence, startReceiver } from '../harness/webhooks/webhooks.ts';

const CANARY = 'Katherine Canary-Green';
const OLD_KEY = randomBytes(32);
const NEW_KEY = randomBytes(32);
const old = createKeyring([OLD_KEY]);
const rotated = createKeyring([NEW_KEY, OLD_KEY]);
const newest = createKeyring([NEW_KEY]);

let database: TestDatabase;
let directory: ScriptedDirectory;
let receiver: Receiver;
const apis: TestApi[] = [];
let api: TestApi;
let clientId: string;
let lines: string[] = [];

beforeAll(async () => {
  directory = await startScriptedDirectory();
  directory.answer = { status: 200, body: { reference: 'r', matched: false, reasonCode: 'MBAM', name: CANARY } };
  receiver = await startReceiver();
  database = await createTestDatabase('encryption');
  api = await withKeyring(old);
  clientId = await moneyWorld(api).client();
  await sequence(api.database);
});

beforeEach(async () => {
  lines = [];
  await api.database.reader.execute(sql`DELETE FROM beneficiary_verifications`);
  await api.database.reader.execute(sql`DELETE FROM idempotency_keys`);
  await api.database.reader.execute(sql`DELETE FROM webhook_deliveries`);
  await api.database.reader.execute(sql`DELETE FROM webhook_secrets`);
  await api.database.reader.execute(sql`DELETE FROM webhook_subscriptions`);
});

afterAll(async () => {
  for (const one of apis) await one.stop();
  await directory?.close();
  await receiver?.close();
  await database?.drop();
});

const logger = () => pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });

/** Another process of the service on the same database. */
async function withKeyring(keyring: Keyring): Promise<TestApi> {
  const users = apis[0]?.users;
  const env = { SANDBOX_URL: directory.url };
  const started = await startApi(database, { keyring, env, ...(users === undefined ? {} : { users }) });
  apis.push(started);
  return started;
}

/** One request of each kind whose answer contains a secret or a third party's name, each under a key. */
interface Asked {
  readonly path: string;
  readonly key: string;
  readonly body: Json;
  readonly first: ApiResponse;
}

const DIRECT = { workflow: { code: 'direct' } };

async function askAll(at: TestApi = api): Promise<{ asked: Asked[]; secrets: string[] }> {
  const asked: Asked[] = [];
  const ask = async (path: string, body: Json): Promise<Json> => {
    const key = randomUUID();
    const first = await at.call('POST', path, body, { key, as: path.startsWith('/webhook') ? 'admin' : 'operator' });
    expect(first.status, first.text).toBeLessThan(300);
    asked.push({ path, key, body, first });
    return first.body.data;
  };
  const data = { webhookSubscription: { url: receiver.url, types: ['created'] } };
  const { webhookSubscription } = await ask('/webhook-subscriptions', { ...DIRECT, data });
  const turned = await ask(`/webhook-subscriptions/${webhookSubscription.id}/rotate-secret`, { ...DIRECT, data: {} });
  const key = randomUUID();
  const first = await verificationsOf(at, () => clientId).verify({ key });
  expect(first.body.data.beneficiaryVerification.result.accountHolderName).toBe(CANARY);
  asked.push({ path: '/beneficiary-verifications', key, body: null, first });
  return { asked, secrets: [webhookSubscription.secret, turned.webhookSubscription.secret] };
}

/** The same requests again: each gets the very text that it got at first. */
async function expectReplays(asked: readonly Asked[], at: TestApi): Promise<void> {
  for (const { path, key, body, first } of asked) {
    const again =
      body === null
        ? await verificationsOf(at, () => clientId).verify({ key })
        : await at.call('POST', path, body, { key, as: 'admin' });
    expect(again.headers.get('x-idempotency-status'), path).toBe('replayed');
    expect([again.status, again.text], path).toEqual([first.status, first.text]);
  }
}

/** A ping, delivered by a worker that holds this keyring, is signed with each of the secrets. */
async function expectSigned(secrets: readonly string[], keyring: Keyring): Promise<void> {
  const before = receiver.received.length;
  const [{ id } = { id: '' }] = await api.database.reader.execute<{ id: string }>(
    sql`SELECT id FROM webhook_subscriptions`,
  );
  const pinged = await api.call('POST', `/webhook-subscriptions/${id}/ping`, { ...DIRECT, data: {} }, { as: 'admin' });
  expect(pinged.status, pinged.text).toBe(201);
  await drain(keyring);
  const [message, ...others] = receiver.received.slice(before);
  expect(others).toEqual([]);
  for (const secret of secrets)
    expect(() => new Webhook(secret).verify(message?.text ?? '', message?.headers ?? {})).not.toThrow();
}

async function drain(keyring: Keyring): Promise<void> {
  await sequence(api.database);
  const drains = createDrains(api.database, { keyring, logger: logger() });
  await drains.drain();
  for (const one of drains.drains) await one.close();
  await drains.close();
}

const COMPLETE = 're-encryption complete';

/** Runs the loop of a process that has just started until it rests, and says that it is done. */
async function reEncrypt(keyring: Keyring): Promise<void> {
  lines.length = 0;
  const loop = reEncryption({ database: api.database, keyring, logger: logger() });
  loop.start();
  await until(
    async () =>
      (await dumpDatabase(api.database)).split('\n').filter((row) => readable(row) || row.includes(old.prefix)),
    (rows) => rows.length === 0,
  );
  await until(
    async () => lines.join(''),
    (text) => text.includes(COMPLETE) && text.includes(keyring.prefix),
  );
  await loop.stop();
}

const readable = (text: string) => /whsec_|Canary-Green|PRIVATE KEY/.test(text);

test('no secret and no name of a directory can be read in the database; repeated requests show them again', async () => {
  const { asked, secrets } = await askAll();
  const dump = await dumpDatabase(api.database);
  expect(dump).toContain('idempotency_keys');
  expect(dump.split('\n').filter(readable)).toEqual([]);
  await expectReplays(asked, api);
  await expectSigned(secrets, old);
});

test('a key is rotated: the old one is read until everything is encrypted under the new one, and is needed no more', async () => {
  const { asked, secrets } = await askAll();
  const signing = await readSigningKey(api.database, old);
  const rotating = await withKeyring(rotated);
  await expectReplays(asked, rotating);
  await expectSigned(secrets, rotated);
  const later = await askAll(rotating);
  const dump = await dumpDatabase(api.database);
  expect([dump.includes(old.prefix), dump.includes(newest.prefix)]).toEqual([true, true]);
  await reEncrypt(rotated);
  await expectReplays([...asked, ...later.asked], await withKeyring(newest));
  expect(await readSigningKey(api.database, newest)).toEqual(signing);
  expect(signing.privateKey).toContain('PRIVATE KEY');
});

test('while a key is missing nothing is lost: deliveries wait, the log says which key, and they arrive once it is back', async () => {
  const { secrets } = await askAll();
  const before = receiver.received.length;
  const [{ id } = { id: '' }] = await api.database.reader.execute<{ id: string }>(
    sql`SELECT id FROM webhook_subscriptions`,
  );
  await api.call('POST', `/webhook-subscriptions/${id}/ping`, { ...DIRECT, data: {} }, { as: 'admin' });
  await drain(newest);
  expect(receiver.received).toHaveLength(before);
  expect(lines.join('')).toContain('cannot be decrypted');
  expect(lines.join('')).toContain(old.prefix.split(':')[2]);
  expect(lines.join('')).not.toMatch(/whsec_/);
  const loop = reEncryption({ database: api.database, keyring: newest, logger: logger() });
  loop.start();
  await until(
    async () => lines.join(''),
    (text) => text.includes('ENCRYPTION_KEY lacks a key'),
  );
  expect(lines.join('')).not.toContain(COMPLETE);
  await loop.stop();
  await api.database.reader.execute(sql`UPDATE webhook_deliveries SET claimed_until = NULL, claim_token = NULL`);
  await drain(old);
  expect(receiver.received).toHaveLength(before + 1);
  const message = receiver.received.at(-1);
  expect(() => new Webhook(secrets[1] ?? '').verify(message?.text ?? '', message?.headers ?? {})).not.toThrow();
});

describe('every route whose answer holds a secret stores it encrypted', () => {
  const answers = ROUTES.flatMap((route) =>
    route.kind === 'route' && route.contract.method === 'POST' ? [route.contract] : [],
  );

  test.each(answers.map((contract) => [contract.path, contract] as const))('POST %s', (path, contract) => {
    const example = JSON.stringify(contract.examples.response);
    const holdsSecret = /whsec_|"[a-zA-Z]*([sS]ecret|[pP]assword|[tT]oken)"/.test(example);
    const askedStranger = path.endsWith('-verifications');
    // Nothing is stored under its key: test/users/passwords.test.ts.
    const storesNoAnswer = path === '/user-authentications';
    expect(contract.confidential === true).toBe((holdsSecret && !storesNoAnswer) || askedStranger);
  });

  test('at paths that the background work knows and can find', () => {
    const confidential = answers.flatMap((contract) => (contract.confidential === true ? [contract.path] : []));
    expect([...CONFIDENTIAL_PATHS].sort()).toEqual(confidential.sort());
    const parameters = CONFIDENTIAL_PATHS.flatMap((path) => path.match(/\{\w+\}/g) ?? []);
    expect(new Set(parameters)).toEqual(new Set(['{webhookSubscriptionId}']));
  });
});
