import { randomUUID } from 'node:crypto';
import type { Bench } from '../bench.ts';
import { Callers, type PreparedRequest } from '../load/callers.ts';
import { type Contender, type Measurement, measureInTurns } from '../load/measure.ts';
import { floorTransfers, internalTransfer, pairs, serviceTransfers } from './transfers.ts';

const ITEMS = 1_000;
const BATCHES = 4;
const SINGLE_CALLERS = 16;

/** One request with `items` new internal transfers. */
export function batchOf(bench: Pick<Bench, 'accounts'>, items: number): PreparedRequest {
  const transfers = pairs(bench.accounts, false).slice(0, items);
  const data = {
    items: transfers.map(([from, to]) => {
      const { data: transfer } = JSON.parse(internalTransfer(from, to).body ?? '');
      return { reference: randomUUID(), ...transfer };
    }),
  };
  return { path: '/outgoing-transfers/batch', body: JSON.stringify({ workflow: { code: 'client.direct' }, data }) };
}

function batches(bench: Bench): Contender {
  const service = serviceTransfers(bench, false);
  return {
    ...service,
    name: 'service, batches of 1,000',
    prepare: async () => Array.from({ length: BATCHES }, () => batchOf(bench, ITEMS)),
    load: { ...service.load, idempotent: false, once: true },
    operations: ITEMS,
  };
}

/**
 * Compares one caller with batches of 1,000 internal transfers, 16 callers with single transfers, the floor, and the
 * 16 callers while another caller sends batches.
 */
export async function benchBatches(bench: Bench): Promise<Measurement[]> {
  const { callers, options } = bench;
  bench.say('batches …');
  const { seconds } = options;
  const singly = { callers: SINGLE_CALLERS, seconds };
  const single = serviceTransfers(bench, false);
  const together = batches(bench);
  const further = new Callers();
  const sendBatches = async () => {
    const requests = (await together.prepare?.()) ?? [];
    return further.run({ ...together.load, requests, callers: 1, seconds });
  };
  const measured = await measureInTurns(
    'transfers, 1,000 accounts, one by one and in batches',
    [
      { contender: single, extent: singly },
      { contender: floorTransfers(bench, false), extent: singly },
      { contender: together, extent: { callers: 1, seconds: 60 } },
      { contender: { ...single, name: 'service, during batches' }, extent: singly, otherLoad: sendBatches },
    ],
    { callers, rounds: options.rounds },
  );
  further.close();
  return measured;
}
