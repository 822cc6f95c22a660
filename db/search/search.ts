import { addDays } from '../../domain/common/time/dates.ts';
import { isExact, type SearchBy, type SearchTerm } from '../../domain/search/search-terms.ts';
import { anyPart } from '../common/filters.ts';
import { DatabaseUnavailable } from '../postgres/failures.ts';
import type { Reader } from '../query/database.ts';

/** A row of any resource that a search has found. */
export interface FoundRow {
  readonly kind: FoundKind;
  readonly id: string;
  /** Its number, name or address. */
  readonly name: string;
  readonly status: string | null;
  readonly amountMinor: bigint | null;
  readonly currency: string | null;
  readonly createdAt: Date;
}

export type FoundKind = keyof typeof ROWS;

/** Rows that one term may find of one kind. */
export const FOUND_MAX = 20;

/** How each kind is shown: name, status, amount, currency and time of its row. */
const ROWS = {
  'outgoing-transfer': from('outgoing_transfers', 'transaction_number', 'status', 'amount_minor', 'currency'),
  'incoming-transfer': from('incoming_transfers', 'transaction_number', 'status', 'amount_minor', 'currency'),
  'balance-adjustment': from('balance_adjustments', 'transaction_number', 'NULL', 'amount_minor', 'currency'),
  'provisioned-account-credit': from(
    'provisioned_account_credits',
    `coalesce(service_provider_id, '')`,
    'NULL',
    'amount_minor',
    'currency',
  ),
  account: from('accounts', `account_holder_name || ', ' || ledger_number`, 'status', 'NULL', 'currency'),
  client: from('clients', `full_name || ', ' || client_number`, 'status'),
  'client-relation': from('client_relations', 'full_name', 'NULL'),
  beneficiary: from('beneficiaries', 'full_name', 'NULL'),
  'beneficiary-bank-account': from('beneficiary_bank_accounts', 'account_holder_name', 'status', 'NULL', 'currency'),
  'beneficiary-verification': from('beneficiary_verifications', `coalesce(reason, 'matched')`, 'NULL'),
  user: from('users', 'email', 'status'),
  'user-invitation': from('user_invitations', 'email_key', 'status'),
  'user-client-relation': from('user_client_relations', 'client_id::text', 'status'),
  consent: from('open_banking_consents', 'scope', 'status', 'instructed_amount_minor', 'instructed_currency'),
  'third-party-provider': from('third_party_providers', 'name', 'status'),
  'machine-user': from('machine_users', 'name', 'status'),
  'webhook-subscription': from('webhook_subscriptions', 'url', 'status'),
  'webhook-delivery': from('webhook_deliveries', `module || '.' || type`, 'status'),
  event: from('events', 'module', 'NULL', 'NULL', 'NULL', 'occurred_at'),
  'reconciliation-break': from('reconciliation_breaks', 'kind', 'status', 'NULL', 'currency', 'found_at'),
} as const;

function from(table: string, name: string, status: string, amount = 'NULL', currency = 'NULL', time = 'created_at') {
  return { table, name, status, amount, currency, time };
}

/** A kind of rows, and an indexed condition by which a term finds them; `$1` and further parameters are those of `paramsOf`. */
type LookUp = readonly [kind: FoundKind, condition: string];

const KINDS = Object.keys(ROWS).filter((kind): kind is FoundKind => Object.hasOwn(ROWS, kind));
// The last hexadecimal digit of an event's id counts the events of its row.
const BY_EVENT_ID = `id = overlay($1::uuid::text PLACING '0' FROM 36)::uuid`;
const OF_EVENT = 'event_id = $1::uuid AND subscription_id IN (SELECT id FROM webhook_subscriptions)';
const BY_PROVIDER_ID = 'service_provider_id = $1 AND provider IN (SELECT provider FROM system_accounts)';
const BY_REFERENCE = 'service_provider_reference = $1';

/** A transfer's date, which its customer knows, may be some days after its creation, as over a long weekend. */
const DAYS_BEFORE = 5;
const BY_AMOUNT = `created_at >= $3::date AND created_at < $5::date AND (created_at >= $4::date OR transfer_date = $4::date)
  AND (currency, amount_minor) IN (SELECT * FROM unnest($1::text[], $2::bigint[]))`;

