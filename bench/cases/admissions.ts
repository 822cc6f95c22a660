import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import { createAccounts } from '../accounts.ts';
import type { Bench } from '../bench.ts';

const WAITING_IN_ONE = 20_000;
const OTHER_ACCOUNTS = 200;
const WAITING_IN_EACH = 10;
const LOOK_INTERVAL_MS = 20;

/**
 * One account has 20,000 transfers waiting for funds, 200 others have ten each. Measures how long each of the 200,
 * credited in turn, waits while the large queue is processed.
 */
export async function benchAdmissions({ stage, say }: Bench): Promise<void> {
  const { sql } = await stage.secondApi('bench_admissions');
  const [one = { accountId: '' }, ...others] = (await createAccounts(sql)).slice(0, OTHER_ACCOUNTS + 1);
  await sql.unsafe('UPDATE accounts SET reserved_minor = posted_minor');
  await wait(sql, [one.accountId], WAITING_IN_ONE);
  await wait(
    sql,
    others.map(({ accountId }) => accountId),
    WAITING_IN_EACH,
  );
  await sql.unsafe('ANALYZE');
  const startedAt = performance.now();
  await free(sql, one.accountId);
  const waitsMs: number[] = [];
  for (const { accountId } of others) {
    const freedAt = performance.now();
    await free(sql, accountId);
    while ((await left(sql, accountId)) > 0) await sleep(LOOK_INTERVAL_MS);
    waitsMs.push(performance.now() - freedAt);
  }
  waitsMs.sort((a, b) => a - b);
  const at = (share: number) => Math.round(waitsMs[Math.floor(share * (waitsMs.length - 1))] ?? 0);
  say(
    `admissions. ten of an account: median ${at(0.5)} ms, 99 % ${at(0.99)} ms, longest ${at(1)} ms; ${await left(sql, one.accountId)} of the ${WAITING_IN_ONE} still wait`,
  );
  while ((await left(sql, one.accountId)) > 0) await sleep(LOOK_INTERVAL_MS);
  say(`admissions. the ${WAITING_IN_ONE} of one account after ${Math.round(performance.now() - startedAt)} ms`);
}

/** Has the effect of a credit, without its posting. */
async function free(sql: postgres.Sql, accountId: string): Promise<void> {
  await sql.unsafe(`UPDATE accounts SET reserved_minor = 0, admission_due = true WHERE id = '${accountId}'`);
}

async function left(sql: postgres.Sql, accountId: string): Promise<number> {
  const [row] = await sql.unsafe<{ count: number }[]>(
    `SELECT count(*)::integer AS count FROM outgoing_transfers WHERE waiting_for = 'balance' AND account_id = '${accountId}'`,
  );
  return row?.count ?? 0;
}

/** External transfers that wait for a penny each. */
async function wait(sql: postgres.Sql, accountIds: readonly string[], count: number): Promise<void> {
  await sql.unsafe(`
    INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, scope, scheme, currency, amount_minor,
        transfer_date, original_transfer_date, beneficiary_id, beneficiary_bank_account_id, beneficiary, authorization_status,
        compliance_check_status, transfer_date_status, balance_check_status, method, provider, waiting_for, waiting_since, event_sequence,
        created_at, updated_at)
      SELECT uuidv7(), 'W' || account.ledger_number || '-' || n, client_id, account.id, 'pending', 'external', 'faster-payments', 'GBP', 1,
        current_date, current_date, uuidv7(), uuidv7(), '{}', 'not-required', 'not-required', 'fulfilled', 'not-fulfilled', 'plug-in',
        provider, 'balance', now(), 0, now(), now()
      FROM accounts account CROSS JOIN generate_series(1, ${count}) AS n WHERE account.id = ANY ('{${accountIds.join(',')}}')`);
  await sql.unsafe(`UPDATE accounts SET has_waiters = true WHERE id = ANY ('{${accountIds.join(',')}}')`);
}
