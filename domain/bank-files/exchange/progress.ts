import type { BankProfile } from '../profiles.ts';

/**
 * How far an instruction is. `assigned`: a file holds it. `delivered`: the file is at the bank. `received`: the bank has it, and has not
 * accepted it yet. `confirmation`: the bank's payee check asks a person at the bank's own channel. `failed`: rejected after its release.
 */
export const INSTRUCTION_STATES = [
  'queued',
  'assigned',
  'delivered',
  'received',
  'confirmation',
  'released',
  'completed',
  'rejected',
  'failed',
] as const;
export type InstructionState = (typeof INSTRUCTION_STATES)[number];

/** What a bank has told about an instruction, in our words. */
export type InstructionNews =
  | { readonly kind: 'status'; readonly meaning: StatusMeaning }
  | { readonly kind: 'booked'; readonly by: 'camt.054' | 'camt.053' }
  /** The file is at the bank, by our own listing. */
  | { readonly kind: 'delivered' };

export type StatusMeaning = 'received' | 'confirmation' | 'accepted' | 'settled' | 'rejected';

/** What follows for the payment; null: nothing new. */
export type PaymentNews = 'released' | 'completed' | 'rejected' | 'failed';

export interface Progress {
  readonly state: InstructionState;
  readonly news: PaymentNews | null;
  /** It contradicts what the bank has told before: a person investigates, and nothing changes. */
  readonly isContradiction: boolean;
}

type Rules = Pick<BankProfile, 'releasedBy' | 'endsBy'>;

/** The order of the states before the last one; none of the last ones is ever left. */
const RANKS: Readonly<Record<InstructionState, number>> = {
  queued: 0,
  assigned: 1,
  delivered: 2,
  received: 3,
  confirmation: 4,
  released: 5,
  completed: 6,
  rejected: 6,
  failed: 6,
};

const STRENGTHS = { 'pain.002': 0, 'camt.054': 1, 'camt.053': 2 } as const;

/**
 * Applies news to an instruction, whatever the order in which they come: its state only ever moves forward. `isRestored`: a restore may have
 * lost the file that carried it.
 */
export function progressAfter(
  state: InstructionState,
  news: InstructionNews,
  rules: Rules,
  isRestored = false,
): Progress {
  // No file of ours has carried it, and still the bank has it: our rows are older. What was rejected there may have been submitted again since.
  const isRejected = news.kind === 'status' && news.meaning === 'rejected';
  if (state === 'queued' && (news.kind === 'delivered' || (isRejected && !isRestored))) return contradiction(state);
  switch (news.kind) {
    case 'delivered':
      return rules.releasedBy === 'delivery' ? released(state) : forward(state, 'delivered');
    case 'booked':
      return STRENGTHS[news.by] >= STRENGTHS[rules.endsBy] ? paid(state, 'completed') : paid(state, 'released');
    case 'status':
      return afterStatus(state, news.meaning, rules);
  }
}

function afterStatus(state: InstructionState, meaning: StatusMeaning, rules: Rules): Progress {
  switch (meaning) {
    case 'received':
    case 'confirmation':
      return forward(state, meaning);
    case 'accepted':
      return released(state);
    case 'settled':
      return paid(state, rules.endsBy === 'pain.002' ? 'completed' : 'released');
    case 'rejected':
      if (state === 'rejected' || state === 'failed') return unchanged(state);
      if (state === 'completed') return contradiction(state);
      if (state === 'released') return { state: 'failed', news: 'failed', isContradiction: false };
      return { state: 'rejected', news: 'rejected', isContradiction: false };
  }
}

/** An acceptance that arrives after a rejection is older than it: the rejection is final. */
function released(state: InstructionState): Progress {
  if (RANKS[state] >= RANKS.released) return unchanged(state);
  return { state: 'released', news: 'released', isContradiction: false };
}

/** Money has moved, which no rejection precedes. */
function paid(state: InstructionState, to: 'released' | 'completed'): Progress {
  if (state === 'rejected' || state === 'failed') return contradiction(state);
  if (RANKS[state] >= RANKS[to]) return unchanged(state);
  return { state: to, news: to, isContradiction: false };
}

function forward(state: InstructionState, to: InstructionState): Progress {
  return unchanged(RANKS[state] >= RANKS[to] ? state : to);
}

function unchanged(state: InstructionState): Progress {
  return { state, news: null, isContradiction: false };
}

