import { LockTimeout, sqlState } from './failures.ts';

/** A statement that several callers shared failed as a whole, and each of them is done alone. */
export interface SharedFailure {
  readonly statement: string;
  /** What Postgres refused it with; null where it was not Postgres. */
  readonly sqlState: string | null;
  /** The first of its kind for a minute: one line of the log is enough for all of them. */
  readonly isNews: boolean;
}

export type OnSharedFailure = (failure: SharedFailure) => void;

const NEWS_INTERVAL_MS = 60_000;

export class SharedFailures {
  readonly #onFailure: OnSharedFailure;
  readonly #reportedAt = new Map<string, number>();

  constructor(onFailure: OnSharedFailure) {
    this.#onFailure = onFailure;
  }

  note(statement: string, error: unknown): void {
    const state = sqlState(error instanceof LockTimeout ? error.cause : error);
    const kind = `${statement} ${state}`;
    const now = performance.now();
    const isNews = now - (this.#reportedAt.get(kind) ?? Number.NEGATIVE_INFINITY) >= NEWS_INTERVAL_MS;
    if (isNews) this.#reportedAt.set(kind, now);
    this.#onFailure({ statement, sqlState: state, isNews });
  }
}
