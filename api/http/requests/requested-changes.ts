import type { Database, Transaction } from '../../../db/query/database.ts';
import {
  changeUnderLocks,
  decideWithoutLocks,
  type Presentation,
  type RequestedChange,
} from '../../../db/transfers/requested-changes.ts';
import type { ReadRows } from '../../../domain/transfers/guards.ts';
import type { IdempotencyClaim, RenderedAnswer } from '../route.ts';
import { claimedKey, writeInTransaction } from './idempotency.ts';

/** Applies a requested change of a transfer, without locks if that can be, with the key and the answer; or replays the stored answer. */
export async function changeIdempotently<Facts extends ReadRows, Result, Shown>(
  database: Database,
  claim: IdempotencyClaim | null,
  requested: RequestedChange<Facts, Result>,
  { read, answer }: Presentation<Result, Shown, RenderedAnswer>,
): Promise<RenderedAnswer> {
  const [decided, shown] = await Promise.all([decideWithoutLocks(database, requested), read(database.reader)]);
  if (decided !== null && shown !== null) {
    const rendered = answer(decided.result, shown);
    if (await decided.apply(claimedKey(claim, rendered))) return rendered;
  }
  const work = async (tx: Transaction): Promise<RenderedAnswer> => {
    // Its locks are sent first; that it does not exist is found by them.
    const changing = changeUnderLocks(tx, requested);
    const reading = read(tx);
    reading.catch(() => {});
    const result = await changing;
    const found = await reading;
    if (found === null) throw new Error('a transfer that was changed cannot be shown');
    return answer(result, found);
  };
  return writeInTransaction(database, claim, work, null);
}
