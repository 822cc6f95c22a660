import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { CURRENCIES, minorUnits } from '../../domain/common/money.ts';
import type { incomingTransfers, outgoingTransfers } from './schema.ts';

/** Text filters match any part, ignoring case; `%`, `_` and `\` have no special meaning. */
export function contains(column: SQLWrapper, part: string): SQL {
  return sql`${column} ILIKE ${patternOf(part)}`;
}

/** As contains, for the columns whose text was given; the parameter's value is `anyPart` of the text. */
export function matchesPart(pairs: readonly (readonly [column: SQLWrapper, pattern: SQLWrapper | undefined])[]): SQL[] {
  return pairs.flatMap(([column, pattern]) => (pattern === undefined ? [] : [sql`${column} ILIKE ${pattern}`]));
}

export function anyPart(part: string | undefined): string | undefined {
  return part === undefined ? undefined : patternOf(part);
}

function patternOf(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`;
}

// Currencies without two decimals, by the minor units in one unit.
const UNUSUAL_FACTORS = [0, 3, 4].map((units) => ({
  factor: 10 ** units,
  codes: CURRENCIES.filter((currency) => minorUnits(currency) === units),
}));

/** The minor units in one unit of the row's own currency, for bounds without a currency. */
function minorFactor(currencyColumn: SQLWrapper): SQL {
  const cases = UNUSUAL_FACTORS.map(({ factor, codes }) => {
    const list = sql.join(
      codes.map((code) => sql.raw(`'${code}'`)),
      sql`, `,
    );
    return sql`WHEN ${currencyColumn} IN (${list}) THEN ${sql.raw(String(factor))}`;
  });
  return sql`CASE ${sql.join(cases, sql` `)} ELSE 100 END`;
}

/** Bounds of an amount in minor units, both inclusive, given as decimal text in units of each row's own currency. */
export function amountBetween(
  minorColumn: SQLWrapper,
  currencyColumn: SQLWrapper,
  from: SQLWrapper | string | undefined,
  to: SQLWrapper | string | undefined,
): SQL[] {
  const bound = (digits: SQLWrapper | string) => sql`${digits}::numeric * ${minorFactor(currencyColumn)}`;
  return [
    ...(from === undefined ? [] : [sql`${minorColumn} >= ${bound(from)}`]),
    ...(to === undefined ? [] : [sql`${minorColumn} <= ${bound(to)}`]),
  ];
}

/** Exact filters for the columns whose value was given. */
export function equalTo(
  pairs: readonly (readonly [column: SQLWrapper, wanted: SQLWrapper | string | undefined])[],
): SQL[] {
  return pairs.flatMap(([column, wanted]) => (wanted === undefined ? [] : [sql`${column} = ${wanted}`]));
}

/** An account number in the form in which its account stores it (domain/accounts/account-numbers.ts). Each side of OR can use an index. */
export function accountNumberIs(
  columns: { readonly accountNumber: SQLWrapper; readonly country: SQLWrapper; readonly currency: SQLWrapper },
  given: { readonly accountNumber?: SQLWrapper | undefined; readonly sterlingAccountNumber?: SQLWrapper | undefined },
): SQL[] {
  const { accountNumber: plain, sterlingAccountNumber: sterling } = given;
  if (plain === undefined || sterling === undefined) return [];
  const { accountNumber, country, currency } = columns;
  return [
    sql`(${accountNumber} = ${plain} OR (${accountNumber} = ${sterling} AND ${currency} = 'GBP' AND ${country} = 'GB'))`,
  ];
}

/** The GET filters that both kinds of transfers share (specification 4.7, 4.9). Dates are inclusive. */
export interface TransferFilter<Status extends string, Wait extends string> {
  readonly status?: Status | undefined;
  readonly waitingFor?: Wait | undefined;
  readonly transactionNumber?: string | undefined;
  /** The id of the one transfer whose payment reference is given. */
  readonly paymentOf?: string | undefined;
  /** Decimal text in each transfer's own currency. */
  readonly amountFrom?: string | undefined;
  readonly amountTo?: string | undefined;
  readonly currency?: string | undefined;
  readonly clientId?: string | undefined;
  readonly accountId?: string | undefined;
  readonly serviceProvider?: string | undefined;
  readonly serviceProviderId?: string | undefined;
  readonly serviceProviderReference?: string | undefined;
  readonly transferDateFrom?: string | undefined;
  readonly transferDateTo?: string | undefined;
}

type TransferColumn = keyof typeof outgoingTransfers.$inferSelect & keyof typeof incomingTransfers.$inferSelect;

/** The conditions that both kinds of transfers share. */
export function transferConditions<Status extends string, Wait extends string>(
  columns: { readonly [Column in TransferColumn]: SQLWrapper },
  filter: TransferFilter<Status, Wait>,
): SQL[] {
  const { status, waitingFor, transferDateFrom, transferDateTo } = filter;
  return [
    // Literals from closed lists, so that the planner can use the partial indexes of transfers that are not completed, or that wait.
    ...(status === undefined ? [] : [sql`${columns.status} = ${sql.raw(`'${status}'`)}`]),
    ...(waitingFor === undefined ? [] : [sql`${columns.waitingFor} = ${sql.raw(`'${waitingFor}'`)}`]),
    ...equalTo([
      [columns.transactionNumber, filter.transactionNumber],
      [columns.id, filter.paymentOf],
      [columns.currency, filter.currency],
      [columns.clientId, filter.clientId],
      [columns.accountId, filter.accountId],
      [columns.provider, filter.serviceProvider],
      [columns.serviceProviderId, filter.serviceProviderId],
      [columns.serviceProviderReference, filter.serviceProviderReference],
    ]),
    ...amountBetween(columns.amountMinor, columns.currency, filter.amountFrom, filter.amountTo),
    ...(transferDateFrom === undefined ? [] : [sql`${columns.transferDate} >= ${transferDateFrom}`]),
    ...(transferDateTo === undefined ? [] : [sql`${columns.transferDate} <= ${transferDateTo}`]),
  ];
}
