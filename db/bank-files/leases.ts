import type { Transaction } from '../query/database.ts';

/** How long the bank's files wait after the kill of the process that exchanged them: while it works, it renews its lease far more often. */
export const LEASE_SECONDS = 30;

// Real time: a sandbox's clock says nothing of processes.
const HOLD = `
  INSERT INTO bank_file_leases AS lease (provider, holder, held_until)
  VALUES ($1, $2::uuid, clock_timestamp() + $3 * interval '1 second')
  ON CONFLICT (provider) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
    WHERE lease.holder = excluded.holder OR lease.held_until < clock_timestamp()
  RETURNING 1 AS held`;

/** Takes or renews the right to exchange files with a bank; false if another process has it. */
export async function holdLease(tx: Transaction, provider: string, holder: string): Promise<boolean> {
  return (await tx.statement(HOLD, [provider, holder, LEASE_SECONDS])).length === 1;
}

const RELEASE = 'DELETE FROM bank_file_leases WHERE provider = $1 AND holder = $2::uuid';

export async function releaseLease(tx: Transaction, provider: string, holder: string): Promise<void> {
  await tx.statement(RELEASE, [provider, holder]);
}
