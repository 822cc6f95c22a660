import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { surviveDriverFault } from '../../../db/postgres/driver-fault.ts';

/**
 * The process of test/database/driver-fault.test.ts: triggers the driver's known fault, or another uncaught error, with or
 * without db/postgres/driver-fault.ts. Exits with 0 and `lived` if it survives.
 */
const [mode, url = ''] = process.argv.slice(2);

if (mode !== 'unguarded') surviveDriverFault((reason) => console.log(`renewed: ${reason}`));

if (mode === 'other-error') {
  setImmediate(() => {
    throw new TypeError('a defect of our own');
  });
  await sleep(500);
} else {
  const client = postgres(url, { max: 1, onnotice: () => {} });
  const killer = postgres(url, { max: 1, onnotice: () => {} });
  let sent = (): void => {};
  const isSent = new Promise<void>((resolve) => {
    sent = resolve;
  });
  const broken = client.begin(async (tx) => {
    const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const pid = row?.pid ?? 0;
    await killer`select pg_terminate_backend(${pid})`;
    while ((await killer`select from pg_stat_activity where pid = ${pid}`).length > 0) await sleep(20);
    // The end of the session has not been read from the socket yet.
    await sleep(500);
    sent();
    await tx`select 1`;
  });
  broken.catch(() => {});
  await isSent;
  await sleep(1_000);
}
console.log('lived');
process.exit(0);
