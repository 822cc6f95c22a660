/** The only procedure of compliance checks, and its results (specification 2.10). */
export const PROCEDURES = ['transaction-monitoring'] as const;

export const PROCEDURE_RESULTS = [
  'all-passed',
  'soft-stop',
  'hard-stop',
  'hard-stop-accepted',
  'hard-stop-rejected',
] as const;
export type ProcedureResult = (typeof PROCEDURE_RESULTS)[number];

/** A decision as Temporal's signal carries it to a transfer's workflow. */
export interface SignalledDecision {
  /** Chosen by the sender: the same id again has no effect. */
  readonly decisionId: string;
  readonly procedure: (typeof PROCEDURES)[number];
  readonly result: ProcedureResult;
  readonly actor: string;
}

/** Printable and short enough for the audit log. */
const SIGNALLED_TEXT = /^(?! *$)[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,100}$/u;

/** Null if the payload is not a decision: a signal may contain anything. */
export function parseSignalledDecision(payload: unknown): SignalledDecision | null {
  if (typeof payload !== 'object' || payload === null) return null;
  const sent = new Map<string, unknown>(Object.entries(payload));
  const procedure = PROCEDURES.find((known) => known === sent.get('procedure'));
  const result = PROCEDURE_RESULTS.find((known) => known === sent.get('result'));
  const [decisionId, actor] = [sent.get('decisionId'), sent.get('actor')];
  if (procedure === undefined || result === undefined || !isPrintable(decisionId) || !isPrintable(actor)) return null;
  return { decisionId, procedure, result, actor };
}

function isPrintable(value: unknown): value is string {
  return typeof value === 'string' && SIGNALLED_TEXT.test(value);
}
