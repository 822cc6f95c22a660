import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../api/routes.ts';
import type { Database } from '../../db/query/database.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { CONTENDERS, CONTESTS, type Contender, type Contest } from '../harness/http/write-stories/contests.ts';
import { corporate, DIRECTOR, person } from '../harness/http/write-stories/parties.ts';
import { runStory, type Story, type StoryRun } from '../harness/http/write-stories/story.ts';
import { STORY_OPTIONS, WRITE_STORIES, WRITES_IN_TRANSACTIONS } from '../harness/http/write-stories/table.ts';
import { withChangesUnderLocks } from '../harness/http/write-ways.ts';
import { moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Writes of one moment share one statement, and a write that cannot be done so is done in a transaction. Which way it went shows
// nowhere: in no answer, audit entry, event, wake-up or row.

const COPIES = 8;
/** How often the stories are run again whose writes have shared no statement yet. */
const ROUNDS_MAX = 20;
const stories = Object.entries(WRITE_STORIES);

let testDatabase: TestDatabase;
let sharing: TestApi;
let separate: TestApi;
const warnings: string[] = [];
/** How each story goes if its writes all have transactions, by kind. */
const runInTransactions = new Map<string, StoryRun>();

/** The database of an API whose writes all have transactions of their own. */
function inTransactions(database: Database): Database {
  return {
    ...database,
    inOneStatement: async () => null,
    forCaller: (limits, reads) => inTransactions(database.forCaller(limits, reads)),
  };
}

beforeAll(async () => {
  testDatabase = await createTestDatabase('every-write');
  const logger = pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) });
  sharing = await startApi(testDatabase, { ...STORY_OPTIONS, logger });
  const underLocks = await withChangesUnderLocks(testDatabase);
  separate = await startApi(underLocks, { ...STORY_OPTIONS, users: sharing.users, database: inTransactions });
  for (const [kind, story] of stories)
    runInTransactions.set(kind, await runStory(separate, `${kind}-in-transactions`, story));
});

afterAll(async () => {
  await separate?.stop();
  await sharing?.stop();
  await testDatabase?.drop();
});

test('every write route is in a story or listed, with the reason, as one that needs a transaction', () => {
  const covered = new Set([...runInTransactions.values()].flatMap(({ writes }) => writes.map(({ route }) => route)));
  const known = new Set([...covered, ...Object.keys(WRITES_IN_TRANSACTIONS)]);
  const writes = ROUTES.filter(({ contract }) => contract.method !== 'GET').flatMap(({ contract }) => {
    const codes = 'workflows' in contract ? Object.keys(contract.workflows ?? {}) : [];
    const name = `${contract.method} ${contract.path}`;
    return codes.length === 0 ? [name] : codes.map((code) => `${name} ${code}`);
  });
  expect([...known].sort()).toEqual(writes.sort());
});

test.each(stories)('%s: writes one after another leave what they leave in transactions', async (kind, story) => {
  const { transcript } = await runStory(sharing, `${kind}-single`, story);
  expect(transcript).toEqual(runInTransactions.get(kind)?.transcript);
});

