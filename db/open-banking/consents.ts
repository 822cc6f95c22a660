import { and, eq } from 'drizzle-orm';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { ConsentId, ThirdPartyProviderId, UserId } from '../../domain/common/ids.ts';
import { requireTransition } from '../../domain/common/transitions.ts';
import { requireRedirectAllowed } from '../../domain/open-banking/approvals.ts';
import {
  CONSENT_CHECK_MS,
  CONSENT_TRANSITIONS,
  type Consent,
  type ConsentContent,
  type ConsentEventType,
  type ConsentStatus,
  type ConsentStep,
  decideConsent,
  nextCheckOf,
  presentConsent,
  REQUEST_LIFETIME_MS,
  requireConsentTransition,
  type ThirdPartyProviderShown,
} from '../../domain/open-banking/consents.ts';
import { auditorOf, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { appendEvents } from '../common/events.ts';
import { equalTo } from '../common/filters.ts';
import { newId } from '../common/ids.ts';
import { wake } from '../common/workflow-wakeups.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { listWith, type PageOf, type PageRequest, readPageWith } from '../query/lists.ts';
import { type BoundedCount, type Newest, type NewestPage, newestListOf } from '../query/newest-lists.ts';
import { type Grouped, groupRows, type LeftJoin } from '../query/queries.ts';
import { insertRow, lockIn, lookUpIn, lookUpWith, updateRow } from '../query/rows.ts';
import { thirdPartyProviders } from '../third-party-providers/schema.ts';
import { openBankingConsents } from './schema.ts';

const audit = auditorOf('consent');

export type ConsentRow = typeof openBankingConsents.$inferSelect;
export type ThirdPartyProviderRow = typeof thirdPartyProviders.$inferSelect;

export interface LockedConsent {
  readonly row: ConsentRow;
  readonly consent: Consent;
  /** The service's time, read under the lock. */
  readonly now: Date;
}

/** A third party's request; it has registered the redirect address. */
export interface ConsentRequest {
  readonly thirdPartyProviderId: ThirdPartyProviderId;
  readonly content: ConsentContent;
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
}

/** Records a request, which waits ten minutes from `now` for the account holder's answer. */
export async function requestConsent(
  tx: Transaction,
  { thirdPartyProviderId, content, redirectUri, state, nonce }: ConsentRequest,
  initiator: Initiator,
  now: Date,
): Promise<ConsentRow> {
  const requestExpiresAt = new Date(now.getTime() + REQUEST_LIFETIME_MS);
  const row = await insertRow(tx, openBankingConsents, {
    id: newId<ConsentId>(),
    thirdPartyProviderId,
    status: 'awaiting-authorisation',
    ...content,
    redirectUri,
    state,
    nonce,
    requestExpiresAt,
    nextCheckAt: new Date(requestExpiresAt.getTime() + CONSENT_CHECK_MS),
    createdAt: now,
  });
  await appendConsentEvent(tx, 'consent-requested', row, now);
  await wakeConsent(tx, row.id);
  const after = { thirdPartyProviderId, scope: row.scope, status: row.status };
  audit(tx, row.id, { initiator, action: 'created', after });
  return row;
}

export function consentOf(row: ConsentRow): Consent {
  const { id, status, userId, accountIds, createdAt, requestExpiresAt, codeExpiresAt, grantedAt, expiresAt } = row;
  const content = contentOf(row);
  return { id, status, content, userId, accountIds, createdAt, requestExpiresAt, codeExpiresAt, grantedAt, expiresAt };
}

function contentOf(row: ConsentRow): ConsentContent {
  const { scope, paymentScope, paymentType, instructedAmountMinor, instructedCurrency, creditorAccount } = row;
  if (scope === 'accounts') return { scope };
  if (paymentScope === null || paymentType === null || instructedAmountMinor === null) throw incomplete(row.id);
  if (instructedCurrency === null || creditorAccount === null) throw incomplete(row.id);
  const { currencyOfTransfer, requestedExecutionAt } = row;
  return {
    scope,
    paymentScope,
    paymentType,
    instructedAmountMinor,
    instructedCurrency,
    creditorAccount,
    currencyOfTransfer,
    requestedExecutionAt,
  };
}

/** A CHECK prevents such rows. */
function incomplete(id: ConsentId): Error {
  return new Error(`the consent ${id} to a payment lacks a field`);
}

const LOCK = lockIn(openBankingConsents, 'update');

/** Locks a consent, after users, relations, accounts and transfers: the holder of its lock takes none of theirs. */
export async function lockConsent(tx: Transaction, id: ConsentId): Promise<LockedConsent> {
  const row = await tx.lock(LOCK, id);
  if (row === null) throw recordNotFound('consent', 'id', id);
  return { row, consent: consentOf(row), now: await readClock(tx) };
}

const EVENT_TYPES: Readonly<Record<Exclude<ConsentStatus, 'awaiting-authorisation'>, ConsentEventType>> = {
  'awaiting-exchange': 'consent-approved',
  authorised: 'consent-authorised',
  consumed: 'consent-consumed',
  rejected: 'consent-rejected',
  revoked: 'consent-revoked',
  expired: 'consent-expired',
};

/** The columns that a transition changes in addition to the status. */
export type ConsentChanges = Partial<
  Pick<ConsentRow, 'userId' | 'accountIds' | 'approvedBy' | 'codeExpiresAt' | 'grantedAt' | 'expiresAt'>
>;

/**
 * Transitions a locked consent, with its event and audit entry; rejects a caller's illegal transition. The initiator is null if the
 * service itself transitions the consent.
 */
export async function transitionConsent(
  tx: Transaction,
  { row, consent, now }: LockedConsent,
  to: keyof typeof EVENT_TYPES,
  initiator: Initiator | null,
  changes: ConsentChanges = {},
): Promise<ConsentRow> {
  if (to === 'expired') requireTransition('consent', CONSENT_TRANSITIONS, row.status, to);
  else requireConsentTransition(consent, to, now);
  const after = await updateRow(tx, openBankingConsents, row.id, {
    ...changes,
    status: to,
    nextCheckAt: nextCheckOf({ ...row, ...changes, status: to }),
    revision: row.revision + 1n,
  });
  await appendConsentEvent(tx, EVENT_TYPES[to], after, now);
  // Only the workflow itself expires a consent here, so it need not wake.
  if (to !== 'expired') await wakeConsent(tx, row.id);
  if (initiator !== null) {
    audit(tx, row.id, { initiator, action: to, before: auditedFields(row), after: auditedFields(after) });
  }
  return after;
}

function auditedFields({ status, userId, accountIds }: ConsentRow) {
  return { status, userId, accounts: accountIds };
}

/** The account holder rejects; the third party is informed by the redirect. */
export async function rejectConsent(tx: Transaction, id: ConsentId, initiator: Initiator): Promise<ConsentRow> {
  const locked = await lockConsent(tx, id);
  requireConsentTransition(locked.consent, 'rejected', locked.now);
  requireRedirectAllowed(await readThirdParty(tx, locked.row), locked.row.redirectUri, 'reject');
  return transitionConsent(tx, locked, 'rejected', initiator);
}

export async function revokeConsent(tx: Transaction, id: ConsentId, initiator: Initiator): Promise<ConsentRow> {
  return transitionConsent(tx, await lockConsent(tx, id), 'revoked', initiator);
}

/** Ends a consent that has expired, and returns its workflow's next step. */
export async function advanceConsent(tx: Transaction, id: ConsentId): Promise<ConsentStep> {
  const locked = await lockConsent(tx, id);
  const step = decideConsent(locked.consent, locked.now);
  if (step.do !== 'expire') return step;
  await transitionConsent(tx, locked, 'expired', null);
  return { do: 'end' };
}

async function wakeConsent(tx: Transaction, id: ConsentId): Promise<void> {
  wake(tx, 'consent', `consent/${id}`);
}

async function appendConsentEvent(
  tx: Transaction,
  type: ConsentEventType,
  row: ConsentRow,
  occurredAt: Date,
): Promise<void> {
  const entries = [{ type, data: await showConsent(tx, row) }];
  appendEvents(tx, { module: 'open-banking-consents', resourceId: row.id, occurredAt, entries });
}

const THIRD_PARTY = lookUpIn(thirdPartyProviders);

export async function readThirdParty(
  reader: Reader,
  consent: Pick<ConsentRow, 'thirdPartyProviderId'>,
): Promise<ThirdPartyProviderRow> {
  const row = await reader.find(THIRD_PARTY, consent.thirdPartyProviderId);
  if (row === null) throw gone(consent);
  return row;
}

function gone({ thirdPartyProviderId: id }: Pick<ConsentRow, 'thirdPartyProviderId'>): Error {
  return new Error(`the third-party provider ${id} is gone`);
}

const THIRD_PARTY_SHOWN: LeftJoin<ThirdPartyProviderShown> = {
  table: thirdPartyProviders,
  columns: {
    name: thirdPartyProviders.name,
    website: thirdPartyProviders.website,
    applicationName: thirdPartyProviders.applicationName,
    applicationDescription: thirdPartyProviders.applicationDescription,
    applicationWebsite: thirdPartyProviders.applicationWebsite,
  },
  on: eq(thirdPartyProviders.id, openBankingConsents.thirdPartyProviderId),
  order: [],
};

const SHOWN_CONSENT = lookUpWith(openBankingConsents, THIRD_PARTY_SHOWN);

/** The consent as answers show it; null if there is none. */
export async function findShownConsent(reader: Reader, id: ConsentId) {
  const [found] = groupRows(await reader.findChildren(SHOWN_CONSENT, id));
  return found === undefined ? null : shown(found);
}

function shown({ row, joined: [thirdParty] }: Grouped<ConsentRow, ThirdPartyProviderShown>) {
  if (thirdParty === undefined) throw gone(row);
  return presentConsent(consentOf(row), thirdParty);
}

/** The consent as answers and events show it. */
export async function showConsent(reader: Reader, row: ConsentRow) {
  return presentConsent(consentOf(row), await readThirdParty(reader, row));
}

const CONSENT = lookUpIn(openBankingConsents);

export function findConsent(reader: Reader, id: ConsentId): Promise<ConsentRow | null> {
  return reader.find(CONSENT, id);
}

interface Filter {
  readonly userId: UserId | undefined;
}

const LIST = listWith<Filter, typeof openBankingConsents, ThirdPartyProviderShown>(
  openBankingConsents,
  THIRD_PARTY_SHOWN,
  (given) => and(...equalTo([[openBankingConsents.userId, given.userId]])),
);

const NEWEST = newestListOf<Filter, typeof openBankingConsents>(openBankingConsents, (given) => ({
  indexed: equalTo([[openBankingConsents.userId, given.userId]]),
  others: [],
}));

/** Consents newest first, as answers show them. */
export async function listNewestConsents(
  reader: Reader,
  filter: Filter,
  page: NewestPage,
): Promise<Newest<ReturnType<typeof presentConsent>>> {
  const { rows, lookedTo } = await NEWEST.read(reader, filter, page);
  return { rows: await Promise.all(rows.map((row) => showConsent(reader, row))), lookedTo };
}

export function countConsents(reader: Reader, filter: Filter, max: number): Promise<BoundedCount> {
  return NEWEST.count(reader, filter, max);
}

/** One page of consents as answers show them, and the total. */
export async function listConsents(
  reader: Reader,
  filter: Filter,
  page: PageRequest,
): Promise<PageOf<ReturnType<typeof presentConsent>>> {
  const { rows, totalElements } = await readPageWith(reader, LIST(filter), filter, page);
  return { rows: rows.map(shown), totalElements };
}
