import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { findStuckWork } from '../../../cli/operations/workflows/stuck-work.ts';
import { temporalSettings } from '../../../config/temporal.ts';
import type { Database } from '../../../db/query/database.ts';
import { lazyTemporalClient } from '../../../loops/temporal.ts';
import type { Json } from '../api.ts';
import type { WholeService } from '../servers/whole-service.ts';

/** Work still under way; all zero = nothing left to do. */
export interface Unsettled {
  readonly outgoing: number;
  readonly incoming: number;
  readonly returnsDue: number;
  readonly accounts: number;
  readonly wakeups: number;
  readonly eventsNotNumbered: number;
  readonly deliveries: number;
  readonly bankCallbacks: number;
  /** Open rows without a workflow, and workflows without an open row. */
  readonly stuckWork: number;
  /** What is open at a further bank. */
  readonly further: number;
}

/** How many things are open at a bank besides the sandbox's. */
export type CountOpen = (service: WholeService) => Promise<number>;

/** The bank returns payments with this last amount after two seconds. */
const RETURNED_PENCE = 3;
const HISTORY_EVENTS_MAX = 12;
const enums = proto.temporal.api.enums.v1;

const UNSETTLED = `SELECT
  (SELECT count(*) FROM outgoing_transfers
    WHERE status IN ('pending', 'processing', 'released') OR recall_status IN ('due', 'asked'))::integer AS outgoing,
  (SELECT count(*) FROM incoming_transfers WHERE status IN ('pending', 'on-hold') OR send_back_status = 'due')::integer AS incoming,
  (SELECT count(*) FROM outgoing_transfers WHERE scope = 'external' AND status = 'completed' AND NOT returned
    AND amount_minor % 100 = ${RETURNED_PENCE})::integer AS "returnsDue",
  (SELECT count(*) FROM accounts WHERE requested_change IS NOT NULL OR admission_due)::integer AS accounts,
  (SELECT count(*) FROM workflow_wakeups)::integer AS wakeups,
  (SELECT count(*) FROM events WHERE first_position IS NULL)::integer AS "eventsNotNumbered",
  (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending')::integer AS deliveries`;

/** Ids of open rows without a workflow and of workflows without an open row. */
export async function stuckWorkOf({ database, temporalAddress }: WholeService): Promise<string[]> {
  const lazy = lazyTemporalClient(temporalSettings({ TEMPORAL_ADDRESS: temporalAddress }));
  try {
    const { rowsWithoutWorkflow, workflowsWithoutRow } = await findStuckWork(database, lazy.client);
    const stuck = await Promise.all(
      workflowsWithoutRow.map(async (id) => `workflow without an open row: ${id}: ${await historyOf(lazy.client, id)}`),
    );
    return [...rowsWithoutWorkflow.map((id) => `open row without a workflow: ${id}`), ...stuck];
  } finally {
    await lazy.close();
  }
}

const OPEN_MAX = 5;
const OPEN_WORK = `
  SELECT 'account-connection/' || id AS workflow FROM accounts WHERE requested_change IS NOT NULL
  UNION ALL SELECT 'outgoing-transfer/' || id FROM outgoing_transfers
    WHERE status IN ('pending', 'processing', 'released') OR recall_status IN ('due', 'asked')
  UNION ALL SELECT 'incoming-transfer/' || id FROM incoming_transfers WHERE status IN ('pending', 'on-hold')
  LIMIT ${OPEN_MAX}`;

/** The last events of the workflows of some open rows. */
export async function historiesOfOpenWork({ database, temporalAddress }: WholeService): Promise<string[]> {
  const lazy = lazyTemporalClient(temporalSettings({ TEMPORAL_ADDRESS: temporalAddress }));
  try {
    const open = await database.reader.statement<{ workflow: string }>(OPEN_WORK, []);
    return await Promise.all(
      open.map(async ({ workflow }) => `${workflow}: ${await historyOf(lazy.client, workflow)}`),
    );
  } finally {
    await lazy.close();
  }
}

/** The end of a workflow's history, to explain a failure: the server ends with the test. */
async function historyOf(client: Client, id: string): Promise<string> {
  const history = await client.workflow.getHandle(id).fetchHistory();
  const events = (history.events ?? []).slice(-HISTORY_EVENTS_MAX);
  return events
    .map(({ eventType, eventTime, workflowTaskFailedEventAttributes: failed }) => {
      const at = new Date(Number(eventTime?.seconds ?? 0) * 1_000).toISOString().slice(11, 19);
      const type = enums.EventType[eventType ?? 0]?.replace('EVENT_TYPE_', '');
      const why = failed ? ` (${enums.WorkflowTaskFailedCause[failed.cause ?? 0]}: ${failed.failure?.message})` : '';
      return `${at} ${type}${why}`;
    })
    .join(', ');
}

