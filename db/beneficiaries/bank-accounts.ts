import { and, count, eq, type SQL, sql } from 'drizzle-orm';
import { type BankAccountDetails, BENEFICIARY_BANK_ACCOUNTS_MAX } from '../../domain/accounts/bank-accounts.ts';
import {
  type BeneficiaryBankAccount,
  presentBeneficiaryBankAccount,
} from '../../domain/beneficiaries/beneficiaries.ts';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import type { BeneficiaryBankAccountId, BeneficiaryId } from '../../domain/frame/ids.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { readClock } from '../frame/clock.ts';
import { equalTo, type PageOf, type PageRequest } from '../frame/filters.ts';
import { newId } from '../frame/ids.ts';
import { beneficiaries, beneficiaryBankAccounts } from '../frame/schema.ts';
import { appendBeneficiaryEvent } from './events.ts';

type Row = typeof beneficiaryBankAccounts.$inferSelect;

/** Details normalized by domain/accounts/bank-accounts.ts. Holder and type default to the beneficiary's. */
export interface NewBankAccount extends BankAccountDetails {
  readonly accountHolderName: string | null;
  readonly accountHolderType: 'individual' | 'corporate' | null;
  readonly bankName: string | null;
  readonly alias: string | null;
}

export async function insertBankAccount(
  tx: Transaction,
  owner: { id: BeneficiaryId; fullName: string; identityType: 'individual' | 'corporate' | null },
  account: NewBankAccount,
  now: Date,
): Promise<Row> {
  const [row] = await tx.drizzle
    .insert(beneficiaryBankAccounts)
    .values({
      ...account,
      id: newId<BeneficiaryBankAccountId>(),
      beneficiaryId: owner.id,
      status: 'active',
      accountHolderName: account.accountHolderName ?? owner.fullName,
      accountHolderType: account.accountHolderType ?? owner.identityType,
      createdAt: now,
    })
    .returning();
  if (row === undefined) throw new Error('an insert returned no row');
  return row;
}

async function lockBeneficiary(tx: Transaction, id: BeneficiaryId) {
  const [row] = await tx.drizzle.select().from(beneficiaries).where(eq(beneficiaries.id, id)).for('update');
  if (row === undefined) throw recordNotFound('beneficiary', 'id', id);
  return row;
}

/** A beneficiary has at most three active accounts. The caller holds the beneficiary's lock. */
async function refuseFourth(tx: Transaction, beneficiaryId: BeneficiaryId): Promise<void> {
  const t = beneficiaryBankAccounts;
  const [active] = await tx.drizzle
    .select({ total: count() })
    .from(t)
    .where(and(eq(t.beneficiaryId, beneficiaryId), eq(t.status, 'active')));
  if ((active?.total ?? 0) < BENEFICIARY_BANK_ACCOUNTS_MAX) return;
  throw refusal(
    'common.validation.limit_exceeded',
    ['beneficiaryBankAccount', 'beneficiaryId', beneficiaryId],
    `A beneficiary has at most ${BENEFICIARY_BANK_ACCOUNTS_MAX} active bank accounts.`,
  );
}

export async function addBankAccount(tx: Transaction, id: BeneficiaryId, account: NewBankAccount): Promise<Row> {
  const owner = await lockBeneficiary(tx, id);
  await refuseFourth(tx, id);
  const now = await readClock(tx);
  const added = await insertBankAccount(tx, owner, account, now);
  const type = 'beneficiary-bank-account-created';
  await appendBeneficiaryEvent(tx, { type, beneficiary: owner, bankAccount: added, occurredAt: now });
  return added;
}

export type BankAccountChange = Partial<
  Pick<
    BeneficiaryBankAccount,
    | 'accountHolderName'
    | 'accountHolderType'
    | 'bankName'
    | 'alias'
    | 'accountNumber'
    | 'iban'
    | 'routingCodes'
    | 'status'
  >
>;

/** Changes a bank account under its beneficiary's lock. The caller derives the change from the stored account, or throws. */
export async function changeBankAccount(
  tx: Transaction,
  beneficiaryId: BeneficiaryId,
  id: BeneficiaryBankAccountId,
  decide: (before: Row) => BankAccountChange,
): Promise<Row> {
  const owner = await lockBeneficiary(tx, beneficiaryId);
  const before = await findBankAccount(tx, beneficiaryId, id);
  if (before === null) throw recordNotFound('beneficiaryBankAccount', 'id', id);
  const change = decide(before);
  if (change.status === 'active' && before.status !== 'active') await refuseFourth(tx, beneficiaryId);
  const [after] = await tx.drizzle
    .update(beneficiaryBankAccounts)
    .set({ ...change, revision: before.revision + 1n })
    .where(eq(beneficiaryBankAccounts.id, id))
    .returning();
  if (after === undefined) throw new Error('an update returned no row');
  if (JSON.stringify(presentBeneficiaryBankAccount(after)) !== JSON.stringify(presentBeneficiaryBankAccount(before))) {
    const type = 'beneficiary-bank-account-updated';
    await appendBeneficiaryEvent(tx, { type, beneficiary: owner, bankAccount: after, occurredAt: await readClock(tx) });
  }
  return after;
}

export async function findBankAccount(
  reader: Reader,
  beneficiaryId: BeneficiaryId,
  id: BeneficiaryBankAccountId,
): Promise<Row | null> {
  const t = beneficiaryBankAccounts;
  const [row] = await reader.drizzle
    .select()
    .from(t)
    .where(and(eq(t.id, id), eq(t.beneficiaryId, beneficiaryId)));
  return row ?? null;
}

export interface BankAccountFilter {
  readonly country?: string | undefined;
  readonly currency?: string | undefined;
  readonly iban?: string | undefined;
  readonly accountNumber?: string | undefined;
  readonly routingCodeKey?: string | undefined;
  readonly routingCodeValue?: string | undefined;
}

/** One page of a beneficiary's bank accounts in order of creation, and the total. */
export async function listBankAccounts(
  reader: Reader,
  beneficiaryId: BeneficiaryId,
  filter: BankAccountFilter,
  page: PageRequest,
): Promise<PageOf<Row>> {
  const t = beneficiaryBankAccounts;
  const equal = equalTo([
    [t.country, filter.country],
    [t.currency, filter.currency],
    [t.iban, filter.iban],
    [t.accountNumber, filter.accountNumber],
  ]);
  const { routingCodeKey: key, routingCodeValue: value } = filter;
  const codes: SQL[] = [
    ...(key === undefined ? [] : [sql`${t.routingCodes} ? ${key}`]),
    ...(value === undefined
      ? []
      : [
          sql`EXISTS (SELECT FROM jsonb_each_text(${t.routingCodes}) AS code
          WHERE code.value = ${value} AND code.key = coalesce(${key ?? null}, code.key))`,
        ]),
  ];
  const where = and(eq(t.beneficiaryId, beneficiaryId), ...equal, ...codes);
  const [rows, [total]] = await Promise.all([
    reader.drizzle.select().from(t).where(where).orderBy(t.id).limit(page.size).offset(page.offset),
    reader.drizzle.select({ total: count() }).from(t).where(where),
  ]);
  return { rows, totalElements: total?.total ?? 0 };
}
