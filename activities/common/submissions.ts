import { type Closure, closureInWords, readClosure } from '../../db/providers/submissions.ts';
import type { Reader } from '../../db/query/database.ts';

/** A restore or an operator has closed submissions. Nothing was sent; the workflow tries again about every minute. */
export class SubmissionsClosed extends Error {
  constructor(closure: Closure) {
    super(closureInWords(closure));
    this.name = 'SubmissionsClosed';
  }
}

export async function requireOpenSubmissions(reader: Reader): Promise<void> {
  const closure = await readClosure(reader);
  if (closure !== null) throw new SubmissionsClosed(closure);
}
