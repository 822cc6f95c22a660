import type { Reader } from '../../db/driver/client.ts';
import { type Closure, closureInWords, readClosure } from '../../db/providers/submissions.ts';

/** A restore or an operator has closed submissions. Nothing was sent; the workflow asks again about every minute. */
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
