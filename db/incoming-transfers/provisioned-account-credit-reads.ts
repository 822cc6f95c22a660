import { and } from 'drizzle-orm';
import type { AccountId, ProvisionedAccountCreditId } from '../../domain/common/ids.ts';
import { presentProvisionedAccountCredit } from '../../domain/incoming-transfers/provisioned-account-credits.ts';
import { amountBetween, equalTo } from '../common/filters.ts';
import type { Reader } from '../query/database.ts';
import { listOf, type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import { lookUpIn } from '../query/rows.ts';
import { provisionedAccountCredits } from '../transfers/schema.ts';

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
