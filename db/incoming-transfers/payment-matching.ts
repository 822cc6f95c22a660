import { normalNumber, normalRoutingCode } from '../../domain/accounts/bank-accounts.ts';
import { normalIban } from '../../domain/accounts/identifiers/ibans.ts';
import { ledgerNumbersIn } from '../../domain/common/numbers/numbers.ts';
import type { MatchedReceiver, NamedReceiver } from '../../domain/incoming-transfers/arrivals.ts';
import {
  chooseReceiver,
  type PartyAccount,
  type PaymentMatch,
  type ReceiverCandidate,
} from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { UnmatchedReceiver } from '../../domain/incoming-transfers/near-accounts.ts';
import { batchedPerDatabase, fallBackToSingle } from '../batching/batcher.ts';
import { ACCOUNT_FIELDS, lockAccounts, type PerhapsAccount } from '../ledger/ledger.ts';
import { awaitMigrations } from '../providers/callbacks.ts';
import type { Reader, Transaction } from '../query/database.ts';

// A number may be reused: an open account wins over a closed one.
export const IS_OPEN = `status NOT IN ('closed', 'declined')`;

/**
 * Matches a payment to an account: by IBAN, then by account number and routing code, then by a ledger number in the
 * reference. A sub-account shares its main account's bank details; its own ledger number identifies it. The same holds for a number
 * that several open accounts share, such as a pooled account's.
 */
export async function matchPayment(reader: Reader, payment: NamedReceiver): Promise<PaymentMatch> {
  const [row] = await reader.statement<Candidates>(MATCH, wireOf([payment]));
  return chosenFrom(row);
}

/**
 * `matchPayment` outside of transactions; concurrent payments share a statement. Also returns the account that the bank details
 * identify, the usual receiver. Null: the statement failed, as with text that Postgres cannot hold, and each payment must be
 * matched on its own.
 */
export const matchBatched = batchedPerDatabase<NamedReceiver, Matched | null>((database, payments) =>
  fallBackToSingle<NamedReceiver, Matched | null>(
    database,
    'match_payments',
    payments,
    async () => {
      const rows = await database.statement<Candidates>(MATCH, wireOf(payments));
      return rows.map((row) => ({ found: chosenFrom(row), row }));
    },
    null,
  ),
);

interface Matched {
  readonly found: PaymentMatch;
  readonly row: ReceiverRow;
}

/** An account as the receiver of money, as of now; all fields but the time are null if there is none. */
export type ReceiverRow = PerhapsAccount & PartyAccount & { readonly now: Date };

/** One look-up of an account for each row of the query, by the same plan however few accounts there are. */
export function receiverOf(id: string): string {
  return `LEFT JOIN LATERAL (
    SELECT ${ACCOUNT_FIELDS}, a.alias, a.ledger_number AS "ledgerNumber",
      a.account_number AS "accountNumber", a.iban, a.routing_codes AS "routingCodes"
    FROM payment_accounts a WHERE a.id = ${id} LIMIT 1
  ) AS receiver ON true`;
}

interface Candidates extends ReceiverRow {
  readonly named: readonly ReceiverCandidate[];
  /** Several open accounts have the payment's account number, and none its IBAN. */
  readonly isShared: boolean;
}

function chosenFrom(row: Candidates | undefined): PaymentMatch {
  if (row === undefined) throw new Error('a payment got no candidates');
  const chosen = chooseReceiver(row.id, row.named);
  return chosen.match === 'none' && row.isShared ? { match: 'ambiguous' } : chosen;
}

// LIMIT keeps the plan to one look-up per payment, however few accounts there are when it is made.
const BY_IBAN = `
  SELECT id FROM accounts
  WHERE provider = payment.provider AND currency = payment.currency AND main_account_id IS NULL AND iban = payment.iban
  ORDER BY ${IS_OPEN} DESC, id DESC LIMIT 1`;

