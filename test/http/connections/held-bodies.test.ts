import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandboxBank } from '../../../activities/providers/sandbox-bank.ts';
import { createTestMachineUser, type Json, startApi, TEST_AUDIENCE, type TestApi } from '../../harness/api.ts';
import { nextStatus, requestHead, socketTo } from '../../harness/faults/sockets.ts';
import { moneyWorld } from '../../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';

/** A caller that sends most of a body and then nothing more does not keep others from sending. */

/** No deadline of Node's own cuts anything short here. */
const PATIENT = { headersMs: 600_000, requestMs: 600_000, checkMs: 200 };
const BATCH = '/outgoing-transfers/batch';
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
const CALLBACKS = '/provider-callbacks/sandbox-bank';
const JSON_TYPE = { 'content-type': 'application/json' };

let database: TestDatabase;
let api: TestApi;
let hurried: TestApi;
const held: Socket[] = [];

beforeAll(async () => {
  database = await createTestDatabase('held-bodies');
  const bank = createSandboxBank({ url: 'http://127.0.0.1:9', secret: 'shared' });
  api = await startApi(database, {
    providers: new Map([['sandbox-bank', bank]]),
    configuration: (usual) => ({ ...usual, connections: { withoutTokenPerAddress: 8_192, bodySeconds: 30 } }),
    limits: PATIENT,
  });
  hurried = await startApi(database, {
    users: api.users,
    configuration: (usual) => ({ ...usual, connections: { ...usual.connections, bodySeconds: 1 } }),
    limits: PATIENT,
  });
});

afterAll(async () => {
  for (const socket of held) socket.destroy();
  await hurried?.stop();
  await api?.stop();
  await database?.drop();
});

async function oneTransfer(): Promise<Json> {
  const world = moneyWorld(api);
  const clientId = await world.client('Ada');
  const [from, to] = await Promise.all([
    world.account(clientId, { amount: 100 }),
    world.account(clientId, { amount: 1 }),
  ]);
  const outgoingTransfer = {
    clientId,
    currency: 'GBP',
    amount: 1,
    scope: 'internal',
    source: { type: 'client-account', accountId: from },
    destination: { type: 'client-account', accountId: to },
  };
  return { workflow: { code: 'client.direct' }, data: { items: [{ reference: 'one', outgoingTransfer }] } };
}

/** Sends a request whose last byte never comes. */
async function hold(path: string, headers: Readonly<Record<string, string>>, bytes: number, url = api.url) {
  const socket = await socketTo(url);
  held.push(socket);
  const status = nextStatus(socket);
  const head = requestHead('POST', path, { ...headers, 'content-length': String(bytes) });
  await new Promise<void>((resolve) => socket.write(head + ' '.repeat(bytes - 1), () => resolve()));
  return { socket, status };
}

interface Probe {
  readonly from: string;
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Of a request that is sent in full. */
async function statusOf(
  path: string,
  { from, bytes = 1_000, headers = JSON_TYPE }: Partial<Probe>,
): Promise<number | null> {
  const body = ' '.repeat(bytes);
  const socket = await socketTo(api.url, from);
  const status = nextStatus(socket);
  socket.write(requestHead('POST', path, { ...headers, 'content-length': String(body.length) }) + body);
  const seen = await status;
  socket.destroy();
  return seen;
}

test('a caller that holds as many bodies of batches as it may leaves other callers their share', async () => {
  const batch = await oneTransfer();
  const holder = await createTestMachineUser(api.database, TEST_AUDIENCE, ['operator']);
  const headers = { ...JSON_TYPE, authorization: `Bearer ${holder.token}` };
  // Small ones are rejected for their content until the budget is used up.
  let probe = await statusOf(BATCH, { headers });
  expect(probe).toBe(400);
  for (let at = 0; at < 40 && probe !== 429; at += 1) {
    await hold(BATCH, headers, BATCH_BYTES_MAX);
    probe = await statusOf(BATCH, { headers });
  }
  expect(probe).toBe(429);
  expect((await api.call('POST', BATCH, batch)).status).toBe(201);
});

test('an address that holds as many bodies without a token as it may leaves other addresses their share', async () => {
  const bytes = 63_000;
  let probe = await statusOf(CALLBACKS, { bytes });
  expect(probe).toBe(401);
  for (let at = 0; at < 100 && probe !== 429; at += 1) {
    await Promise.all(Array.from({ length: 20 }, () => hold(CALLBACKS, JSON_TYPE, bytes)));
    probe = await statusOf(CALLBACKS, { bytes });
  }
  expect(probe).toBe(429);
  expect(await statusOf(CALLBACKS, { bytes, from: '127.0.0.2' })).toBe(401);
});

test.each([BATCH, '/clients', '/user-authentications'])(
  'POST %s: a body that does not arrive in full in time is 408, and gives its share of the budget back',
  async (path) => {
    const { socket, status } = await hold(
      path,
      { ...JSON_TYPE, authorization: `Bearer ${api.users.operator.token}` },
      200_000,
      hurried.url,
    );
    let text = '';
    socket.on('data', (data) => {
      text += String(data);
    });
    const ended = new Promise<void>((resolve) => socket.once('end', () => resolve()));
    expect(await status).toBe(408);
    await ended;
    const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n')));
    expect(body).toMatchObject({
      code: 'common.validation.field_invalid',
      message: 'The body did not arrive in time.',
    });
    expect(text.toLowerCase()).toContain('connection: close');
  },
);
