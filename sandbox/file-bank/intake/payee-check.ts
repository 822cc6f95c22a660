import type { PayeeCheck } from '../records.ts';

/** What the beginning of a payee's name makes its bank answer; docs/sandbox.md is printed from it. Null: it never answers. */
export const PAYEE_ANSWERS: Readonly<Record<string, PayeeCheck['answer'] | null>> = {
  Close: 'RVMC',
  Nomatch: 'RVNM',
  Notpossible: 'RVNA',
  Silent: null,
};

/** The payee's bank compares the name: a close match tells the name that it holds. */
export function checkPayee(name: string): PayeeCheck | null {
  const beginning = Object.keys(PAYEE_ANSWERS).find((one) => name.startsWith(`${one} `));
  const answer = beginning === undefined ? 'RCVC' : (PAYEE_ANSWERS[beginning] ?? null);
  if (answer === null) return null;
  return { answer, matchedName: answer === 'RVMC' ? name.slice(name.indexOf(' ') + 1) : null };
}
