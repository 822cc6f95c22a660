import { createDatabase } from '../../db/client.ts';
import { checkLedgerSince, checkWholeLedger } from '../../db/ledger/check.ts';
import { checkpointSystemAccounts } from '../../db/ledger/system-account-checkpoints.ts';
import { createAccounts } from '../accounts.ts';
import type { Bench } from '../bench.ts';
import { loadLedger } from './ledger-load.ts';

const NEW_POSTINGS = 10_000;

/** The full and the incremental ledger check, in a separate database. */
export async function benchLedgerCheck({ options, stage, say }: Bench): Promise<void> {
  const { sql, url } = await stage.otherDatabase('bench_ledger');
  await createAccounts(sql);
  const seconds = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const startedAt = performance.now();
    const found = await work();
    if (!Array.isArray(found) || found.length > 0) throw new Error(`${name}: the ledger check has found violations`);
    say(`${name}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  };
  say(`ledger-check. loading ${options.postings.toLocaleString('en')} postings …`);
  const postings = await loadLedger(sql, options.postings);
  await sql.unsafe('VACUUM ANALYZE');
  const database = createDatabase({ url, maxConnections: 1, applicationName: 'bench-ledger' });
  try {
    await seconds(`check of all of ${postings.toLocaleString('en')} postings`, () => checkWholeLedger(database));
    await seconds('first incremental check, which covers everything', () => checkLedgerSince(database));
    await checkpoint(url);
    await loadLedger(sql, NEW_POSTINGS);
    await seconds(`check of ${NEW_POSTINGS.toLocaleString('en')} new postings`, () => checkLedgerSince(database));
    await seconds('incremental check without new postings', () => checkLedgerSince(database));
  } finally {
    await database.close();
  }
}

/** Prepares the checkpoints as housekeeping does, from postings at least ten minutes old. */
async function checkpoint(url: string): Promise<void> {
  const later = createDatabase({
    url,
    maxConnections: 1,
    applicationName: 'bench-later',
    clockOffset: () => '11 minutes',
  });
  try {
    await checkpointSystemAccounts(later.reader);
  } finally {
    await later.close();
  }
}
