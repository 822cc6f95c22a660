import { Gauge } from 'prom-client';
import { readConnectionWaits } from '../../db/accounts/reads.ts';
import type { Reader } from '../../db/query/database.ts';
import { readTransferWaits } from '../../db/transfers/waiting-transfers.ts';
import { registry } from '../http/metrics.ts';

const TRANSFER_LABELS = ['direction', 'waiting_for', 'status'] as const;

const transfersWaiting = new Gauge({
  name: 'transfers_waiting',
  help: 'Open transfers by what they wait for, at most 10,000 of each.',
  labelNames: TRANSFER_LABELS,
  registers: [registry],
});

const transfersWaitingOldestSeconds = new Gauge({
  name: 'transfers_waiting_oldest_seconds',
  help: 'How long the oldest open transfer has waited.',
  labelNames: TRANSFER_LABELS,
  registers: [registry],
});

const connectionsWaiting = new Gauge({
  name: 'account_connections_waiting',
  help: 'Accounts that are being opened or closed by their providers.',
  labelNames: ['change'] as const,
  registers: [registry],
});

const connectionsWaitingOldestSeconds = new Gauge({
  name: 'account_connections_waiting_oldest_seconds',
  help: 'How long the oldest opening or closing of an account has waited.',
  labelNames: ['change'] as const,
  registers: [registry],
});

/** Reads the current waits. Labels without waits disappear. */
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
