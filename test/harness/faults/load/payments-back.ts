import type { Json } from '../../api.ts';
import { isDone, type Wish } from './calls.ts';
import type { LoadKind, LoadWorld } from './kind.ts';
import { externalTransfer, transferOf } from './orders.ts';
import { bankLever } from './outside.ts';

/**
 * The last digits of amounts at the bank: plain, open until settled, refused once or always for a passing reason, recall refused,
 * recall accepted in silence.
 */
const COURSES = { '.50': 6, '.10': 2, '.11': 3, '.12': 1, '.14': 3, '.15': 2 };
const RECALL_REFUSED_PENCE = 14n;
const RECENT = 12;

interface Recall {
  readonly transferId: string;
  readonly wish: Wish;
}

/** Payments that are tried again, recalled, some by two callers at once, and sent back in parts by the bank. */
export class PaymentsBack implements LoadKind {
  readonly #world: LoadWorld;
  readonly #bankAccountId: string;
  readonly #payments: Wish[] = [];
  readonly #recalls: Recall[] = [];

  constructor(world: LoadWorld, bankAccountId: string) {
    this.#world = world;
    this.#bankAccountId = bankAccountId;
  }

  async act(): Promise<void> {
    const { random } = this.#world;
    const ids = this.#ids().slice(-RECENT);
    if (ids.length < RECENT || random.chance(0.5)) return this.#pay();
    const id = random.pick(ids);
    if (random.chance(0.5))
      await Promise.all(random.chance(0.3) ? [this.#recall(id), this.#recall(id)] : [this.#recall(id)]);
    else await this.#sendBackInPart(id);
  }

  #ids(): string[] {
    return this.#payments.flatMap(({ ids }) => [...ids]);
  }

  async #pay(): Promise<void> {
    const { random, calls, clientId, accounts } = this.#world;
    const amount = Number(`${random.whole(5, 40)}${random.weighted(COURSES)}`);
    const money = { clientId, currency: 'GBP', amount, from: random.pick(accounts).id };
    const { asking, wish } = calls.single(transferOf(externalTransfer(money, 'faster-payments', this.#bankAccountId)));
    this.#payments.push(wish);
    await calls.send(asking);
  }

  async #recall(transferId: string): Promise<void> {
    const { calls } = this.#world;
    const { asking, wish } = calls.single({
      purpose: 'recall',
      path: `/outgoing-transfers/${transferId}/recall`,
      body: { workflow: { code: 'direct' }, data: {} },
      idOf: ({ outgoingTransfer }) => outgoingTransfer.id,
    });
    this.#recalls.push({ transferId, wish });
    await calls.send(asking);
  }

  /** Some parts are more than is left, and are refused. */
  async #sendBackInPart(id: string): Promise<void> {
    const { random, service } = this.#world;
    const part = {
      code: 'AC06',
      amount: random.whole(100, 900) / 100,
      returnReference: `part-${random.whole(1, 1e9)}`,
    };
    const times = random.chance(0.3) ? 2 : 1;
    await Promise.all(Array.from({ length: times }, () => bankLever(service, id, 'return', part)));
  }

  /** Payments that the bank left open are settled. */
  async finish(): Promise<void> {
    const { service } = this.#world;
    const open = await service.database.reader.statement<{ id: string }>(
      `SELECT id FROM outgoing_transfers WHERE status = 'released' AND amount_minor % 100 = 10`,
      [],
    );
    for (const { id } of open) await bankLever(service, id, 'settle', {});
  }

  /** Every recall that was acknowledged was asked for once, has its outcome, with one event if it is refused, and the bank knows the same. */
  async findProblems(): Promise<string[]> {
    const { service } = this.#world;
    const rows = await service.database.reader.statement<PaymentRow>(PAYMENTS, [this.#ids()]);
    const problems: string[] = [];
    for (const row of rows) {
      const wrong = (problem: string) => problems.push(`payment ${row.id} of ${row.pence}, ${row.status}: ${problem}`);
      const asked = this.#recalls.filter(({ transferId, wish }) => transferId === row.id && isDone(wish)).length;
      if (row.recallNumber !== asked) wrong(`${asked} recalls were acknowledged, ${row.recallNumber} are recorded`);
      if (row.returnedPence !== row.sum) wrong(`${row.returnedPence} came back, its returns say ${row.sum}`);
      if (asked === 0) continue;
      // Another recall is open to callers only after a refusal, so that all but the latest were refused.
      const refused = row.recallNumber - (row.recallStatus === 'refused' ? 0 : 1);
      if (row.refusalEvents !== refused) wrong(`${refused} recalls were refused, ${row.refusalEvents} events say so`);
      const isWhollyBack = row.returnedPence === row.pence;
      const isRefused = row.pence % 100n === RECALL_REFUSED_PENCE && !isWhollyBack && row.status !== 'failed';
      if (row.recallStatus !== (isRefused ? 'refused' : 'ended')) wrong(`its recall is ${row.recallStatus}`);
      if (!isRefused && !isWhollyBack && row.status !== 'failed') wrong(`recalled, and ${row.returnedPence} came back`);
      if (isRefused) problems.push(...(await this.#contradictionsOfBank(row)));
    }
    return problems;
  }

  async #contradictionsOfBank({ id, recallNumber }: PaymentRow): Promise<string[]> {
    const response = await fetch(`${this.#world.service.sandboxUrl}/bank/payments/${id}`);
    const { recall }: Json = await response.json();
    const known = JSON.stringify([recall?.recallReference, recall?.status]);
    return known === JSON.stringify([`${id}:recall:${recallNumber}`, 'refused'])
      ? []
      : [`payment ${id}: the bank's recall is ${known}`];
  }
}

interface PaymentRow {
  readonly id: string;
  readonly status: string;
  readonly pence: bigint;
  readonly returnedPence: bigint;
  readonly sum: bigint;
  readonly recallNumber: number;
  readonly recallStatus: string | null;
  readonly refusalEvents: number;
}

const PAYMENTS = `WITH refused AS (
    SELECT resource_id, count(*)::integer AS refusals FROM events, json_array_elements(entries) AS entry
      WHERE module = 'outgoing-transfers' AND resource_id = ANY($1) AND entry ->> 'type' = 'outgoing-transfer-recall-refused'
      GROUP BY resource_id)
  SELECT id, status, amount_minor AS pence, returned_minor AS "returnedPence",
    (SELECT coalesce(sum(amount_minor), 0) FROM incoming_transfers WHERE return_of = paid.id)::bigint AS sum,
    recall_number AS "recallNumber", recall_status AS "recallStatus",
    coalesce(refusals, 0) AS "refusalEvents"
  FROM outgoing_transfers AS paid LEFT JOIN refused ON resource_id = id WHERE id = ANY($1)`;
