import * as v from 'valibot';
import { maybe, number } from '../bank/wire.ts';

/** Faults of the door that files come through. Cleared by a restart of the bank. */
export interface FileFaults {
  /** What happens to SFTP connections that write; `away`: none is taken, and those that are open are cut. */
  readonly connection: (typeof CONNECTION_FAULTS)[number];
  /** How often `connection` happens; null: until it is cleared. */
  readonly times: number | null;
  /** `lost`: the server says that a file got its name, and no listing has it. */
  readonly uploads: (typeof UPLOAD_FAULTS)[number];
  /** How the bank's files come. */
  readonly answers: (typeof ANSWER_FAULTS)[number];
  readonly answerDelayMs: number;
}

export const CONNECTION_FAULTS = [
  'normal',
  'away',
  'cut-in-write',
  'cut-after-write',
  'cut-at-rename',
  'cut-in-read',
] as const;
export const UPLOAD_FAULTS = ['normal', 'lost', 'disk-full'] as const;
export const ANSWER_FAULTS = ['normal', 'held', 'doubled', 'reversed', 'half-visible'] as const;

/** What each fault does; docs/sandbox.md is printed from it. */
export const FILE_FAULT_EFFECTS: Readonly<Record<string, string>> = {
  'connection: away': 'no connection is taken, and open ones are cut',
  'connection: cut-in-write': 'cut within the next write: half of a file is there',
  'connection: cut-after-write': 'cut when the file is closed, which is whole',
  'connection: cut-at-rename': 'cut after the rename, without an answer',
  'connection: cut-in-read': 'cut within the next read',
  'uploads: lost': 'the server says that the file got its name, and no listing has it',
  'uploads: disk-full': 'writes fail',
  'answers: held': 'the bank’s files wait',
  'answers: doubled': 'each comes under two names',
  'answers: reversed': 'the latest comes first',
  'answers: half-visible': 'each is there in half for a second before it is whole',
};

export const NO_FILE_FAULTS: FileFaults = {
  connection: 'normal',
  times: null,
  uploads: 'normal',
  answers: 'normal',
  answerDelayMs: 0,
};

const one = <Values extends readonly string[]>(values: Values) =>
  maybe(v.picklist(values, `must be one of ${values.join(', ')}`));

export const FILE_FAULTS_REQUEST = v.strictObject(
  {
    connection: one(CONNECTION_FAULTS),
    times: maybe(number({ max: 1_000 })),
    uploads: one(UPLOAD_FAULTS),
    answers: one(ANSWER_FAULTS),
    answerDelayMs: maybe(number({ max: 600_000 })),
  },
  'is not a fault of the file bank',
);

export class FileFaultSwitch {
  #faults = NO_FILE_FAULTS;
  readonly #listeners: (() => void)[] = [];

  get now(): FileFaults {
    return this.#faults;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  set(faults: FileFaults): void {
    this.#faults = faults;
    for (const listener of this.#listeners) listener();
  }

  change(asked: v.InferOutput<typeof FILE_FAULTS_REQUEST>): void {
    const { connection, uploads, answers, answerDelayMs } = this.#faults;
    this.set({
      connection: asked.connection ?? connection,
      times: asked.times,
      uploads: asked.uploads ?? uploads,
      answers: asked.answers ?? answers,
      answerDelayMs: asked.answerDelayMs ?? answerDelayMs,
    });
  }

  /** Whether this happens to the connection now; it counts. */
  strikes(connection: FileFaults['connection']): boolean {
    if (this.#faults.connection !== connection) return false;
    const { times } = this.#faults;
    if (times !== null && times <= 1) this.set({ ...this.#faults, connection: 'normal', times: null });
    else if (times !== null) this.set({ ...this.#faults, times: times - 1 });
    return true;
  }
}
