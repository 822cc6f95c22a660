import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { idempotencyClaim, writeInTransaction } from '../../api/http/requests/idempotency.ts';
import type { Transaction } from '../../db/query/database.ts';
import { startApi, type TestApi } from '../harness/api.ts';
import { dummyRoutes, gateOf, outsideCalls, rejectedNames, THING_ACTION } from '../harness/http/dummy-routes.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let other: TestApi;

beforeAll(async () => {
  database = await createTestDatabase('api-idempotency');
  api = await startApi(database, { routes: dummyRoutes });
  other = await startApi(database, { routes: dummyRoutes, users: api.users });
});

afterAll(async () => {
  await api?.stop();
  await other?.stop();
  await database?.drop();
});

function thing(name: string, workflow: Record<string, unknown> = {}) {
  return { workflow: { code: 'direct', ...workflow }, data: { thing: { name, amount: 10.5, currency: 'EUR' } } };
}

async function madeCount(name: string): Promise<number> {
  const [row] = await api.database.reader.execute<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM audit_entries WHERE action = ${THING_ACTION} AND resource_id = ${name}`,
  );
  return row?.count ?? -1;
}

test('the same request ten times at once, over two processes, creates one resource and gives one answer', async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? api : other).call('POST', '/things', thing('ten', { pauseMs: 200 }), { key: 'ten' }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(await madeCount('ten')).toBe(1);
  const statuses = answers.map(({ headers }) => headers.get('x-idempotency-status')).sort();
  expect(statuses).toEqual(['processed', ...Array(9).fill('replayed')]);
});

test('the stored answer is replayed byte for byte, under either name of the header and under /v1', async () => {
  const first = await api.call('POST', '/things', thing('replay'), { key: 'replay' });
  expect(first.headers.get('x-idempotency-status')).toBe('processed');
  const again = await other.call('POST', '/v1/things', thing('replay'), { headers: { 'x-idempotency-key': 'replay' } });
  expect(again.status).toBe(201);
  expect(again.text).toBe(first.text);
  expect(again.headers.get('x-idempotency-status')).toBe('replayed');
  expect(again.headers.get('request-id')).not.toBe(first.headers.get('request-id'));
});

test('the stored answer is replayed though the request would be rejected by now', async () => {
  const first = await api.call('POST', '/things', thing('no more'), { key: 'no more' });
  rejectedNames.add('no more');
  expect((await api.call('POST', '/things', thing('no more'), { key: 'other' })).status).toBe(422);
  const again = await api.call('POST', '/things', thing('no more'), { key: 'no more' });
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('x-idempotency-status')).toBe('replayed');
  expect(await madeCount('no more')).toBe(1);
});

test('a replay waits for no lock of its write, and none of its statements is executed', async () => {
  const request = { method: 'POST', path: '/things', query: new URLSearchParams(), body: {} };
  const claim = idempotencyClaim(api.users.operator.id, request, 'locks');
  let drawn = 0;
  const work = async (tx: Transaction) => {
    await tx.statement('SELECT pg_advisory_xact_lock(814)', []);
    drawn += (await tx.statement("SELECT nextval('client_numbers')", [])).length;
    return { rendered: true, status: 201, body: '{}', replayed: false } as const;
  };
  expect(await writeInTransaction(api.database, claim, work, null)).toMatchObject({ replayed: false });
  await api.database.transaction(async (tx) => {
    await tx.statement('SELECT pg_advisory_xact_lock(814)', []);
    const again = await writeInTransaction(other.database, claim, work, null);
    expect(again).toMatchObject({ status: 201, replayed: true });
  });
  expect(drawn).toBe(1);
});

/** A body as some client writes it: the name distinguishes the requests, the rest is text. */
const written = (name: string, amount: string, order: 'usual' | 'other') =>
  order === 'usual'
    ? `{"workflow":{"code":"direct"},"data":{"thing":{"name":"${name}","amount":${amount},"currency":"EUR","tags":["a","b"]}}}`
    : `{ "data": {"thing": {"tags": ["\\u0061", "b"],\n"currency": "EUR", "amount": ${amount}, "name": "${name}"}},\t"workflow": {"code": "direct"} }`;

test.each([
  ['fields in another order, with other spaces and escapes', '1.5', 'other', '1.5'],
  ['a trailing zero', '1.50', 'usual', '1.5'],
  ['an exponent', '15e-1', 'other', '1.50'],
  ['a positive exponent', '1E+2', 'usual', '100.00'],
  ['more digits than a double has', '999999999999.10', 'other', '9999999999991E-1'],
] as const)('a retry with %s is the same request', async (what, amount, order, first) => {
  const made = await api.call('POST', '/things?metadata.a=1&metadata.b=2', written(what, first, 'usual'), {
    key: what,
  });
  expect(made.status, made.text).toBe(201);
  const again = await other.call('POST', '/things?metadata.b=2&metadata.a=1', written(what, amount, order), {
    key: what,
  });
  expect([again.status, again.text], again.text).toEqual([201, made.text]);
  expect(again.headers.get('x-idempotency-status')).toBe('replayed');
  expect(await madeCount(what)).toBe(1);
});

test.each([
  ['another amount', (name: string) => written(name, '1.51', 'usual')],
  ['an amount that differs beyond what a double holds', (name: string) => written(name, '99999999999.99', 'usual')],
  ['another order of a list', (name: string) => written(name, '1.5', 'usual').replace('"a","b"', '"b","a"')],
  ['a number as text', (name: string) => written(name, '"1.5"', 'usual')],
  ['another form of Unicode', (name: string) => written(name, '1.5', 'usual').replace('"a"', '"e\u0301"')],
] as const)('%s is another request', async (what, change) => {
  const first = written(what, '1.5', 'usual').replace('"a"', what.includes('Unicode') ? '"\u00e9"' : '"a"');
  expect((await api.call('POST', '/things', first, { key: what })).status).toBe(201);
  const again = await api.call('POST', '/things', change(what), { key: what });
  expect(again.status, again.text).toBe(what.includes('as text') ? 400 : 409);
});

test('another query is another request', async () => {
  expect((await api.call('POST', '/things?metadata.a=1', thing('query'), { key: 'query' })).status).toBe(201);
  expect((await api.call('POST', '/things?metadata.a=2', thing('query'), { key: 'query' })).status).toBe(409);
});

test('another body with the same key is 409 key_reused', async () => {
  await api.call('POST', '/things', thing('mine'), { key: 'reused' });
  const { status, body } = await api.call('POST', '/things', thing('another'), { key: 'reused' });
  expect(status).toBe(409);
  expect(body.code).toBe('common.idempotency.key_reused');
  expect(await madeCount('another')).toBe(0);
});

test('a rejected request stores nothing: the key is free for the next try', async () => {
  const rejected = await api.call('POST', '/things', thing('rejected', { reject: true }), { key: 'rejected' });
  expect(rejected.status).toBe(422);
  expect(rejected.headers.get('x-idempotency-status')).toBeNull();
  expect(await madeCount('rejected')).toBe(0);
  const invalid = await api.call('POST', '/things', { workflow: {}, data: {} }, { key: 'rejected' });
  expect(invalid.status).toBe(400);
  const good = await api.call('POST', '/things', thing('rejected'), { key: 'rejected' });
  expect(good.status).toBe(201);
  expect(good.headers.get('x-idempotency-status')).toBe('processed');
});

test('a key is of one machine user, method and path', async () => {
  const one = await api.call('POST', '/things', thing('scope'), { key: 'scope' });
  const admin = { workflow: { code: 'direct' }, data: { machineUser: {} } };
  expect((await api.call('POST', '/machine-users', admin, { as: 'admin', key: 'scope' })).status).toBe(400);
  const [row] = await api.database.reader.execute<{ paths: string }>(
    sql`SELECT string_agg(method || ' ' || path, ',') AS paths FROM idempotency_keys WHERE key = 'scope'`,
  );
  expect(row?.paths).toBe('POST /things');
  expect(one.status).toBe(201);
});

test('while the first is under way for longer than the wait, the second is 409 in_progress', async () => {
  const gate = gateOf('slow');
  const first = api.call('POST', '/things', thing('slow'), { key: 'slow' });
  await gate.reached;
  const second = await other.call('POST', '/things', thing('slow'), { key: 'slow' });
  gate.open();
  expect(second.status).toBe(409);
  expect(second.body.code).toBe('common.idempotency.in_progress');
  expect((await first).status).toBe(201);
  expect(await madeCount('slow')).toBe(1);
});

test('the loser of a race takes over when the first is rejected', async () => {
  const gate = gateOf('takeover');
  const rejected = api.call('POST', '/things', thing('takeover', { reject: true }), { key: 'takeover' });
  await gate.reached;
  const second = other.call('POST', '/things', thing('takeover'), { key: 'takeover' });
  // Time for the second to begin to wait; if it is late all the same, it finds the key free.
  await sleep(200);
  gate.open();
  expect((await rejected).status).toBe(422);
  expect((await second).status).toBe(201);
  expect(await madeCount('takeover')).toBe(1);
});

test.each([
  ['empty', ''],
  ['256 characters', 'k'.repeat(256)],
])('a key that is %s is 400', async (_, key) => {
  const { status, body } = await api.call('POST', '/things', thing('bad key'), { key });
  expect(status).toBe(400);
  expect(body.messageParameters.slice(0, 2)).toEqual(['header', 'Idempotency-Key']);
});

test('255 characters and odd ones are a key; two different headers are not', async () => {
  expect((await api.call('POST', '/things', thing('long'), { key: 'k'.repeat(255) })).status).toBe(201);
  expect((await api.call('POST', '/things', thing('odd'), { key: '%_\'"\\ é' })).status).toBe(201);
  const both = await api.call('POST', '/things', thing('x'), { key: 'a', headers: { 'x-idempotency-key': 'b' } });
  expect(both.status).toBe(400);
});

test('without a key nothing is stored and no header mentions it', async () => {
  const { headers } = await api.call('POST', '/things', thing('keyless'));
  expect(headers.get('x-idempotency-status')).toBeNull();
  await api.call('POST', '/things', thing('keyless'));
  expect(await madeCount('keyless')).toBe(2);
});

test('a caller that went away before its answer gets that answer with the same key', async () => {
  const gate = gateOf('gone');
  const abort = new AbortController();
  const first = fetch(`${api.url}/things`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${api.users.operator.token}`,
      'content-type': 'application/json',
      'idempotency-key': 'gone',
    },
    body: JSON.stringify(thing('gone')),
    signal: abort.signal,
  });
  await gate.reached;
  abort.abort();
  await expect(first).rejects.toThrow();
  gate.open();
  const again = await other.call('POST', '/things', thing('gone'), { key: 'gone' });
  expect(again.status).toBe(201);
  expect(again.headers.get('x-idempotency-status')).toBe('replayed');
  expect(await madeCount('gone')).toBe(1);
});

test('a call to another service is not repeated for a stored answer, and another body is rejected before the call', async () => {
  const body = (name: string) => ({ workflow: { code: 'direct' }, data: { thing: { name } } });
  const first = await api.call('POST', '/asked-things', body('a'), { key: 'asked' });
  const again = await other.call('POST', '/asked-things', body('a'), { key: 'asked' });
  expect(again.text).toBe(first.text);
  expect(again.headers.get('x-idempotency-status')).toBe('replayed');
  expect((await api.call('POST', '/asked-things', body('b'), { key: 'asked' })).status).toBe(409);
  expect(outsideCalls.count).toBe(1);
});
