import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { removeMonths } from '../../../db/months.ts';
import type { TestApi } from '../../harness/api.ts';
import type { TestDatabase } from '../../harness/servers/postgres.ts';

/** The longest that a writer may wait for a lock: Postgres ends a statement that waits longer. */
const WAIT_MS_MAX = 50;
const LOCK_NOT_AVAILABLE = '55P03';
const WRITERS = 4;
/** How long writers write before the removal and after it. */
const ALONE_MS = 3_000;

/**
 * Removes the oldest months of events and deliveries while writers insert events and change deliveries, and readers read them. Returns how many
 * statements there were meanwhile, and how many waited too long for a lock.
 */
export async function measureRemoval(
  database: TestDatabase,
  api: TestApi,
  say: (line: string) => void,
): Promise<{ readonly statements: number; readonly waited: number }> {
  const owner = postgres(database.ownerUrl, { max: 1, onnotice: () => {} });
  const watcher = postgres(database.ownerUrl, {
    max: 1,
    onnotice: () => {},
    connection: { application_name: 'watcher' },
  });
  const writers = postgres(database.url, {
    max: WRITERS,
    onnotice: () => {},
    connection: { application_name: 'writers', lock_timeout: WAIT_MS_MAX },
  });
  try {
    await owner`UPDATE event_log_start SET first_position = 1 + (
      SELECT max(first_position + entry_count) FROM events WHERE id < (SELECT to_id FROM table_months() WHERE name = 'events' ORDER BY to_id OFFSET 2 LIMIT 1))`;
    await owner`SELECT find_months_over('events', clock_timestamp()), find_months_over('webhook_deliveries', clock_timestamp() - interval '60 days')`;
    const due = await owner<{ month: string }[]>`SELECT month FROM months_over ORDER BY to_id, month`;
    await owner`DELETE FROM months_over WHERE month NOT IN (SELECT month FROM months_over ORDER BY to_id, month LIMIT 6)`;
    say(`Months that are over: ${due.length}; removed now: ${Math.min(6, due.length)}`);
    const state: State = { running: true, removing: false, statements: 0, waited: 0 };
    const working = Array.from({ length: WRITERS }, (_, index) => write(writers, index, state));
    const waits = watch(watcher, state);
    await sleep(ALONE_MS);
    state.removing = true;
    const began = performance.now();
    await removeMonths(owner, say);
    const removedMs = performance.now() - began;
    state.removing = false;
    await sleep(ALONE_MS);
    state.running = false;
    await Promise.all(working);
    const longest = await waits;
    say(
      `Removed in ${removedMs.toFixed(0)} ms. Meanwhile ${state.statements} statements; ${state.waited} waited longer than ${WAIT_MS_MAX} ms for a lock, the longest wait seen ${longest.toFixed(1)} ms`,
    );
    expectPresent(await api.call('GET', '/events', undefined, { as: 'admin' }));
    return state;
  } finally {
    await Promise.all([owner.end(), watcher.end(), writers.end()]);
  }
}

interface State {
  running: boolean;
  removing: boolean;
  /** While months were removed. */
  statements: number;
  /** Statements that Postgres ended, as they had waited too long for a lock. */
  waited: number;
}

/** Each writer changes a delivery of its own, so that none waits for the row of another. */
const WRITES = [
  `INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
    SELECT (left(uuidv7()::text, 35) || '0')::uuid, 1, 'users', uuidv7(), 1, clock_timestamp(), '[{"type":"created","data":{}}]' WHERE $1::uuid <> $2::uuid`,
  'UPDATE webhook_deliveries SET claimed_until = clock_timestamp() WHERE id = $1::uuid AND event_id = $2::uuid',
  'SELECT status FROM webhook_deliveries WHERE id = $1::uuid AND event_id = $2::uuid',
  'SELECT first_position FROM events WHERE first_position > (SELECT last_position - 50 FROM event_sequencer) AND $1::uuid <> $2::uuid LIMIT 10',
];

async function write(sql: postgres.Sql, index: number, state: State): Promise<void> {
  const [own] = await sql<{ id: string; event: string }[]>`
    SELECT id, event_id AS event FROM webhook_deliveries ORDER BY event_id DESC OFFSET ${index} LIMIT 1`;
  if (own === undefined) throw new Error('a delivery of each writer');
  for (let turn = index; state.running; turn += 1) {
    const isRemoving = state.removing;
    const waited = await sql.unsafe(WRITES[turn % WRITES.length] ?? '', [own.id, own.event], { prepare: true }).then(
      () => false,
      (error: unknown) => {
        if (error instanceof postgres.PostgresError && error.code === LOCK_NOT_AVAILABLE) return true;
        throw error;
      },
    );
    state.statements += isRemoving ? 1 : 0;
    if (waited) state.waited += 1;
  }
}

/** The longest that a writer was seen to wait for a table, in ms; for rows, writers wait for one another. */
async function watch(sql: postgres.Sql, state: State): Promise<number> {
  let longest = 0;
  while (state.running) {
    const [row] = await sql<{ ms: number }[]>`
      SELECT coalesce(max(extract(epoch FROM clock_timestamp() - waitstart)), 0)::float8 * 1000 AS ms
      FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND locktype = 'relation' AND application_name = 'writers'`;
    longest = Math.max(longest, row?.ms ?? 0);
    await sleep(1);
  }
  return longest;
}

function expectPresent({ status, text }: { readonly status: number; readonly text: string }): void {
  if (status !== 200) throw new Error(`the log cannot be read: ${text}`);
}
