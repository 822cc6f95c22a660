import { randomUUID } from 'node:crypto';
import { loadEventBodies } from '../../../db/webhooks/event-documents.ts';
import { numberEvents } from '../../../db/webhooks/event-sequencer.ts';
import type { Called, Json, TestApi } from '../api.ts';
import type { Staged } from './transfer-cases.ts';

/** Writes many situations to the database at once, and reads back their results. */

let numbers = 0;

/** Inserts the rows of all situations in a few statements, and books their money. */
export async function stageAll(api: TestApi, staged: readonly Staged[]): Promise<void> {
  const insert = (table: string, rows: readonly Json[]) =>
    api.database.statement(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::json)`, [
      JSON.stringify(rows),
    ]);
  await insert('clients', staged.flatMap(clientRows));
  await insert('accounts', staged.flatMap(accountRows));
  await insert('beneficiaries', staged.map(beneficiaryRow));
  await insert('beneficiary_bank_accounts', staged.filter((one) => one.case.bankAccount.known).map(bankAccountRow));
  const money = staged.flatMap((one) => [
    { id: one.source, account: one.case.source },
    { id: one.destination, account: one.case.destination },
  ]);
  const credits = money
    .filter(({ account }) => account.known && account.postedMinor > 0)
    .map(({ id, account: { postedMinor, currency, provider } }) => {
      numbers += 1;
      return { id, amount: postedMinor, currency, provider, number: `20270101-T${String(numbers).padStart(7, '0')}` };
    });
  await api.database.statement(
    `SELECT ledger_post('2027-06-01', system_account(provider, currency, 'settlement'), id, amount, currency, number, number,
        'incoming-transfer', 'incoming-transfer', 'principal', NULL, NULL, NULL)
      FROM json_to_recordset($1::json) AS credit (id uuid, amount bigint, currency text, provider text, number text)`,
    [JSON.stringify(credits)],
  );
}

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

function accountRows({ case: of, payer, receiver, source, destination }: Staged): Json[] {
  const sides = [
    { id: source, account: of.source },
    { id: destination, account: of.destination },
  ];
  return sides
    .filter(({ account }) => account.known)
    .map(({ id, account }) => ({
      id,
      client_id: account.isPayers ? payer : receiver,
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
      posted_minor: 0,
      reserved_minor: 0,
      receivable_minor: 0,
      version: 0,
      last_entry_at: '-infinity',
      has_waiters: false,
      admission_due: false,
      revision: 1,
      event_sequence: 0,
      created_at: '2027-06-01',
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
  const { status, country, currency, iban, bic } = bankAccount;
  return {
    id,
    beneficiary_id: beneficiary,
    status,
    account_holder_name: 'Brook Lane Bakery Ltd',
    country,
    currency,
    account_number: iban === null ? '31926819' : null,
    iban,
    routing_codes: bic === null ? {} : { bic },
    revision: 1,
    created_at: '2027-06-01',
  };
}

/** Everything that a request left behind, normalized so that situations compare. */
export interface Outcome {
  readonly answer: Json;
  readonly outgoing: Json[];
  readonly incoming: Json[];
  readonly postings: Json[];
  readonly accounts: Json[];
  readonly wakeups: Json[];
  readonly keys: Json[];
  readonly events: Json[];
}

type Found = Omit<Outcome, 'answer' | 'events'> & { readonly eventRows: { id: string; entry_count: number }[] };

const partyOf = (side: string) =>
  `(SELECT account_id FROM party_accounts party WHERE party.id = ${side}_party_account_id)`;

// Timestamps and write counters differ between paths and mean nothing.
const READ = `
  WITH wanted AS (
    SELECT ordinality, source::uuid, destination::uuid, key FROM unnest($1::uuid[], $2::uuid[], $3::text[]) WITH ORDINALITY AS wanted (source, destination, key, ordinality)
  ), outgoing AS MATERIALIZED (
    SELECT ordinality, transfer.* FROM wanted JOIN outgoing_transfers transfer ON transfer.account_id = wanted.source
  ), incoming AS MATERIALIZED (
    SELECT ordinality, transfer.* FROM outgoing JOIN incoming_transfers transfer ON transfer.outgoing_transfer_id = outgoing.id
  ), event AS MATERIALIZED (
    SELECT ordinality, events.id, entry_count FROM events
      JOIN (SELECT ordinality, id FROM outgoing UNION ALL SELECT ordinality, id FROM incoming) AS resource ON resource.id = events.resource_id
  )
  SELECT
    coalesce((SELECT json_agg(to_jsonb(outgoing) - '{ordinality,created_at,updated_at,waiting_since,next_check_at}'::text[]
        || jsonb_build_object('destination_party_account_id', ${partyOf('destination')}))
      FROM outgoing WHERE outgoing.ordinality = wanted.ordinality), '[]') AS outgoing,
    coalesce((SELECT json_agg(to_jsonb(incoming) - '{ordinality,created_at,updated_at,waiting_since,next_check_at,revision}'::text[]
        || jsonb_build_object('sender_party_account_id', ${partyOf('sender')}, 'receiver_party_account_id', ${partyOf('receiver')}))
      FROM incoming WHERE incoming.ordinality = wanted.ordinality), '[]') AS incoming,
    coalesce((SELECT json_agg(to_jsonb(posting) - '{id,posted_at}'::text[] ORDER BY posting.id) FROM postings posting
      WHERE posting.outgoing_transfer_id IN (SELECT id FROM outgoing WHERE outgoing.ordinality = wanted.ordinality)), '[]') AS postings,
    coalesce((SELECT json_agg(json_build_array(id, status, posted_minor, reserved_minor, receivable_minor, version, has_waiters, admission_due)
      ORDER BY id = wanted.source) FROM accounts WHERE id IN (wanted.source, wanted.destination)), '[]') AS accounts,
    coalesce((SELECT json_agg(json_build_array(workflow_id, workflow_type)) FROM workflow_wakeups
      WHERE workflow_id IN (SELECT 'outgoing-transfer/' || id FROM outgoing WHERE outgoing.ordinality = wanted.ordinality)), '[]') AS wakeups,
    coalesce((SELECT json_agg(json_build_array(response_status, response_body)) FROM idempotency_keys kept
      WHERE kept.path = '/outgoing-transfers' AND kept.method = 'POST' AND kept.key = wanted.key), '[]') AS keys,
    coalesce((SELECT json_agg(json_build_object('id', id, 'entry_count', entry_count) ORDER BY id)
      FROM event WHERE event.ordinality = wanted.ordinality), '[]') AS "eventRows"
  FROM wanted ORDER BY wanted.ordinality`;

/** The situations' results, in order. */
export async function observe(
  api: TestApi,
  staged: readonly Staged[],
  answers: readonly Called[],
): Promise<readonly Outcome[]> {
  while ((await numberEvents(api.database, 2_000, null)).rowCount > 0);
  const found = await api.database.statement<Found>(READ, [
    staged.map(({ source }) => source),
    staged.map(({ destination }) => destination),
    staged.map(({ key }) => key),
  ]);
  const idsOf = ({ eventRows }: Found) =>
    eventRows.flatMap(({ id, entry_count }) =>
      Array.from({ length: entry_count }, (_, index) => id.slice(0, -1) + index.toString(16)),
    );
  const bodies = await loadEventBodies(api.database.reader, found.flatMap(idsOf));
  return found.map((one, index) => {
    const answer = answers[index];
    const owner = staged[index];
    if (answer === undefined || owner === undefined) throw new Error('one answer for each situation');
    const { eventRows: _, ...rows } = one;
    const events = idsOf(one).map((id) => bodies.get(id) ?? `no event ${id}`);
    return named(owner, one, { answer: [answer.status, answer.text], ...rows, events: events.sort(byResource) });
  });
}

/** Outgoing before incoming, each in the order of its sequence. */
function byResource(one: string, other: string): number {
  const place = (body: string) => {
    const { webhook, metadata } = JSON.parse(body);
    return `${webhook.module === 'outgoing-transfers' ? 0 : 1}${String(metadata.sequence).padStart(3, '0')}`;
  };
  return place(one).localeCompare(place(other));
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Also in JSON text within JSON text, where quotes are escaped. */
const MOMENT = /(\\*")(timestamp|eventDateTime|eventId)\1:\1[^"\\]*\1/g;

/** Replaces ids and numbers by what they stand for and drops timestamps; keeps everything else. */
function named(staged: Staged, found: Found, outcome: Outcome): Outcome {
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(staged)) if (typeof value === 'string') names.set(value, name);
  names.set(staged.payer, 'payer');
  const transfers = [
    ...found.outgoing.map((row) => ['outgoing', row]),
    ...found.incoming.map((row) => ['incoming', row]),
  ];
  let text = JSON.stringify(outcome);
  for (const [name, row] of transfers) {
    names.set(row.id, name);
    text = text.replaceAll(row.transaction_number, `${name} number`);
  }
  text = text.replace(UUID, (id) => names.get(id) ?? id).replace(MOMENT, '$1$2$1:$1moment$1');
  return JSON.parse(text);
}

/** The service without its fast paths: everything is decided under locks. */
export async function withoutFastPaths(
  api: TestApi,
  databaseUrl: string,
): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `under_locks_${randomUUID().replaceAll('-', '')}`;
  await api.database.statement(`CREATE SCHEMA ${name}`, []);
  await api.database.statement(
    `CREATE FUNCTION ${name}.apply_transfer_changes(changes json, waits boolean, OUT outcome text, OUT response_body text)
      RETURNS SETOF record LANGUAGE plpgsql AS $$ BEGIN
        IF waits THEN RETURN QUERY SELECT * FROM public.apply_transfer_changes(changes, waits);
        ELSE RETURN QUERY SELECT 'not-applied', NULL FROM json_array_elements(changes); END IF;
      END $$`,
    [],
  );
  await api.database.statement(
    `CREATE FUNCTION ${name}.settle_straight_through_transfers(transfers json, boolean, json, json)
      RETURNS TABLE (outcome text, transfer_date date, response_body text) LANGUAGE sql
      AS $$ SELECT 'undecided', NULL::date, NULL FROM json_array_elements(transfers) $$`,
    [],
  );
  await api.database.statement(`CREATE ROLE ${name} SUPERUSER LOGIN PASSWORD 'test'`, []);
  await api.database.statement(`ALTER ROLE ${name} SET search_path = ${name}, public`, []);
  const url = new URL(databaseUrl);
  url.username = name;
  url.password = 'test';
  return {
    url: url.href,
    drop: async () => {
      await api.database.statement(`DROP ROLE ${name}`, []);
    },
  };
}
