import { createAccounts, createFloorAccounts } from './accounts.ts';
import type { Bench } from './bench.ts';
import { benchAdmissions } from './cases/admissions.ts';
import { benchBatches } from './cases/batches.ts';
import { benchClients } from './cases/clients.ts';
import { benchConsents } from './cases/consents.ts';
import { benchExports } from './cases/exports.ts';
import { benchExternalTransfers, benchWithoutTemporal } from './cases/external-transfers.ts';
import { benchIssuing } from './cases/issuing.ts';
import { benchLedgerCheck } from './cases/ledger-check.ts';
import { benchLists } from './cases/lists.ts';
import { benchReads } from './cases/reads.ts';
import { benchScheduled } from './cases/scheduled.ts';
import { benchTransfers } from './cases/transfers.ts';
import { benchUnitCosts } from './cases/unit-costs.ts';
import { benchWebhooks } from './cases/webhooks.ts';
import { Callers } from './load/callers.ts';
import type { Measurement } from './load/measure.ts';
import { residentBytes } from './load/processor-time.ts';
import { readOptions } from './options.ts';
import { machine, markdown, type Report, writeReport } from './report.ts';
import { benchRoutes } from './routes/run.ts';
import { closeStages, type Stage, startStage } from './stage.ts';
import { benchTraces } from './traces.ts';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const say = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  const startedAt = new Date().toISOString();
  const stage = await startStage(say);
  const callers = new Callers();
  try {
    const accounts = await createAccounts(stage.sql);
    const floorAccounts = await createFloorAccounts(stage.sql);
    const bench: Bench = { options, stage, callers, accounts, floorAccounts, say };
    const idle = memory(stage, 'at the start');
    const measurements = await runCases(bench);
    const routes = options.only.has('routes') ? await benchRoutes(bench) : null;
    const unitCosts = options.only.has('unit-costs') ? await benchUnitCosts(bench) : [];
    const memoryMiB = options.only.has('e') ? { ...idle, ...memory(stage, 'at the end') } : {};
    const report: Report = { startedAt, machine: machine(), measurements, memoryMiB, routes, unitCosts };
    const files = writeReport(report);
    console.log(markdown(report));
    say(`Written: ${files.join(', ')}`);
    if (routes !== null && routes.failures.length > 0) process.exitCode = 1;
  } finally {
    callers.close();
    await stage.close();
  }
}

async function runCases(bench: Bench): Promise<Measurement[]> {
  const { only } = bench.options;
  const measurements: Measurement[] = [];
  if (only.has('a')) measurements.push(...(await benchTransfers(bench)));
  if (only.has('c')) measurements.push(...(await benchReads(bench)));
  if (only.has('b')) measurements.push(...(await benchExternalTransfers(bench)));
  if (only.has('f')) measurements.push(...(await benchClients(bench)));
  if (only.has('d')) measurements.push(...(await benchWebhooks(bench)));
  if (only.has('b')) measurements.push(...(await benchWithoutTemporal(bench)));
  if (only.has('g')) measurements.push(...(await benchLists(bench)));
  if (only.has('batches')) measurements.push(...(await benchBatches(bench)));
  if (only.has('exports')) measurements.push(...(await benchExports(bench)));
  if (only.has('ledger-check')) await benchLedgerCheck(bench);
  if (only.has('admissions')) await benchAdmissions(bench);
  if (only.has('issuing')) measurements.push(...(await benchIssuing(bench)));
  if (only.has('scheduled')) measurements.push(...(await benchScheduled(bench)));
  if (only.has('consents')) measurements.push(...(await benchConsents(bench)));
  if (only.has('traces')) measurements.push(...(await benchTraces(bench)));
  return measurements;
}

/** e. Resident memory of the service's two processes. */
function memory(stage: Stage, when: string): Record<string, number> {
  const mebibytes = (processId: number): number => Math.round(residentBytes(processId) / 1024 ** 2);
  return { [`api ${when}`]: mebibytes(stage.api.process.pid), [`worker ${when}`]: mebibytes(stage.worker.pid) };
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => closeStages().finally(() => process.exit(130)));

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