const LOOK_UPS: Readonly<Record<SearchBy, readonly LookUp[]>> = {
  id: [
    ...KINDS.map((kind): LookUp => [kind, kind === 'event' ? BY_EVENT_ID : 'id = $1::uuid']),
    ['webhook-delivery', OF_EVENT],
  ],
  'transaction-number': [
    ['outgoing-transfer', 'transaction_number = $1'],
    ['incoming-transfer', 'transaction_number = $1'],
    ['balance-adjustment', 'transaction_number = $1'],
  ],
  'ledger-number': [['account', 'ledger_number = $1']],
  'client-number': [['client', 'client_number = $1']],
  iban: [
    ['account', 'iban = $1'],
    ['beneficiary-bank-account', 'iban = $1'],
  ],
  'account-number': [
    ['account', 'account_number IN ($1, $2)'],
    ['beneficiary-bank-account', 'account_number IN ($1, $2)'],
  ],
  email: [
    ['client', 'lower(email) = $1'],
    ['user', 'email_key = $1'],
    ['user-invitation', 'email_key = $1'],
  ],
  reference: [
    ['outgoing-transfer', BY_REFERENCE],
    ['outgoing-transfer', 'service_provider_id = $1'],
    ['incoming-transfer', BY_REFERENCE],
    ['incoming-transfer', BY_PROVIDER_ID],
  ],
  amount: [
    ['outgoing-transfer', BY_AMOUNT],
    ['incoming-transfer', BY_AMOUNT],
  ],
  // No index has parts of names. The few come first, so that they do not wait for the many.
  name: [
    ['third-party-provider', 'name ILIKE $1'],
    ['machine-user', 'name ILIKE $1'],
    ['client', 'full_name ILIKE $1'],
    ['beneficiary', 'full_name ILIKE $1'],
  ],
};

/** A statement that finds rows of these kinds. */
export interface SearchStatement {
  readonly kinds: readonly FoundKind[];
  readonly text: string;
  readonly params: readonly unknown[];
}

/** What an exact term finds takes one statement. Each look-up that reads many rows has its own, which may come too late without the others. */
const STATEMENTS = new Map(
  Object.entries(LOOK_UPS).map(([by, lookUps]) => [by, isExact({ by }) ? [lookUps] : lookUps.map((one) => [one])]),
);

function selectOf([kind, condition]: LookUp): string {
  const { table, name, status, amount, currency, time } = ROWS[kind];
  return `(SELECT '${kind}' AS kind, id, ${name} AS name, ${status}::text AS status, ${amount}::bigint AS "amountMinor",
    ${currency}::text AS currency, ${time} AS "createdAt" FROM ${table} WHERE ${condition} ORDER BY id DESC LIMIT ${FOUND_MAX})`;
}

/** The statements of a term. */
export function searchStatements(term: SearchTerm): SearchStatement[] {
  const params = paramsOf(term);
  const statements = STATEMENTS.get(term.by) ?? [];
  return statements.map((lookUps) => ({
    kinds: lookUps.map(([kind]) => kind),
    text: lookUps.map(selectOf).join('\nUNION\n'),
    params,
  }));
}

function paramsOf(term: SearchTerm): readonly unknown[] {
  switch (term.by) {
    case 'amount': {
      const { amounts, date } = term;
      const days = [addDays(date, -DAYS_BEFORE), date, addDays(date, 1)];
      return [amounts.map(({ currency }) => currency), amounts.map(({ amountMinor }) => amountMinor), ...days];
    }
    case 'account-number':
      return [term.value, term.sterling];
    case 'name':
      return [anyPart(term.value)];
    default:
      return [term.value];
  }
}

export interface Found {
  readonly rows: readonly FoundRow[];
  /** Kinds of which rows may be missing: they were not searched in time by a name or an amount. */
  readonly unsearched: readonly FoundKind[];
}

/** Finds the rows that a text may mean, each once, the newest of a kind first. Exact hits never wait for a slow look-up. */
export async function search(reader: Reader, terms: readonly SearchTerm[]): Promise<Found> {
  const run = ({ text, params }: SearchStatement) => reader.statement<FoundRow>(text, params);
  const exact = await Promise.all(terms.filter(isExact).flatMap(searchStatements).map(run));
  const slow = terms.filter((term) => !isExact(term)).flatMap(searchStatements);
  const settled = await Promise.allSettled(slow.map(run));
  const failed = settled.flatMap((one, index) => (one.status === 'rejected' ? [{ ...one, of: slow[index] }] : []));
  const fatal = failed.find(({ reason }) => !(reason instanceof DatabaseUnavailable));
  const [first] = failed;
  if (fatal !== undefined) throw fatal.reason;
  if (first !== undefined && failed.length === slow.length && exact.length === 0) throw first.reason;
  const others = settled.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const rows = new Map([...exact.flat(), ...others].map((row) => [`${row.kind}/${row.id}`, row]));
  return {
    rows: [...rows.values()].sort((one, other) => (one.id < other.id ? 1 : -1)).sort(byKind),
    unsearched: failed.flatMap(({ of }) => of?.kinds ?? []),
  };
}

function byKind(one: FoundRow, other: FoundRow): number {
  return KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind);
}
