import type { Registry } from 'prom-client';
import type { MetricsText } from '../config/metrics/metrics-server.ts';
import { readLastLedgerCheck } from '../db/ledger/check.ts';
import { listLastDays } from '../db/reconciliation/days.ts';
import { countOpenBreaks } from '../db/reconciliation/statements.ts';
import {
  ledgerCheckEnded,
  ledgerCheckViolations,
  reconciliationBreaksOpen,
  reconciliationComparedDay,
  registry,
} from './frame/metrics.ts';
import type { Services } from './frame/services.ts';
import { within } from './frame/within.ts';
import { showWaits } from './ledger/wait-metrics.ts';
import { transitionCounter } from './transition-counts.ts';

/**
 * Renders the metrics of the API and of the loops in its process; some of the former are read from the database at
 * each scrape.
 */
export function metricsText(services: Pick<Services, 'database'>, loops: Registry | null): () => Promise<MetricsText> {
  const countTransitions = transitionCounter(services);
  const showLedgerCheck = async () => {
    const { endedAt, violationCount } = await readLastLedgerCheck(services.database.reader);
    ledgerCheckEnded.set(endedAt.getTime() / 1_000);
    ledgerCheckViolations.set(violationCount);
  };
  const showOpenBreaks = async () => {
    reconciliationBreaksOpen.set(await countOpenBreaks(services.database.reader));
  };
  const showComparedDays = async () => {
    for (const { provider, currency, day } of await listLastDays(services.database.reader)) {
      reconciliationComparedDay.set({ provider, currency }, Date.parse(`${day}T00:00:00Z`) / 1_000);
    }
  };
  return async () => {
    // Without Postgres the other metrics still appear.
    const waits = showWaits(services.database.reader);
    const readings = [countTransitions(), showLedgerCheck(), showOpenBreaks(), showComparedDays(), waits];
    await within(Promise.all(readings).then(() => true));
    const texts = await Promise.all([registry, ...(loops === null ? [] : [loops])].map((of) => of.metrics()));
    return { text: texts.join(''), contentType: registry.contentType };
  };
}
