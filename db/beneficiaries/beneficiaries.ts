import { and, asc, count, eq, inArray, type SQL, sql } from 'drizzle-orm';
import {
  type BeneficiaryContact,
  type BeneficiaryIdentity,
  presentBeneficiary,
} from '../../domain/beneficiaries/beneficiaries.ts';
import {
  applyBeneficiaryChange,
  type BeneficiaryChange,
  type IdentityPlace,
} from '../../domain/beneficiaries/changes.ts';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import type { BeneficiaryId, ClientId } from '../../domain/frame/ids.ts';
import { fullNameOf } from '../../domain/frame/parties/names.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { readClock } from '../frame/clock.ts';
import type { PageOf, PageRequest } from '../frame/filters.ts';
import { newId } from '../frame/ids.ts';
import { beneficiaries, beneficiaryBankAccounts, clients } from '../frame/schema.ts';
import { insertBankAccount, type NewBankAccount } from './bank-accounts.ts';
import { appendBeneficiaryEvent } from './events.ts';

type Row = typeof beneficiaries.$inferSelect;

export interface NewBeneficiary {
  readonly clientId: ClientId;
  /** Null for a beneficiary known only by `fullName`. */
  readonly identity: BeneficiaryIdentity | null;
  readonly fullName: string | null;
  readonly title: string | null;
  readonly contact: BeneficiaryContact | null;
  readonly bankAccounts: readonly NewBankAccount[];
}

/** Stores a beneficiary, with its bank accounts, for an active client. */
export async function createBeneficiary(tx: Transaction, beneficiary: NewBeneficiary) {
  const { clientId, identity, title, contact } = beneficiary;
  const [client] = await tx.drizzle
    .select({ status: clients.status })
    .from(clients)
    .where(eq(clients.id, clientId))
    .for('share');
  if (client === undefined) throw recordNotFound('beneficiary', 'clientId', clientId);
  if (client.status !== 'active') {
    throw refusal('client.status.not_active', ['beneficiary', 'clientId', clientId], 'The client is not active.');
  }
  const now = await readClock(tx);
  const fullName = identity === null ? (beneficiary.fullName ?? '') : fullNameOf(identity);
  const [row] = await tx.drizzle
    .insert(beneficiaries)
    .values({
      id: newId<BeneficiaryId>(),
      clientId,
      identityType: identity?.type ?? null,
      identity,
      fullName,
      title,
      contact,
      createdAt: now,
    })
    .returning();
  if (row === undefined) throw new Error('an insert returned no row');
  const bankAccounts = [];
  for (const account of beneficiary.bankAccounts) {
    bankAccounts.push(await insertBankAccount(tx, row, account, now));
  }
  await appendBeneficiaryEvent(tx, { type: 'beneficiary-created', beneficiary: row, occurredAt: now });
  return { beneficiary: row, bankAccounts };
}

/** Applies a partial change under the beneficiary's lock. `place` is where the request holds the new identity. */
export async function changeBeneficiary(
  tx: Transaction,
  id: BeneficiaryId,
  change: BeneficiaryChange,
  place: IdentityPlace,
): Promise<Row> {
  const [before] = await tx.drizzle.select().from(beneficiaries).where(eq(beneficiaries.id, id)).for('update');
  if (before === undefined) throw recordNotFound('beneficiary', 'id', id);
  const changed = applyBeneficiaryChange(before, change, place);
  const now = await readClock(tx);
  const [after] = await tx.drizzle
    .update(beneficiaries)
    .set({ ...changed, identityType: changed.identity?.type ?? null, revision: before.revision + 1n })
    .where(eq(beneficiaries.id, id))
    .returning();
  if (after === undefined) throw new Error(`beneficiary ${id} is gone under its lock`);
  if (JSON.stringify(presentBeneficiary(after)) !== JSON.stringify(presentBeneficiary(before))) {
    await appendBeneficiaryEvent(tx, { type: 'beneficiary-updated', beneficiary: after, occurredAt: now });
  }
  return after;
}

export async function findBeneficiary(reader: Reader, id: BeneficiaryId): Promise<Row | null> {
  const [row] = await reader.drizzle.select().from(beneficiaries).where(eq(beneficiaries.id, id));
  return row ?? null;
}

/** The bank accounts of several beneficiaries in order of creation. */
export async function readBankAccounts(reader: Reader, ids: readonly BeneficiaryId[]) {
  if (ids.length === 0) return [];
  return reader.drizzle
    .select()
    .from(beneficiaryBankAccounts)
    .where(inArray(beneficiaryBankAccounts.beneficiaryId, [...ids]))
    .orderBy(asc(beneficiaryBankAccounts.id));
}

/** Filters of GET /beneficiaries (specification 4.3); `country` matches the identity's or the address's. */
export interface BeneficiaryFilter {
  readonly clientId?: ClientId | undefined;
  readonly country?: string | undefined;
  readonly type?: 'individual' | 'corporate' | undefined;
}

function conditions(filter: BeneficiaryFilter): SQL | undefined {
  const t = beneficiaries;
  const inCountry = sql`(${t.identity} ->> 'country' = ${filter.country ?? ''}
    OR ${t.contact} -> 'address' ->> 'country' = ${filter.country ?? ''})`;
  return and(
    ...(filter.clientId === undefined ? [] : [eq(t.clientId, filter.clientId)]),
    ...(filter.type === undefined ? [] : [eq(t.identityType, filter.type)]),
    ...(filter.country === undefined ? [] : [inCountry]),
  );
}

/** One page of beneficiaries in order of creation, and the total. */
export async function listBeneficiaries(
  reader: Reader,
  filter: BeneficiaryFilter,
  page: PageRequest,
): Promise<PageOf<Row>> {
  const where = conditions(filter);
  const t = beneficiaries;
  const [rows, [total]] = await Promise.all([
    reader.drizzle.select().from(t).where(where).orderBy(t.id).limit(page.size).offset(page.offset),
    reader.drizzle.select({ total: count() }).from(t).where(where),
  ]);
  return { rows, totalElements: total?.total ?? 0 };
}
