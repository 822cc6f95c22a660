import type { Transaction } from '../driver/client.ts';

/**
 * Decides from what was read without locks. `decide` gets a transaction that refuses whatever it is asked; null when it was asked for
 * anything, also for what nobody waited for: then the decision is worth nothing, and is to be made in a transaction.
 */
export async function withoutTransaction<Decision>(
  decide: (tx: Transaction) => Promise<Decision>,
): Promise<Decision | null> {
  const tx = new RefusingTransaction();
  try {
    const decision = await decide(tx);
    return tx.wasAsked ? null : decision;
  } catch (error) {
    if (tx.wasAsked) return null;
    throw error;
  }
}

class RefusingTransaction implements Transaction {
  readonly inTransaction = true;
  #wasAsked = false;

  get wasAsked(): boolean {
    return this.#wasAsked;
  }

  execute(): Promise<never> {
    return Promise.reject(this.#refusal());
  }

  statement(): Promise<never> {
    return Promise.reject(this.#refusal());
  }

  find(): Promise<never> {
    return Promise.reject(this.#refusal());
  }

  noteWakeup(): void {}

  get drizzle(): never {
    throw this.#refusal();
  }

  #refusal(): Error {
    this.#wasAsked = true;
    return new Error('this is decided without the database');
  }
}
