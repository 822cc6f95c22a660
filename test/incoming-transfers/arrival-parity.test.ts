import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { type Random, randomFrom, seedOr } from '../harness/random.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { withoutFastPaths } from '../harness/transfers/staged-transfers.ts';

// Money that arrives is recorded by a shared statement without locks, or under locks in a transaction of its own: the answer, and
// everything that is written, is the same.

const CASES = Number(process.env.ARRIVAL_CASES ?? 240);
/** Requests of this many cases are under way at once, so that they share statements. */
const TOGETHER = 24;
const SECRET = 'shared by bank and service';
const REVIEWED = 'EUR';
const STATUSES = ['active', 'active', 'active', 'inactive', 'suspended', 'closed', 'declined'] as const;
const CLIENT_STATUSES = ['active', 'active', 'active', 'inactive', 'suspended'] as const;
const REPEATED = ['no', 'no', 'no', 'same', 'other amount'] as const;

let database: TestDatabase;
/** By its name: the ways that money is recorded. */
let ways: ReadonlyMap<string, TestApi>;
let world: MoneyWorld;
let otherClientId: string;
const started: TestApi[] = [];

beforeAll(async () => {
  database = await createTestDatabase('arrival-parity');
  const providers = new Map([['sandbox-bank', createSandboxBank({ url: 'http://127.0.0.1:9', secret: SECRET })]]);
  const configuration = (given: TestApi['services']['configuration']) => ({
    ...given,
    compliance: {
      ...given.compliance,
      incoming: { rule: 'none' as const, byCurrency: { [REVIEWED]: 'external' as const } },
    },
  });
  const together = await startApi(database, { providers, configuration });
  const slow = await withoutFastPaths(database);
  const underLocks = await startApi(
    { ...database, url: slow.url },
    { providers, configuration, users: together.users },
  );
  started.push(together, underLocks);
  ways = new Map([
    ['together', together],
    ['under locks', underLocks],
  ]);
  world = moneyWorld(together);
  otherClientId = await world.client('Grace');
});

afterAll(async () => {
  for (const api of started.reverse()) await api.stop();
  await database?.drop();
});

function drawCase(random: Random) {
  const of = random.pick;
  return {
    kind: of(['report', 'callback'] as const),
    account: {
      // Of the other kind of provider now and then.
      swapped: random.chance(0.1),
      currency: of(['GBP', 'GBP', REVIEWED] as const),
      status: of(STATUSES),
      clientStatus: of(CLIENT_STATUSES),
      closing: random.chance(0.1),
      awaited: random.chance(0.2),
    },
    repeated: of(REPEATED),
    amount: of([0.01, 0.05, 12.5, 1_000_000]),
    report: {
      client: of(['none', 'own', 'own', 'other', 'unknown'] as const),
      currency: of(['own', 'own', 'own', 'other'] as const),
      scope: of(['external', 'external', 'internal'] as const),
      known: random.chance(0.95),
      keyed: random.chance(0.5),
      identified: random.chance(0.8),
    },
    callback: {
      names: of(['iban', 'number', 'number', 'ledger number', 'nothing', 'two ledger numbers'] as const),
      held: random.chance(0.15),
    },
  };
}

type Case = ReturnType<typeof drawCase>;

/** A report of money for an active account, which is taken. */
function usualCase(): Case {
  const account = {
    swapped: false,
    currency: 'GBP',
    status: 'active',
    clientStatus: 'active',
    closing: false,
  } as const;
  return {
    kind: 'report',
    account: { ...account, awaited: false },
    repeated: 'no',
    amount: 12.5,
    report: { client: 'own', currency: 'own', scope: 'external', known: true, keyed: true, identified: true },
    callback: { names: 'number', held: false },
  };
}

/** Cases that reach every status of an answer, whatever the random ones reach. */
function listedCases(): readonly Case[] {
  const usual = usualCase();
  return [
    ...REPEATED.map((repeated) => ({ ...usual, repeated })),
    ...(['keyed', 'identified'] as const).map((without) => ({
      ...usual,
      repeated: 'other amount' as const,
      report: { ...usual.report, [without]: false },
    })),
    { ...usual, report: { ...usual.report, known: false } },
    { ...usual, report: { ...usual.report, currency: 'other' } },
  ];
}

