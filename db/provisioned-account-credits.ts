import { isDeepStrictEqual } from 'node:util';
import { and, count, eq, type SQL, sql } from 'drizzle-orm';
import type { Address } from '../domain/addresses.ts';
import { normalIban, normalRoutingCode } from '../domain/bank-accounts.ts';
import { recordNotFound, refusal } from '../domain/errors.ts';
import { implicitFee, type PriceTable } from '../domain/fees.ts';
import type { AccountId, ClientId, ProvisionedAccountCreditId } from '../domain/ids.ts';
import type { PartyAccount } from '../domain/incoming-transfers.ts';
import { ledgerNumbersIn } from '../domain/numbers.ts';
import {
  type ProvisionedAccountCreditRecord,
  presentProvisionedAccountCredit,
} from '../domain/provisioned-account-credits.ts';
import { INTERNAL_SCHEME } from '../domain/schemes.ts';
import { type Reader, type Transaction, uniqueViolation } from './client.ts';
import { requireClient } from './clients.ts';
import { readClock } from './clock.ts';
import { amountBetween, type PageOf, type PageRequest } from './filters.ts';
import { newId } from './ids.ts';
import { createIncomingTransfer } from './incoming-transfer-work.ts';
import { type LockedAccount, lockAccounts } from './ledger.ts';
import { partyAccountOf } from './party-accounts.ts';
import { accounts, provisionedAccountCredits } from './schema.ts';

type Row = typeof provisionedAccountCredits.$inferSelect;

const ENTITY = 'provisionedAccountCredit';

/** Money that a plug-in caller reports (specification 2.6). Amounts in minor units. */
export interface ReportedCredit {
  readonly clientId: ClientId | null;
  readonly accountId: AccountId;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly scope: 'internal' | 'external';
  readonly scheme: string | null;
  readonly senderBankAccount: PartyAccount | null;
  readonly senderName: string | null;
  readonly senderAddress: Address | null;
  readonly senderToReceiverInformation: string | null;
  readonly serviceProviderId: string | null;
}

/**
 * Records what a plug-in caller reports, and the incoming transfer that follows from it. The same provider id with the
 * same content answers the first credit (`repeated`); with other content it is refused.
 */
export async function reportCredit(
  tx: Transaction,
  reported: ReportedCredit,
  prices: PriceTable,
): Promise<{ credit: ReturnType<typeof presentProvisionedAccountCredit>; repeated: boolean }> {
  const locked = await lockAccounts(tx, [reported.accountId]);
  const account = locked.get(reported.accountId);
  if (account === undefined) throw recordNotFound(ENTITY, 'accountId', reported.accountId);
  if (reported.clientId !== null && reported.clientId !== account.clientId) {
    await requireClient(tx, ENTITY, reported.clientId);
  }
  checkReported(reported, account);
  const earlier = await findByProviderId(tx, account.provider, reported.serviceProviderId);
  if (earlier !== null) {
    if (!sameContent(earlier, reported)) throw otherContent(reported);
    return { credit: presentProvisionedAccountCredit(earlier), repeated: true };
  }
  const receiverAccount = await readPartyAccount(tx, account.id);
  const credit = { ...reported, clientId: account.clientId, provider: account.provider, receiverAccount };
  try {
    const row = await storeCredit(tx, credit, account, prices);
    return { credit: presentProvisionedAccountCredit(row), repeated: false };
  } catch (error) {
    // The account's lock keeps a repetition apart; so the same id arrived meanwhile for another account.
    if (uniqueViolation(error) === 'provisioned_account_credits_by_provider_id') throw otherContent(reported);
    throw error;
  }
}

function otherContent({ serviceProviderId }: ReportedCredit): Error {
  const message = 'This serviceProviderId was reported before with other content.';
  return refusal('common.idempotency.key_reused', [ENTITY, 'serviceProviderId', serviceProviderId ?? ''], message);
}

function checkReported(reported: ReportedCredit, account: LockedAccount): void {
  if (reported.clientId !== null && reported.clientId !== account.clientId) {
    const message = 'The account belongs to another client.';
    throw refusal('account.client.mismatch', [ENTITY, 'clientId', reported.clientId], message);
  }
  if (account.method !== 'plug-in') {
    const message = 'Money on a built-in account is reported by its provider.';
    throw refusal('account.method.mismatch', [ENTITY, 'accountId', account.id], message);
  }
  if (account.currency !== reported.currency) {
    const message = `The account holds ${account.currency}.`;
    throw refusal('account.currency.mismatch', [ENTITY, 'currency', reported.currency], message);
  }
}

