import type { Json } from '../../api.ts';
import type { LoadKind, LoadWorld } from './kind.ts';
import { externalTransfer, internalTransfer } from './orders.ts';

const ITEMS_MAX = 40;

/**
 * Batches of transfers; each item is an operation of its own, whose key is its reference. Half of them have an Idempotency-Key too. If the
 * answer is lost, the same batch goes out again.
 */
export class Batches implements LoadKind {
  readonly #world: LoadWorld;
  readonly #bankAccountId: string;

  constructor(world: LoadWorld, bankAccountId: string) {
    this.#world = world;
    this.#bankAccountId = bankAccountId;
  }

  async act(): Promise<void> {
    const { calls, random } = this.#world;
    const operations = Array.from({ length: random.whole(1, ITEMS_MAX) }, () => calls.operation('transfer'));
    const items = operations.map(({ key }) => ({ reference: key, outgoingTransfer: this.#transfer() }));
    const workflow = { code: 'client.direct', mode: random.weighted({ each: 3, all: 1 }) };
    const request = calls.track({
      method: 'POST',
      path: '/outgoing-transfers/batch',
      body: JSON.stringify({ workflow, data: { items } }),
      key: random.chance(0.5) ? `batch-of-${operations[0]?.key}` : null,
      operations,
      idsOf: ({ results }) => results.map(({ outgoingTransfer }: Json) => outgoingTransfer?.id ?? null),
    });
    await calls.send(request);
  }

  #transfer(): Json {
    const { random, clientId, accounts, bank, externalShare } = this.#world;
    const [from, to] = random.pair(accounts);
    // Some exceed the balance: they are rejected, or wait for funds.
    const pounds = random.chance(0.02) ? random.whole(3_000, 9_000) : random.whole(1, 40);
    const isExternal = random.chance(externalShare);
    const pence = isExternal ? random.weighted(bank.scenarios) : `.${random.whole(20, 99)}`;
    const money = { clientId, currency: 'GBP', amount: Number(`${pounds}${pence}`), from: from.id };
    return isExternal
      ? externalTransfer(money, 'faster-payments', this.#bankAccountId)
      : internalTransfer(money, to.id);
  }

  async finish(): Promise<void> {}

  /** The check of all transfers covers them. */
  async findProblems(): Promise<string[]> {
    return [];
  }
}
