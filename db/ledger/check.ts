import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Database, Reader, Transaction } from '../query/database.ts';

/** A breach of one ledger rule. */
export interface Violation {
  readonly rule: string;
  readonly subject: string;
  readonly expected: string;
  readonly actual: string;
}

/** Limits memory; more breaches of one rule add no information. */
const VIOLATIONS_MAX = 1_000;

const INVARIANTS = readSql('invariants.sql')
  .split(/;\n/)
  .filter((statement) => statement.trim() !== '')
  .map((statement) => `SELECT * FROM (${statement}\n) AS violation LIMIT ${VIOLATIONS_MAX}`);
const INVARIANTS_SINCE = `SELECT * FROM (${readSql('invariants-since.sql')}) AS violation LIMIT ${VIOLATIONS_MAX}`;

const ALL_AT_ONCE = INVARIANTS.map((statement) => `(${statement})`).join('\nUNION ALL\n');

/** Checking years of postings takes minutes; a check that reaches this deadline is stuck. */
const FULL_CHECK_DEADLINE_MS = 6 * 3_600_000;
/** The first incremental check covers everything. */
const CHECK_SINCE_DEADLINE_MS = 3_600_000;

/** For sorting and grouping millions of rows; each running statement takes up to twice as much. */
const WORK_MEMORY = '256MB';

/** Arbitrary, but unique among the advisory locks of this database. */
const CHECK_LOCK = 7_423_019;

function readSql(name: string): string {
  return readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8');
}

/** Checks the whole ledger on one snapshot; an empty result means that every invariant holds. For small ledgers. */
export async function checkLedger(reader: Reader): Promise<readonly Violation[]> {
  return reader.statement<Violation>(ALL_AT_ONCE, []);
}

/**
 * As checkLedger, for ledgers of any size and under a deadline of its own: two separate connections share the statements and
 * one snapshot. Says after each rule how many are checked.
 */
export async function checkWholeLedger(
  database: Database,
  deadlineMs = FULL_CHECK_DEADLINE_MS,
  progressed: (done: number, total: number) => void = () => undefined,
): Promise<readonly Violation[]> {
  const [one, other] = [database.apart({ deadlineMs }), database.apart({ deadlineMs })];
  try {
    return await onOneSnapshot(one, async (tx) => {
      const [exported] = await tx.statement<{ snapshot: string }>('SELECT pg_export_snapshot() AS snapshot', []);
      if (exported === undefined) throw new Error('Postgres exported no snapshot');
      const waiting = [...INVARIANTS];
      const violations: Violation[] = [];
      let done = 0;
      const takeTurns = async (turn: Transaction): Promise<void> => {
        // No parallel workers: two connections are enough, and each worker would build its own hash table of nearly all
        // groups.
        await turn.statement('SET LOCAL max_parallel_workers_per_gather = 0', []);
        for (let statement = waiting.shift(); statement !== undefined; statement = waiting.shift()) {
          try {
            violations.push(...(await turn.statement<Violation>(statement, [])));
            done += 1;
            progressed(done, INVARIANTS.length);
          } catch (error) {
            // The transaction may be retried, which must not skip this statement.
            waiting.unshift(statement);
            throw error;
          }
        }
      };
      await Promise.all([takeTurns(tx), onOneSnapshot(other, takeTurns, exported.snapshot)]);
      return violations;
    });
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
}

/** The breaches in everything recorded since the last checkpoint. */
export async function findViolationsSince(reader: Reader): Promise<readonly Violation[]> {
  return reader.statement<Violation>(INVARIANTS_SINCE, []);
}

/**
 * Checks everything recorded since the last clean check and, if that is clean too, moves the checkpoint. Breaches therefore
 * show up again until a person resolves them; their number is noted for metrics. Null: another process is checking.
 */
export async function checkLedgerSince(
  database: Database,
  deadlineMs = CHECK_SINCE_DEADLINE_MS,
): Promise<readonly Violation[] | null> {
  const apart = database.apart({ deadlineMs });
  const check = async (tx: Transaction): Promise<readonly Violation[] | null> => {
    const [lock] = await tx.statement<{ granted: boolean }>('SELECT pg_try_advisory_xact_lock($1) AS granted', [
      CHECK_LOCK,
    ]);
    if (lock?.granted !== true) return null;
    const violations = await findViolationsSince(tx);
    if (violations.length > 0) {
      await tx.statement(NOTE_VIOLATIONS, [violations.length]);
      return violations;
    }
    await tx.statement(NOTE_ACCOUNTS, []);
    await tx.statement(NOTE_CHECK, []);
    return violations;
  };
  try {
    return await onOneSnapshot(apart, check);
  } finally {
    await apart.close();
  }
}

const NOTE_ACCOUNTS = `
  INSERT INTO ledger_checked_accounts (account_id, version, balance_minor, last_entry_at)
  SELECT account.id, account.version, account.posted_minor, account.last_entry_at
  FROM accounts AS account LEFT JOIN ledger_checked_accounts AS checked ON checked.account_id = account.id
  WHERE account.version <> coalesce(checked.version, 0)
  ON CONFLICT (account_id) DO UPDATE SET version = excluded.version, balance_minor = excluded.balance_minor, last_entry_at = excluded.last_entry_at`;

const NOTE_CHECK = `
  UPDATE ledger_checks SET checked_at = service_now(), event_position = (SELECT last_position FROM event_sequencer)`;

const NOTE_VIOLATIONS = 'UPDATE ledger_checks SET violated_at = service_now(), violation_count = $1';

export interface LedgerCheckResult {
  /** When the last incremental check ended; 1970 if there was none. */
  readonly endedAt: Date;
  readonly violationCount: number;
}

/** The result of the last incremental check, by any process. */
export async function readLastLedgerCheck(reader: Reader): Promise<LedgerCheckResult> {
  const [row] = await reader.statement<LedgerCheckResult>(LAST_CHECK, []);
  if (row === undefined) throw new Error('ledger_checks has no row');
  return row;
}

const LAST_CHECK = `
  SELECT greatest(checked_at, violated_at, 'epoch') AS "endedAt",
    CASE WHEN violated_at > checked_at THEN violation_count ELSE 0 END AS "violationCount" FROM ledger_checks`;

/**
 * Runs `work` on one snapshot: the named one, which another transaction exported, or its own. A missed deadline ends
 * only the connections of `apart`; the service keeps its pool.
 */
async function onOneSnapshot<T>(apart: Database, work: (tx: Transaction) => Promise<T>, snapshot?: string): Promise<T> {
  return apart.transaction(async (tx) => {
    await tx.statement('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ', []);
    if (snapshot !== undefined) await tx.statement(`SET TRANSACTION SNAPSHOT '${snapshot}'`, []);
    await tx.statement(`SET LOCAL work_mem = '${WORK_MEMORY}'`, []);
    return work(tx);
  });
}