function sameContent(row: Row, reported: ReportedCredit): boolean {
  return (
    row.accountId === reported.accountId &&
    row.amountMinor === reported.amountMinor &&
    row.currency === reported.currency &&
    row.scope === reported.scope &&
    row.scheme === reported.scheme &&
    row.senderName === reported.senderName &&
    row.senderToReceiverInformation === reported.senderToReceiverInformation &&
    isDeepStrictEqual(row.senderBankAccount, reported.senderBankAccount) &&
    isDeepStrictEqual(row.senderAddress, reported.senderAddress)
  );
}

async function findByProviderId(tx: Transaction, provider: string, serviceProviderId: string | null) {
  if (serviceProviderId === null) return null;
  const t = provisionedAccountCredits;
  const [row] = await tx.drizzle
    .select()
    .from(t)
    .where(and(eq(t.provider, provider), eq(t.serviceProviderId, serviceProviderId)));
  return row ?? null;
}

async function readPartyAccount(tx: Transaction, id: AccountId): Promise<PartyAccount | null> {
  const [row] = await tx.drizzle.select().from(accounts).where(eq(accounts.id, id));
  return row === undefined ? null : partyAccountOf(row);
}

type NewCredit = Omit<ReportedCredit, 'accountId' | 'clientId'> & {
  readonly clientId: ClientId | null;
  readonly provider: string;
  readonly receiverAccount: PartyAccount | null;
  readonly serviceProviderReference?: string | null;
};

async function storeCredit(
  tx: Transaction,
  { serviceProviderReference, ...credit }: NewCredit,
  account: LockedAccount | null,
  prices: PriceTable,
): Promise<Row> {
  const now = await readClock(tx);
  const [row] = await tx.drizzle
    .insert(provisionedAccountCredits)
    .values({ ...credit, id: newId<ProvisionedAccountCreditId>(), accountId: account?.id ?? null, createdAt: now })
    .returning();
  if (row === undefined) throw new Error('an insert returned no row');
  const { amountMinor, currency, scheme } = row;
  const fee = { direction: 'incoming', scheme: scheme ?? INTERNAL_SCHEME, currency, amountMinor } as const;
  const arrival = {
    provider: row.provider,
    method: account?.method ?? ('built-in' as const),
    account,
    amountMinor,
    feeMinor: implicitFee(fee, prices),
    currency,
    scope: row.scope,
    scheme,
    provisionedAccountCreditId: row.id,
    serviceProviderId: row.serviceProviderId,
    serviceProviderReference: serviceProviderReference ?? null,
    senderInformation: row.senderToReceiverInformation,
    senderName: row.senderName,
    senderAccount: row.senderBankAccount,
    receiverAccount: row.receiverAccount,
  };
  await createIncomingTransfer(tx, arrival, now);
  return row;
}

/** A payment that a built-in provider reports. Whom the payer named may be missing or unknown. */
export interface ReceivedPayment {
  readonly provider: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly scheme: string;
  readonly senderName: string | null;
  readonly senderAccount: PartyAccount | null;
  readonly receiver: {
    readonly iban: string | null;
    readonly accountNumber: string | null;
    readonly routingCodes: Readonly<Record<string, string>>;
  };
  readonly remittanceText: string | null;
  readonly serviceProviderId: string;
  readonly serviceProviderReference: string | null;
}

/**
 * Records a payment in once per provider id: matched by IBAN, then account number and routing code, then a ledger number
 * in the reference; nobody matched: on hold against suspense. `break`: the same id with another amount.
 */
