import { isDeepStrictEqual } from 'node:util';
import { getTableColumns, type Table } from 'drizzle-orm';
import { stringify } from 'lossless-json';
import { UNCHANGING_INCOMING_FIELDS } from '../../domain/incoming-transfers/events.ts';
import type { IncomingTransfer } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { ProvisionedAccountCredit } from '../../domain/incoming-transfers/provisioned-account-credits.ts';
import type { ClaimedKey, RowChange } from '../../domain/ledger/changes.ts';
import type { LedgerSide, Posting } from '../../domain/ledger/ledger.ts';
import { SENT_TEXTS, type SentTexts } from '../../domain/outgoing-transfers/requests/sent-texts.ts';
import { type OutgoingTransfer, UNCHANGING_OUTGOING_FIELDS } from '../../domain/outgoing-transfers/rows.ts';
import type { TransferChange } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { batchedPerDatabase, fallBackToSingle } from '../batching/batcher.ts';
import { type AuditEntry, auditRow } from '../common/audit-entries.ts';
import { newEventRowId } from '../common/events.ts';
import { incomingTransfers, outgoingTransfers } from '../common/schema.ts';
import type { CallLimits, Database, Transaction } from '../query/database.ts';
import { type ListStatement, noResults } from '../query/list-statements.ts';
import { toWire } from '../query/values.ts';
import { provisionedAccountCredits } from './schema.ts';

/**
 * The only writer of transfers: it applies decided changes and decides nothing itself. `apply_transfer_changes`
 * (db/functions/transfer-changes.sql) defines how it applies each one.
 */

/** The result of a change. `not-applied`: nothing was written, and the change must be decided again under locks. */
export type AppliedChange =
  | { readonly outcome: 'applied' | 'not-applied'; readonly responseBody: null }
  | { readonly outcome: 'replayed'; readonly responseBody: string };

/** A provider's callback; `payload` is kept as evidence. */
export interface StoredCallback {
  readonly provider: string;
  readonly providerEventId: string;
  readonly kind: string;
  readonly ourReference: string | null;
  /** JSON text. */
  readonly payload: string;
}

/** The origin of a change, written with it: a caller's key and audit entry, or a provider's callback. */
export interface ChangeOrigin {
  readonly key?: ClaimedKey | null;
  readonly auditEntry?: AuditEntry;
  readonly callback?: StoredCallback;
}

interface SentChange extends ChangeOrigin {
  readonly change: TransferChange;
  readonly traceparent: string | undefined;
}

const APPLY_LOCKED: ListStatement<SentChange, undefined> = {
  text: 'SELECT FROM apply_transfer_changes($1::json, true)',
  stage: 'rows',
  paramsOf: (changes) => [wireOf(changes)],
  resultsOf: noResults,
};

const APPLY = `SELECT outcome, response_body AS "responseBody"
  FROM apply_transfer_changes(before_deadline($2, $1::json), false) WHERE before_deadline($2)`;

/**
 * Sends changes that were decided under this transaction's locks, in order. The commit confirms them; a change that no
 * longer holds fails the transaction.
 */
export function applyUnderLocks(tx: Transaction, changes: readonly (TransferChange | null)[]): void {
  const written = changes.filter((change) => change !== null);
  if (written.length === 0) return;
  if (written.some(({ wakes }) => wakes.length > 0)) tx.noteWakeup();
  const { traceparent } = tx;
  tx.sendEach(
    APPLY_LOCKED,
    written.map((change) => ({ change, traceparent })),
  );
}

/** Applies a change that was decided without locks. Concurrent changes share one statement, which waits for no lock. */
export async function applyWithoutLocks(
  database: Database,
  change: TransferChange,
  origin: ChangeOrigin = {},
): Promise<AppliedChange> {
  const applied = await applyBatched(database, { ...origin, change, traceparent: database.limits().traceparent });
  if (applied.outcome === 'applied' && change.wakes.length > 0) database.noteWakeup();
  return applied;
}

const NOT_APPLIED: AppliedChange = { outcome: 'not-applied', responseBody: null };

const applyBatched = batchedPerDatabase<SentChange, AppliedChange>(
  (database, requested, limits) =>
    fallBackToSingle(
      database,
      'apply_transfer_changes',
      requested,
      () => apply(database, requested, limits),
      NOT_APPLIED,
    ),
  ({ change }) => accountsOf(change),
);

function apply(
  database: Database,
  requested: readonly SentChange[],
  limits: CallLimits,
): Promise<readonly AppliedChange[]> {
  return database.write<AppliedChange>(APPLY, [wireOf(requested)], limits);
}

/** The client accounts that a change writes to or relies on. */
function accountsOf({ guards, accounts, postings }: TransferChange): readonly string[] {
  const touched = new Set<string>([...guards, ...accounts].map(({ accountId }) => accountId));
  for (const side of postings.flatMap(({ debit, credit }) => [debit, credit])) {
    if (typeof side === 'string') touched.add(side);
  }
  return [...touched];
}

// The fields of the SQL type transfer_change.
function wireOf(requested: readonly SentChange[]): string {
  const rows = requested.map(({ change, key, auditEntry, callback, traceparent }) => ({
    at: change.now,
    ...(key == null ? {} : keyOnWire(key)),
    account_ids: accountsOf(change),
    guards: change.guards.map((guard) => ({
      account_id: guard.accountId,
      status: guard.status,
      client_status: guard.clientStatus,
      closing: guard.closing,
      ...(guard.availableMinor === 'any' ? { any_balance: true } : { available_minor: guard.availableMinor }),
    })),
    moves: change.accounts.map(({ accountId, reservedMinor, receivableMinor, waits }) => ({
      account_id: accountId,
      reserved_minor: reservedMinor,
      receivable_minor: receivableMinor,
      waits,
    })),
    ...rowOnWire('outgoing', OUTGOING, change.outgoing),
    ...rowOnWire('incoming', INCOMING, change.incoming),
    postings: change.postings.map(postingOnWire),
    wakes: change.wakes,
    wake_priority: change.priority,
    traceparent,
    ...(change.credit === undefined ? {} : { credit: valuesOnWire(CREDIT_COLUMNS, change.credit) }),
    ...(auditEntry === undefined ? {} : { audit_entry: auditRow(auditEntry) }),
    ...(callback === undefined ? {} : { callback: callbackOnWire(callback) }),
  }));
  return stringify(rows) ?? '[]';
}

