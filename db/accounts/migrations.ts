import { and, eq } from 'drizzle-orm';
import type { Account } from '../../domain/accounts/accounts.ts';
import { openingBalance } from '../../domain/accounts/balance-adjustments.ts';
import { type AccountDetails, openAtProvider } from '../../domain/accounts/connections.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import { amountNumber } from '../../domain/common/money.ts';
import { alreadyMigrated, type MigrationOrigin, type MigrationSourceId } from '../clients/migrations.ts';
import type { Initiator } from '../common/audit-entries.ts';
import { lockAccounts } from '../ledger/ledger.ts';
import { lockMigrations } from '../providers/callbacks.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import { sendInsertion } from '../query/rows.ts';
import { ACCOUNT, saveAccount } from './accounts.ts';
import { postAdjustment } from './balance-adjustments.ts';
import { auditAccountCreation, insertAccount, type NewAccount } from './creation.ts';
import { accountMigrations } from './schema.ts';

/** An account as its provider handed it over. */
export interface MigratedAccount {
  /** The id under which the provider knows it. */
  readonly id: AccountId;
  readonly account: Omit<NewAccount, 'country' | 'provider' | 'method'>;
  readonly origin: MigrationOrigin;
  readonly details: AccountDetails;
  readonly openingMinor: bigint;
}

const FIND = prepared((db, given: Given<MigrationSourceId>) =>
  db
    .select({ id: accountMigrations.accountId })
    .from(accountMigrations)
    .where(and(eq(accountMigrations.provider, given.provider), eq(accountMigrations.sourceId, given.sourceId))),
);

/** The account already migrated from this source id. */
export async function findMigratedAccount(
  reader: Reader,
  { provider, sourceId }: MigrationSourceId,
): Promise<AccountId | null> {
  const row = await reader.first(FIND, { provider, sourceId });
  return row?.id ?? null;
}

/**
 * Stores a migrated account (specification 4.5, `client.migration`) as active, with its opening balance. Of concurrent requests
 * for one source id, one succeeds; the others wait for it and get 409. Callbacks that find no account at its provider wait too.
 */
export async function migrateAccount(
  tx: Transaction,
  migrated: MigratedAccount,
  initiator: Initiator,
): Promise<Account> {
  const { id, origin, details, openingMinor } = migrated;
  const { provider, sourceId, reference } = origin;
  await lockMigrations(tx, provider);
  // A provider may know one account by several source ids; it returns the account under one id.
  const before = (await findMigratedAccount(tx, origin)) ?? (await tx.find(ACCOUNT, id))?.id ?? null;
  if (before !== null) throw alreadyMigrated('account', origin, before);
  const wanted = { ...migrated.account, method: 'built-in', provider, country: details.country } as const;
  const { account, now } = await insertAccount(tx, wanted, () => ({ id }));
  sendInsertion(tx, accountMigrations, { accountId: id, provider, sourceId, createdAt: now });
  const row = await tx.find(ACCOUNT, id);
  const locked = (await lockAccounts(tx, [id])).get(id);
  if (row === null || locked === undefined) throw new Error(`the migrated account ${id} is gone`);
  // Events show the account with its opening balance.
  const opened = openAtProvider({ ...account, postedMinor: openingMinor }, reference, details);
  const active = await saveAccount(tx, { row, account, now }, opened);
  if (openingMinor > 0n) postAdjustment(tx, openingBalance(active, openingMinor), locked, now);
  const origins = { sourceId, openingBalance: amountNumber(openingMinor, active.currency) };
  auditAccountCreation(tx, active, initiator, origins);
  return active;
}