function contradiction(state: InstructionState): Progress {
  return { state, news: null, isContradiction: true };
}

/** ISO 20022's external status codes (ExternalPaymentGroupStatus1Code and its like), as banks send them for files, batches and payments. */
export const MEANINGS: Readonly<Record<string, StatusMeaning>> = {
  RCVD: 'received',
  PDNG: 'received',
  PATC: 'received',
  ACTC: 'received',
  ACFC: 'received',
  ACCP: 'accepted',
  ACSP: 'accepted',
  ACWC: 'accepted',
  ACWP: 'accepted',
  ACSC: 'settled',
  ACCC: 'settled',
  RJCT: 'rejected',
  CANC: 'rejected',
};

/** The answers of a bank's payee check: match, close match, no match, not possible. */
export const PAYEE_CHECKS = ['RCVC', 'RVMC', 'RVNM', 'RVNA'] as const;
export type PayeeCheck = (typeof PAYEE_CHECKS)[number];
const MATCH: PayeeCheck = 'RCVC';
/** The answers for which a person is asked. */
export const UNMATCHED_CHECKS: readonly PayeeCheck[] = PAYEE_CHECKS.filter((code) => code !== MATCH);
/** The statuses by which a bank says no more than that it has a payment. */
export const RECEIVED_STATUSES: readonly string[] = Object.keys(MEANINGS).filter(
  (code) => MEANINGS[code] === 'received',
);

/** Banks put the answer of the payee check where the status stands, or among the reasons. */
export function payeeCheckOf({ status, reasons }: Stated): PayeeCheck | null {
  return PAYEE_CHECKS.find((code) => code === status || reasons.includes(code)) ?? null;
}

interface Stated {
  readonly status: string | null;
  readonly reasons: readonly string[];
}

/**
 * Reasons by which a bank says that it has had a file or payment before. That rejects the second copy and says nothing of the first, so it
 * is no outcome.
 */
export const REPEATED: ReadonlySet<string> = new Set(['AM05', 'DUPL', 'DU01', 'DU02', 'DU03', 'DU04', 'DU05']);

export function isRepetition({ status, reasons }: Stated): boolean {
  return status !== null && MEANINGS[status] === 'rejected' && reasons.some((reason) => REPEATED.has(reason));
}

/**
 * The status of a payment or batch with what the levels around it say, the nearest first: a status if it has none of its own, and the reasons
 * of a rejection if it has none of its own.
 */
export function inheritedStatus(own: Stated, around: readonly Stated[]): Stated {
  const outer = around.find(({ status }) => status !== null && !isPartly(status));
  const status = own.status ?? outer?.status ?? null;
  const isRejected = status !== null && MEANINGS[status] === 'rejected';
  if (own.reasons.length > 0 || !isRejected) return { status, reasons: own.reasons };
  const reasons = around.find((level) => level.reasons.length > 0)?.reasons ?? [];
  return { status, reasons };
}

/** The meaning of a status; null if it says nothing of a payment by itself (PART), or is unknown to us. */
export function meaningOf(stated: Stated, { payeeCheck }: Pick<BankProfile, 'payeeCheck'>): StatusMeaning | null {
  const { status } = stated;
  const meaning = status !== null && Object.hasOwn(MEANINGS, status) ? (MEANINGS[status] ?? null) : null;
  if (isRepetition(stated)) return null;
  if (meaning === 'rejected' || meaning === 'accepted' || meaning === 'settled') return meaning;
  const check = payeeCheckOf(stated);
  if (check === null) return meaning;
  // Where files are opted out of it, the check of a payment that went by itself asks for a person all the same.
  return payeeCheck !== 'none' && check !== MATCH ? 'confirmation' : 'received';
}

/** Whether a person is to confirm it at the bank: by its state, or by the bank's latest word of a payment that delivery has released. */
export function asksForConfirmation(state: InstructionState, latest: Stated): boolean {
  if (state !== 'released') return state === 'confirmation';
  return meaningOf(latest, { payeeCheck: 'confirmed' }) === 'confirmation';
}

/** The statuses that say nothing of a single payment: its own status does. */
export const PARTLY: ReadonlySet<string> = new Set(['PART', 'PRES']);

export function isPartly(status: string | null): boolean {
  return status !== null && PARTLY.has(status);
}

/** The reason of a rejection. NARR says that the bank gave no code: unlike MS03, which is tried again. */
export function rejectionCode(reasons: readonly string[]): string {
  return reasons[0] ?? 'NARR';
}
