import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { errorMessage } from '../../cli/common/actionable-error.ts';
import { isAlive } from '../../cli/common/processes.ts';
import type { RunningTemporal } from './temporal-server.ts';

const INTERVAL_MS = 5_000;
const ANSWER_LIMIT_MS = 10_000;
/** This many in a row, because one such answer may belong to a single call whose deadline has passed. */
const STUCK_ANSWERS = 3;
/** SQLite's answer to every call after one was interrupted: after a pause of the machine, or under heavy load. */
const STUCK = /interrupted \(9\)/;

/**
 * Kills the local Temporal server when it runs but no longer answers; ends with it. The server's state stays in its file.
 * `ask` makes one call.
 */
export async function killWhenStuck(
  { process, kill }: Pick<RunningTemporal, 'process' | 'kill'>,
  ask: () => Promise<unknown>,
  say: (line: string) => void,
  intervalMs = INTERVAL_MS,
): Promise<void> {
  let stuckAnswers = 0;
  while (stuckAnswers < STUCK_ANSWERS) {
    await sleep(intervalMs, undefined, { ref: false });
    if (!isAlive(process)) return;
    const reason = await ask().then(() => '', errorMessage);
    stuckAnswers = STUCK.test(reason) ? stuckAnswers + 1 : 0;
  }
  say('temporal runs, but its database fails every call; ending it.');
  await kill();
}

/** One call that Temporal answers from its database. */
export async function askTemporal({ address, namespace }: RunningTemporal): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: ANSWER_LIMIT_MS, interceptors: [] });
  try {
    await connection.withDeadline(Date.now() + ANSWER_LIMIT_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } finally {
    await connection.close();
  }
}
