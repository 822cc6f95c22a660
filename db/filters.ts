import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { CURRENCIES, minorUnits } from '../domain/money.ts';

/** One page of a list: `offset` rows are skipped. */
export interface PageRequest {
  readonly size: number;
  readonly offset: number;
}

export interface PageOf<Row> {
  readonly rows: readonly Row[];
  readonly totalElements: number;
}

/** Text filters match a part, case-insensitively; `%`, `_` and `\` are plain characters. */
export function contains(column: SQLWrapper, part: string): SQL {
  return sql`${column} ILIKE ${`%${part.replace(/[\\%_]/g, '\\$&')}%`}`;
}

// Currencies without two decimals, by what one unit is worth in minor units.
const UNUSUAL_FACTORS = [0, 3, 4].map((units) => ({
  factor: 10 ** units,
  codes: CURRENCIES.filter((currency) => minorUnits(currency) === units),
}));

/** Minor units in one unit of the row's own currency, for bounds that come without a currency. */
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

/** Bounds of an amount in minor units, given as decimal text in units of each row's own currency; both included. */
export function amountBetween(
  minorColumn: SQLWrapper,
  currencyColumn: SQLWrapper,
  from: string | undefined,
  to: string | undefined,
): SQL[] {
  const bound = (digits: string) => sql`${digits}::numeric * ${minorFactor(currencyColumn)}`;
  return [
    ...(from === undefined ? [] : [sql`${minorColumn} >= ${bound(from)}`]),
    ...(to === undefined ? [] : [sql`${minorColumn} <= ${bound(to)}`]),
  ];
}
