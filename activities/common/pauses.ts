import { setImmediate as pause } from 'node:timers/promises';

/** Does long work in pieces: after each, the process does what else it has to. */
export async function withPauses<Result>(work: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await pause();
  }
}
