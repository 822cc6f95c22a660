import { type SQL, sql } from 'drizzle-orm';
import type { Reader } from '../query/database.ts';
import {
  laterThan,
  SUMMED_MAX,
  transferWaitSums,
  WAIT_AGES,
  type WaitFilter,
  type WaitSlice,
  waitCursor,
  waitingTransfers,
} from '../transfers/waits.ts';

/** What can wait. A consent that is authorised waits for nothing but its end. */
export const WAITING_KINDS = ['outgoing', 'incoming', 'account', 'consent'] as const;
export type WaitingKind = (typeof WAITING_KINDS)[number];

/** A transfer, an account that is opened or closed, or a consent. */
export interface Waiting {
  readonly what: WaitingKind;
  readonly id: string;
  /** A transfer's transaction number, an account's ledger number, the third party of a consent. */
  readonly name: string;
  readonly status: string;
  readonly waitingFor: string;
  readonly since: Date;
  readonly until: Date | null;
  readonly amountMinor: bigint | null;
  readonly currency: string | null;
  readonly scheme: string | null;
  readonly provider: string | null;
  /** Where the next page begins. */
  readonly cursor: string;
}

/** Rows that wait, in one form; `rows` has the columns that conditions and sums name. */
interface Source {
  readonly rows: SQL;
  /** The expression of the index by which the oldest are found. */
  readonly since: SQL;
  /** The columns of the result, in the order of those of transfers. */
  readonly columns: SQL;
  readonly conditions: (filter: WaitFilter) => readonly SQL[];
}

const ACCOUNT_WAIT = sql`CASE WHEN status = 'pending' AND main_account_id IS NOT NULL THEN 'account'
  WHEN status = 'pending' AND method = 'plug-in' THEN 'caller' WHEN next_check_at IS NOT NULL THEN 'provider' END`;
// Of a closing that was not sent yet, the time of its first check stands for it.
const ACCOUNT_SINCE = sql`coalesce(change_submitted_at, CASE requested_change WHEN 'close' THEN next_check_at ELSE created_at END)`;
const CONSENT_WAIT = sql`CASE status WHEN 'awaiting-exchange' THEN 'exchange' ELSE 'account-holder' END`;
const CONSENT_SINCE = sql`created_at`;

const given = (value: string | undefined, condition: (value: string) => SQL): readonly SQL[] =>
  value === undefined ? [] : [condition(value)];

const SOURCES: Readonly<Record<'account' | 'consent', Source>> = {
  account: {
    rows: sql`accounts WHERE (next_check_at IS NOT NULL OR status = 'pending') AND ${ACCOUNT_WAIT} IS NOT NULL`,
    since: ACCOUNT_SINCE,
    columns: sql`id, 'account' AS what, ledger_number AS name, status, ${ACCOUNT_WAIT} AS "waitingFor", ${ACCOUNT_SINCE} AS since,
      NULL::timestamptz AS until, NULL::bigint AS "amountMinor", currency, NULL AS scheme, provider, id AS "accountId",
      client_id AS "clientId", ${waitCursor(ACCOUNT_SINCE)} AS cursor, NULL::bigint AS amount_minor`,
    conditions: ({ provider, currency, accountId, clientId, waits }) => [
      ...given(provider, (value) => sql`provider = ${value}`),
      ...given(currency, (value) => sql`currency = ${value}`),
      ...given(accountId, (value) => sql`id = ${value}::uuid`),
      ...given(clientId, (value) => sql`client_id = ${value}::uuid`),
      ...(waits === null ? [] : [sql`${ACCOUNT_WAIT} = ANY (${sql.param([...waits])}::text[])`]),
    ],
  },
  consent: {
    rows: sql`open_banking_consents WHERE status IN ('awaiting-authorisation', 'awaiting-exchange')`,
    since: CONSENT_SINCE,
    columns: sql`id, 'consent' AS what, (SELECT name FROM third_party_providers party WHERE party.id = third_party_provider_id) AS name,
      status, ${CONSENT_WAIT} AS "waitingFor", ${CONSENT_SINCE} AS since, coalesce(code_expires_at, request_expires_at) AS until,
      instructed_amount_minor AS "amountMinor", instructed_currency AS currency, NULL AS scheme, NULL AS provider,
      NULL::uuid AS "accountId", NULL::uuid AS "clientId", ${waitCursor(CONSENT_SINCE)} AS cursor, instructed_amount_minor AS amount_minor`,
    conditions: ({ provider, currency, accountId, clientId, waits }) => [
      // No provider and no client of ours has it yet.
      ...[provider, clientId].flatMap((value) => given(value, () => sql`false`)),
      ...given(currency, (value) => sql`instructed_currency = ${value}`),
      ...given(accountId, (value) => sql`account_ids @> ARRAY[${value}::uuid]`),
      ...(waits === null ? [] : [sql`${CONSENT_WAIT} = ANY (${sql.param([...waits])}::text[])`]),
    ],
  },
};

