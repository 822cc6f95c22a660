import type { ReconciliationBreak } from '../../db/reconciliation/breaks.ts';
import type { Reconciliation } from '../../db/reconciliation/days.ts';
import type { StoredFacts } from '../../db/reconciliation/schema.ts';
import type { ReconciliationBreakId, ReconciliationId } from '../../domain/common/ids.ts';
import { amountNumber } from '../../domain/common/money.ts';
import { formatDateTime } from '../../domain/common/time/dates.ts';
import { NOTE_LENGTH_MAX } from '../../domain/reconciliation/break-resolutions.ts';
import { BREAK_KINDS, BREAK_STATUSES } from '../../domain/reconciliation/reconciliation.ts';
import { named } from '../http/schemas/named.ts';
import {
  amount,
  currency,
  date,
  dateTime,
  fields,
  integer,
  nullable,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';

export const PROVIDER_LENGTH_MAX = 64;
/** Our ids, references of providers, and digests of unreadable entries. */
export const REFERENCE_LENGTH_MAX = 300;
/** Machine users' ids. */
const ACTOR_LENGTH_MAX = 100;
const COUNT_MAX = 1e12;

export const RECONCILIATION_STATUSES = ['balanced', 'breaks'] as const;

export const reconciliationStatus = named('ReconciliationStatus', picklist(RECONCILIATION_STATUSES));
export const breakKind = named('ReconciliationBreakKind', picklist(BREAK_KINDS));
export const breakStatus = named('ReconciliationBreakStatus', picklist(BREAK_STATUSES));

const sideShown = named(
  'ReconciliationSide',
  fields({
    creditCount: integer(0, COUNT_MAX),
    creditAmount: amount(),
    debitCount: integer(0, COUNT_MAX),
    debitAmount: amount(),
  }),
);

export const reconciliationShown = named(
  'Reconciliation',
  fields({
    id: uuid<ReconciliationId>(),
    serviceProvider: text(PROVIDER_LENGTH_MAX),
    currency: currency(),
    date: date(),
    status: reconciliationStatus,
    breakCount: integer(0, COUNT_MAX),
    openBreakCount: integer(0, COUNT_MAX),
    statement: sideShown,
    ledger: sideShown,
    comparedDateTime: dateTime(),
  }),
);

export const RECONCILIATION_EXAMPLE = {
  id: '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f30',
  serviceProvider: 'sandbox-bank',
  currency: 'GBP',
  date: '2026-11-22',
  status: 'breaks',
  breakCount: 1,
  openBreakCount: 1,
  statement: { creditCount: 12, creditAmount: 4_310.5, debitCount: 7, debitAmount: 1_204.99 },
  ledger: { creditCount: 12, creditAmount: 4_310.5, debitCount: 8, debitAmount: 1_244.99 },
  comparedDateTime: '2026-11-23T00:15:04',
};

const factsShown = named(
  'ReconciliationFacts',
  fields({
    amount: amount(),
    currency: currency(),
    account: nullable(text(REFERENCE_LENGTH_MAX)),
    date: nullable(date()),
    count: nullable(integer(0, COUNT_MAX)),
  }),
);

const differenceShown = named(
  'ReconciliationDifference',
  fields({
    creditCount: integer(-COUNT_MAX, COUNT_MAX),
    creditAmount: amount(),
    debitCount: integer(-COUNT_MAX, COUNT_MAX),
    debitAmount: amount(),
  }),
);

export const breakShown = named(
  'ReconciliationBreak',
  fields({
    id: uuid<ReconciliationBreakId>(),
    kind: breakKind,
    serviceProvider: text(PROVIDER_LENGTH_MAX),
    currency: nullable(currency()),
    date: nullable(date()),
    reference: nullable(text(REFERENCE_LENGTH_MAX)),
    resourceId: nullable(uuid()),
    expected: nullable(factsShown),
    actual: nullable(factsShown),
    difference: nullable(differenceShown),
    status: breakStatus,
    note: nullable(text(NOTE_LENGTH_MAX)),
    foundDateTime: dateTime(),
    resolvedDateTime: nullable(dateTime()),
    resolvedBy: nullable(text(ACTOR_LENGTH_MAX)),
  }),
);

export const BREAK_EXAMPLE = {
  id: '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f31',
  kind: 'statement-payment-missing',
  serviceProvider: 'sandbox-bank',
  currency: 'GBP',
  date: '2026-11-22',
  reference: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b06',
  resourceId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b06',
  expected: {
    amount: 40,
    currency: 'GBP',
    account: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b02',
    date: '2026-11-22',
    count: null,
  },
  actual: null,
  difference: { creditCount: 0, creditAmount: 0, debitCount: -1, debitAmount: -40 },
  status: 'open',
  note: null,
  foundDateTime: '2026-11-23T00:15:04',
  resolvedDateTime: null,
  resolvedBy: null,
};

export function presentReconciliation(day: Reconciliation) {
  const { id, provider, currency: code, status, breakCount, openBreakCount, comparedAt } = day;
  return {
    id,
    serviceProvider: provider,
    currency: code,
    date: day.day,
    status,
    breakCount: Number(breakCount),
    openBreakCount: Number(openBreakCount),
    statement: {
      creditCount: Number(day.providerCreditCount),
      creditAmount: amountNumber(day.providerCreditMinor, code),
      debitCount: Number(day.providerDebitCount),
      debitAmount: amountNumber(day.providerDebitMinor, code),
    },
    ledger: {
      creditCount: Number(day.ledgerCreditCount),
      creditAmount: amountNumber(day.ledgerCreditMinor, code),
      debitCount: Number(day.ledgerDebitCount),
      debitAmount: amountNumber(day.ledgerDebitMinor, code),
    },
    comparedDateTime: formatDateTime(comparedAt),
  };
}

export function presentBreak(found: ReconciliationBreak) {
  const { id, kind, provider, currency: code, day, ourReference, resourceId, status, note, resolvedBy } = found;
  return {
    id,
    kind,
    serviceProvider: provider,
    currency: code,
    date: day,
    reference: ourReference,
    resourceId,
    expected: presentFacts(found.expected),
    actual: presentFacts(found.actual),
    difference: presentDifference(found),
    status,
    note,
    foundDateTime: formatDateTime(found.foundAt),
    resolvedDateTime: found.resolvedAt && formatDateTime(found.resolvedAt),
    resolvedBy,
  };
}

function presentFacts(facts: StoredFacts | null) {
  if (facts === null) return null;
  const { amountMinor, currency: code, account, date: day, count = null } = facts;
  return { amount: amountNumber(BigInt(amountMinor), code), currency: code, account, date: day, count };
}

function presentDifference(found: ReconciliationBreak) {
  const { day, currency: code, creditCount, creditMinor, debitCount, debitMinor } = found;
  if (day === null || code === null) return null;
  return {
    creditCount: Number(creditCount),
    creditAmount: amountNumber(creditMinor, code),
    debitCount: Number(debitCount),
    debitAmount: amountNumber(debitMinor, code),
  };
}
