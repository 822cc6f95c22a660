import type { AccountId, BeneficiaryBankAccountId, ClientId, MachineUserId } from '../../domain/common/ids.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import { readClock } from '../common/clock.ts';
import { lockAccounts } from '../ledger/ledger.ts';
import { sendWithCommit, type Transaction } from '../query/database.ts';
import { LISTED_IDS } from '../query/values.ts';
import { type DrawNumber, drawFreeNumbers } from '../transfers/transaction-numbers.ts';
import { type BankAccountText, type DestinationBankAccount, destinationOf } from './transfer-facts.ts';

/** The keys of a batch's items: their references, in a space of their own for each machine user. */
const PATH = '/outgoing-transfers/batch/items';
const CREATED = 201;

export interface ItemKey {
  readonly reference: string;
  readonly requestHash: Buffer;
}

/** The first answer to an item, as text. */
export interface ItemAnswer extends ItemKey {
  readonly body: string;
}

/** The facts of a batch, with its keys claimed and its accounts locked; unknown ids are absent. */
export interface OpenedBatch {
  /** The references that were free and now belong to this transaction. */
  readonly claimed: ReadonlySet<string>;
  readonly answered: ReadonlyMap<string, ItemAnswer>;
  readonly accounts: ReadonlyMap<AccountId, LockedAccount>;
  readonly clientIds: ReadonlySet<ClientId>;
  readonly bankAccounts: ReadonlyMap<BeneficiaryBankAccountId, DestinationBankAccount>;
  readonly now: Date;
  /** Draws numbers that are free. */
  readonly draw: DrawNumber;
}

interface Wanted {
  readonly now: Date;
  readonly clients: readonly ClientId[];
  readonly accounts: readonly AccountId[];
  readonly bankAccounts: readonly BeneficiaryBankAccountId[];
}

// In order, so that two batches with the same references cannot wait for each other.
const CLAIM = `
  INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, created_at)
  SELECT $1::uuid, 'POST', $2::text, item.key, item.request_hash, service_now()
  FROM unnest($3::text[], $4::bytea[]) AS item (key, request_hash) ORDER BY item.key
  ON CONFLICT DO NOTHING RETURNING key`;
const OF_ITEMS = `machine_user_id = $1::uuid AND method = 'POST' AND path = $2::text AND key = ANY ((SELECT $3::text[])::text[])`;
const FIND = `
  SELECT key AS reference, request_hash AS "requestHash", response_body AS body FROM idempotency_keys
  WHERE ${OF_ITEMS} AND response_body IS NOT NULL`;
const STORE = `
  UPDATE idempotency_keys SET response_status = ${CREATED}, response_body = item.body
  FROM unnest($3::text[], $4::text[]) AS item (reference, body) WHERE ${OF_ITEMS} AND key = item.reference`;
const RELEASE = `DELETE FROM idempotency_keys WHERE ${OF_ITEMS} AND response_body IS NULL`;

const CLIENT_IDS = `SELECT id FROM clients WHERE id = ANY (${LISTED_IDS})`;
const BANK_ACCOUNTS = `SELECT shown FROM destination_bank_accounts WHERE id = ANY (${LISTED_IDS})`;

/**
 * Claims the keys, locks the accounts in the service's lock order and reads the facts, in one round trip. A second
 * statement looks for earlier answers: its snapshot must be taken after the claim has waited.
 */
export async function openBatch(
  tx: Transaction,
  machineUserId: MachineUserId,
  keys: readonly ItemKey[],
  ids: Wanted,
): Promise<OpenedBatch> {
  const references = keys.map(({ reference }) => reference);
  const hashes = keys.map(({ requestHash }) => requestHash);
  const [claimed, answered, accounts, clients, bankAccounts, now, draw] = await Promise.all([
    tx.statement<{ key: string }>(CLAIM, [machineUserId, PATH, references, hashes]),
    tx.statement<ItemAnswer>(FIND, [machineUserId, PATH, references]),
    lockAccounts(tx, ids.accounts),
    tx.statement<{ id: ClientId }>(CLIENT_IDS, [ids.clients]),
    tx.statement<{ shown: BankAccountText }>(BANK_ACCOUNTS, [ids.bankAccounts]),
    readClock(tx),
    drawFreeNumbers(tx, keys.length, ids.now),
  ]);
  return {
    claimed: new Set(claimed.map(({ key }) => key)),
    answered: new Map(answered.map((answer) => [answer.reference, answer])),
    accounts,
    clientIds: new Set(clients.map(({ id }) => id)),
    bankAccounts: new Map(bankAccounts.map(({ shown }) => [shown.id, destinationOf(shown)])),
    now,
    draw,
  };
}

/** Stores the answers to created items, and releases the keys of rejected ones. The commit confirms both. */
export function closeBatch(
  tx: Transaction,
  machineUserId: MachineUserId,
  created: readonly Pick<ItemAnswer, 'reference' | 'body'>[],
  rejected: readonly string[],
): void {
  if (created.length > 0) {
    const references = created.map(({ reference }) => reference);
    const bodies = created.map(({ body }) => body);
    sendWithCommit(tx.statement(STORE, [machineUserId, PATH, references, bodies]));
  }
  if (rejected.length > 0) sendWithCommit(tx.statement(RELEASE, [machineUserId, PATH, rejected]));
}
