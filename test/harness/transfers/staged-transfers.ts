import { loadEventBodies } from '../../../db/webhooks/event-documents.ts';
import { numberEvents } from '../../../db/webhooks/event-sequencer.ts';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import type { Json, TestApi } from '../api.ts';
import { withChangesUnderLocks } from '../http/write-ways.ts';
import type { TestDatabase } from '../servers/postgres.ts';
import { knownAccounts, mainAccountIdOf, type Staged } from './transfer-cases.ts';

/** Writes many situations to the database at once, and reads back their results. */

let numbers = 0;

/** Inserts the rows of all situations in a few statements, and books their money. */
export async function stageAll(api: TestApi, staged: readonly Staged[]): Promise<void> {
  const insert = (table: string, rows: readonly Json[]) =>
    api.database.statement(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::json)`, [
      JSON.stringify(rows),
    ]);
  await insert('clients', staged.flatMap(clientRows));
  // Main accounts first.
  await insert('accounts', staged.flatMap(mainAccountRows));
  await insert('accounts', staged.flatMap(accountRows));
  const external = staged.filter((one) => one.case.scope === 'external');
  await insert('beneficiaries', external.map(beneficiaryRow));
  await insert('beneficiary_bank_accounts', external.filter((one) => one.case.bankAccount.known).map(bankAccountRow));
  const credits = staged
    .flatMap(knownAccounts)
    .filter(({ account }) => account.postedMinor > 0)
    .map(({ id, account: { postedMinor, currency, provider } }) => {
      numbers += 1;
      return { id, amount: postedMinor, currency, provider, number: `20270101-T${String(numbers).padStart(7, '0')}` };
    });
  // As the rows say that it was booked: one statement for thousands of accounts.
  await api.database.statement(
    `INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, credit_version, credit_balance_after_minor,
        currency, debit_transaction_number, credit_transaction_number, debit_transaction_type, credit_transaction_type, entry_type)
      SELECT '${BOOKED_AT}', system_account(provider, currency, 'settlement'), id, amount, 1, amount, currency, number, number,
        'incoming-transfer', 'incoming-transfer', 'principal'
      FROM json_to_recordset($1::json) AS credit (id uuid, amount bigint, currency text, provider text, number text)`,
    [JSON.stringify(credits)],
  );
}

const BOOKED_AT = '2027-06-01T00:00:00Z';

function clientRows({ case: { payerStatus, receiverStatus }, payer, receiver }: Staged): Json[] {
  return [
    { id: payer, status: payerStatus, name: 'Ada' },
    { id: receiver, status: receiverStatus, name: 'Grace' },
  ].map(({ id, status, name }) => ({
    id,
    client_number: id,
    status,
    identity_type: 'individual',
    identity: { type: 'individual', givenName: name, familyName: 'Lovelace', birthDate: '1990-01-01', country: 'GB' },
    profile: { identityType: 'individual' },
    full_name: `${name} Lovelace`,
    country: 'GB',
    revision: 1,
    event_sequence: 0,
    created_at: '2027-06-01',
  }));
}

function accountRows(staged: Staged): Json[] {
  return knownAccounts(staged).map(({ id, account }) => ({
    id,
    main_account_id: account.mainStatus === null ? null : mainAccountIdOf(id),
    client_id: account.isPayers ? staged.payer : staged.receiver,
    status: account.status,
    method: account.provider === 'custom-bank' ? 'plug-in' : 'built-in',
    provider: account.provider,
    country: account.currency === 'GBP' ? 'GB' : 'DE',
    currency: account.currency,
    alias: 'Everyday',
    ledger_number: id,
    account_holder_name: account.isPayers ? 'Ada Lovelace' : 'Grace Lovelace',
    account_holder_identity_type: 'individual',
    requested_change: account.closing ? 'close' : null,
    change_attempt: 0,
    posted_minor: account.postedMinor,
    reserved_minor: 0,
    receivable_minor: 0,
    version: account.postedMinor > 0 ? 1 : 0,
    last_entry_at: account.postedMinor > 0 ? BOOKED_AT : '-infinity',
    has_waiters: false,
    admission_due: false,
    revision: 1,
    event_sequence: 0,
    created_at: '2027-06-01',
  }));
}

function mainAccountRows(staged: Staged): Json[] {
  const { source, destination } = staged.case;
  const statuses = new Map([
    [staged.source, source.mainStatus],
    [staged.destination, destination.mainStatus],
  ]);
  return accountRows(staged)
    .filter((row) => row.main_account_id !== null)
    .map((row) => ({
      ...row,
      id: row.main_account_id,
      main_account_id: null,
      ledger_number: row.main_account_id,
      status: statuses.get(row.id),
      requested_change: null,
      posted_minor: 0,
      version: 0,
      last_entry_at: '-infinity',
    }));
}

function beneficiaryRow({ case: of, beneficiary, payer, receiver }: Staged): Json {
  return {
    id: beneficiary,
    client_id: of.bankAccount.isPayers ? payer : receiver,
    identity_type: 'corporate',
    identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' },
    full_name: 'Brook Lane Bakery Ltd',
    revision: 1,
    event_sequence: 0,
    created_at: '2027-06-01',
  };
}

function bankAccountRow({ case: { bankAccount }, beneficiary, bankAccount: id }: Staged): Json {
  const { status, country, currency, iban, bic, sortCode } = bankAccount;
  const codes = { bic, 'sort-code': sortCode };
  return {
    id,
    beneficiary_id: beneficiary,
    status,
    account_holder_name: 'Brook Lane Bakery Ltd',
    country,
    currency,
    account_number: iban === null ? '31926819' : null,
    iban,
    routing_codes: Object.fromEntries(Object.entries(codes).filter(([, code]) => code !== null)),
    revision: 1,
    created_at: '2027-06-01',
  };
}

/** What a situation's requests left behind, with names instead of ids, numbers and timestamps, so that situations compare. */
export interface Traces {
  readonly outgoing: Json[];
  readonly incoming: Json[];
  readonly postings: Json[];
  readonly accounts: Json[];
  readonly wakeups: Json[];
}

/** A situation and the keys of the requests that were sent in it. */
export interface Watched {
  readonly staged: Staged;
  readonly keys: readonly string[];
}

export interface Observed {
  /** JSON text of `Traces`. */
  readonly traces: string;
  /** What each key's request is answered with when it is repeated. */
  readonly kept: readonly string[];
  /** JSON text of the events as stored; others may say the same in different words. */
  readonly events: string;
  /** The ids of the events. */
  readonly eventIds: readonly string[];
  /** The placeholder of each id and number in the traces. */
  readonly names: ReadonlyMap<string, string>;
}

interface Found extends Traces {
  readonly kept: Json[];
  readonly events: Json[];
  readonly eventRows: { id: string; entry_count: number }[];
}

const partyOf = (side: string) =>
  `(SELECT account_id FROM party_accounts party WHERE party.id = ${side}_party_account_id)`;

// Timestamps and write counters differ between paths and mean nothing.
const READ = `
  WITH wanted AS (
    SELECT ordinality, source::uuid, destination::uuid, keys
      FROM unnest($1::uuid[], $2::uuid[], $3::text[]) WITH ORDINALITY AS wanted (source, destination, keys, ordinality)
  ), outgoing AS MATERIALIZED (
    SELECT ordinality, transfer.* FROM wanted JOIN outgoing_transfers transfer ON transfer.account_id = wanted.source
  ), incoming AS MATERIALIZED (
    SELECT ordinality, transfer.* FROM outgoing JOIN incoming_transfers transfer ON transfer.outgoing_transfer_id = outgoing.id
  ), resource AS MATERIALIZED (
    SELECT ordinality, id, 0 AS side FROM outgoing UNION ALL SELECT ordinality, id, 1 FROM incoming
  ), outgoing_json AS MATERIALIZED (
    SELECT ordinality, json_agg(to_jsonb(outgoing) - '{ordinality,request_id,created_at,updated_at,waiting_since,next_check_at}'::text[]
        || jsonb_build_object('destination_party_account_id', ${partyOf('destination')})) AS found,
      json_agg((SELECT json_agg(json_build_array(workflow_id, workflow_type) ORDER BY workflow_type) FROM workflow_wakeups
        WHERE workflow_id IN ('outgoing-transfer/' || outgoing.id, 'incoming-transfer/' || incoming_transfer_id))) AS wakeups
      FROM outgoing GROUP BY ordinality
  ), incoming_json AS MATERIALIZED (
    SELECT ordinality, json_agg(to_jsonb(incoming) - '{ordinality,created_at,updated_at,waiting_since,next_check_at,revision}'::text[]
        || jsonb_build_object('sender_party_account_id', ${partyOf('sender')}, 'receiver_party_account_id', ${partyOf('receiver')})) AS found
      FROM incoming GROUP BY ordinality
  ), posting_json AS MATERIALIZED (
    SELECT ordinality, json_agg(to_jsonb(posting) - '{ordinality,id,posted_at}'::text[] ORDER BY posting.id) AS found
      FROM outgoing JOIN postings posting ON posting.outgoing_transfer_id = outgoing.id GROUP BY ordinality
  ), event_json AS MATERIALIZED (
    SELECT ordinality, json_agg(json_build_array(side, module, first_sequence, entry_count, entries) ORDER BY side, first_sequence) AS found,
      json_agg(json_build_object('id', events.id, 'entry_count', entry_count) ORDER BY side, first_sequence) AS rows
      FROM resource JOIN events ON events.resource_id = resource.id GROUP BY ordinality
  )
  SELECT coalesce(outgoing_json.found, '[]') AS outgoing, coalesce(incoming_json.found, '[]') AS incoming,
    coalesce(posting_json.found, '[]') AS postings, coalesce(outgoing_json.wakeups, '[]') AS wakeups,
    coalesce(event_json.found, '[]') AS events, coalesce(event_json.rows, '[]') AS "eventRows",
    coalesce((SELECT json_agg(json_build_array(id, status, posted_minor, reserved_minor, receivable_minor, version, has_waiters, admission_due)
      ORDER BY id = wanted.source) FROM accounts WHERE id IN (wanted.source, wanted.destination)), '[]') AS accounts,
    (SELECT json_agg(json_build_array(response_status, response_body) ORDER BY place)
      FROM unnest(string_to_array(wanted.keys, ' ')) WITH ORDINALITY AS sent (key, place)
      LEFT JOIN idempotency_keys kept ON kept.machine_user_id = $4::uuid AND kept.method = 'POST'
        AND kept.path IN ('/outgoing-transfers', '/outgoing-transfers/batch/items') AND kept.key = sent.key) AS kept
  FROM wanted LEFT JOIN outgoing_json USING (ordinality) LEFT JOIN incoming_json USING (ordinality)
    LEFT JOIN posting_json USING (ordinality) LEFT JOIN event_json USING (ordinality)
  ORDER BY ordinality`;

/** The situations' traces, in order. */
export async function observe(
  api: TestApi,
  machineUserId: string,
  watched: readonly Watched[],
): Promise<readonly Observed[]> {
  const found = await api.database.statement<Found>(READ, [
    watched.map(({ staged }) => staged.source),
    watched.map(({ staged }) => staged.destination),
    watched.map(({ keys }) => keys.join(' ')),
    machineUserId,
  ]);
  return found.map(({ eventRows, events, kept, ...traces }, index) => {
    const owner = watched[index];
    if (owner === undefined) throw new Error('one row for each situation');
    const names = namesIn(owner, traces);
    return {
      traces: withNames(JSON.stringify(traces), names),
      kept: kept.map((answer) => withNames(JSON.stringify(answer), names)),
      events: withNames(JSON.stringify(events), names),
      eventIds: eventRows.flatMap(({ id, entry_count }) =>
        Array.from({ length: entry_count }, (_, entry) => id.slice(0, -1) + entry.toString(16)),
      ),
      names,
    };
  });
}

/** The events of each situation as subscribers get them. */
export async function renderEvents(api: TestApi, observed: readonly Observed[]): Promise<readonly Json[][]> {
  const ids = observed.flatMap(({ eventIds }) => eventIds);
  // While another batch of cases numbers events, a call numbers none.
  let bodies = await loadEventBodies(api.database.reader, ids);
  while (ids.some((id) => !bodies.has(id))) {
    await numberEvents(api.database, 2_000, null);
    bodies = await loadEventBodies(api.database.reader, ids);
  }
  return observed.map(({ eventIds, names }) =>
    eventIds.map((id) => JSON.parse(withNames(bodies.get(id) ?? 'null', names))),
  );
}

/** The meaning of the ids and numbers of a situation. */
function namesIn({ staged, keys }: Watched, { outgoing, incoming }: Traces): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(staged)) if (typeof value === 'string') names.set(value, name);
  names.set(staged.payer, 'payer');
  for (const key of keys) names.set(key, 'key');
  for (const [name, rows] of [
    ['outgoing', outgoing],
    ['incoming', incoming],
  ] as const) {
    for (const row of rows) {
      names.set(row.id, name);
      names.set(paymentReferenceOf(row.id), `${name} reference`);
      names.set(row.transaction_number, `${name} number`);
    }
  }
  return names;
}

const NAMED = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{32}\b|\b[0-9]{8}-[A-Z0-9]+\b/g;
/** Also in JSON text within JSON text, where quotes are escaped. */
const MOMENT = /(\\*")(timestamp|eventDateTime|eventId)\1:\1[^"\\]*\1/g;

export function withNames(text: string, names: ReadonlyMap<string, string>): string {
  return text.replace(NAMED, (id) => names.get(id) ?? id).replace(MOMENT, '$1$2$1:$1moment$1');
}

/** The service without its fast paths: everything is decided under locks. */
export async function withoutFastPaths(database: TestDatabase): Promise<{ url: string }> {
  const { url, schema } = await withChangesUnderLocks(database);
  await database.asOwner(`
    CREATE FUNCTION ${schema}.settle_straight_through_transfers(transfers json, boolean, json, json)
      RETURNS TABLE (outcome text, transfer_date date, response_body text) LANGUAGE sql
      AS $$ SELECT 'undecided', NULL::date, NULL FROM json_array_elements(transfers) $$`);
  return { url };
}
