import { type Phase, rollingUpgrade } from '../harness/servers/releases/rolling-upgrade.ts';

const SETTLE_MS = 300_000;

/** A rolling upgrade to the next release and back under load, with so many seconds for each mixture. Returns an exit status. */
export async function proveUpgrade(seed: number, staySeconds: number, say: (line: string) => void): Promise<number> {
  const load = { callers: 3, thinkMs: 300 };
  const result = await rollingUpgrade({ seed, ...load, stayMs: staySeconds * 1_000, settleMs: SETTLE_MS, say });
  const { phases, figures, failedPayments, carriers, failedTasks, settledAfterSeconds, problems } = result;
  say('| Releases | Seconds | Requests | Failed | Transfers taken |');
  say('|---|--:|--:|--:|--:|');
  for (const { name, seconds, requests, failed, transfers } of [...phases, sumOf(phases)])
    say(`| ${name} | ${seconds} | ${requests} | ${failed} | ${transfers} |`);
  say(
    `Payments in ${figures.paymentsIn}, payments that failed ${failedPayments.length}, workflow tasks that failed ${failedTasks.length}.`,
  );
  say(`Workflows by the releases that carried them: ${JSON.stringify(carriers)}.`);
  say(`All work ended ${settledAfterSeconds ?? 'never'} s after the load.`);
  for (const problem of [...problems, ...failedTasks, ...failedPayments]) say(`! ${problem}`);
  const failures = problems.length + failedTasks.length + failedPayments.length + sumOf(phases).failed;
  say(failures === 0 ? 'Nothing failed, nothing lost, nothing doubled; every book agrees.' : `${failures} failures.`);
  return failures === 0 ? 0 : 1;
}

function sumOf(phases: readonly Phase[]): Phase {
  const sum = (of: (phase: Phase) => number) => phases.reduce((total, phase) => total + of(phase), 0);
  return {
    name: 'all',
    seconds: sum(({ seconds }) => seconds),
    requests: sum(({ requests }) => requests),
    failed: sum(({ failed }) => failed),
    transfers: sum(({ transfers }) => transfers),
  };
}
