import { fileRun } from '../harness/bank-files/run/run.ts';
import type { CrashRunResult } from '../harness/faults/crash-run.ts';
import { KINDS_WITH_LOOPS } from '../harness/servers/service-process.ts';
import { bundledEntries } from '../tools/run/entries.ts';

const SETTLE_MS = 1_800_000;
const AWAY_MS = 20_000;

/** So many payments by file through the whole service, while each of its processes, the bank and the way to it fail. */
export async function proveFiles(
  payments: number,
  { seed, minutes, say }: { readonly seed: number; readonly minutes: number; say(line: string): void },
): Promise<number> {
  // Processes that are killed all the time start in a quarter of the time.
  process.env.TEST_ENTRIES ??= await bundledEntries();
  const result = await fileRun({
    seed,
    payments,
    loadMsMax: minutes * 60_000,
    callers: 5,
    thinkMs: 300,
    watchEveryMs: 2_000,
    everything: true,
    settleMs: SETTLE_MS,
    temporalAwayMs: AWAY_MS,
    killsEach: 1,
    fileFaults: 12,
    betweenMs: { minimum: 3_000, maximum: 12_000 },
    say,
  });
  const { faults, figures, transfers, problems } = result;
  console.log(['', ...tableOf(result), ''].join('\n'));
  console.log(`Faults: ${JSON.stringify(faults)}`);
  console.log(`Requests: ${JSON.stringify(figures)}`);
  console.log(`Transfers: ${JSON.stringify(transfers)}`);
  console.log(`Events ${result.events}, webhooks received ${result.webhooksReceived}, snapshots ${result.snapshots}`);
  for (const problem of problems) console.log(`  ! ${problem}`);
  say(problems.length === 0 ? 'Nothing lost, nothing doubled; every book agrees.' : `${problems.length} problems.`);
  return problems.length === 0 ? 0 : 1;
}

/** The table of the run, as docs/proof.md shows it. */
function tableOf({ seed, faults, loadMs, settledAfterMs, further, problems }: CrashRunResult): string[] {
  const seconds = (loadMs + (settledAfterMs ?? 0)) / 1_000;
  const kills = KINDS_WITH_LOOPS.map((kind) => `${kind} ${faults.kills[kind]}`).join(', ');
  const ofFiles = Object.entries(faults.done).filter(([name]) => name.startsWith('files: '));
  const sumOf = (some: typeof ofFiles) => some.reduce((sum, [, number]) => sum + number, 0);
  const cut = sumOf(ofFiles.filter(([name]) => /connection|cut-|away/.test(name)));
  const { payments = 0, completed, returned, failed, sent, taken, setAside, carried } = further;
  const cells: readonly (readonly [string, unknown])[] = [
    ['Seed', seed],
    ['Payments', payments],
    ['Completed', completed],
    ['of them back', returned],
    ['Failed', failed],
    ['Killed', kills],
    ['SFTP cut or silent', cut],
    ['Other faults of the bank', sumOf(ofFiles) - cut],
    ['Files out', sent],
    ['Files in', taken],
    ['Set aside', setAside],
    ['Carried by hand', carried],
    ['Payments a second', (payments / seconds).toFixed(1)],
    ['Lost, doubled or different', problems.length],
  ];
  const row = (texts: readonly unknown[]) => `| ${texts.join(' | ')} |`;
  return [
    row(cells.map(([name]) => name)),
    `|${cells.map(() => '--:').join('|')}|`,
    row(cells.map(([, value]) => value)),
  ];
}