type Counted = Omit<Unsettled, 'bankCallbacks' | 'stuckWork' | 'further'>;

export async function readUnsettled(
  service: WholeService,
  countFurther: CountOpen = async () => 0,
): Promise<Unsettled> {
  const [row] = await service.database.reader.statement<Counted>(UNSETTLED, []);
  if (row === undefined) throw new Error('no row');
  const answer = await fetch(`${service.sandboxUrl}/bank/callbacks`);
  const { pending }: Json = await answer.json();
  const settled = { ...row, bankCallbacks: pending, further: await countFurther(service) };
  // Temporal is queried last, and only if nothing else is open: its lists are expensive.
  if (Object.values(settled).some((count) => count > 0)) return { ...settled, stuckWork: 0 };
  return { ...settled, stuckWork: (await stuckWorkOf(service)).length };
}

/**
 * Cancels what would wait for ever (for its date or for funds), lets the load finish the rest, and waits until nothing is
 * under way. Returns the duration, or what is still open after `limitMs`.
 */
export async function untilSettled(
  service: WholeService,
  limitMs: number,
  finish: () => Promise<void>,
  countFurther?: CountOpen,
): Promise<{ readonly tookMs: number } | { readonly open: Unsettled }> {
  const beganAt = performance.now();
  let eventsBefore: number | null = null;
  for (;;) {
    await cancelWaiting(service);
    await finish();
    const eventCount = await countEvents(service);
    const open = await readUnsettled(service, countFurther);
    const tookMs = performance.now() - beganAt;
    const settled = Object.values(open).every((count) => count === 0);
    // The parts are queried one after the other, so work that moves between them (such as a bank's callback) can be
    // missed. It would record an event, so two consecutive readings must agree on the event count.
    if (settled && eventCount === eventsBefore) return { tookMs };
    eventsBefore = settled ? eventCount : null;
    if (tookMs > limitMs) return { open };
    await sleep(500);
  }
}

async function countEvents({ database }: WholeService): Promise<number> {
  const [row] = await database.reader.statement<{ eventCount: number }>(
    'SELECT coalesce(sum(entry_count), 0)::integer AS "eventCount" FROM events',
    [],
  );
  return row?.eventCount ?? 0;
}

async function cancelWaiting({ database, apiUrls, token }: WholeService): Promise<void> {
  const waiting = await database.reader.statement<{ id: string }>(
    `SELECT id FROM outgoing_transfers WHERE status = 'pending' AND waiting_for IN ('date', 'balance')`,
    [],
  );
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
  for (const { id } of waiting) {
    const response = await fetch(`${apiUrls[0]}/outgoing-transfers/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
  }
}

export interface Watch {
  /** Snapshots read, and totals among them that were wrong. */
  readonly reads: number;
  readonly wrong: readonly string[];
  stop(): Promise<void>;
}

const WATCH_INTERVAL_MS = 100;

/** Every currency sums to zero over all stored accounts, on one snapshot. */
const TOTALS = `SELECT currency, sum(minor)::text AS total FROM (
    SELECT currency, posted_minor AS minor FROM accounts
    UNION ALL SELECT currency, -amount_minor FROM postings WHERE debit_version IS NULL
    UNION ALL SELECT currency, amount_minor FROM postings WHERE credit_version IS NULL
  ) AS books GROUP BY currency HAVING sum(minor) <> 0
  UNION ALL SELECT 'below zero: ' || id, (posted_minor - reserved_minor)::text FROM accounts WHERE posted_minor < reserved_minor`;

/** Keeps summing all accounts, whatever else happens. A failed read, while Postgres is away, proves nothing. */
export function watchTotals(database: Database, intervalMs = WATCH_INTERVAL_MS): Watch {
  const watch = { reads: 0, wrong: [] as string[] };
  let stopping = false;
  const loop = (async () => {
    while (!stopping) {
      try {
        const rows = await database.reader.statement<{ currency: string; total: string }>(TOTALS, []);
        watch.reads += 1;
        for (const { currency, total } of rows) watch.wrong.push(`${currency} ${total}`);
      } catch {
        // Postgres was killed.
      }
      await sleep(intervalMs);
    }
  })();
  return {
    get reads() {
      return watch.reads;
    },
    get wrong() {
      return watch.wrong;
    },
    stop: async () => {
      stopping = true;
      await loop;
    },
  };
}
