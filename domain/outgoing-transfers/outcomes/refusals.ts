import type { LocalDate } from '../../frame/time/dates.ts';
import { isUsable } from '../../ledger/ledger.ts';
import type { SchemeOf, Schemes } from '../../providers/schemes.ts';
import type { TransferDraft } from '../drafts.ts';
import type { OutgoingTransferStep } from '../outgoing-transfers.ts';
import type { OutgoingTransfer } from '../rows.ts';

/** The configured rules for attempts after a refusal. */
export interface RetryRules {
  /** How often a refused payment is submitted again before it fails. */
  readonly retryLimit: number;
  /** The pause before another attempt by a scheme that never closes. */
  readonly retryPauseSeconds: number;
}

/**
 * The refusals that say something of a moment and not of the payment: BE08, an error of a bank on the way, and MS03, no reason
 * given. Every other reason stays true however often the payment is sent.
 */
const WORTH_ANOTHER_ATTEMPT: ReadonlySet<string> = new Set(['BE08', 'MS03']);

export function isWorthAnotherAttempt(code: string | null): boolean {
  return code !== null && WORTH_ANOTHER_ATTEMPT.has(code);
}

/** Whether a refusal of this attempt is old news: a later attempt has begun since, or the refusal is recorded. */
export function isKnownRefusal(transfer: OutgoingTransfer, attempt: number): boolean {
  const { submissionAttempt, submissionStatus } = transfer;
  return attempt < submissionAttempt || (attempt === submissionAttempt && submissionStatus === 'refused');
}

/** Keeps a refused payment, with its reservation, for another attempt; false if its reason or the limit forbids one. */
export function keepForAnotherAttempt(draft: TransferDraft, attempt: number, code: string | null): boolean {
  const { transfer, situation } = draft;
  const { now, rules } = situation;
  if (transfer.status !== 'processing' || transfer.scope !== 'external' || transfer.method !== 'built-in') return false;
  if (!isWorthAnotherAttempt(code) || transfer.retryCount >= rules.retryLimit) return false;
  draft.set({
    submissionAttempt: attempt,
    submissionStatus: 'refused',
    retryCount: transfer.retryCount + 1,
    refusalCode: code,
    ...nextAttempt(transfer, rules.schemes, now, rules.retryPauseSeconds),
  });
  return true;
}

interface NextAttempt {
  /** The date of the window, on which the payment is released if it succeeds. */
  readonly transferDate: LocalDate;
  readonly cutOffAt: Date | null;
  readonly retryAt: Date;
}

/** The opening of the next window, or a pause if the scheme never closes. */
function nextAttempt(
  of: SchemeOf & { readonly transferDate: LocalDate },
  schemes: Schemes,
  now: Date,
  pauseSeconds: number,
): NextAttempt {
  if (schemes.neverCloses(of)) {
    const retryAt = new Date(now.getTime() + pauseSeconds * 1_000);
    return { transferDate: laterOf(of.transferDate, schemes.today(of, retryAt)), cutOffAt: null, retryAt };
  }
  const transferDate = schemes.nextOpening(of, laterOf(of.transferDate, schemes.today(of, now)), now);
  return { transferDate, cutOffAt: schemes.cutOff(of, transferDate), retryAt: schemes.opensAt(of, transferDate) };
}

function laterOf(one: LocalDate, other: LocalDate): LocalDate {
  return one > other ? one : other;
}

/**
 * Moves the next attempt of a refused payment to the first date that the present calendars leave it, never to an earlier time; false if
 * the transfer waits for no attempt. Its workflow takes the next step, so that a look-up it is about to make is not lost.
 */
export function rescheduleAttempt(draft: TransferDraft): boolean {
  const { transfer, situation } = draft;
  if (transfer.status !== 'processing' || transfer.submissionStatus !== 'refused') return false;
  const { schemes } = situation.rules;
  const { transferDate, cutOff } = schemes.roll(transfer, transfer.transferDate, situation.now);
  const opensAt = schemes.opensAt(transfer, transferDate);
  const retryAt = transfer.retryAt !== null && transfer.retryAt > opensAt ? transfer.retryAt : opensAt;
  draft.set({ transferDate, cutOffAt: cutOff, retryAt });
  if (transfer.waitingFor === 'retry') draft.wait('retry', retryAt);
  return true;
}

/** The next step of a refused payment: it waits for its window, moves on from one that was missed, or is submitted again. */
export function stepAfterRefusal(draft: TransferDraft): OutgoingTransferStep {
  const { now, rules } = draft.situation;
  const { schemes } = rules;
  const { retryAt } = draft.transfer;
  if (retryAt !== null && retryAt > now) return draft.wait('retry', retryAt);
  const { transferDate, cutOff } = schemes.roll(draft.transfer, draft.transfer.transferDate, now);
  draft.set({ transferDate, cutOffAt: cutOff });
  const opensAt = schemes.opensAt(draft.transfer, transferDate);
  if (opensAt > now) {
    draft.set({ retryAt: opensAt });
    return draft.wait('retry', opensAt);
  }
  // A new attempt is a new order to pay: none leaves an account that is not active.
  if (!isUsable(draft.source)) return draft.wait('account', schemes.rollsAt(draft.transfer, transferDate));
  return beginAttempt(draft);
}

/** Begins the attempt after one that the provider has refused, and which therefore cannot pay any more. */
export function beginAttempt(draft: TransferDraft): OutgoingTransferStep {
  const attempt = draft.transfer.submissionAttempt + 1;
  draft.set({ submissionAttempt: attempt, submissionStatus: 'unresolved', retryAt: null });
  draft.wait('provider', null);
  return { do: 'submit', attempt };
}
