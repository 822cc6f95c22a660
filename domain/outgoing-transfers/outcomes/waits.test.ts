import { expect, test } from 'vitest';
import { draw, NOW, PAYER, returnedInPart } from '../../../test/harness/workflows/returned-payment.ts';
import { decideAdvance, decideCallback, decideReschedule } from '../changes.ts';
import { decideLookUpRequest } from '../look-ups.ts';
import type { PaymentReport } from '../reports.ts';
import type { OutgoingTransfer } from '../rows.ts';
import type { TransferChange } from '../transfer-changes.ts';

// What the row says that a payment waits for, from the moment of a report on, before its workflow has taken the next step.

const { currency, provider } = PAYER;
const MINUTE_MS = 60_000;
const LATER = new Date(NOW.getTime() + 30 * MINUTE_MS);

function waitOf(change: TransferChange | null): Partial<OutgoingTransfer> {
  if (change === null || change.outgoing === null) throw new Error('nothing has changed');
  const { waitingFor, waitingUntil, recallStatus, nextCheckAt } = change.outgoing.after;
  return { waitingFor, waitingUntil, recallStatus, nextCheckAt };
}

function report(outcome: PaymentReport['outcome'], fields: Partial<PaymentReport> = {}): PaymentReport {
  return { outcome, serviceProviderId: null, serviceProviderReference: null, code: 'AC04', ...fields };
}

/** A callback that the rest of the payment has come back. */
const rest = (amountMinor: string) =>
  report('returned', { claim: { amountMinor: '10000', currency, returned: { reference: 'rest', amountMinor } } });

const RECALLED = { waitingFor: 'recall', waitingSince: NOW } as const;
const NO_WAIT = { waitingFor: null, waitingUntil: null, recallStatus: 'ended', nextCheckAt: null };

test('a payment that comes back whole, or fails, waits for no recall any more; one that comes back in part does', () => {
  const completed = returnedInPart('completed', RECALLED);
  expect(waitOf(decideCallback(completed, provider, rest('7000'), draw()).change)).toEqual(NO_WAIT);
  const failed = returnedInPart('released', { ...RECALLED, returned: false, returnedMinor: 0n });
  expect(waitOf(decideCallback(failed, provider, report('failed'), null).change)).toEqual(NO_WAIT);
  const inPart = decideCallback(completed, provider, rest('1000'), draw()).change;
  expect(waitOf(inPart)).toMatchObject({ waitingFor: 'recall', recallStatus: 'asked', nextCheckAt: expect.any(Date) });
});

/** Rejected for a passing reason; the next attempt is due later. */
function rejected(fields: Partial<OutgoingTransfer>) {
  const none = { returned: false, returnedMinor: 0n, recallNumber: 0, recallStatus: null };
  const rejection = { submissionStatus: 'rejected', rejectionCode: 'BE08', retryCount: 1, retryAt: LATER } as const;
  return returnedInPart('processing', { ...none, ...rejection, nextLookUpAt: null, ...fields });
}

const RETRY = { waitingFor: 'retry', waitingSince: NOW, waitingUntil: LATER } as const;
const LOOKED_UP = { waitingFor: 'provider', waitingSince: NOW, waitingUntil: null } as const;

test('a rejected payment that is looked up waits for its provider meanwhile, and is checked as such', () => {
  const decided = decideAdvance(rejected({ ...RETRY, nextLookUpAt: NOW }));
  expect(decided.step).toEqual({ do: 'look-up', count: 0 });
  const nextCheckAt = new Date(NOW.getTime() + 61 * MINUTE_MS);
  expect(waitOf(decided.change)).toMatchObject({ waitingFor: 'provider', waitingUntil: null, nextCheckAt });
});

test('a change that decides nothing about a rejected payment leaves its wait as it is', () => {
  expect(waitOf(decideLookUpRequest(rejected(RETRY)))).toMatchObject({ waitingFor: 'retry', waitingUntil: LATER });
  const again = decideReschedule(rejected({ ...LOOKED_UP, cutOffAt: LATER }));
  expect(waitOf(again)).toMatchObject({ waitingFor: 'provider', waitingUntil: null });
});

test('a rejection for a passing reason waits for the retry from the moment of its report', () => {
  const submitted = { submissionStatus: 'unresolved', retryCount: 0, retryAt: null, ...LOOKED_UP } as const;
  const rejection = report('failed', { code: 'BE08', rejectedAttempt: 1 });
  const { change } = decideCallback(rejected(submitted), provider, rejection, null);
  const { waitingFor, waitingUntil } = waitOf(change);
  expect([waitingFor, waitingUntil]).toEqual(['retry', change?.outgoing?.after.retryAt]);
});