/** The account with a routing code of the payment, and no other national one; none if two open ones have it. A BIC has two spellings. */
const BY_NUMBER = `
  SELECT count(*) > 1 AND bool_and(is_open) AS is_shared, (array_agg(id ORDER BY is_open DESC, id DESC))[1] AS id
  FROM (
    SELECT id, ${IS_OPEN} AS is_open FROM accounts CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE routing_codes ->> code.key = code.value) AS agreeing,
        count(*) FILTER (WHERE routing_codes ->> code.key <> code.value AND code.key <> 'bic') AS contradicting
      FROM json_each_text(payment.routing_codes) AS code
    ) AS codes
    WHERE provider = payment.provider AND currency = payment.currency AND main_account_id IS NULL
      AND account_number = payment.account_number AND codes.agreeing > 0 AND codes.contradicting = 0
    ORDER BY is_open DESC, id DESC LIMIT 2
  ) AS two`;

const MATCH = `
  SELECT service_now() AS now, receiver.*, coalesce(by_ledger_number.named, '[]') AS named,
    by_iban.id IS NULL AND coalesce(by_number.is_shared, false) AS "isShared"
  FROM json_array_elements((SELECT $1::json)) WITH ORDINALITY AS sent (value, place)
    CROSS JOIN LATERAL json_to_record(sent.value) AS payment (
      provider text, currency text, iban text, account_number text, routing_codes json, ledger_numbers text[])
    LEFT JOIN LATERAL (${BY_IBAN}) AS by_iban ON true
    CROSS JOIN LATERAL (${BY_NUMBER}) AS by_number
    LEFT JOIN LATERAL (
      SELECT json_agg(json_build_object('id', id, 'mainAccountId', main_account_id, 'status', status)) AS named
      FROM accounts
      WHERE provider = payment.provider AND currency = payment.currency AND ledger_number = ANY (payment.ledger_numbers)
    ) AS by_ledger_number ON true
    ${receiverOf('coalesce(by_iban.id, CASE WHEN NOT by_number.is_shared THEN by_number.id END)')}
  ORDER BY sent.place`;

/** Normalized as accounts store them: a bank may write a sort code with dashes, or a number of seven or nine digits. */
export function normalReceiver({ provider, currency, receiver, remittanceText }: NamedReceiver): UnmatchedReceiver {
  const { iban, accountNumber, routingCodes } = receiver;
  const codes = Object.fromEntries(
    Object.entries(routingCodes).map(([kind, code]) => [kind, normalRoutingCode(kind, code) ?? code]),
  );
  const country = routingCodes['sort-code'] === undefined ? '' : 'GB';
  const number = accountNumber === null ? null : normalNumber(accountNumber, codes, { currency, country });
  return {
    provider,
    currency,
    iban: iban === null ? null : normalIban(iban),
    ...(number ?? { accountNumber, routingCodes: codes }),
    ledgerNumbers: ledgerNumbersIn(remittanceText ?? ''),
  };
}

function wireOf(payments: readonly NamedReceiver[]): readonly unknown[] {
  const wire = payments.map(normalReceiver).map(({ accountNumber, routingCodes, ledgerNumbers, ...same }) => ({
    ...same,
    account_number: accountNumber,
    routing_codes: routingCodes,
    ledger_numbers: ledgerNumbers,
  }));
  return [JSON.stringify(wire)];
}

/** The matched account, locked, or the reason why an operator must match the payment. */
export async function lockReceiver(tx: Transaction, payment: NamedReceiver): Promise<MatchedReceiver> {
  let found = await matchPayment(tx, payment);
  if (found.match !== 'one') {
    await awaitMigrations(tx, payment.provider);
    found = await matchPayment(tx, payment);
  }
  if (found.match !== 'one') {
    return { account: null, hold: found.match === 'none' ? 'no-match' : 'ambiguous-match' };
  }
  const { accountId, mainAccountId } = found;
  const accounts = await lockAccounts(tx, mainAccountId === null ? [accountId] : [mainAccountId, accountId]);
  const account = accounts.get(accountId) ?? null;
  // A sub-account may have closed while this transaction waited for its lock.
  const closed = account?.status === 'closed' || account?.status === 'declined';
  return { account: closed && mainAccountId !== null ? (accounts.get(mainAccountId) ?? null) : account, hold: null };
}
