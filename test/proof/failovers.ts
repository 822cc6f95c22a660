import { join } from 'node:path';
import { debianPackages } from '../faults/failover/debian-packages.ts';
import { type Death, type FailoverRound, failoverRun } from '../faults/failover/failover-run.ts';
import { startPatroni } from '../faults/failover/patroni.ts';
import { patroniPrograms } from '../faults/failover/patroni-programs.ts';

const CALLERS = 6;
const TRANSFERS_BEFORE = 40;
const SETTLE_MS = 900_000;

/**
 * Kills the primary under load, so many times: by turns the machine and Postgres only. Patroni promotes the synchronous standby, and
 * brings the killed server back. Prints a line for each; returns an exit status.
 */
export async function proveFailovers(seed: number, count: number, say: (line: string) => void): Promise<number> {
  // The processes that it waits for at its end keep nothing alive.
  const alive = setInterval(() => {}, 60_000);
  const postgres = await startPatroni(await programs());
  try {
    const deaths = Array.from({ length: count }, (_, index): Death => (index % 2 === 0 ? 'machine' : 'postgres'));
    console.log(`${count} failovers from seed ${seed}, by Patroni with etcd`);
    console.log('| | Killed | Seconds without writes | Requests | Failed | Lost | Doubled |');
    console.log('|---|---|---|---|---|---|---|');
    const result = await failoverRun({
      ...{ postgres, seed, deaths, say, onRound: print },
      ...{ processesEach: 2, callers: CALLERS, transfersBefore: TRANSFERS_BEFORE, settleMs: SETTLE_MS },
    });
    const { problems, acknowledged, settledAfterMs } = result;
    for (const problem of problems) console.log(`  ! ${problem}`);
    const ended =
      settledAfterMs === null
        ? 'Work is left over'
        : `All work ended ${Math.round(settledAfterMs / 1_000)} s after the load`;
    console.log(`${acknowledged} transfers acknowledged. ${ended}.`);
    console.log(
      problems.length === 0 ? 'Nothing lost, nothing doubled; every book agrees.' : `${problems.length} problems.`,
    );
    return problems.length === 0 ? 0 : 1;
  } finally {
    await postgres.close();
    clearInterval(alive);
  }
}

function print({ death, seconds, requests, failures, lost, doubled }: FailoverRound, number: number): void {
  const failed = Object.entries(failures).map(([kind, times]) => `${times} × ${kind}`);
  const cells = [number, death, seconds.toFixed(1), requests, failed.join(', ') || 'none', lost, doubled];
  console.log(`| ${cells.join(' | ')} |`);
}

async function programs() {
  const patroni = await patroniPrograms(console.log);
  const etcd = await debianPackages('etcd', ['etcd-server'], console.log);
  if (patroni === null || etcd === null) throw new Error('Patroni needs Python 3.10, and etcd comes from Debian');
  return { ...patroni, etcd: join(etcd, 'usr', 'bin', 'etcd') };
}