/** Like Promise.all, but none of them goes on when it rejects. */
async function allEnded<Value>(promises: readonly Promise<Value>[]): Promise<Value[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** Routes none of whose writes in these runs has shared a statement, by the entries and stored answers that it left. */
async function routesNeverShared(runs: readonly StoryRun[]): Promise<string[]> {
  const rows = await sharing.database.reader.statement<{ requests: string[] }>(
    `SELECT array_agg(request) AS requests FROM (
       SELECT xmin::text AS transaction, request_id AS request FROM audit_entries
       UNION SELECT xmin::text, key FROM idempotency_keys WHERE path NOT LIKE '%/parts/%') AS written
     GROUP BY transaction HAVING count(*) > 1`,
    [],
  );
  const shared = new Set(rows.flatMap(({ requests }) => requests));
  const writes = runs.flatMap((one) => one.writes);
  const sharers = new Set(writes.filter(({ requestId }) => shared.has(requestId)).map(({ route }) => route));
  return routesOf(runs).filter((route) => !sharers.has(route));
}

describe(`with ${COPIES} of each story at the same time`, () => {
  const runs = new Map<string, readonly StoryRun[]>();
  const all = () => [...runs.values()].flat();

  const runCopies = async (kind: string, story: Story, round: number) => {
    const names = Array.from({ length: COPIES }, (_, copy) => `${kind}-round${round}-copy${copy}`);
    const copies = await allEnded(names.map((name) => runStory(sharing, name, story)));
    runs.set(kind, [...(runs.get(kind) ?? []), ...copies]);
  };

  const routesNotShared = async () =>
    (await routesNeverShared(all())).filter((route) => !Object.hasOwn(WRITES_IN_TRANSACTIONS, route));

  beforeAll(async () => {
    await allEnded(stories.map(([kind, story]) => runCopies(kind, story, 0)));
  });

  test('writes of every route share statements with those of other callers, except of the routes that are listed', async () => {
    expect(await routesNeverShared([...runInTransactions.values()])).toEqual(routesOf([...runInTransactions.values()]));
    let lonely = await routesNotShared();
    for (let round = 1; lonely.length > 0 && round <= ROUNDS_MAX; round += 1) {
      const isLonely = new Set(lonely);
      for (const [kind, story] of stories)
        if (routesOf(runs.get(kind) ?? []).some((route) => isLonely.has(route))) await runCopies(kind, story, round);
      lonely = await routesNotShared();
    }
    expect(lonely).toEqual([]);
  });

  test.each(stories)('%s: each write leaves what it leaves in a transaction', (kind) => {
    const copies = runs.get(kind) ?? [];
    expect(copies.length).toBeGreaterThanOrEqual(COPIES);
    for (const { transcript } of copies) expect(transcript).toEqual(runInTransactions.get(kind)?.transcript);
  });

  test('every POST repeated with its Idempotency-Key, all at once, gets its answer byte for byte and writes nothing', async () => {
    const once = [...runs.values()].flatMap((copies) => copies.slice(0, COPIES));
    const processed = [...runInTransactions.values(), ...once].flatMap((one) => one.processed);
    const before = await rowCounts();
    const answers = await Promise.all(
      processed.map(async ({ path, body, as, key }) => {
        const { status, text, headers } = await sharing.call('POST', path, body, { as, key });
        return { status, text, idempotency: headers.get('x-idempotency-status') };
      }),
    );
    expect(answers).toEqual(processed.map(({ status, text }) => ({ status, text, idempotency: 'replayed' })));
    expect(await rowCounts()).toEqual(before);
  });
});

function routesOf(runs: readonly StoryRun[]): string[] {
  return [...new Set(runs.flatMap(({ writes }) => writes.map(({ route }) => route)))].sort();
}

/** How many rows each table has. */
async function rowCounts(): Promise<Readonly<Record<string, number>>> {
  const { reader } = sharing.database;
  const tables = await reader.statement<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace ORDER BY 1`,
    [],
  );
  const selections = tables.map(({ name }) => `SELECT '${name}' AS name, count(*)::integer AS rows FROM ${name}`);
  const counts = await reader.statement<{ name: string; rows: number }>(selections.join(' UNION ALL '), []);
  return Object.fromEntries(counts.map(({ name, rows }) => [name, rows]));
}

interface Equal {
  /** Gets one row. */
  readonly table: string;
  readonly path: string;
  readonly data: Json;
  readonly code?: string;
  readonly as?: Role;
}

const SUBSCRIPTION = { webhookSubscription: { url: 'http://127.0.0.1:43210/hook' } };

const EQUAL: Readonly<Record<string, () => Promise<Equal>>> = {
  'creations of a client': async () => ({ table: 'clients', path: '/clients', data: { client: person() } }),
  'creations of a user': async () => ({
    table: 'users',
    path: '/users',
    data: { user: { email: 'equal@example.com', identity: { givenName: 'Grace', familyName: 'Hopper' } } },
    code: 'human.external.direct',
  }),
  'creations of a webhook subscription': async () => ({
    table: 'webhook_subscriptions',
    path: '/webhook-subscriptions',
    data: SUBSCRIPTION,
    as: 'admin',
  }),
  'rotations of a secret': async () => {
    const body = { workflow: { code: 'direct' }, data: SUBSCRIPTION };
    const made = await sharing.call('POST', '/webhook-subscriptions', body, { as: 'admin' });
    const path = `/webhook-subscriptions/${made.body.data.webhookSubscription.id}/rotate-secret`;
    return { table: 'webhook_secrets', path, data: {}, as: 'admin' };
  },
};

test.each(Object.entries(EQUAL))(
  'of 16 equal %s at once with one Idempotency-Key one is processed, and all have its answer',
  async (_, of) => {
    const { table, path, data, code = 'direct', as = 'operator' } = await of();
    const before = await rowCounts();
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => sharing.call('POST', path, { workflow: { code }, data }, { as, key })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status, answers[0]?.text).toBeLessThan(300);
    const statuses = answers.map(({ headers }) => headers.get('x-idempotency-status')).sort();
    expect(statuses).toEqual(['processed', ...Array(15).fill('replayed')]);
    const after = await rowCounts();
    for (const name of [table, 'audit_entries', 'idempotency_keys'])
      expect(after[name], name).toBe((before[name] ?? 0) + 1);
  },
);

test('of different requests at once with one Idempotency-Key one is processed, and only its equals have its answer', async () => {
  // Each writes other rows, so that they share no statement.
  const datas = [
    { client: person() },
    { client: corporate([]) },
    { client: corporate([DIRECTOR]) },
    { client: person({ email: 'differs@example.com' }) },
  ];
  for (let round = 0; round < 5; round += 1) {
    const before = await rowCounts();
    const key = randomUUID();
    const answers = await Promise.all(
      [...datas, ...datas, ...datas].map(async (data) => {
        const body = { workflow: { code: 'direct' }, data };
        const { status, text, headers } = await sharing.call('POST', '/clients', body, { as: 'operator', key });
        return { data, status, text, how: headers.get('x-idempotency-status') };
      }),
    );
    const [processed, ...more] = answers.filter(({ how }) => how === 'processed');
    expect([processed?.status, more]).toEqual([201, []]);
    for (const { data, status, text } of answers)
      expect([status, data === processed?.data ? text : '']).toEqual(
        data === processed?.data ? [201, processed?.text] : [409, ''],
      );
    const after = await rowCounts();
    for (const name of ['clients', 'idempotency_keys']) expect(after[name], name).toBe((before[name] ?? 0) + 1);
  }
});

describe(`of ${CONTENDERS.length} writes at once that contend for one row or name`, () => {
  const contests = Object.entries(CONTESTS);
  const statuses = new Map<string, readonly number[]>();

  // All contests at once, so that their writes share statements with one another too.
  beforeAll(async () => {
    const contenders = await Promise.all(
      contests.map(async ([what, contest], index) => [what, await begin(contest, `contest-${index}`)] as const),
    );
    const answersTo = async ([what, contender]: (typeof contenders)[number]) => {
      const answers = CONTENDERS.map(async (number) => {
        const { method, path, data, code = 'direct', as = 'operator' } = contender(number);
        const body = data === undefined ? undefined : { workflow: { code }, data };
        return (await sharing.call(method, path, body, { as, key: randomUUID() })).status;
      });
      statuses.set(what, await Promise.all(answers));
    };
    await Promise.all(contenders.map(answersTo));
  });

  test.each(contests)('%s', async (what, { outcome, changes }) => {
    const counts: Record<number, number> = {};
    for (const status of statuses.get(what) ?? []) counts[status] = (counts[status] ?? 0) + 1;
    expect(counts).toEqual(outcome(CONTENDERS.length));
    if (changes === undefined) return;
    const query = `SELECT max(revision)::integer AS revision FROM ${changes}`;
    expect(await sharing.database.reader.statement(query, [])).toEqual([{ revision: 1 + CONTENDERS.length }]);
  });
});

async function begin(contest: Contest, name: string): Promise<(number: number) => Contender> {
  let contender: ((number: number) => Contender) | undefined;
  await runStory(sharing, name, async (caller) => {
    contender = await contest.begin(caller);
  });
  if (contender === undefined) throw new Error('the contest has not begun');
  return contender;
}

// After all of the above.

test('the events of each resource are numbered without gaps', async () => {
  const breaches = await sharing.database.reader.statement(
    `SELECT * FROM (SELECT module, resource_id, first_sequence, 1 + coalesce(sum(entry_count) OVER (
         PARTITION BY resource_id ORDER BY first_sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS expected
       FROM events) AS numbered WHERE first_sequence <> expected`,
    [],
  );
  expect(breaches).toEqual([]);
});

test('the books hold', () => moneyWorld(sharing).invariantsHold());

test.each([
  ['clients', '/clients'],
  ['users', '/users?data.user.category=external'],
  ['beneficiaries', '/beneficiaries'],
  ['accounts', '/accounts'],
])('the total of the list of %s is that of its rows', async (table, path) => {
  const { body } = await sharing.call('GET', path);
  expect(body.metadata.page.totalElements).toBe((await rowCounts())[table]);
});

test('a shared statement fails only for a taken value or a lock: nothing was worth a warning', () => {
  expect(warnings).toEqual([]);
});
