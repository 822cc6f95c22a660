import { and, eq, sql } from 'drizzle-orm';
import { type AccountNumberForms, accountNumberForms } from '../../domain/accounts/account-numbers.ts';
import { type BankAccountDetails, BENEFICIARY_BANK_ACCOUNTS_MAX } from '../../domain/accounts/bank-accounts.ts';
import {
  type BeneficiaryBankAccount,
  presentBeneficiaryBankAccount,
} from '../../domain/beneficiaries/beneficiaries.ts';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import type { BeneficiaryBankAccountId, BeneficiaryId } from '../../domain/common/ids.ts';
import { auditorOf, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { accountNumberIs, equalTo } from '../common/filters.ts';
import { newId } from '../common/ids.ts';
import { beneficiaries, beneficiaryBankAccounts } from '../common/schema.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { listOf, type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import { type Given, prepared } from '../query/queries.ts';
import { lockIn, lookUpIn, sendInsertion, sendUpdate } from '../query/rows.ts';
import { appendBeneficiaryEvent } from './events.ts';

const audit = auditorOf('beneficiary-bank-account');

type Row = typeof beneficiaryBankAccounts.$inferSelect;

/** Details normalized by domain/accounts/bank-accounts.ts. Holder and type default to the beneficiary's. */
export interface NewBankAccount extends BankAccountDetails {
  readonly accountHolderName: string | null;
  readonly accountHolderType: 'individual' | 'corporate' | null;
  readonly bankName: string | null;
  readonly alias: string | null;
}

export function insertBankAccount(
  tx: Transaction,
  owner: { id: BeneficiaryId; fullName: string; identityType: 'individual' | 'corporate' | null },
  account: NewBankAccount,
  { now, initiator }: { readonly now: Date; readonly initiator: Initiator },
): Row {
  const row = sendInsertion(tx, beneficiaryBankAccounts, {
    ...account,
    id: newId<BeneficiaryBankAccountId>(),
    beneficiaryId: owner.id,
    status: 'active',
    accountHolderName: account.accountHolderName ?? owner.fullName,
    accountHolderType: account.accountHolderType ?? owner.identityType,
    createdAt: now,
  });
  const { beneficiaryId, status, country, currency } = row;
  audit(tx, row.id, { initiator, action: 'created', after: { beneficiaryId, status, country, currency } });
  return row;
}

const LOCK_BENEFICIARY = lockIn(beneficiaries, 'update', 'row and parts');

async function lockBeneficiary(tx: Transaction, id: BeneficiaryId) {
  const row = await tx.lock(LOCK_BENEFICIARY, id);
  if (row === null) throw recordNotFound('beneficiary', 'id', id);
  return row;
}

const COUNT_ACTIVE = prepared((db, given: Given<{ beneficiaryId: BeneficiaryId }>) =>
  db
    .select({ total: sql<number>`count(*)::integer` })
    .from(beneficiaryBankAccounts)
    .where(
      and(eq(beneficiaryBankAccounts.beneficiaryId, given.beneficiaryId), eq(beneficiaryBankAccounts.status, 'active')),
    ),
);

/** A beneficiary has at most three active accounts. The caller holds the beneficiary's lock. */
async function requireFewerThanMaximum(tx: Transaction, beneficiaryId: BeneficiaryId): Promise<void> {
  const active = await tx.first(COUNT_ACTIVE, { beneficiaryId });
  if ((active?.total ?? 0) < BENEFICIARY_BANK_ACCOUNTS_MAX) return;
  throw rejection(
    'common.validation.limit_exceeded',
    ['beneficiaryBankAccount', 'beneficiaryId', beneficiaryId],
    `A beneficiary has at most ${BENEFICIARY_BANK_ACCOUNTS_MAX} active bank accounts.`,
  );
}

export async function addBankAccount(
  tx: Transaction,
  id: BeneficiaryId,
  account: NewBankAccount,
  initiator: Initiator,
): Promise<Row> {
  const [owner, , now] = await Promise.all([lockBeneficiary(tx, id), requireFewerThanMaximum(tx, id), readClock(tx)]);
  const added = insertBankAccount(tx, owner, account, { now, initiator });
  const type = 'beneficiary-bank-account-created';
  appendBeneficiaryEvent(tx, { type, beneficiary: owner, bankAccount: added, occurredAt: now });
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
  initiator: Initiator,
): Promise<Row> {
  const [owner, before, now] = await Promise.all([
    lockBeneficiary(tx, beneficiaryId),
    findBankAccount(tx, beneficiaryId, id),
    readClock(tx),
  ]);
  if (before === null) throw recordNotFound('beneficiaryBankAccount', 'id', id);
  const change = decide(before);
  if (change.status === 'active' && before.status !== 'active') await requireFewerThanMaximum(tx, beneficiaryId);
  const after = sendUpdate(tx, beneficiaryBankAccounts, before, { ...change, revision: before.revision + 1n });
  if (JSON.stringify(presentBeneficiaryBankAccount(after)) !== JSON.stringify(presentBeneficiaryBankAccount(before))) {
    const type = 'beneficiary-bank-account-updated';
    appendBeneficiaryEvent(tx, { type, beneficiary: owner, bankAccount: after, occurredAt: now });
  }
  audit(tx, id, {
    initiator,
    action: 'changed',
    before: { status: before.status },
    after: { status: after.status },
    concealed: { before: concealedFields(before), after: concealedFields(after) },
  });
  return after;
}

/** Only the names of changed routing codes are logged, not their values. */
function concealedFields(row: Row) {
  const { accountHolderName, accountHolderType, bankName, alias, accountNumber, iban, routingCodes } = row;
  return { accountHolderName, accountHolderType, bankName, alias, accountNumber, iban, routingCodes };
}

const BANK_ACCOUNT = lookUpIn(beneficiaryBankAccounts);

/** The bank account with this id, if it belongs to this beneficiary. */
export async function findBankAccount(
  reader: Reader,
  beneficiaryId: BeneficiaryId,
  id: BeneficiaryBankAccountId,
): Promise<Row | null> {
  const account = await reader.find(BANK_ACCOUNT, id);
  return account?.beneficiaryId === beneficiaryId ? account : null;
}

export interface BankAccountFilter {
  readonly country?: string | undefined;
  readonly currency?: string | undefined;
  readonly iban?: string | undefined;
  readonly accountNumber?: string | undefined;
  readonly routingCodeKey?: string | undefined;
  readonly routingCodeValue?: string | undefined;
}

type Conditions = BankAccountFilter & AccountNumberForms & { readonly beneficiaryId: BeneficiaryId };

const LIST = listOf<Conditions, typeof beneficiaryBankAccounts>(beneficiaryBankAccounts, (given) => {
  const t = beneficiaryBankAccounts;
  const { routingCodeKey: key, routingCodeValue: value } = given;
  const ofKey = key === undefined ? sql`true` : sql`code.key = ${key}`;
  return and(
    ...equalTo([
      [t.beneficiaryId, given.beneficiaryId],
      [t.country, given.country],
      [t.currency, given.currency],
      [t.iban, given.iban],
    ]),
    ...accountNumberIs(t, given),
    key === undefined ? undefined : sql`${t.routingCodes} ? ${key}`,
    value === undefined
      ? undefined
      : sql`EXISTS (SELECT FROM jsonb_each_text(${t.routingCodes}) AS code WHERE code.value = ${value} AND ${ofKey})`,
  );
});

/** One page of a beneficiary's bank accounts, and the total. */
export function listBankAccounts(
  reader: Reader,
  beneficiaryId: BeneficiaryId,
  filter: BankAccountFilter,
  page: PageRequest,
): Promise<PageOf<Row>> {
  const values = { ...filter, ...accountNumberForms(filter.accountNumber), beneficiaryId };
  return readPage(reader, LIST(values), values, page);
}
