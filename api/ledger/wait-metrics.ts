import { Gauge } from 'prom-client';
import { readConnectionWaits } from '../../db/accounts/reads.ts';
import type { Reader } from '../../db/driver/client.ts';
import { readTransferWaits } from '../../db/ledger/waiting-transfers.ts';
import { registry } from '../frame/metrics.ts';

const TRANSFER_LABELS = ['direction', 'waiting_for', 'status'] as const;

const transfersWaiting = new Gauge({
  name: 'transfers_waiting',
  help: 'Open transfers by what they wait for; 10,000 at most of each.',
  labelNames: TRANSFER_LABELS,
  registers: [registry],
});

const transfersWaitingOldestSeconds = new Gauge({
  name: 'transfers_waiting_oldest_seconds',
  help: 'For how long the one of them that has waited longest has waited.',
  labelNames: TRANSFER_LABELS,
  registers: [registry],
});

const connectionsWaiting = new Gauge({
  name: 'account_connections_waiting',
  help: 'Accounts whose opening or closing is under way at their providers, by change.',
  labelNames: ['change'] as const,
  registers: [registry],
});

const connectionsWaitingOldestSeconds = new Gauge({
  name: 'account_connections_waiting_oldest_seconds',
  help: 'Since when the oldest is: the account was created, or its closing was first sent.',
  labelNames: ['change'] as const,
  registers: [registry],
});

/** Reads what waits at this moment. What nothing waits for any more disappears. */
export async function showWaits(reader: Reader): Promise<void> {
  const [transfers, connections] = await Promise.all([readTransferWaits(reader), readConnectionWaits(reader)]);
  for (const gauge of [
    transfersWaiting,
    transfersWaitingOldestSeconds,
    connectionsWaiting,
    connectionsWaitingOldestSeconds,
  ])
    gauge.reset();
  for (const { direction, waitingFor, status, count, oldestSeconds } of transfers) {
    const labels = { direction, waiting_for: waitingFor, status };
    transfersWaiting.set(labels, count);
    transfersWaitingOldestSeconds.set(labels, oldestSeconds);
  }
  for (const { change, count, oldestSeconds } of connections) {
    connectionsWaiting.set({ change }, count);
    connectionsWaitingOldestSeconds.set({ change }, oldestSeconds);
  }
}
