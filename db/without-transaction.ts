import type { Transaction } from './client.ts';

/**
 * Stands in for a transaction where something is decided from what was read without locks. It refuses whatever is asked of it, and
 * remembers that it was asked: then the decision is worth nothing, and is to be made in a transaction.
 */
export class WithoutTransaction implements Transaction {
  readonly inTransaction = true;
  #wasNeeded = false;

  get wasNeeded(): boolean {
    return this.#wasNeeded;
  }

  execute(): Promise<never> {
    return this.#refuse();
  }

  statement(): Promise<never> {
    return this.#refuse();
  }

  find(): Promise<never> {
    return this.#refuse();
  }

  get drizzle(): never {
    throw this.#refusal();
  }

  #refuse(): Promise<never> {
    return Promise.reject(this.#refusal());
  }

  #refusal(): Error {
    this.#wasNeeded = true;
    return new Error('this is decided without the database');
  }
}
