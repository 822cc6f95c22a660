import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type FinancialAccountsClient } from '../../client/index.ts';
import { startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { sequence } from '../harness/webhooks/webhooks.ts';

let database: TestDatabase;
let api: TestApi;
let client: FinancialAccountsClient;

beforeAll(async () => {
  database = await createTestDatabase('client-lists');
  api = await startApi(database);
  const { id, kid, privateKey } = api.users.operator;
  client = createClient({ baseUrl: api.url, machineUser: id, key: { kid, privateKey }, audience: TEST_AUDIENCE });
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

async function created(count: number, givenName = 'Ada'): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push(await moneyWorld(api).client(givenName));
  return ids;
}

/** A client that is older than all others, as one whose transaction took longest. */
function insertBefore(id: string, number: string): Promise<unknown[]> {
  return database.asOwner(
    `INSERT INTO clients SELECT (jsonb_populate_record(c, '{"id": "${number}", "client_number": "${number}"}')).*
     FROM clients c WHERE id = '${id}'`,
  );
}

test('a list comes whole and each once, while rows are inserted before and after the place that it has reached', async () => {
  const there = await created(7);
  const seen: string[] = [];
  for await (const { id } of client.clients.list({ fullName: 'Ada Lovelace' }, { pageSize: 2 })) {
    seen.push(id);
    const number = `00000000-0000-7000-8000-${String(seen.length).padStart(12, '0')}`;
    if (seen.length <= 3) await insertBefore(there[0] ?? '', number);
    if (seen.length <= 3) await created(1);
  }
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.filter((id) => there.includes(id))).toEqual(there);
});

test('a page is read by its number, with the totals', async () => {
  const ids = await created(3, 'Grace');
  const list = client.clients.list({ fullName: 'Grace Lovelace' }, { pageSize: 2 });
  const page = await list.page(1);
  expect(page).toMatchObject({ number: 1, size: 2, totalElements: 3, totalPages: 2 });
  expect(page.resources.map(({ id }) => id)).toEqual(ids.slice(2));
  expect((await list.page()).resources).toHaveLength(2);
});

test('an empty list ends, and one that is left early asks no more', async () => {
  const requested: number[] = [];
  const counting = createClient({
    ...{ baseUrl: api.url, token: () => api.users.viewer.token },
    log: ({ status }) => requested.push(status ?? 0),
  });
  for await (const found of counting.clients.list({ fullName: 'Nemo' })) throw new Error(`found ${found.id}`);
  for await (const { id } of counting.clients.list({}, { pageSize: 1 })) if (id) break;
  expect(requested).toEqual([200, 200]);
});

test('events come by position, each once, also those that are recorded while they are read', async () => {
  await sequence(api.database);
  const positions: number[] = [];
  let added = 0;
  for await (const { position } of client.events.list({ module: 'clients' }, { pageSize: 3 })) {
    positions.push(position);
    if (added++ < 3) {
      await created(1);
      await sequence(api.database);
    }
  }
  const all = await api.call('GET', '/events?data.event.module=clients&metadata.page.size=100');
  expect(positions).toEqual(all.body.data.events.map(({ position }: { position: number }) => position));
  expect(positions.length).toBeGreaterThan(10);
});

test('a timeline is gone through as any list; what surrounds it is in its answer', async () => {
  const [id = ''] = await created(1, 'Emmy');
  const kinds: string[] = [];
  for await (const { kind } of client.clients.timeline.get(id, { pageSize: 1 })) kinds.push(kind);
  const { resource, body } = await client.clients.timeline.get(id).answer();
  expect(kinds).toEqual(resource.map(({ kind }) => kind));
  expect(kinds.length).toBeGreaterThan(0);
  expect(body.data).toMatchObject({ wait: null, omittedTimelineEntries: expect.any(Array) });
});

test('a list that is rejected says why, where it is read', async () => {
  const list = client.clients.list({ clientNumber: 'x' });
  await expect(list[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'common.validation.field_invalid' });
});
