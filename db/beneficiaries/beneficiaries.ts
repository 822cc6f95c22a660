import { and, asc, sql } from 'drizzle-orm';
import {
  type BeneficiaryContact,
  type BeneficiaryIdentity,
  presentBeneficiary,
} from '../../domain/beneficiaries/beneficiaries.ts';
import {
  applyBeneficiaryChange,
  type BeneficiaryChange,
  type IdentityLocation,
} from '../../domain/beneficiaries/changes.ts';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import type { BeneficiaryId, ClientId } from '../../domain/common/ids.ts';
import { fullNameOf } from '../../domain/common/parties/names.ts';
import { SHARE_CLIENT } from '../clients/locks.ts';
import { auditorOf, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { appendFirstEvent, FIRST_SEQUENCE } from '../common/events.ts';
import { equalTo } from '../common/filters.ts';
import { newId } from '../common/ids.ts';
import { beneficiaries, beneficiaryBankAccounts } from '../common/schema.ts';
import { countedListOf, keyed } from '../query/counted-lists.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import { type Given, prepared } from '../query/queries.ts';
import { lockIn, lookUpIn, sendInsertion, sendUpdate } from '../query/rows.ts';
import { isListed } from '../query/values.ts';
import { insertBankAccount, type NewBankAccount } from './bank-accounts.ts';
import { appendBeneficiaryEvent } from './events.ts';

const audit = auditorOf('beneficiary');

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
export async function createBeneficiary(tx: Transaction, beneficiary: NewBeneficiary, initiator: Initiator) {
  const { clientId, identity, title, contact } = beneficiary;
  const [client, now] = await Promise.all([tx.lock(SHARE_CLIENT, clientId), readClock(tx)]);
  if (client === null) throw recordNotFound('beneficiary', 'clientId', clientId);
  if (client.status !== 'active') {
    throw rejection('client.status.not_active', ['beneficiary', 'clientId', clientId], 'The client is not active.');
  }
  const fullName = identity === null ? (beneficiary.fullName ?? '') : fullNameOf(identity);
  const row = sendInsertion(tx, beneficiaries, {
    id: newId<BeneficiaryId>(),
    clientId,
    identityType: identity?.type ?? null,
    identity,
    fullName,
    title,
    contact,
    ...FIRST_SEQUENCE,
    createdAt: now,
  });
  audit(tx, row.id, { initiator, action: 'created', after: { clientId, identityType: row.identityType } });
  const bankAccounts = beneficiary.bankAccounts.map((account) =>
    insertBankAccount(tx, row, account, { now, initiator }),
  );
  const entry = { type: 'beneficiary-created', data: { ...presentBeneficiary(row) } };
  appendFirstEvent(tx, { module: 'beneficiaries', resourceId: row.id, occurredAt: now, entry });
  return { beneficiary: row, bankAccounts };
}

const LOCK = lockIn(beneficiaries, 'update', 'row and parts');

/** Applies a partial change under the beneficiary's lock. `place` is where the request holds the new identity. */
export async function changeBeneficiary(
  tx: Transaction,
  id: BeneficiaryId,
  change: BeneficiaryChange,
  place: IdentityLocation,
  initiator: Initiator,
): Promise<Row> {
  const [before, now] = await Promise.all([tx.lock(LOCK, id), readClock(tx)]);
  if (before === null) throw recordNotFound('beneficiary', 'id', id);
  const changed = applyBeneficiaryChange(before, change, place);
  const identityType = changed.identity?.type ?? null;
  const after = sendUpdate(tx, beneficiaries, before, { ...changed, identityType, revision: before.revision + 1n });
  if (JSON.stringify(presentBeneficiary(after)) !== JSON.stringify(presentBeneficiary(before))) {
    appendBeneficiaryEvent(tx, { type: 'beneficiary-updated', beneficiary: after, occurredAt: now });
  }
  audit(tx, id, {
    initiator,
    action: 'changed',
    before: {},
    after: {},
    concealed: { before: concealedFields(before), after: concealedFields(after) },
  });
  return after;
}

function concealedFields({ identity, fullName, title, contact }: Row) {
  return { identity, fullName, title, contact };
}

const BENEFICIARY = lookUpIn(beneficiaries);

export function findBeneficiary(reader: Reader, id: BeneficiaryId): Promise<Row | null> {
  return reader.find(BENEFICIARY, id);
}

const BANK_ACCOUNTS = prepared((db, given: Given<{ ids: readonly BeneficiaryId[] }>) =>
  db
    .select()
    .from(beneficiaryBankAccounts)
    .where(isListed(beneficiaryBankAccounts.beneficiaryId, given.ids))
    .orderBy(asc(beneficiaryBankAccounts.id)),
);

/** The bank accounts of several beneficiaries in order of creation. */
export async function readBankAccounts(reader: Reader, ids: readonly BeneficiaryId[]) {
  if (ids.length === 0) return [];
  return reader.run(BANK_ACCOUNTS, { ids });
}

/** Filters of GET /beneficiaries (specification 4.3); `country` matches the identity's or the address's. */
export interface BeneficiaryFilter {
  readonly clientId?: ClientId | undefined;
  readonly country?: string | undefined;
  readonly type?: 'individual' | 'corporate' | undefined;
}

const LIST = countedListOf<BeneficiaryFilter, typeof beneficiaries>(
  beneficiaries,
  ({ clientId, type, country }) => {
    const { identity, contact, ...own } = beneficiaries;
    return and(
      ...equalTo([
        [own.clientId, clientId],
        [own.identityType, type],
      ]),
      country === undefined
        ? undefined
        : sql`(${identity} ->> 'country' = ${country} OR ${contact} -> 'address' ->> 'country' = ${country})`,
    );
  },
  {
    type: keyed('type'),
    country: (wanted) => sql`(key ->> 'country' = ${wanted} OR key ->> 'addressCountry' = ${wanted})`,
  },
);

/** One page of beneficiaries, and the total. */
export function listBeneficiaries(reader: Reader, filter: BeneficiaryFilter, page: PageRequest): Promise<PageOf<Row>> {
  return readPage(reader, LIST(filter), filter, page);
}
