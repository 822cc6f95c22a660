import { LockTimeout, sqlState } from '../postgres/failures.ts';

/** A shared statement that failed as a whole; its calls now run one by one. */
export interface SharedFailure {
  readonly statement: string;
  /** The SQLSTATE; null for an error that Postgres did not raise. */
  readonly sqlState: string | null;
  /** True for the first of its kind in a minute: one log line covers the rest. */
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