interface Staged {
  readonly case: Case;
  readonly api: TestApi;
  readonly clientId: string;
  readonly accountId: string;
  readonly ledgerNumber: string;
  /** Empty unless the case names two. */
  readonly otherLedgerNumber: string;
  readonly accountNumber: string;
  readonly iban: string;
  readonly paymentId: string;
  readonly key: string;
}

let drawnNumber = 10_000_000;

async function stage(of: Case, api: TestApi): Promise<Staged> {
  const { currency, status, clientStatus, closing, awaited, swapped } = of.account;
  const clientId = await world.client();
  const accountId = await world.account(clientId, { currency });
  drawnNumber += 1;
  const accountNumber = String(drawnNumber);
  const iban = `XX00TEST${accountNumber}`;
  const namesTwo = of.kind === 'callback' && of.callback.names === 'two ledger numbers';
  const isBuiltIn = (of.kind === 'callback') !== swapped;
  const [row] = await api.database.statement<{ number: string }>(
    `WITH changed AS (
      UPDATE accounts SET status = $2, requested_change = CASE WHEN $3::boolean THEN 'close' END, has_waiters = $4::boolean,
        provider = $5, method = $6, account_number = $7, routing_codes = '{"sort-code": "040075"}', iban = $8
      WHERE id = $1 RETURNING ledger_number),
    client AS (UPDATE clients SET status = $9 WHERE id = $10)
    SELECT ledger_number AS number FROM changed`,
    [
      accountId,
      status,
      closing && status === 'active',
      awaited,
      isBuiltIn ? 'sandbox-bank' : 'custom-bank',
      isBuiltIn ? 'built-in' : 'plug-in',
      accountNumber,
      iban,
      clientStatus,
      clientId,
    ],
  );
  if (row === undefined) throw new Error('the account is gone');
  return {
    case: of,
    api,
    clientId,
    accountId,
    accountNumber,
    iban,
    ledgerNumber: row.number,
    otherLedgerNumber: namesTwo ? await otherLedgerNumber(currency) : '',
    paymentId: randomUUID(),
    key: randomUUID(),
  };
}

async function otherLedgerNumber(currency: string): Promise<string> {
  const id = await world.account(otherClientId, { currency });
  const [row] = await database.asOwner<{ number: string }>(
    `UPDATE accounts SET provider = 'sandbox-bank' WHERE id = '${id}' RETURNING ledger_number AS number`,
  );
  return row?.number ?? '';
}

function report({ case: of, accountId, clientId, paymentId }: Staged, amount: number): Json {
  const { client, currency, scope, known, identified } = of.report;
  const clients = { none: undefined, own: clientId, other: otherClientId, unknown: randomUUID() };
  const provisionedAccountCredit = {
    clientId: clients[client],
    accountId: known ? accountId : randomUUID(),
    amount,
    currency: currency === 'own' ? of.account.currency : 'USD',
    scope,
    ...(scope === 'external' ? { scheme: 'swift' } : {}),
    ...(identified ? { serviceProviderId: paymentId } : {}),
    senderName: 'Paul Payer',
    senderToReceiverInformation: 'Invoice 12',
  };
  return { workflow: { code: 'client.direct' }, data: { provisionedAccountCredit } };
}

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly replayed: string | null;
}

async function sendReport(staged: Staged, amount: number): Promise<Answered> {
  const options = staged.case.report.keyed ? { key: `${staged.key} ${amount}` } : {};
  const answer: ApiResponse = await staged.api.call(
    'POST',
    '/provisioned-account-credits',
    report(staged, amount),
    options,
  );
  return { status: answer.status, text: answer.text, replayed: answer.headers.get('x-idempotency-status') };
}

