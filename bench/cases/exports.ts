import { type BenchAccount, createAccounts } from '../accounts.ts';
import type { Bench } from '../bench.ts';
import { type Contender, type Measurement, medianMeasurement } from '../load/measure.ts';
import { processorTimeMs, residentBytes } from '../load/processor-time.ts';
import type { Served } from '../stage.ts';
import { loadLedger } from './ledger-load.ts';
import { internalTransfer, pairs } from './transfers.ts';

const CALLERS = 16;
const FORMATS = ['csv', 'camt.053'] as const;
/** A shorter measurement would end before the export has a page of entries. */
const SECONDS_MIN = 5;
const MEMORY_INTERVAL_MS = 100;
const MEBIBYTE = 1024 ** 2;

interface Export {
  readonly entries: number;
  readonly seconds: number;
}

/**
 * 16 callers pay each other, alternately without and during the export of an account with many entries. Reports how long each export took and
 * how much the memory of the API grew.
 */
export async function benchExports(bench: Bench): Promise<Measurement[]> {
  const { options, stage, say } = bench;
  const { api, sql } = await stage.secondApi('bench_exports');
  say(`exports. loading an account with ${options.entries.toLocaleString('en')} entries …`);
  const [exported, other, ...paying] = await createAccounts(sql);
  if (exported === undefined || other === undefined) throw new Error('the bench needs two accounts');
  await loadLedger(sql, options.entries, 2);
  await sql.unsafe('VACUUM ANALYZE');
  const callers = payers(bench, api, paying);
  const pay = () => sample(bench, callers);
  await pay();
  const measurements: Measurement[] = [];
  for (const format of FORMATS) {
    const [withoutExport, duringExport]: [Measurement[], Measurement[]] = [[], []];
    for (let round = 0; round < options.rounds; round += 1) {
      const name = `paying during an export, ${format}`;
      const before = await growthOf(api, pay);
      withoutExport.push({ ...before.result, case: name, contender: 'without export' });
      const during = await growthOf(api, async () => {
        const exporting = exportStatement(bench, api, exported.accountId, format);
        duringExport.push({ ...(await pay()), case: name, contender: 'during export' });
        return exporting;
      });
      const { entries, seconds } = during.result;
      say(
        `exports. ${format}: ${entries.toLocaleString('en')} entries in ${seconds.toFixed(1)} s, ${during.mebibytes} MiB more (without export: ${before.mebibytes} MiB)`,
      );
    }
    measurements.push(medianMeasurement(withoutExport), medianMeasurement(duringExport));
  }
  return measurements;
}

function payers(bench: Bench, api: Served, accounts: readonly BenchAccount[]): Contender {
  return {
    name: 'service',
    processIds: [api.process.pid, bench.stage.postgres.process.pid],
    load: {
      origin: api.origin,
      method: 'POST',
      headers: { authorization: `Bearer ${bench.stage.token}`, 'content-type': 'application/json' },
      idempotent: true,
      requests: pairs(accounts, false).map(([from, to]) => internalTransfer(from, to)),
    },
  };
}

type Sample = Omit<Measurement, 'case' | 'contender'>;

async function sample({ callers, options }: Bench, { load, processIds }: Contender): Promise<Sample> {
  const beforeMs = processorTimeMs(processIds);
  const seconds = Math.max(options.seconds, SECONDS_MIN);
  const { count, elapsedMs, p50Ms, p99Ms } = await callers.run({ ...load, callers: CALLERS, seconds });
  const processorMs = (processorTimeMs(processIds) - beforeMs) / Math.max(1, count);
  return { callers: CALLERS, perSecond: count / (elapsedMs / 1000), p50Ms, p99Ms, processorMs };
}

/** The growth of the API's resident memory during some work. */
async function growthOf<Result>(
  api: Served,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly mebibytes: number }> {
  const before = residentBytes(api.process.pid);
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, residentBytes(api.process.pid));
  }, MEMORY_INTERVAL_MS);
  try {
    const result = await work();
    return { result, mebibytes: Math.round((most - before) / MEBIBYTE) };
  } finally {
    clearInterval(watch);
  }
}

/** Reads and discards the whole export; a truncated file fails the bench. */
async function exportStatement(bench: Bench, api: Served, accountId: string, format: string): Promise<Export> {
  const startedMs = performance.now();
  const path = `/accounts/${accountId}/account-statements/export?format=${format}`;
  const answer = await fetch(`${api.origin}${path}`, { headers: { authorization: `Bearer ${bench.stage.token}` } });
  if (answer.status !== 200 || answer.body === null) throw new Error(`no export: ${await answer.text()}`);
  let entries = 0;
  let tail = '';
  for await (const bytes of answer.body) {
    const text = tail + Buffer.from(bytes).toString('latin1');
    const parts = text.split(format === 'csv' ? '\r\n' : '<Ntry>');
    entries += parts.length - 1;
    tail = parts.at(-1)?.slice(-MARK_LENGTH) ?? '';
  }
  // The header of CSV is a line too.
  if (format === 'csv') entries -= 1;
  return { entries, seconds: (performance.now() - startedMs) / 1000 };
}

/** A mark may be cut in two by the end of a chunk. */
const MARK_LENGTH = '<Ntry>'.length - 1;
