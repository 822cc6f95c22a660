import { and } from 'drizzle-orm';
import type { AccountId, ProvisionedAccountCreditId } from '../../domain/frame/ids.ts';
import { presentProvisionedAccountCredit } from '../../domain/incoming-transfers/provisioned-account-credits.ts';
import type { Reader } from '../driver/client.ts';
import { listOf, type PageOf, type PageRequest, readPage } from '../driver/queries/lists.ts';
import { lookUpIn } from '../driver/queries/rows.ts';
import { amountBetween, equalTo } from '../frame/filters.ts';
import { provisionedAccountCredits } from '../ledger/provisioned-account-credits-schema.ts';

const CREDIT = lookUpIn(provisionedAccountCredits);

export async function findProvisionedAccountCredit(reader: Reader, id: ProvisionedAccountCreditId) {
  const row = await reader.find(CREDIT, id);
  return row === null ? null : presentProvisionedAccountCredit(row);
}

/** Filters of specification 4.6; amounts are decimal text in each credit's own currency. */
export interface CreditFilter {
  readonly accountId?: AccountId | undefined;
  readonly currency?: string | undefined;
  readonly amountFrom?: string | undefined;
  readonly amountTo?: string | undefined;
}

const LIST = listOf<CreditFilter, typeof provisionedAccountCredits>(provisionedAccountCredits, (given) => {
  const { accountId, currency, amountMinor } = provisionedAccountCredits;
  return and(
    ...equalTo([
      [accountId, given.accountId],
      [currency, given.currency],
    ]),
    ...amountBetween(amountMinor, currency, given.amountFrom, given.amountTo),
  );
});

/** One page of credits, and the total. */
export async function listProvisionedAccountCredits(
  reader: Reader,
  filter: CreditFilter,
  page: PageRequest,
): Promise<PageOf<ReturnType<typeof presentProvisionedAccountCredit>>> {
  const { rows, totalElements } = await readPage(reader, LIST(filter), filter, page);
  return { rows: rows.map(presentProvisionedAccountCredit), totalElements };
}