function oldestOf(what: 'account' | 'consent', filter: WaitFilter, { after, size }: WaitSlice): SQL {
  const { rows, since, columns, conditions } = SOURCES[what];
  const all = [
    ...conditions(filter),
    // What has no scheme is none of any.
    ...given(filter.scheme, () => sql`false`),
    ...(filter.olderThan === undefined ? [] : [sql`${since} <= ${filter.olderThan}::timestamptz`]),
    laterThan(after, since),
  ];
  return sql`(SELECT ${columns} FROM ${rows} AND ${sql.join(all, sql` AND `)} ORDER BY ${since}, id LIMIT ${size})`;
}

const COLUMNS = sql`id, what, name, status, "waitingFor", since, until, "amountMinor", currency, scheme, provider, cursor`;

type Asked = WaitFilter & { readonly kinds: readonly WaitingKind[] };

/** All that waits, the longest wait first. */
export async function listWaiting(reader: Reader, filter: Asked, slice: WaitSlice): Promise<Waiting[]> {
  const parts = filter.kinds.map((what) =>
    what === 'account' || what === 'consent' ? oldestOf(what, filter, slice) : waitingTransfers(what, filter, slice),
  );
  const each = parts.map((part) => sql`SELECT ${COLUMNS} FROM (${part}) AS part`);
  return reader.execute<Waiting>(
    sql`SELECT * FROM (${sql.join(each, sql` UNION ALL `)}) AS waiting ORDER BY since, id LIMIT ${slice.size}`,
  );
}

/** How many wait for the same in one currency. */
export interface WaitSum {
  readonly what: WaitingKind;
  readonly waitingFor: string;
  readonly currency: string | null;
  readonly count: number;
  /** Null for what has no amount. */
  readonly sumMinor: bigint | null;
  readonly oldest: Date;
  readonly overAnHour: number;
  readonly overADay: number;
  /** There may be more than were counted. */
  readonly isMore: boolean;
}

function sumsOf(what: 'account' | 'consent', filter: WaitFilter): SQL {
  const oldest = oldestOf(what, filter, { after: null, size: SUMMED_MAX });
  return sql`SELECT ${sql.raw(`'${what}'`)} AS what, "waitingFor", currency, ${WAIT_AGES} FROM ${oldest} AS oldest GROUP BY "waitingFor", currency`;
}

/** What waits, by kind and currency: how many, how much, since when. */
export function sumWaits(reader: Reader, filter: Asked): Promise<WaitSum[]> {
  const parts = filter.kinds.map((what) =>
    what === 'account' || what === 'consent' ? sumsOf(what, filter) : transferWaitSums(what, filter),
  );
  return reader.execute<WaitSum>(sql`
    SELECT what, "waitingFor", currency, sum(count)::integer AS count, sum(sum)::bigint AS "sumMinor", min(oldest) AS oldest,
      sum(hour)::integer AS "overAnHour", sum(day)::integer AS "overADay", bool_or(more) AS "isMore"
    FROM (${sql.join(parts, sql` UNION ALL `)}) AS summed GROUP BY 1, 2, 3 ORDER BY min(oldest), 1, 2, 3`);
}
