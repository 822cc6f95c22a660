import { type Column, getTableColumns } from 'drizzle-orm';
import { isFinalOutgoingTransferStatus } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import { leaveToCommit } from '../driver/client.ts';
import { EVENTS_PARAMETERS, eventsValues, insertOfFirstEvents, insertOfNextEvents } from '../frame/events.ts';
import { outgoingTransfers } from '../frame/schema.ts';
import { insertOfFirstWakeup } from '../frame/workflow-wakeups.ts';
import { UNCHANGING_OUTGOING_FIELDS } from '../ledger/transfer-event-data.ts';
import type { OutgoingTransferRow, Work } from './work.ts';

// A sweep looks at an open transfer again this long after the instant that it waits for, or without one.
const CHECK_MARGIN_MS = 60_000;
const CHECK_WITHOUT_DEADLINE_MS = 3_600_000;

/** What a new transfer has where its maker says nothing: the defaults of the table. */
const UNTOUCHED = {
  scheme: null,
  feeMinor: 0n,
  reservedMinor: 0n,
  rollCount: 0,
  cutOffAt: null,
  description: null,
  transferReasonId: null,
  transferCustomReason: null,
  schemeAttributes: null,
  destinationAccountId: null,
  destinationPartyAccountId: null,
  beneficiaryId: null,
  beneficiaryBankAccountId: null,
  beneficiary: null,
  returned: false,
  incomingTransferId: null,
  serviceProviderId: null,
  serviceProviderReference: null,
  submissionAttempt: 0,
  submissionStatus: 'none',
  lookUpCount: 0,
  nextLookUpAt: null,
  failureCode: null,
  failureMessage: null,
  waitingFor: null,
  waitingSince: null,
  waitingUntil: null,
  nextCheckAt: null,
  createdBy: null,
  revision: 1n,
  eventSequence: 0n,
} as const satisfies Partial<OutgoingTransferRow>;

type Untouched = keyof typeof UNTOUCHED;

export type NewOutgoingTransfer = Omit<OutgoingTransferRow, Untouched> & Partial<Pick<OutgoingTransferRow, Untouched>>;

export function newRow(transfer: NewOutgoingTransfer): OutgoingTransferRow {
  return { ...UNTOUCHED, ...transfer };
}

// Statements as text, made once: every transition writes one of these, and building them each time costs more than executing.
const COLUMNS = Object.entries(getTableColumns(outgoingTransfers));
/** What never changes is not sent back with each transition; `eventSequence` is counted up with the events. */
const UNSENT: ReadonlySet<string> = new Set<keyof OutgoingTransferRow>([
  ...UNCHANGING_OUTGOING_FIELDS,
  'eventSequence',
]);
const CHANGING = COLUMNS.filter(([name]) => !UNSENT.has(name));
const INSERT = (() => {
  const placeholders = COLUMNS.map((_, index) => `$${index + 1}`);
  const eventsAfter = COLUMNS.length;
  const wakeupAfter = eventsAfter + EVENTS_PARAMETERS;
  const [account, reserved, waits] = [2, 3, 4].map((number) => `$${wakeupAfter + number}`);
  return `
    WITH account AS (
      UPDATE accounts SET reserved_minor = reserved_minor + ${reserved}::bigint, has_waiters = has_waiters OR ${waits}::boolean
      WHERE id = ${account}::uuid AND (${reserved}::bigint > 0 OR (${waits}::boolean AND NOT has_waiters))
    ), event AS (${insertOfFirstEvents('outgoing-transfers', eventsAfter)}),
    wakeup AS (${insertOfFirstWakeup('outgoing-transfer', wakeupAfter)})
    INSERT INTO outgoing_transfers (${COLUMNS.map(([, column]) => column.name).join(', ')})
    VALUES (${placeholders.join(', ')})`;
})();
/** The assignments of an UPDATE that takes what changes from a record of the table's own type, named `change`. */
export const CHANGES_OF_RECORD = CHANGING.map(([, { name }]) => `${name} = change.${name}`).join(', ');
const CHANGES = CHANGING.map(([, { name }], index) => `${name} = $${index + 3}`).join(', ');
const UPDATE = `UPDATE outgoing_transfers SET ${CHANGES} WHERE id = $1 AND revision = $2`;
const UPDATE_AND_TELL = (() => {
  const eventsAfter = CHANGING.length + 2;
  const count = `$${eventsAfter + 2}::smallint`;
  return `
    WITH resource AS (
      UPDATE outgoing_transfers SET ${CHANGES}, event_sequence = event_sequence + ${count}
      WHERE id = $1 AND revision = $2 RETURNING event_sequence - ${count} + 1 AS first_sequence
    ) ${insertOfNextEvents('outgoing-transfers', eventsAfter)}`;
})();

function valuesOf(columns: readonly (readonly [string, Column])[], row: OutgoingTransferRow): unknown[] {
  const values = new Map<string, unknown>(Object.entries(row));
  return columns.map(([name, column]) => {
    const value = values.get(name);
    return value === null || value === undefined ? null : column.mapToDriverValue(value);
  });
}

/**
 * Sends the row, guarded by the revision it was decided from, and its events. That they are written is known when the
 * transaction commits.
 */
export function save(work: Work): void {
  const { tx, before, transfer, now, entries } = work;
  if (transfer === before && entries.length === 0) return;
  const values = [before.id, before.revision, ...valuesOf(CHANGING, revised(work))];
  if (entries.length === 0) leaveToCommit(tx.statement(UPDATE, values));
  else {
    const events = eventsValues({ resourceId: transfer.id, occurredAt: now, entries });
    leaveToCommit(tx.statement(UPDATE_AND_TELL, [...values, ...events]));
  }
}

/**
 * Sends a new transfer, as what has become of it already, with its events, its reservation, and the first wake-up of its
 * workflow, if it has one.
 */
export function insert(work: Work, workflowId: string | null): void {
  const { tx, now, entries } = work;
  const row = { ...decided(work), eventSequence: BigInt(entries.length) };
  const events = eventsValues({ resourceId: row.id, occurredAt: now, entries });
  const account = [row.accountId, row.reservedMinor, row.waitingFor === 'balance'];
  if (workflowId !== null) tx.noteWakeup();
  leaveToCommit(tx.statement(INSERT, [...valuesOf(COLUMNS, row), ...events, workflowId, ...account]));
}

/** The row of a new transfer, as what has become of it already, in the words of the table. */
export function rowOf(work: Work): Record<string, unknown> {
  return inWordsOfTable(COLUMNS, { ...decided(work), eventSequence: BigInt(work.entries.length) });
}

/** What changes of a transfer, in the words of the table. */
export function changesOf(work: Work): Record<string, unknown> {
  return inWordsOfTable(CHANGING, revised(work));
}

function inWordsOfTable(columns: readonly (readonly [string, Column])[], row: OutgoingTransferRow) {
  const values = new Map<string, unknown>(Object.entries(row));
  return Object.fromEntries(
    columns.map(([name, column]) => {
      const value = values.get(name);
      return [column.name, typeof value === 'bigint' ? value.toString() : value];
    }),
  );
}

function revised(work: Work): OutgoingTransferRow {
  return { ...decided(work), revision: work.before.revision + 1n };
}

function decided({ transfer, now }: Work): OutgoingTransferRow {
  const final = isFinalOutgoingTransferStatus(transfer.status);
  const checkAfter = transfer.waitingUntil?.getTime() ?? now.getTime() + CHECK_WITHOUT_DEADLINE_MS;
  return { ...transfer, nextCheckAt: final ? null : new Date(checkAfter + CHECK_MARGIN_MS), updatedAt: now };
}