async function sendCallback(staged: Staged, amount: number): Promise<Answered> {
  const { names, held } = staged.case.callback;
  const references = {
    'ledger number': `for ${staged.ledgerNumber}`,
    'two ledger numbers': `${staged.ledgerNumber} ${staged.otherLedgerNumber}`,
  };
  const event = {
    type: 'payment-received',
    id: `evt-${staged.paymentId}-${amount}`,
    createdAt: new Date().toISOString(),
    data: {
      paymentId: staged.paymentId,
      paymentReference: 'FPS-1',
      amount,
      currency: staged.case.account.currency,
      scheme: 'faster-payments',
      senderName: 'Paul Payer',
      senderAccount: null,
      iban: names === 'iban' ? staged.iban.toLowerCase() : null,
      accountNumber: names === 'number' ? staged.accountNumber : null,
      routingCodes: names === 'number' ? { 'sort-code': '04-00-75' } : {},
      reference: names === 'ledger number' || names === 'two ledger numbers' ? references[names] : 'Invoice 12',
      held,
    },
  };
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const mac = createHmac('sha256', SECRET).update(`${event.id}.${timestamp}.${body}`).digest('base64');
  const headers = { 'webhook-id': event.id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` };
  const answer = await fetch(`${staged.api.url}/provider-callbacks/sandbox-bank`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return { status: answer.status, text: await answer.text(), replayed: null };
}

async function sendAll(staged: Staged): Promise<readonly Answered[]> {
  const send = staged.case.kind === 'report' ? sendReport : sendCallback;
  const { amount, repeated } = staged.case;
  const first = await send(staged, amount);
  if (repeated === 'no') return [first];
  return [first, await send(staged, repeated === 'same' ? amount : 77)];
}

// Everything that recording money may write, of one account and payment.
const TRACES = `
  WITH credits AS (SELECT * FROM provisioned_account_credits WHERE account_id = $1 OR service_provider_id = $2),
    transfers AS (SELECT * FROM incoming_transfers WHERE provisioned_account_credit_id IN (SELECT id FROM credits))
  SELECT json_build_object(
    'account', (SELECT json_build_array(posted_minor, reserved_minor, receivable_minor, version, has_waiters, admission_due)
      FROM accounts WHERE id = $1),
    'credits', (SELECT json_agg(to_jsonb(c) - 'created_at' ORDER BY id) FROM credits c),
    'transfers', (SELECT json_agg(to_jsonb(t) - ARRAY['created_at', 'updated_at', 'waiting_since'] ORDER BY id) FROM transfers t),
    'postings', (SELECT json_agg(to_jsonb(p) - ARRAY['id', 'posted_at', 'sequence'] ORDER BY incoming_transfer_id, entry_type)
      FROM postings p WHERE incoming_transfer_id IN (SELECT id FROM transfers)),
    'events', (SELECT json_agg(json_build_array(module, first_sequence, entry_count, entries) ORDER BY first_sequence)
      FROM events WHERE resource_id IN (SELECT id FROM transfers)),
    'audit', (SELECT json_agg(json_build_array(actor, action, resource, before, after) ORDER BY id)
      FROM audit_entries WHERE resource_id IN (SELECT id::text FROM credits)),
    'callbacks', (SELECT json_agg(json_build_array(provider, kind, our_reference, outcome, payload - 'createdAt') ORDER BY provider_event_id)
      FROM provider_callbacks WHERE provider_event_id LIKE 'evt-' || $2 || '%'),
    'wakeups', (SELECT json_agg(workflow_type) FROM workflow_wakeups WHERE workflow_id IN (SELECT 'incoming-transfer/' || id FROM transfers)),
    'keys', (SELECT json_agg(json_build_array(path, response_status, response_body) ORDER BY key) FROM idempotency_keys WHERE key LIKE $3 || '%')
  )::text AS text`;

async function observe(staged: Staged, answers: readonly Answered[]): Promise<string> {
  const [row] = await staged.api.database.statement<{ text: string }>(TRACES, [
    staged.accountId,
    staged.paymentId,
    staged.key,
  ]);
  return named(JSON.stringify({ answers, traces: row?.text }), staged);
}

/** Ids, numbers and times by the order in which they appear, so that two situations can be compared. */
function named(text: string, staged: Staged): string {
  const names = new Map<string, string>();
  let result = text;
  for (const name of ['ledgerNumber', 'otherLedgerNumber', 'accountNumber', 'iban'] as const) {
    const written = staged[name];
    if (written !== '') result = result.replaceAll(written, name).replaceAll(written.toLowerCase(), name);
  }
  return result
    .replaceAll(/\b[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}\b/g, (written) => {
      const id = written.replaceAll('-', '');
      const name = names.get(id) ?? `id ${names.size}`;
      names.set(id, name);
      return name;
    })
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(\+00:00|Z)?/g, 'an instant')
    .replaceAll(/"(receiver_party_account_id|sender_party_account_id)\\+": ?\d+/g, '$1')
    .replaceAll(/\b\d{8}-[0-9A-Z]{6}\b/g, 'a number');
}

/** Where two texts begin to differ. */
function differenceOf(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const from = Math.max(0, at - 120);
  return `${one.slice(from, at + 160)} instead of ${other.slice(from, at + 160)}`;
}

const seed = seedOr(1 + Math.floor(Math.random() * 1e9));

test(
  `money has one outcome by whichever way it is recorded: ${CASES} cases from seed ${seed}`,
  async () => {
    const random = randomFrom(seed);
    const cases = [...listedCases(), ...Array.from({ length: CASES }, () => drawCase(random))];
    const differences: string[] = [];
    const statuses = new Set<number>();
    for (let start = 0; start < cases.length; start += TOGETHER) {
      const compared = await Promise.all(
        cases.slice(start, start + TOGETHER).map(async (of) => {
          const staged = await Promise.all([...ways.values()].map((api) => stage(of, api)));
          return { of, staged };
        }),
      );
      const answers = await Promise.all(
        compared.map(({ staged }) => Promise.all(staged.map(async (one) => sendAll(one)))),
      );
      for (const [index, { of, staged }] of compared.entries()) {
        const outcomes = await Promise.all(staged.map((one, way) => observe(one, answers[index]?.[way] ?? [])));
        for (const answer of answers[index]?.flat() ?? []) statuses.add(answer.status);
        if (outcomes[0] !== outcomes[1]) {
          differences.push(
            `case ${start + index} ${JSON.stringify(of)}: ${differenceOf(outcomes[0] ?? '', outcomes[1] ?? '')}`,
          );
        }
      }
    }
    expect(differences.slice(0, 3), `${differences.length} differences`).toEqual([]);
    expect([...statuses].sort()).toEqual([200, 201, 404, 409, 422]);
    await world.invariantsHold();
  },
  // Against hanging only.
  600_000 + CASES * 500,
);

test('money for an active account is recorded without locks, as a report and as a callback', async () => {
  const [together] = started;
  if (together === undefined) throw new Error('no API has started');
  // Where a change that was decided under locks cannot be written.
  const name = `without_locks_${randomUUID().replaceAll('-', '')}`;
  await database.asOwner(
    `CREATE SCHEMA ${name};
    GRANT USAGE ON SCHEMA ${name} TO PUBLIC;
    CREATE FUNCTION ${name}.apply_transfer_changes(changes json, waits boolean, OUT outcome text, OUT response_body text)
      RETURNS SETOF record LANGUAGE plpgsql AS $$ BEGIN
        IF waits THEN RAISE EXCEPTION 'decided under locks'; END IF;
        RETURN QUERY SELECT * FROM public.apply_transfer_changes(changes, waits);
      END $$`,
  );
  const url = new URL(database.url);
  url.searchParams.set('options', `-c search_path=${name},public`);
  const { providers, configuration } = together.services;
  const api = await startApi(
    { ...database, url: url.href },
    { providers, configuration: () => configuration, users: together.users },
  );
  started.push(api);
  for (const kind of ['report', 'callback'] as const) {
    const staged = await stage({ ...usualCase(), kind }, api);
    const [answer] = await sendAll(staged);
    expect(answer?.status, answer?.text).toBe(kind === 'report' ? 201 : 200);
  }
});
