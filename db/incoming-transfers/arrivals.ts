import { DomainError } from '../../domain/common/errors.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import {
  type ArrivalChange,
  type ArrivedMoney,
  checkReported,
  moneyOfPayment,
  moneyOfReport,
  type ReceivedPayment,
  type ReportedCredit,
} from '../../domain/incoming-transfers/arrivals.ts';
import type { PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { ClaimedKey } from '../../domain/ledger/changes.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import { partyAccountOf } from '../accounts/party-accounts.ts';
import { batchedPerDatabase } from '../batching/batcher.ts';
import type { Initiator } from '../common/audit-entries.ts';
import { accountOf } from '../ledger/ledger.ts';
import type { Database } from '../query/database.ts';
import { applyWithoutLocks, type ChangeOrigin, type StoredCallback } from '../transfers/transfer-changes.ts';
import { matchBatched, type ReceiverRow, receiverOf } from './payment-matching.ts';
import { type ArrivalRules, decideArrivalOf, reportEntry } from './provisioned-account-credits.ts';

/**
 * Records money that arrives by statements that concurrent arrivals share. They read the account without locks, and then lock it and
 * record what was decided, if that still holds. Any other case falls back to a transaction of its own, which decides under locks
 * by the same functions, and can reject (`provisioned-account-credits.ts`).
 */

// One generic plan serves all batches, as for the creation of transfers.
const READ = `
  SELECT service_now() AS now, receiver.*
  FROM unnest((SELECT $1::uuid[])) WITH ORDINALITY AS request (account_id, place)
    ${receiverOf('request.account_id')}
  ORDER BY request.place`;

const readBatched = batchedPerDatabase<AccountId, ReceiverRow>((database, ids) =>
  database.statement<ReceiverRow>(READ, [ids]),
);

export interface Receiver {
  readonly account: LockedAccount;
  readonly shown: PartyAccount;
  readonly now: Date;
}

function receiverFrom(row: ReceiverRow): Receiver | null {
  const account = accountOf(row);
  return account === null ? null : { account, shown: partyAccountOf(row), now: row.now };
}

/** An account as the receiver of money; callers of the same moment share the statement. Null: there is none. */
export async function readReceiver(database: Database, id: AccountId): Promise<Receiver | null> {
  return receiverFrom(await readBatched(database, id));
}

/** A change that was decided without locks. */
export type DecidedArrival = ArrivalChange & { readonly now: Date };

/** Decides a caller's report of new money. Null: it must be recorded, repeated or rejected under locks. */
export async function decideReport(
  database: Database,
  reported: ReportedCredit,
  rules: ArrivalRules,
): Promise<DecidedArrival | null> {
  const receiver = await readReceiver(database, reported.accountId);
  if (receiver === null || !fits(reported, receiver.account)) return null;
  return decide(moneyOfReport(reported, receiver.account, receiver.shown), receiver, rules);
}

/** Records what was decided, under the request's key. False: nothing was done, and the locked path must do it. */
export function recordReport(
  database: Database,
  decided: DecidedArrival,
  initiator: Initiator,
  key: ClaimedKey | null,
): Promise<boolean> {
  return record(database, decided, { key, auditEntry: reportEntry(decided.credit, initiator) });
}

function decide(money: ArrivedMoney, { account, now }: Receiver, rules: ArrivalRules): DecidedArrival {
  return { ...decideArrivalOf(money, { account, hold: null }, rules, now), now };
}

// Otherwise the locked path rejects it.
function fits(reported: ReportedCredit, account: LockedAccount): boolean {
  try {
    checkReported(reported, account);
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

/**
 * Records a callback's payment that its provider does not hold, for the one account that it names, which is not a sub-account. False:
 * nothing was done, and the callback must be applied under locks.
 */
export async function receiveWithoutLocks(
  database: Database,
  callback: StoredCallback,
  payment: ReceivedPayment,
  rules: ArrivalRules,
): Promise<boolean> {
  if (payment.held) return false;
  const matched = await matchBatched(database, payment);
  if (matched?.found.match !== 'one' || matched.found.mainAccountId !== null) return false;
  const { found, row } = matched;
  const receiver = receiverFrom(found.accountId === row.id ? row : await readBatched(database, found.accountId));
  if (receiver === null) return false;
  return record(database, decide(moneyOfPayment(payment, receiver.shown), receiver, rules), { callback });
}

async function record(database: Database, decided: DecidedArrival, origin: ChangeOrigin): Promise<boolean> {
  // A request that repeats a key may differ: the locked path answers with what it stored.
  return (await applyWithoutLocks(database, { ...decided, outgoing: null }, origin)).outcome === 'applied';
}
