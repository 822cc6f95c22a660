import type { Registry } from 'prom-client';
import type { MetricsText } from '../config/metrics/metrics-server.ts';
import { readLastLedgerCheck } from '../db/ledger/check.ts';
import { readMonthsOver, readTableEnds } from '../db/months.ts';
import { listLastDays } from '../db/reconciliation/days.ts';
import { countOpenBreaks } from '../db/reconciliation/statements.ts';
import {
  ledgerCheckEnded,
  ledgerCheckViolations,
  reconciliationBreaksOpen,
  reconciliationComparedDay,
  registry,
  tableDaysLeft,
  tableMonthsOver,
} from './http/metrics.ts';
import { within } from './http/probe-deadline.ts';
import type { Services } from './http/services.ts';
import { showWaits } from './transfers/wait-metrics.ts';
import { transitionCounter } from './transition-counts.ts';

/**
 * Renders the metrics of the API and of the loops in its process; some of the API's are read from the database at
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
  const showTableMonths = async () => {
    const { reader } = services.database;
    const [ends, over] = await Promise.all([readTableEnds(reader), readMonthsOver(reader)]);
    for (const { table, daysLeft } of ends) tableDaysLeft.set({ table }, daysLeft);
    tableMonthsOver.set(over.count);
  };
  return async () => {
    // Without Postgres the other metrics still appear.
    const waits = showWaits(services.database.reader);
    const own = [showLedgerCheck(), showOpenBreaks(), showComparedDays(), showTableMonths()];
    const readings = [countTransitions(), ...own, waits];
    await within(Promise.all(readings).then(() => true));
    const texts = await Promise.all([registry, ...(loops === null ? [] : [loops])].map((of) => of.metrics()));
    return { text: texts.join(''), contentType: registry.contentType };
  };
}
