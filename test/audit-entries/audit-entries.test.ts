import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuditEntry, appendAuditEntry } from '../../db/common/audit-entries.ts';
import { sqlState } from '../../db/postgres/failures.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { eventually } from '../harness/servers/sandbox.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let transfers: { id: string; at: string }[];
/** The whole log, in one page. */
let log: Json[];

const DAY = '2026-11-20';
const TRANSFER_COUNT = 5;
/** Every kind of a field that a spreadsheet or a reader of CSV may take for something else. */
const ODD = { name: 'x;=cmd|A1, "quoted"\nline\ttab', amount: 0.1 };

beforeAll(async () => {
  database = await createTestDatabase('audit-entries-read');
  api = await startApi(database);
  world = moneyWorld(api);
  const owner = await world.client();
  const source = await world.account(owner, { amount: 100 });
  const destination = await world.account(owner);
  transfers = [];
  for (let number = 0; number < TRANSFER_COUNT; number += 1) {
    transfers.push(await paid(owner, source, destination));
    await append({ resource: 'client', resourceId: owner, action: 'changed', after: { ...ODD, number } });
  }
  await append({ resource: 'fee-sweep', resourceId: DAY, action: 'swept', after: {} });
  await append({
    resource: 'client',
    resourceId: owner,
    action: 'deleted',
    before: ODD,
    initiator: { actor: '=1+1', requestId: '-1' },
  });
  ({ auditEntries: log } = await listed('metadata.page.size=100'));
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

async function paid(clientId: string, accountId: string, destination: string): Promise<{ id: string; at: string }> {
  const outgoingTransfer = {
    clientId,
    currency: 'GBP',
    amount: 1.5,
    scope: 'internal',
    description: 'For Xanthippe',
    source: { type: 'client-account', accountId },
    destination: { type: 'client-account', accountId: destination },
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const answer = await api.call('POST', '/outgoing-transfers', body);
  expect(answer.status, answer.text).toBe(201);
  const { id } = answer.body.data.outgoingTransfer;
  const [row] = await api.database.reader.statement<{ at: Date }>(
    'SELECT created_at AS at FROM outgoing_transfers WHERE id = $1',
    [id],
  );
  return { id, at: row?.at.toISOString().slice(0, 23) ?? '' };
}

async function append(entry: Partial<AuditEntry> & Omit<AuditEntry, 'initiator'>): Promise<void> {
  await api.database.transaction(async (tx) => appendAuditEntry(tx, { initiator: TESTER, ...entry }));
}

function get(path: string): Promise<ApiResponse> {
  return api.call('GET', path, undefined, { as: 'admin' });
}

async function listed(query: string): Promise<Json> {
  const answer = await get(`/audit-entries?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return { ...answer.body.data, page: answer.body.metadata.page };
}

test('a straight-through transfer has one entry, derived from its row: with its id, its creator, and only what never changes', async () => {
  const [transfer] = transfers;
  const { auditEntries } = await listed(`data.auditEntry.resourceId=${transfer?.id}`);
  expect(auditEntries).toEqual([
    {
      id: transfer?.id,
      occurredAt: transfer?.at,
      actor: api.users.operator.id,
      action: 'created',
      resource: 'outgoing-transfer',
      resourceId: transfer?.id,
      requestId: null,
      before: null,
      after: {
        transactionNumber: expect.any(String),
        clientId: expect.any(String),
        currency: 'GBP',
        scope: 'internal',
        transferDate: expect.any(String),
        sourceAccountId: expect.any(String),
        destinationAccountId: expect.any(String),
        amount: 1.5,
      },
      role: null,
      reason: null,
    },
  ]);
});

describe('the entry of a transfer that waits has the request that created it', () => {
  const transfer = async (changes: Json): Promise<Json> => {
    const owner = await world.client();
    const source = { type: 'client-account', accountId: await world.account(owner, { amount: 10 }) };
    const destination = { type: 'client-account', accountId: await world.account(owner) };
    return { clientId: owner, currency: 'GBP', amount: 2, scope: 'internal', source, destination, ...changes };
  };
  const external = async () => {
    const destination = async (clientId: string) => ({
      type: 'beneficiary-bank-account',
      beneficiaryBankAccountId: await world.beneficiary(clientId),
    });
    const given = await transfer({ scope: 'external', scheme: 'faster-payments' });
    return { ...given, destination: await destination(given.clientId) };
  };
  const transferDate = new Date(Date.now() + 100 * 86_400_000).toISOString().slice(0, 10);
  const workflow = { code: 'client.direct' };

  test.each([
    ['goes outside', external, '/outgoing-transfers', (one: Json) => ({ outgoingTransfer: one })],
    [
      'is for a later day',
      () => transfer({ transferDate }),
      '/outgoing-transfers',
      (one: Json) => ({ outgoingTransfer: one }),
    ],
    [
      'is one of a batch',
      external,
      '/outgoing-transfers/batch',
      (one: Json) => ({ items: [{ reference: 'audited', outgoingTransfer: one }] }),
    ],
  ])('because it %s', async (_, make, path, dataOf) => {
    const headers = { 'request-id': `case of ${path} ${_}`.replace(/\W+/g, '-') };
    const answer = await api.call('POST', path, { workflow, data: dataOf(await make()) }, { headers });
    const { id } = answer.body.data.outgoingTransfer ?? answer.body.data.results[0].outgoingTransfer;
    const { auditEntries } = await listed(`data.auditEntry.resourceId=${id}`);
    expect(auditEntries.map(({ action, requestId }: Json) => [action, requestId])).toEqual([
      ['created', answer.headers.get('request-id')],
    ]);
  });
});

test('a transfer that is cancelled keeps the audit entries of its creation and of its cancellation, in that order', async () => {
  const owner = await world.client();
  const bankAccount = await world.beneficiary(owner);
  const outgoingTransfer = {
    clientId: owner,
    currency: 'GBP',
    amount: 2,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId: await world.account(owner, { amount: 10 }) },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
    transferDate: new Date(Date.now() + 100 * 86_400_000).toISOString().slice(0, 10),
  };
  const workflow = { code: 'client.direct' };
  const { body } = await api.call('POST', '/outgoing-transfers', { workflow, data: { outgoingTransfer } });
  const { id } = body.data.outgoingTransfer;
  const before = (await listed(`data.auditEntry.resourceId=${id}`)).auditEntries;
  const cancelled = { workflow, data: { outgoingTransfer: { status: 'cancelled' } } };
  expect((await api.call('PATCH', `/outgoing-transfers/${id}`, cancelled)).status).toBe(200);
  const { auditEntries } = await listed(`data.auditEntry.resourceId=${id}`);
  expect(auditEntries.map(({ action }: Json) => action)).toEqual(['created', 'cancelled']);
  expect(auditEntries[0]).toEqual(before[0]);
});

test('entries come by time, then id, and their pages have each once, also deep', async () => {
  const keys = log.map(({ occurredAt, id }) => `${occurredAt} ${id}`);
  expect(keys.filter((key) => key.includes('undefined'))).toEqual([]);
  expect(log.map(({ occurredAt }) => occurredAt)).toEqual(log.map(({ occurredAt }) => occurredAt).sort());
  const period = `data.auditEntry.occurredTo=${log.at(-1)?.occurredAt}`;
  const paged: Json[] = [];
  for (let number = 0; number * 3 < log.length; number += 1) {
    const { auditEntries, page } = await listed(`${period}&metadata.page.size=3&metadata.page.number=${number}`);
    expect(page.totalElements).toBe(log.length);
    paged.push(...auditEntries);
  }
  expect(paged).toEqual(log);
  expect((await listed('metadata.page.size=3&metadata.page.number=9999')).auditEntries).toEqual([]);
});

describe('each filter finds what it says, in the list with its total, and in the export', () => {
  const middle = () => log[Math.floor(log.length / 2)]?.occurredAt ?? '';
  const last = () => log.at(-1)?.occurredAt;
  const cases: [string, () => string, (entry: Json) => boolean][] = [
    ['resource', () => 'data.auditEntry.resource=client', ({ resource }) => resource === 'client'],
    [
      'resource of derived entries',
      () => 'data.auditEntry.resource=outgoing-transfer',
      ({ resource }) => resource === 'outgoing-transfer',
    ],
    [
      'resourceId',
      () => `data.auditEntry.resourceId=${log[0]?.resourceId}`,
      ({ resourceId }) => resourceId === log[0]?.resourceId,
    ],
    [
      'resourceId in capitals',
      () => `data.auditEntry.resourceId=${transfers[1]?.id.toUpperCase()}`,
      ({ resourceId }) => resourceId === transfers[1]?.id,
    ],
    ['resourceId that is no uuid', () => `data.auditEntry.resourceId=${DAY}`, ({ resourceId }) => resourceId === DAY],
    ['actor', () => `data.auditEntry.actor=${api.users.operator.id}`, ({ actor }) => actor === api.users.operator.id],
    ['action', () => 'data.auditEntry.action=created', ({ action }) => action === 'created'],
    ['occurredFrom', () => `data.auditEntry.occurredFrom=${middle()}`, ({ occurredAt }) => occurredAt >= middle()],
    ['occurredTo', () => `data.auditEntry.occurredTo=${middle()}`, ({ occurredAt }) => occurredAt <= middle()],
    [
      'several at once',
      () =>
        `data.auditEntry.action=created&data.auditEntry.resource=outgoing-transfer&data.auditEntry.occurredFrom=${middle()}`,
      ({ action, resource, occurredAt }) =>
        action === 'created' && resource === 'outgoing-transfer' && occurredAt >= middle(),
    ],
    ['nothing', () => `data.auditEntry.actor=${randomUUID()}`, () => false],
  ];

  test.each(cases)('%s', async (name, query, matches) => {
    const within = query().includes('occurredTo') ? query() : `${query()}&data.auditEntry.occurredTo=${last()}`;
    const { auditEntries, page } = await listed(`${within}&metadata.page.size=100`);
    expect(auditEntries).toEqual(log.filter(matches));
    expect(page.totalElements).toBe(auditEntries.length);
    expect(auditEntries.length > 0).toBe(name !== 'nothing');
    const exported = recordsIn((await get(`/audit-entries/export?${within}`)).text);
    expect(exported.map(({ id }) => id)).toEqual(auditEntries.map(({ id }: Json) => id));
  });
});

test.each(['data.auditEntry.resource=clients', 'data.auditEntry.occurredFrom=yesterday', 'data.auditEntry.who=me'])(
  'a filter that cannot be meant is rejected: %s',
  async (query) => {
    for (const path of ['/audit-entries', '/audit-entries/export'])
      expect((await get(`${path}?${query}`)).status).toBe(400);
  },
);

describe('the export', () => {
  test('is a file of CSV with a line for each entry, whose JSON says what the list says', async () => {
    const answer = await get(`/audit-entries/export?data.auditEntry.occurredTo=${log.at(-1)?.occurredAt}`);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="audit-entries.csv"');
    expect(answer.text.split('\r\n')[0]).toBe(
      'id,occurredAt,actor,action,resource,resourceId,requestId,before,after,role,reason',
    );
    const shown = recordsIn(answer.text).map(({ before, after, requestId, role, reason, ...names }) => ({
      ...names,
      requestId: requestId === '' ? null : requestId,
      role: role === '' ? null : role,
      reason: reason === '' ? null : reason,
      before: before === '' ? null : JSON.parse(before ?? ''),
      after: after === '' ? null : JSON.parse(after ?? ''),
    }));
    const guarded = log.map((entry) => ({
      ...entry,
      actor: entry.actor.replace(/^=/, "'="),
      requestId: entry.requestId?.replace(/^-/, "'-") ?? null,
    }));
    expect(shown).toEqual(guarded);
  });

  test('has no cell that a spreadsheet calculates, whichever separator it takes', async () => {
    const { text } = await get('/audit-entries/export');
    expect(text).toContain('x\\u003b=cmd');
    expect(text).toContain("'=1+1");
    expect(text.split(/[,;\t\r\n]/).filter((cell) => /^"*[=+\-@]/.test(cell))).toEqual([]);
  });
});

describe('the export of a log that takes many statements', () => {
  const ACTOR = 'many';
  const path = `/audit-entries/export?data.auditEntry.actor=${ACTOR}`;
  const lines: Json[] = [];
  let held: TestApi;

  beforeAll(async () => {
    // Far more than the buffers between service and caller hold.
    await api.database.reader.statement(
      `INSERT INTO audit_entries (id, occurred_at, actor, action, resource, resource_id, after)
       SELECT uuidv7(), service_now() - number % 7 * interval '1 microsecond', $1, 'changed', 'client', 'x',
         jsonb_build_object('name', repeat('x', 1000)) FROM generate_series(1, 20000) AS number`,
      [ACTOR],
    );
    const sink = { write: (line: string) => lines.push(JSON.parse(line)) };
    held = await startApi(database, { users: api.users, logger: pino({ level: 'info' }, sink) });
  });

  afterAll(() => held?.stop());

  const begin = async (signal: AbortSignal | null = null) => {
    const headers = { authorization: `Bearer ${held.users.admin.token}` };
    const response = await fetch(`${held.url}${path}`, { headers, signal });
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    await reader?.read();
    return reader;
  };
  const statusLogged = () =>
    eventually('the log line', async () => lines.splice(0).find(({ msg }) => msg === 'request'));

  test('has each entry once, in the order of the list', async () => {
    const records = recordsIn((await get(path)).text);
    const rows = await api.database.reader.statement<{ id: string }>(
      'SELECT id FROM audit_entries WHERE actor = $1 ORDER BY occurred_at, id',
      [ACTOR],
    );
    expect(records.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  });

  test('is cut, not ended, if the database fails half-way', async () => {
    const reader = await begin();
    await database.asOwner('ALTER VIEW audit_log RENAME TO audit_log_away');
    try {
      const rest = (async () => {
        for (;;) if ((await reader?.read())?.done !== false) return 'ended';
      })();
      await expect(rest).rejects.toThrow();
    } finally {
      await database.asOwner('ALTER VIEW audit_log_away RENAME TO audit_log');
    }
    expect(await statusLogged()).toMatchObject({ status: 500, route: '/audit-entries/export' });
  });

  test('ends when its caller goes away', async () => {
    const leaving = new AbortController();
    await begin(leaving.signal);
    leaving.abort();
    expect(await statusLogged()).toMatchObject({ status: 499, route: '/audit-entries/export' });
  });
});

test('only an administrator reads the log', async () => {
  for (const as of ['viewer', 'operator', 'approver', 'compliance'] as const) {
    for (const path of ['/audit-entries', '/audit-entries/export']) {
      expect((await api.call('GET', path, undefined, { as })).status, `${as} ${path}`).toBe(403);
    }
  }
});

describe('a role with every right on the table cannot change the log either', () => {
  test.each([
    `UPDATE audit_entries SET actor = 'another actor'`,
    `DELETE FROM audit_entries WHERE actor <> 'another actor'`,
    'TRUNCATE audit_entries',
  ])('%s', async (text) => {
    const rejected = database.asOwner(`
      BEGIN;
      CREATE ROLE audit_owner;
      GRANT ALL ON audit_entries TO audit_owner;
      SET LOCAL ROLE audit_owner;
      ${text};
      ROLLBACK`);
    expect(sqlState(await rejected.catch((error: unknown) => error))).toBe('23001');
  });
});

test('each filter and the order have an index, on entries and on transfers', async () => {
  const plans = [
    '',
    "WHERE resource = 'client'",
    "WHERE resource_id = 'x' AND (transfer_id IS NULL OR transfer_id = uuidv7())",
    "WHERE actor = 'a'",
    "WHERE action = 'a'",
    'WHERE occurred_at > now()',
  ];
  for (const where of plans) {
    const plan = await api.database.transaction(async (tx) => {
      for (const method of ['seqscan', 'sort', 'bitmapscan'])
        await tx.statement(`SET LOCAL enable_${method} = off`, []);
      if (where.includes('transfer_id')) await tx.statement('SET LOCAL enable_bitmapscan = on', []);
      return tx.statement<Json>(`EXPLAIN SELECT id FROM audit_log ${where} ORDER BY occurred_at, id LIMIT 10`, []);
    });
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text, text).not.toContain('Seq Scan');
    if (!where.includes('transfer_id')) expect(text, text).not.toContain('Sort  ');
  }
});

/** An independent reader of RFC 4180. */
function recordsIn(text: string): Record<string, string>[] {
  const rows: string[][] = [[]];
  let at = 0;
  while (at < text.length) {
    let value = '';
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += 1) {
        if (text[at] === '"') at += 1;
        value += text[at];
      }
      at += 1;
    } else {
      while (at < text.length && text[at] !== ',' && text[at] !== '\r') value += text[at++];
    }
    rows.at(-1)?.push(value);
    if (text[at] === ',') at += 1;
    else {
      expect(text.slice(at, at + 2)).toBe('\r\n');
      at += 2;
      rows.push([]);
    }
  }
  expect(rows.pop()).toEqual([]);
  const [header = [], ...lines] = rows;
  return lines.map((line) => {
    expect(line).toHaveLength(header.length);
    return Object.fromEntries(header.map((name, index) => [name, line[index] ?? '']));
  });
}
