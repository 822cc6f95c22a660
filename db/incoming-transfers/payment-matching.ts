import { and, eq, type SQL, sql } from 'drizzle-orm';
import { normalAccountNumber, normalIban, normalRoutingCode } from '../../domain/accounts/bank-accounts.ts';
import type { AccountId } from '../../domain/frame/ids.ts';
import { ledgerNumbersIn } from '../../domain/frame/numbers.ts';
import {
  chooseReceiver,
  type HoldReason,
  type PaymentMatch,
  type ReceiverCandidate,
} from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { accounts } from '../frame/schema.ts';
import { lockAccounts } from '../ledger/ledger.ts';
import { awaitMigrations } from '../providers/callbacks.ts';

/** The payer's description of the receiver. Any part may be missing or wrong. */
export interface NamedReceiver {
  readonly provider: string;
  readonly currency: string;
  readonly receiver: {
    readonly iban: string | null;
    readonly accountNumber: string | null;
    readonly routingCodes: Readonly<Record<string, string>>;
  };
  readonly remittanceText: string | null;
}

// A number may be reused: an open account wins over a closed one.
const OPEN_FIRST = sql`status IN ('closed', 'declined'), id DESC`;

/**
 * Matches a payment to an account: by IBAN, then by account number and routing code, then by a ledger number in the
 * reference. A sub-account shares its main account's bank details; its own ledger number identifies it.
 */
export async function matchPayment(reader: Reader, payment: NamedReceiver): Promise<PaymentMatch> {
  const main = await findByBankDetails(reader, payment);
  const named = await listByLedgerNumbers(reader, payment);
  return chooseReceiver(main, named);
}

async function findByBankDetails(reader: Reader, payment: NamedReceiver): Promise<AccountId | null> {
  const { receiver } = payment;
  const find = async (condition: SQL): Promise<AccountId | null> => {
    const [row] = await reader.execute<{ id: AccountId }>(sql`
      SELECT id FROM accounts WHERE provider = ${payment.provider} AND currency = ${payment.currency}
        AND main_account_id IS NULL AND ${condition}
      ORDER BY ${OPEN_FIRST} LIMIT 1`);
    return row?.id ?? null;
  };
  const iban = receiver.iban === null ? null : normalIban(receiver.iban);
  const byIban = iban === null ? null : await find(sql`iban = ${iban}`);
  if (byIban !== null) return byIban;
  // Normalized as accounts store them: a bank may write a sort code with dashes, or a number of seven digits.
  const codes = Object.entries(receiver.routingCodes).map(([kind, code]) => [
    kind,
    normalRoutingCode(kind, code) ?? code,
  ]);
  if (receiver.accountNumber === null || codes.length === 0) return null;
  const anyCode = sql.join(
    codes.map(([kind, code]) => sql`routing_codes ->> ${kind} = ${code}`),
    sql` OR `,
  );
  const country = receiver.routingCodes['sort-code'] === undefined ? '' : 'GB';
  const number = normalAccountNumber(receiver.accountNumber, { currency: payment.currency, country });
  return find(sql`account_number = ${number ?? receiver.accountNumber} AND (${anyCode})`);
}

interface LedgerNumbers {
  readonly provider: string;
  readonly currency: string;
  readonly numbers: readonly string[];
}

const BY_LEDGER_NUMBERS = prepared((db, given: Given<LedgerNumbers>) => {
  const { id, mainAccountId, status, provider, currency, ledgerNumber } = accounts;
  return db
    .select({ id, mainAccountId, status })
    .from(accounts)
    .where(
      and(
        eq(provider, given.provider),
        eq(currency, given.currency),
        sql`${ledgerNumber} = ANY (${given.numbers}::text[])`,
      ),
    );
});

/** Accounts at the payment's provider and in its currency whose ledger numbers appear in the reference. */
async function listByLedgerNumbers(reader: Reader, payment: NamedReceiver): Promise<readonly ReceiverCandidate[]> {
  const numbers = ledgerNumbersIn(payment.remittanceText ?? '');
  if (numbers.length === 0) return [];
  return reader.run(BY_LEDGER_NUMBERS, { provider: payment.provider, currency: payment.currency, numbers });
}

/** The matched account, locked, or the reason why an operator must match the payment. */
export async function lockReceiver(
  tx: Transaction,
  payment: NamedReceiver,
): Promise<{ readonly account: LockedAccount | null; readonly hold: HoldReason | null }> {
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
