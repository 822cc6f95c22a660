import { and, count, eq } from 'drizzle-orm';
import type { AccountId, ProvisionedAccountCreditId } from '../../domain/frame/ids.ts';
import {
  type ProvisionedAccountCreditRecord,
  presentProvisionedAccountCredit,
} from '../../domain/incoming-transfers/provisioned-account-credits.ts';
import type { Reader } from '../driver/client.ts';
import { amountBetween, type PageOf, type PageRequest } from '../frame/filters.ts';
import { provisionedAccountCredits } from '../frame/schema.ts';

export async function findProvisionedAccountCredit(reader: Reader, id: ProvisionedAccountCreditId) {
  const t = provisionedAccountCredits;
  const [row] = await reader.drizzle.select().from(t).where(eq(t.id, id));
  return row === undefined ? null : presentProvisionedAccountCredit(row);
}

/** Filters of specification 4.6; amounts are decimal text in each credit's own currency. */
export interface CreditFilter {
  readonly accountId?: AccountId | undefined;
  readonly currency?: string | undefined;
  readonly amountFrom?: string | undefined;
  readonly amountTo?: string | undefined;
}

/** One page of credits in order of creation, and the total. */
export async function listProvisionedAccountCredits(
  reader: Reader,
  filter: CreditFilter,
  page: PageRequest,
): Promise<PageOf<ReturnType<typeof presentProvisionedAccountCredit>>> {
  const t = provisionedAccountCredits;
  const where = and(
    ...(filter.accountId === undefined ? [] : [eq(t.accountId, filter.accountId)]),
    ...(filter.currency === undefined ? [] : [eq(t.currency, filter.currency)]),
    ...amountBetween(t.amountMinor, t.currency, filter.amountFrom, filter.amountTo),
  );
  const [rows, [total]] = await Promise.all([
    reader.drizzle.select().from(t).where(where).orderBy(t.id).limit(page.size).offset(page.offset),
    reader.drizzle.select({ total: count() }).from(t).where(where),
  ]);
  const records: readonly ProvisionedAccountCreditRecord[] = rows;
  return { rows: records.map(presentProvisionedAccountCredit), totalElements: total?.total ?? 0 };
}
