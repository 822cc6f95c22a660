import type { NamedReceiver } from '../../domain/incoming-transfers/arrivals.ts';
import type { NearAccount, UnmatchedReceiver } from '../../domain/incoming-transfers/near-accounts.ts';
import type { Reader } from '../query/database.ts';
import { IS_OPEN, normalReceiver } from './payment-matching.ts';

const NEAR_MAX = 10;

// Thousands may share a number, such as a pooled account's: what tells an account apart counts before what many share.
const IS_NAMED = 'ledger_number = ANY ($3::text[])';
const IS_THERE = 'provider = $4 AND currency = $5';
const EVIDENCE = `CASE
  WHEN ${IS_NAMED} AND ${IS_THERE} THEN 0
  WHEN main_account_id IS NULL AND iban = $1 AND ${IS_THERE} THEN 1
  WHEN main_account_id IS NULL AND ${IS_THERE} THEN 2
  WHEN ${IS_NAMED} THEN 3
  WHEN main_account_id IS NULL THEN 4
  ELSE 5 END`;

const NEAR = `
  SELECT id, main_account_id AS "mainAccountId", status, provider, currency, iban, account_number AS "accountNumber",
    routing_codes AS "routingCodes", ledger_number AS "ledgerNumber"
  FROM accounts WHERE iban = $1 OR account_number = $2 OR ${IS_NAMED}
  ORDER BY ${EVIDENCE}, ${IS_OPEN} DESC, id LIMIT ${NEAR_MAX + 1}`;

/**
 * Accounts that come near a payment that matched none: with its IBAN, its account number, or a ledger number in its reference. The best
 * evidence comes first.
 */
export async function findNearAccounts(
  reader: Reader,
  payment: NamedReceiver,
): Promise<{ readonly receiver: UnmatchedReceiver; readonly near: readonly NearAccount[]; readonly areMore: boolean }> {
  const receiver = normalReceiver(payment);
  const { iban, accountNumber, ledgerNumbers, provider, currency } = receiver;
  const params = [iban, accountNumber, ledgerNumbers, provider, currency];
  const found = await reader.statement<NearAccount>(NEAR, params);
  return { receiver, near: found.slice(0, NEAR_MAX), areMore: found.length > NEAR_MAX };
}

/** Whose a near account is, and what of its past speaks for it. */
export interface NearHolder {
  readonly id: string;
  readonly clientId: string;
  readonly accountHolderName: string;
  /** How many of its newest payments in came from the same payer. */
  readonly earlierPayments: number;
}

/** How many of an account's newest payments in are looked at. */
export const EARLIER_PAYMENTS_MAX = 200;

const HOLDERS = `
  SELECT id, client_id AS "clientId", account_holder_name AS "accountHolderName", (
      SELECT count(*)::integer FROM (
        SELECT sender_name, sender_account, status FROM incoming_transfers WHERE account_id = accounts.id ORDER BY id DESC LIMIT ${EARLIER_PAYMENTS_MAX}
      ) AS recent WHERE status = 'completed' AND (sender_account ->> 'iban' = $2 OR sender_account ->> 'accountNumber' = $3
        OR lower(sender_name) = lower($4))
    ) AS "earlierPayments"
  FROM accounts WHERE id = ANY ($1::uuid[])`;

/** The payer's account and name, as the payment gives them. */
export interface Payer {
  readonly senderName: string | null;
  readonly senderAccount: { readonly iban: string | null; readonly accountNumber: string | null } | null;
}

export async function readNearHolders(
  reader: Reader,
  accountIds: readonly string[],
  { senderName, senderAccount }: Payer,
): Promise<ReadonlyMap<string, NearHolder>> {
  if (accountIds.length === 0) return new Map();
  const payer = [senderAccount?.iban ?? null, senderAccount?.accountNumber ?? null, senderName];
  const rows = await reader.statement<NearHolder>(HOLDERS, [accountIds, ...payer]);
  return new Map(rows.map((row) => [row.id, row]));
}
