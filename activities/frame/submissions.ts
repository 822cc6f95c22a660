import type { Reader } from '../../db/driver/client.ts';
import { areSubmissionsClosed } from '../../db/providers/restores.ts';

/**
 * Temporal retries this: after a restore, nothing is submitted until the statements of the lost window have been
 * read.
 */
export class SubmissionsClosed extends Error {
  constructor() {
    super('nothing is submitted to providers until the operator’s after-restore command has ended');
    this.name = 'SubmissionsClosed';
  }
}

export async function requireOpenSubmissions(reader: Reader): Promise<void> {
  if (await areSubmissionsClosed(reader)) throw new SubmissionsClosed();
}