function keyOnWire({ machineUserId, path, key, requestHash, status, body }: ClaimedKey) {
  return {
    machine_user_id: machineUserId,
    path,
    key,
    request_hash: toWire(requestHash),
    response_status: status,
    response_body: body,
  };
}

/** The payload is JSON already. */
function callbackOnWire({ provider, providerEventId, kind, ourReference, payload }: StoredCallback) {
  return {
    provider,
    provider_event_id: providerEventId,
    kind,
    our_reference: ourReference,
    payload: JSON.parse(payload),
  };
}

type Columns = readonly (readonly [field: string, column: string])[];

interface TransferTable {
  readonly columns: Columns;
  readonly unchanging: ReadonlySet<string>;
}

const OUTGOING = tableOf(outgoingTransfers, UNCHANGING_OUTGOING_FIELDS);
const INCOMING = tableOf(incomingTransfers, UNCHANGING_INCOMING_FIELDS);
/** Columns that the writer maintains. */
const COUNTED: ReadonlySet<string> = new Set(['revision', 'eventSequence']);

function tableOf(table: Table, unchanging: readonly string[]): TransferTable {
  return { columns: columnsOf(table), unchanging: new Set(unchanging) };
}

function columnsOf(table: Table): Columns {
  return Object.entries(getTableColumns(table)).map(([field, { name }]) => [field, name] as const);
}

const CREDIT_COLUMNS = columnsOf(provisionedAccountCredits);

type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;

// The domain's rows are the tables': a column in only one of them does not compile.
true satisfies Same<OutgoingTransfer, typeof outgoingTransfers.$inferSelect>;
true satisfies Same<IncomingTransfer, typeof incomingTransfers.$inferSelect>;
true satisfies Same<ProvisionedAccountCredit, typeof provisionedAccountCredits.$inferSelect>;

interface Revised {
  readonly id: string;
  readonly revision: bigint;
}

function rowOnWire(side: 'outgoing' | 'incoming', table: TransferTable, row: RowChange<Revised> | null) {
  if (row === null) return {};
  const { before, after, events } = row;
  // A row that stays as it is must only have its revision still.
  if (before === after) return { [`${side}_id`]: after.id, [`${side}_from`]: before.revision };
  return {
    [`${side}_id`]: after.id,
    [`${side}_from`]: before?.revision,
    [side]: before === null ? newRowOnWire(table, after, events.length) : changesOnWire(table, before, after),
    ...(events.length === 0 ? {} : { [`${side}_event_id`]: newEventRowId(), [`${side}_entries`]: events }),
  };
}

const SENT: ReadonlySet<string> = new Set(SENT_TEXTS);
const SENT_COLUMNS = OUTGOING.columns.filter(([field]) => SENT.has(field));

/** The columns of the texts that the caller has sent. */
export function sentTextsOnWire(texts: SentTexts): Readonly<Record<string, unknown>> {
  return valuesOnWire(SENT_COLUMNS, texts);
}

function newRowOnWire({ columns }: TransferTable, row: Revised, eventCount: number): Record<string, unknown> {
  return { ...valuesOnWire(columns, row), event_sequence: eventCount };
}

function valuesOnWire(columns: Columns, row: object): Record<string, unknown> {
  const values: Readonly<Record<string, unknown>> = { ...row };
  const fields: Record<string, unknown> = {};
  for (const [field, column] of columns) {
    const value = values[field];
    if (value !== null && value !== undefined) fields[column] = value;
  }
  return fields;
}

function changesOnWire(
  { columns, unchanging }: TransferTable,
  before: Revised,
  after: Revised,
): Record<string, unknown> {
  const old: Readonly<Record<string, unknown>> = { ...before };
  const present: Readonly<Record<string, unknown>> = { ...after };
  const fields: Record<string, unknown> = {};
  for (const [field, column] of columns) {
    const value = present[field];
    if (value === old[field] || COUNTED.has(field) || isDeepStrictEqual(value, old[field])) continue;
    if (unchanging.has(field)) throw new Error(`a change of a transfer may not touch its ${field}`);
    fields[column] = value ?? null;
  }
  return fields;
}

function postingOnWire(posting: Posting) {
  return {
    at: posting.now,
    ...sideOnWire('debit', posting.debit),
    ...sideOnWire('credit', posting.credit),
    amount_minor: posting.amountMinor,
    currency: posting.currency,
    debit_number: posting.debitNumber,
    credit_number: posting.creditNumber ?? posting.debitNumber,
    debit_type: posting.debitType,
    credit_type: posting.creditType ?? posting.debitType,
    entry_type: posting.entryType,
    outgoing_transfer_id: posting.outgoingTransferId,
    incoming_transfer_id: posting.incomingTransferId,
    narrative: posting.narrative,
    release_minor: posting.releaseMinor ?? 0n,
  };
}

function sideOnWire(side: 'debit' | 'credit', of: LedgerSide) {
  if (typeof of === 'string') return { [side]: of };
  return { [`${side}_provider`]: of.provider, [`${side}_kind`]: of.kind };
}
