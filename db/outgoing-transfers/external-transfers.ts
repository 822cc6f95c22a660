import { stringify } from 'lossless-json';
import type { AccountId, BeneficiaryBankAccountId, OutgoingTransferId } from '../../domain/frame/ids.ts';
import { batchedPerDatabase, fallBackToSingle } from '../driver/batcher.ts';
import type { CallLimits, Database } from '../driver/client.ts';
import { toWire } from '../driver/values.ts';
import { newEventRowId } from '../frame/events.ts';
import type { IdempotencyScope } from '../frame/idempotency-keys.ts';
import { ACCOUNT_FIELDS, type LockedAccount } from '../ledger/ledger.ts';
import { workflowIdOf, workOfNew } from './outgoing-transfers.ts';
import { type NewOutgoingTransfer, newRow, rowOf } from './rows.ts';
import { type BankAccountText, destinationOf, type TransferFacts } from './transfer-facts.ts';
import { withoutTransaction } from './without-transaction.ts';
import { advance, type OutgoingTransferRow, type TransferRules } from './work.ts';

/**
 * Transfers to the outside in two statements, which they share with others of the same moment: one reads what a request is
 * judged by, without locks; the other creates those for which it still holds under the locks. Whatever does not fit goes
 * the slow way, in a transaction of its own, which decides and refuses.
 */

interface Request {
  readonly scope: IdempotencyScope | null;
  readonly sourceAccountId: AccountId;
  readonly bankAccountId: BeneficiaryBankAccountId;
}

type Nullable<Fields> = { readonly [Field in keyof Fields]: Fields[Field] | null };

interface FactsRow extends Nullable<LockedAccount> {
  readonly isKeyTaken: boolean;
  readonly now: Date;
  readonly bankAccount: BankAccountText | null;
}

// Planned once, and not anew for each request: behind sub-selects no plan sees how many there are (see `LISTED_IDS`), and each
// LIMIT keeps it to looking one row up per request, however small its tables were when it was made.
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
      FROM accounts a LEFT JOIN clients c ON c.id = a.client_id WHERE a.id = request.source_id LIMIT 1
    ) AS account ON true
    LEFT JOIN LATERAL (
      SELECT shown FROM destination_bank_accounts WHERE id = request.bank_account_id LIMIT 1
    ) AS destination ON true
  ORDER BY request.number`;

/** What a request is judged by, as it is at this moment; null when its key is taken. */
export async function readTransferFacts(database: Database, request: Request): Promise<TransferFacts | null> {
  const row = await readTogether(database, request);
  if (row.isKeyTaken) return null;
  const account = accountOf(row);
  return {
    accounts: new Map(account === null ? [] : [[account.id, account]]),
    bankAccount: row.bankAccount === null ? null : destinationOf(row.bankAccount),
    now: row.now,
  };
}

const readTogether = batchedPerDatabase<Request, FactsRow>((database, requests) =>
  database.statement<FactsRow>(READ, [
    requests.map(({ scope }) => scope?.machineUserId ?? null),
    requests.map(({ scope }) => scope?.path ?? null),
    requests.map(({ scope }) => scope?.key ?? null),
    requests.map(({ sourceAccountId }) => sourceAccountId),
    requests.map(({ bankAccountId }) => bankAccountId),
  ]),
);

function accountOf(row: FactsRow): LockedAccount | null {
  const {
    id,
    clientId,
    clientStatus,
    status,
    currency,
    country,
    provider,
    method,
    closing,
    postedMinor,
    reservedMinor,
    partyAccountId,
  } = row;
  if (id === null || clientId === null || clientStatus === null || status === null || currency === null) return null;
  if (country === null || provider === null || method === null || closing === null) return null;
  if (postedMinor === null || reservedMinor === null) return null;
  const state = { status, closing, postedMinor, reservedMinor, partyAccountId };
  return { id, clientId, clientStatus, currency, country, provider, method, ...state };
}

/** The answer to a transfer's request, which is stored with it under the request's key. */
export interface StoredAnswer {
  readonly claim: IdempotencyScope & { readonly requestHash: Buffer };
  readonly status: number;
  readonly body: string;
}

interface Judged {
  readonly accountId: AccountId;
  readonly judged: Readonly<Record<string, unknown>>;
  readonly row: Readonly<Record<string, unknown>>;
}

const CREATE = `SELECT id FROM create_judged_transfers(before_deadline($3, $1::json), $2::json) AS id WHERE before_deadline($3)`;

/**
 * Stores a transfer to the outside with what has become of it at once, if that still holds under its account's lock and its
 * key is free. False: nothing was done, and it must be made in a transaction of its own.
 */
export async function createJudgedTransfer(
  database: Database,
  transfer: NewOutgoingTransfer,
  rules: TransferRules,
  account: LockedAccount,
  answer: StoredAnswer | null,
): Promise<boolean> {
  const decided = await withoutTransaction(async (tx) => {
    const work = workOfNew(tx, newRow(transfer), rules, new Map([[account.id, account]]));
    return { work, step: await advance(work) };
  });
  if (decided === null) return false;
  const { work, step } = decided;
  // Who waits for money must be seen by the next credit, and marks the account.
  if (work.transfer.waitingFor === 'balance' || work.transfer.status === 'failed') return false;
  const workflowId = step.do === 'end' ? null : workflowIdOf(work.transfer.id);
  const created = await createTogether(database, {
    accountId: account.id,
    judged: {
      ...answerInSql(work.transfer, answer),
      event_id: newEventRowId(),
      entries: work.entries,
      workflow_id: workflowId,
      account_status: account.status,
      reserved_minor: work.transfer.reservedMinor.toString(),
    },
    row: rowOf(work),
  });
  if (created && workflowId !== null) database.noteWakeup();
  return created;
}

function answerInSql({ id, accountId, createdBy, createdAt }: OutgoingTransferRow, answer: StoredAnswer | null) {
  return {
    id,
    account_id: accountId,
    machine_user_id: createdBy,
    created_at: createdAt,
    path: answer?.claim.path,
    key: answer?.claim.key,
    request_hash: toWire(answer?.claim.requestHash),
    response_status: answer?.status,
    response_body: answer?.body,
  };
}

const createTogether = batchedPerDatabase<Judged, boolean>(
  (database, all, limits) =>
    fallBackToSingle(database, 'create_judged_transfers', all, () => create(database, all, limits), false),
  ({ accountId }) => [accountId],
);

async function create(database: Database, all: readonly Judged[], limits: CallLimits): Promise<readonly boolean[]> {
  const judgedRows = [stringify(all.map(({ judged }) => judged)), JSON.stringify(all.map(({ row }) => row))];
  const rows = await database.write<{ id: OutgoingTransferId }>(CREATE, judgedRows, limits);
  const created = new Set<unknown>(rows.map(({ id }) => id));
  return all.map(({ judged }) => created.has(judged.id));
}