export async function receivePayment(
  tx: Transaction,
  payment: ReceivedPayment,
  prices: PriceTable,
): Promise<'applied' | 'no-effect' | 'break'> {
  const accountId = await matchAccount(tx, payment);
  const locked = await lockAccounts(tx, accountId === null ? [] : [accountId]);
  const account = accountId === null ? null : (locked.get(accountId) ?? null);
  const earlier = await findByProviderId(tx, payment.provider, payment.serviceProviderId);
  if (earlier !== null) {
    return earlier.amountMinor === payment.amountMinor && earlier.currency === payment.currency ? 'no-effect' : 'break';
  }
  const named = { accountHolderName: null, alias: null, ledgerNumber: null, country: null, ...payment.receiver };
  const { receiver, remittanceText, senderAccount, ...own } = payment;
  await storeCredit(
    tx,
    {
      ...own,
      clientId: account?.clientId ?? null,
      scope: 'external',
      senderBankAccount: senderAccount,
      senderAddress: null,
      senderToReceiverInformation: remittanceText,
      receiverAccount:
        account === null ? { ...named, currency: payment.currency } : await readPartyAccount(tx, account.id),
    },
    account,
    prices,
  );
  return 'applied';
}

// An open account wins over a closed one that had the same number before.
const OPEN_FIRST = sql`status IN ('closed', 'declined'), id DESC`;

async function matchAccount(tx: Transaction, payment: ReceivedPayment): Promise<AccountId | null> {
  const { receiver } = payment;
  const find = async (condition: SQL): Promise<AccountId | null> => {
    const [row] = await tx.execute<{ id: AccountId }>(sql`
      SELECT id FROM accounts WHERE provider = ${payment.provider} AND currency = ${payment.currency} AND ${condition}
      ORDER BY ${OPEN_FIRST} LIMIT 1`);
    return row?.id ?? null;
  };
  const iban = receiver.iban === null ? null : normalIban(receiver.iban);
  const byIban = iban === null ? null : await find(sql`iban = ${iban} AND main_account_id IS NULL`);
  if (byIban !== null) return byIban;
  // As accounts hold them: a bank may write a sort code with dashes.
  const codes = Object.entries(receiver.routingCodes).map(([kind, code]) => [
    kind,
    normalRoutingCode(kind, code) ?? code,
  ]);
  if (receiver.accountNumber !== null && codes.length > 0) {
    const anyCode = sql.join(
      codes.map(([kind, code]) => sql`routing_codes ->> ${kind} = ${code}`),
      sql` OR `,
    );
    const byNumber = await find(
      sql`account_number = ${receiver.accountNumber} AND main_account_id IS NULL AND (${anyCode})`,
    );
    if (byNumber !== null) return byNumber;
  }
  for (const ledgerNumber of ledgerNumbersIn(payment.remittanceText ?? '')) {
    const byLedgerNumber = await find(sql`ledger_number = ${ledgerNumber}`);
    if (byLedgerNumber !== null) return byLedgerNumber;
  }
  return null;
}

export async function findProvisionedAccountCredit(reader: Reader, id: ProvisionedAccountCreditId) {
  const t = provisionedAccountCredits;
  const [row] = await reader.drizzle.select().from(t).where(eq(t.id, id));
  return row === undefined ? null : presentProvisionedAccountCredit(row);
}

/** Filters of specification 4.6; amounts as decimal text in each credit's own currency. */
export interface CreditFilter {
  readonly accountId?: AccountId | undefined;
  readonly currency?: string | undefined;
  readonly amountFrom?: string | undefined;
  readonly amountTo?: string | undefined;
}

/** A page of credits by creation, and how many there are in all. */
export async function listProvisionedAccountCredits(
  reader: Reader,
  filter: CreditFilter,
  page: PageRequest,
): Promise<PageOf<ReturnType<typeof presentProvisionedAccountCredit>>> {
  const t = provisionedAccountCredits;
  const where = and(
    ...(filter.accountId === undefined ? [] : [eq(t.accountId, filter.accountId)]),
    ...(filter.currency === undefined ? [] : [eq(t.currency, filter.currency)]),
    ...amountBetween(t.amountMinor, t.currency, filter.amountFrom, filter.amountTo),
  );
  const [rows, [total]] = await Promise.all([
    reader.drizzle.select().from(t).where(where).orderBy(t.id).limit(page.size).offset(page.offset),
    reader.drizzle.select({ total: count() }).from(t).where(where),
  ]);
  const records: readonly ProvisionedAccountCreditRecord[] = rows;
  return { rows: records.map(presentProvisionedAccountCredit), totalElements: total?.total ?? 0 };
}
