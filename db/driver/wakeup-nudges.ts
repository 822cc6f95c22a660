/** The channel on which a process without a relay says that a workflow is to be woken; what for is found by looking. */
export const WAKEUPS_CHANNEL = 'workflow_wakeups';

/** Commits with a NOTIFY queue behind one lock of Postgres: all of this long are one. */
const NOTIFY_INTERVAL_MS = 20;

/**
 * Says after a commit that woke workflows that the relay is to look: to that of this process, else by one NOTIFY for all
 * commits of a moment, outside of them. It only saves the wait for the relay's next poll: what is lost is found by that.
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

  /** One at a time: where Postgres is slow, they must not take its connections from others. */
  async #send(): Promise<void> {
    this.#timer = null;
    this.#isSending = true;
    await this.#notify().catch(() => {});
    this.#isSending = false;
    if (this.#isDueAgain) this.note();
    this.#isDueAgain = false;
  }
}
