import { Context } from '@temporalio/activity';

const HEARTBEAT_INTERVAL_MS = 2_500;

/**
 * Runs an external call with heartbeats, so that another worker takes over within seconds of a crash. The signal
 * aborts when the worker shuts down or the workflow is gone; every fetch must honour it.
 */
export async function whileHeartbeating<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), HEARTBEAT_INTERVAL_MS);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(beat);
  }
}
