import type { AccountId, BeneficiaryBankAccountId } from '../../domain/common/ids.ts';
import { openInternalIncoming } from '../../domain/incoming-transfers/changes.ts';
import type { ClaimedKey } from '../../domain/ledger/changes.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import { decideCreation } from '../../domain/outgoing-transfers/changes.ts';
import {
  type NewOutgoingTransfer,
  newOutgoingTransfer,
  type OutgoingTransfer,
} from '../../domain/outgoing-transfers/rows.ts';
import type {
  TransferChange,
  TransferRules,
  TransferSituation,
} from '../../domain/outgoing-transfers/transfer-changes.ts';
import { batchedPerDatabase } from '../batching/batcher.ts';
import type { IdempotencyScope } from '../common/idempotency-keys.ts';
import { ACCOUNT_FIELDS, accountOf, type PerhapsAccount } from '../ledger/ledger.ts';
import type { Database, Transaction } from '../query/database.ts';
import { type DrawNumber, drawTransactionNumber } from '../transfers/transaction-numbers.ts';
import { applyUnderLocks, applyWithoutLocks } from '../transfers/transfer-changes.ts';
import { type BankAccountText, destinationOf, type TransferFacts } from './transfer-facts.ts';

/** The receiver's side of a new internal transfer. */
export interface Receiver {
  readonly account: LockedAccount;
  /** Whether incoming transfers are reviewed before they reach the account. */
  readonly isReviewed: boolean;
}

function situationOfNew(
  transfer: NewOutgoingTransfer,
  receiver: Receiver | null,
  accounts: ReadonlyMap<AccountId, LockedAccount>,
  rules: TransferRules,
  draw: DrawNumber = drawTransactionNumber,
): TransferSituation {
  const made = newOutgoingTransfer(transfer);
  return {
    before: null,
    returns: [],
    transfer: made,
    incoming: incomingOf(made, receiver, accounts, draw),
    accounts,
    mayBeAtBank: false,
    now: made.createdAt,
    rules,
  };
}

function incomingOf(
  made: OutgoingTransfer,
  receiver: Receiver | null,
  accounts: ReadonlyMap<AccountId, LockedAccount>,
  draw: DrawNumber,
): TransferSituation['incoming'] {
  const sender = accounts.get(made.accountId);
  if (receiver === null || sender === undefined) return null;
  const transactionNumber = draw('incoming-transfer', made.createdAt);
  return openInternalIncoming(made, {
    transactionNumber,
    sender,
    receiver: receiver.account,
    isReviewed: receiver.isReviewed,
  });
}

/**
 * Creates a transfer and advances it as far as possible. This transaction holds the locks of `accounts`. Returns the row as
 * created, which the caller sees; the commit confirms it.
 */
export function createOutgoingTransfer(
  tx: Transaction,
  transfer: NewOutgoingTransfer,
  receiver: Receiver | null,
  accounts: ReadonlyMap<AccountId, LockedAccount>,
  rules: TransferRules,
): OutgoingTransfer {
  const { created, change } = decideNewTransfer(transfer, receiver, accounts, rules);
  applyUnderLocks(tx, [change]);
  return created;
}

/** The row as created, and the change that creates it and advances it as far as possible. */
export function decideNewTransfer(
  transfer: NewOutgoingTransfer,
  receiver: Receiver | null,
  accounts: ReadonlyMap<AccountId, LockedAccount>,
  rules: TransferRules,
  draw?: DrawNumber,
): { readonly created: OutgoingTransfer; readonly change: TransferChange } {
  const situation = situationOfNew(transfer, receiver, accounts, rules, draw);
  return { created: situation.transfer, change: decideCreation(situation).change };
}

/**
 * Creates external transfers with two statements that concurrent requests share. The first reads the facts without locks;
 * the second locks, and creates each transfer whose facts still hold. All others fall back to a transaction of their own,
 * which decides under locks and can reject.
 */

interface Request {
  readonly scope: IdempotencyScope | null;
  readonly sourceAccountId: AccountId;
  readonly bankAccountId: BeneficiaryBankAccountId;
}

interface FactsRow extends PerhapsAccount {
  readonly isKeyTaken: boolean;
  readonly now: Date;
  readonly bankAccount: BankAccountText | null;
}

// One generic plan serves all batches: the sub-selects hide their size (see `LISTED_IDS`), and each LIMIT keeps the plan to one
// index look-up per request even if it was made while the tables were small.
const REQUESTED = ['uuid', 'text', 'text', 'uuid', 'uuid'].map((type, index) => `(SELECT $${index + 1}::${type}[])`);
const READ = `
  SELECT kept.key IS NOT NULL AS "isKeyTaken", service_now() AS now, account.*, destination.shown AS "bankAccount"
  FROM unnest(${REQUESTED}) WITH ORDINALITY AS request (machine_user_id, path, key, source_id, bank_account_id, number)
    LEFT JOIN LATERAL (
      SELECT key FROM idempotency_keys
      WHERE machine_user_id = request.machine_user_id AND method = 'POST' AND path = request.path AND key = request.key LIMIT 1
    ) AS kept ON true
    LEFT JOIN LATERAL (
      SELECT ${ACCOUNT_FIELDS}
      FROM payment_accounts a WHERE a.id = request.source_id LIMIT 1
    ) AS account ON true
    LEFT JOIN LATERAL (
      SELECT shown FROM destination_bank_accounts WHERE id = request.bank_account_id LIMIT 1
    ) AS destination ON true
  ORDER BY request.number`;

/** The facts for validating a request, as of now; null if its key is taken. */
export async function readTransferFacts(database: Database, request: Request): Promise<TransferFacts | null> {
  const row = await readBatched(database, request);
  if (row.isKeyTaken) return null;
  const account = accountOf(row);
  return {
    accounts: new Map(account === null ? [] : [[account.id, account]]),
    bankAccount: row.bankAccount === null ? null : destinationOf(row.bankAccount),
    now: row.now,
  };
}

const readBatched = batchedPerDatabase<Request, FactsRow>((database, requests) =>
  database.statement<FactsRow>(READ, [
    requests.map(({ scope }) => scope?.machineUserId ?? null),
    requests.map(({ scope }) => scope?.path ?? null),
    requests.map(({ scope }) => scope?.key ?? null),
    requests.map(({ sourceAccountId }) => sourceAccountId),
    requests.map(({ bankAccountId }) => bankAccountId),
  ]),
);

/**
 * Creates an external transfer and advances it as far as possible, provided that its key is free and the facts still hold
 * under the account's lock. False: nothing was done, and the transfer must be created under locks.
 */
export async function createWithoutLocks(
  database: Database,
  transfer: NewOutgoingTransfer,
  account: LockedAccount,
  rules: TransferRules,
  key: ClaimedKey | null,
): Promise<boolean> {
  const { change } = decideCreation(situationOfNew(transfer, null, new Map([[account.id, account]]), rules));
  const { waitingFor, status } = change.outgoing?.after ?? {};
  // A transfer that waits for money must mark its account under the account's lock, so that the next credit sees it.
  if (waitingFor === 'balance' || status === 'failed') return false;
  return (await applyWithoutLocks(database, change, { key })).outcome === 'applied';
}
