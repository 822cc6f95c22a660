import type { BenchAccount } from '../accounts.ts';
import type { Bench } from '../bench.ts';
import type { PreparedRequest } from '../load/callers.ts';
import { type Contender, compare, type Measurement } from '../load/measure.ts';

const PREPARED_COUNT = 5_000;

/**
 * a. Straight-through internal transfers, across all accounts and all into one, compared with one statement behind bare
 * HTTP.
 */
export async function benchTransfers(bench: Bench): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  const run = { callers: bench.callers, counts: bench.options.callers, ...pick(bench) };
  for (const [name, hot] of [
    ['transfers, 1,000 accounts', false],
    ['transfers, one hot account', true],
  ] as const) {
    bench.say(`a. ${name} …`);
    measurements.push(...(await compare(name, [floorTransfers(bench, hot), serviceTransfers(bench, hot)], run)));
  }
  return measurements;
}

function pick({ options }: Bench): { seconds: number; rounds: number } {
  return { seconds: options.seconds, rounds: options.rounds };
}

export function serviceTransfers(bench: Bench, hot: boolean): Contender {
  return {
    name: 'service',
    processIds: [bench.stage.api.process.pid, bench.stage.postgres.process.pid],
    load: {
      origin: bench.stage.api.origin,
      method: 'POST',
      headers: { authorization: `Bearer ${bench.stage.token}`, 'content-type': 'application/json' },
      idempotent: true,
      requests: pairs(bench.accounts, hot).map(([from, to]) => internalTransfer(from, to)),
    },
  };
}

export function floorTransfers(bench: Bench, hot: boolean): Contender {
  return {
    name: 'floor',
    processIds: [bench.stage.floor.process.pid, bench.stage.postgres.process.pid],
    load: {
      origin: bench.stage.floor.origin,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      idempotent: false,
      requests: pairs(bench.floorAccounts, hot).map(([from, to]) => ({
        path: '/transfers',
        body: JSON.stringify({ from, to, amountMinor: 1 }),
      })),
    },
  };
}

export function internalTransfer(from: BenchAccount, to: BenchAccount, further: object = {}): PreparedRequest {
  const outgoingTransfer = {
    clientId: from.clientId,
    currency: 'GBP',
    amount: 0.01,
    scope: 'internal',
    description: 'Bench',
    source: { type: 'client-account', accountId: from.accountId },
    destination: { type: 'client-account', accountId: to.accountId },
    ...further,
  };
  const body = JSON.stringify({ workflow: { code: 'client.direct' }, data: { outgoingTransfer } });
  return { path: '/outgoing-transfers', body };
}

/** Random pairs; if `hot`, all into the first account. */
export function pairs<Account>(accounts: readonly Account[], hot: boolean): [Account, Account][] {
  return Array.from({ length: PREPARED_COUNT }, () => {
    const to = hot ? 0 : Math.floor(Math.random() * accounts.length);
    const distance = 1 + Math.floor(Math.random() * (accounts.length - 1));
    const [source, destination] = [accounts[(to + distance) % accounts.length], accounts[to]];
    if (source === undefined || destination === undefined) throw new Error('the bench needs two accounts');
    return [source, destination];
  });
}
