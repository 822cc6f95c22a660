import { isDone, type Operation } from './calls.ts';
import type { LoadKind, LoadWorld } from './kind.ts';
import { externalTransfer, transferOf } from './orders.ts';

/**
 * The last digits of amounts at the bank: plain, open until settled, rejected once or always for a passing reason, recall rejected,
 * recall accepted in silence.
 */
const SCENARIOS = { '.50': 6, '.10': 2, '.11': 3, '.12': 1, '.14': 3, '.15': 2 };
const RECALL_REJECTED_PENCE = 14n;
const RECENT = 12;

interface Recall {
  readonly transferId: string;
  readonly operation: Operation;
}

/** Payments that are tried again, recalled, some by two callers at once, and sent back in parts by the bank. */
export class PaymentsBack implements LoadKind {
  readonly #world: LoadWorld;
  readonly #bankAccountId: string;
  readonly #payments: Operation[] = [];
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
    const amount = Number(`${random.whole(5, 40)}${random.weighted(SCENARIOS)}`);
    const money = { clientId, currency: 'GBP', amount, from: random.pick(accounts).id };
    const { request, operation } = calls.single(
      transferOf(externalTransfer(money, 'faster-payments', this.#bankAccountId)),
    );
    this.#payments.push(operation);
    await calls.send(request);
  }

  async #recall(transferId: string): Promise<void> {
    const { calls } = this.#world;
    const { request, operation } = calls.single({
      purpose: 'recall',
      path: `/outgoing-transfers/${transferId}/recall`,
      body: { workflow: { code: 'direct' }, data: {} },
      idOf: ({ outgoingTransfer }) => outgoingTransfer.id,
    });
    this.#recalls.push({ transferId, operation });
    await calls.send(request);
  }

  /** Some parts are more than is left, and are rejected. */
  async #sendBackInPart(id: string): Promise<void> {
    const { random, service, bank } = this.#world;
    const part = {
      code: 'AC06',
      amount: random.whole(100, 900) / 100,
      returnReference: `part-${random.whole(1, 1e9)}`,
    };
    const times = random.chance(0.3) ? 2 : 1;
    await Promise.all(Array.from({ length: times }, () => bank.steer(service, id, 'return', part)));
  }

  /** Payments that the bank left open are settled. */
  async finish(): Promise<void> {
    const { service, bank } = this.#world;
    const open = await service.database.reader.statement<{ id: string }>(
      `SELECT id FROM outgoing_transfers WHERE status = 'released' AND amount_minor % 100 = 10`,
      [],
    );
    for (const { id } of open) await bank.steer(service, id, 'settle', {});
  }

  /** Every acknowledged recall was requested once and has its outcome, with one event if it is rejected, and the bank agrees. */
  async findProblems(): Promise<string[]> {
    const { service } = this.#world;
    const rows = await service.database.reader.statement<PaymentRow>(PAYMENTS, [this.#ids()]);
    const problems: string[] = [];
    for (const row of rows) {
      const wrong = (problem: string) => problems.push(`payment ${row.id} of ${row.pence}, ${row.status}: ${problem}`);
      const asked = this.#recalls.filter(
        ({ transferId, operation }) => transferId === row.id && isDone(operation),
      ).length;
      if (row.recallNumber !== asked) wrong(`${asked} recalls were acknowledged, ${row.recallNumber} are recorded`);
      if (row.returnedPence !== row.sum) wrong(`${row.returnedPence} came back, its returns say ${row.sum}`);
      if (asked === 0) continue;
      // Another recall is open to callers only after a rejection, so that all but the latest were rejected.
      const rejected = row.recallNumber - (row.recallStatus === 'rejected' ? 0 : 1);
      if (row.rejectionEvents !== rejected)
        wrong(`${rejected} recalls were rejected, ${row.rejectionEvents} events say so`);
      const isWhollyBack = row.returnedPence === row.pence;
      const isRejected = row.pence % 100n === RECALL_REJECTED_PENCE && !isWhollyBack && row.status !== 'failed';
      if (row.recallStatus !== (isRejected ? 'rejected' : 'ended')) wrong(`its recall is ${row.recallStatus}`);
      if (!isRejected && !isWhollyBack && row.status !== 'failed')
        wrong(`recalled, and ${row.returnedPence} came back`);
      if (isRejected) problems.push(...(await this.#contradictionsOfBank(row)));
    }
    return problems;
  }

  async #contradictionsOfBank({ id, recallNumber }: PaymentRow): Promise<string[]> {
    const { bank, service } = this.#world;
    const known = JSON.stringify(await bank.recall(service, id));
    return known === JSON.stringify([bank.recallReference(id, recallNumber), 'rejected'])
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
  readonly rejectionEvents: number;
}

const PAYMENTS = `WITH rejected AS (
    SELECT resource_id, count(*)::integer AS rejections FROM events, json_array_elements(entries) AS entry
      WHERE module = 'outgoing-transfers' AND resource_id = ANY($1) AND entry ->> 'type' = 'outgoing-transfer-recall-rejected'
      GROUP BY resource_id)
  SELECT id, status, amount_minor AS pence, returned_minor AS "returnedPence",
    (SELECT coalesce(sum(amount_minor), 0) FROM incoming_transfers WHERE return_of = paid.id)::bigint AS sum,
    recall_number AS "recallNumber", recall_status AS "recallStatus",
    coalesce(rejections, 0) AS "rejectionEvents"
  FROM outgoing_transfers AS paid LEFT JOIN rejected ON resource_id = id WHERE id = ANY($1)`;
