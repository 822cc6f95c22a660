import type { Reader } from '../../db/driver/client.ts';
import { areSubmissionsClosed } from '../../db/providers/restores.ts';

/** Thrown to be tried again: until the statements of the time that a restore lost are read, nothing is submitted. */
export class SubmissionsClosed extends Error {
  constructor() {
    super('nothing is submitted to providers until the operator’s after-restore command has ended');
    this.name = 'SubmissionsClosed';
  }
}

export async function requireOpenSubmissions(reader: Reader): Promise<void> {
  if (await areSubmissionsClosed(reader)) throw new SubmissionsClosed();
}
