/** The channel on which a process without a relay announces new wake-ups; listeners then read the table. */
export const WAKEUPS_CHANNEL = 'workflow_wakeups';

/** Commits that NOTIFY queue behind one lock in Postgres, so the commits of this interval share one. */
const NOTIFY_INTERVAL_MS = 20;

/**
 * Nudges the relay after commits that woke workflows: directly within this process, otherwise by one NOTIFY for all commits
 * of an interval. A nudge only saves the wait for the relay's next poll, which also finds wake-ups whose nudge was lost.
 */
export class WakeupNudges {
  readonly #notify: () => Promise<void>;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;
  #isSending = false;
  #isDueAgain = false;
  #closed = false;

  constructor(notify: () => Promise<void>) {
    this.#notify = notify;
  }

  note(): void {
    if (this.#listeners.size > 0) for (const listener of this.#listeners) listener();
    else if (this.#isSending) this.#isDueAgain = true;
    else if (!this.#closed) this.#timer ??= setTimeout(() => void this.#send(), NOTIFY_INTERVAL_MS);
  }

  listen(listener: () => void): { close(): void } {
    this.#listeners.add(listener);
    return { close: () => this.#listeners.delete(listener) };
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** One at a time, so that a slow Postgres does not tie up connections. */
  async #send(): Promise<void> {
    this.#timer = null;
    this.#isSending = true;
    await this.#notify().catch(() => {});
    this.#isSending = false;
    if (this.#isDueAgain) this.note();
    this.#isDueAgain = false;
  }
}
