import { setTimeout as sleep } from 'node:timers/promises';
import type { CallLimits, Transaction } from '../query/database.ts';
import type { Connection } from './connection.ts';
import type { Executor } from './executor.ts';
import { DatabaseUnavailable, isCancelled, isRepeatable } from './failures.ts';

/** `read`: the replica has answered. `behind`, `away`: the primary did in its place. */
export type ReplicaOutcome = 'read' | 'behind' | 'away';

export interface ReplicaOptions {
  readonly executor: Executor;
  /** What answers in its place. */
  readonly primary: Executor;
  /** How far the log of the primary is on its disk: no acknowledged write is beyond. */
  readonly readPosition: () => Promise<string>;
  readonly onRead: (outcome: ReplicaOutcome) => void;
}

/** How long a read waits for the replica. */
const WAIT_MS = 250;
const LOOK_EVERY_MS = 5;
/** How long all reads go to the primary after one found the replica unfit. */
const LEFT_ALONE_MS = 1_000;

// A former replica that takes writes now has a log of its own.
const HAS_REACHED = `SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END
  >= $1::pg_lsn AS "hasReached"`;

class ReplicaBehind extends Error {}

/**
 * A server that follows the one that takes writes. A caller never sees less there than on that one: each read waits until the replica
 * has replayed what was on the primary's disk when it began, and otherwise goes to the primary.
 */
export class Replica {
  readonly #options: ReplicaOptions;
  #whyLeft: Exclude<ReplicaOutcome, 'read'> = 'behind';
  #leftAloneUntil = Number.NEGATIVE_INFINITY;

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  read<Value>(run: (connection: Connection) => Promise<Value>, limits: CallLimits): Promise<Value> {
    const { executor, primary } = this.#options;
    return this.#do(
      (position) =>
        executor.read(async (connection) => {
          await reach(position, connection);
          return run(connection);
        }, limits),
      () => primary.read(run, limits),
    );
  }

  snapshot<T>(work: (tx: Transaction) => Promise<T>, caller: CallLimits | null): Promise<T> {
    const { executor, primary } = this.#options;
    return this.#do(
      (position) =>
        // Before its transaction, whose snapshot is as old as its first statement.
        executor.transaction(work, { snapshot: true, before: (connection) => reach(position, connection) }, caller),
      () => primary.transaction(work, { snapshot: true }, caller),
    );
  }

  async #do<Value>(onReplica: (position: string) => Promise<Value>, onPrimary: () => Promise<Value>): Promise<Value> {
    const { readPosition, onRead } = this.#options;
    if (performance.now() >= this.#leftAloneUntil) {
      const position = await readPosition();
      try {
        const value = await onReplica(position);
        onRead('read');
        return value;
      } catch (error) {
        const why = whyUnfit(error);
        if (why === null) throw error;
        this.#whyLeft = why;
        this.#leftAloneUntil = performance.now() + LEFT_ALONE_MS;
      }
    }
    onRead(this.#whyLeft);
    return onPrimary();
  }
}

/** Null for a failure that the primary would share: what is too slow here is too slow there. */
function whyUnfit(error: unknown): Exclude<ReplicaOutcome, 'read'> | null {
  // A conflict with what the replica replays ends a long read as a serialization failure.
  if (error instanceof ReplicaBehind || isRepeatable(error)) return 'behind';
  return error instanceof DatabaseUnavailable && !isCancelled(error) ? 'away' : null;
}

async function reach(position: string, connection: Connection): Promise<void> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    const [row] = await connection.run<{ hasReached: boolean }>(HAS_REACHED, [position]);
    if (row?.hasReached === true) return;
    if (performance.now() >= until) throw new ReplicaBehind();
    await sleep(LOOK_EVERY_MS);
  }
}
