import { checkText, REASON_LENGTH_MAX } from '../../domain/common/parties/names.ts';

/** The reason that a person gives for an act: a line of text; null if it is none. */
export function readReason(given: unknown): string | null {
  const checked = typeof given === 'string' ? checkText(given, REASON_LENGTH_MAX) : 'missing';
  return typeof checked === 'string' ? null : checked.value;
}

export const REASON_RULE = `Give a reason: a line of up to ${REASON_LENGTH_MAX} characters. It is kept in the audit log.`;
