import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Provider } from '../../activities/providers/port.ts';
import { REMEDIES } from '../../console/pages.ts';
import type { Remedy } from '../../console/remedies/remedy.ts';
import { addressOf } from '../../console/remedies/remedy-pages.tsx';
import { createRemedyList } from '../../db/approvals/remedy-lists.ts';
import { createMachineUser } from '../../db/machine-users/machine-users.ts';
import { closeSubmissions, openSubmissions } from '../../db/providers/submissions.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { SANDBOX_PEOPLE } from '../../sandbox/identity/people.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { consentWorld } from '../harness/parties/consents.ts';
import { newKey } from '../harness/parties/third-parties.ts';
import { lockWaiters } from '../harness/servers/locks.ts';
import { createTestDatabase, executeOn, type TestDatabase } from '../harness/servers/postgres.ts';
import { modes, reviews } from '../harness/transfers/reviews.ts';
import { scriptedProvider } from '../harness/workflows/scripted-provider.ts';
import { type BrowserAnswer, locationOf } from './browser.ts';
import { type ConsoleCaller, type ConsoleUnderTest, startConsole } from './console-under-test.ts';
import { type ConsoleWorld, makeConsoleWorld } from './console-world.ts';

// Two people do the same at the same moment: one of them does it, and the other is told so.

const PEOPLE = SANDBOX_PEOPLE.flatMap((person) => [
  person,
  { ...person, id: `${person.id}-2`, name: `${person.name} II` },
]);

let testDatabase: TestDatabase;
let api: TestApi;
/** The same service, where each payment out is reviewed. */
let reviewing: TestApi;
let underTest: ConsoleUnderTest;
let money: MoneyWorld;
let world: ConsoleWorld;
const callers = new Map<string, ConsoleCaller>();

beforeAll(async () => {
  testDatabase = await createTestDatabase('console-contests');
  // From which amount on a payment needs a second signature.
  api = await startApi(testDatabase, { env: { AUTHORIZATION_RULE: '1000' } });
  const bank: Provider = { ...scriptedProvider(), recallPayment: async () => ({ outcome: 'asked' }) };
  underTest = await startConsole(testDatabase, { people: PEOPLE, providers: new Map([[bank.name, bank]]) });
  reviewing = await startApi(testDatabase, { configuration: modes('none', 'external'), users: api.users });
  money = moneyWorld(api);
  world = await makeConsoleWorld(api);
});

afterAll(async () => {
  await underTest?.stop();
  await reviewing?.stop();
  await api?.stop();
  await testDatabase?.drop();
});

async function pairOf(role: Role): Promise<readonly [ConsoleCaller, ConsoleCaller]> {
  const one = callers.get(role) ?? (await underTest.signIn(role));
  const other = callers.get(`${role}-2`) ?? (await underTest.signIn(`${role}-2`));
  callers.set(role, one).set(`${role}-2`, other);
  return [one, other];
}

interface Contest {
  readonly id: string;
  /** The row for which both wait before either decides. */
  readonly lock: string;
  readonly fields?: Readonly<Record<string, string>>;
  /** The audit log's id of what is changed, if it is another; null: it is new. */
  readonly audited?: string | null;
}

const row = (table: string, id: string) => `SELECT FROM ${table} WHERE id = '${id}' FOR UPDATE`;

const CONTESTS: Readonly<Record<string, () => Promise<Contest>>> = {
  'suspend-account': async () => ofAccount(await money.account(world.client)),
  'activate-account': async () => ofAccount(await accountIn('suspended')),
  'close-account': async () => ofAccount(await money.account(world.client)),
  'suspend-client': async () => ofClient(await money.client()),
  'activate-client': async () => ofClient(await clientIn('suspended')),
  'close-client': async () => ofClient(await money.client()),
  cancel: async () => ofTransfer(await payment(1_300)),
  fail: async () => ofTransfer(await payment(1_400)),
  authorize: async () => ofTransfer(await payment(1_100)),
  'reject-authorization': async () => ofTransfer(await payment(1_200)),
  'pause-webhooks': async () => ofSubscription(await subscription()),
  'enable-webhooks': async () => ofSubscription(await subscription('paused')),
  'resend-webhooks-of-outgoing-transfer': async () => {
    const id = world.ids['outgoing-transfers'] ?? '';
    await testDatabase.asOwner(`UPDATE webhook_deliveries SET status = 'failed' WHERE resource_id = '${id}'`);
    const delivery = world.ids['webhook-deliveries'] ?? '';
    return { id, lock: row('webhook_deliveries', delivery), audited: delivery };
  },
  'revoke-consent': async () => {
    const consents = consentWorld(api);
    const { id } = await consents.request(await consents.thirdParty());
    await consents.approve(id, await consents.user([world.client]), [world.account]);
    return { id, lock: row('open_banking_consents', id) };
  },
  'revoke-machine-user': async () => {
    const { id } = await machineUser();
    return { id, lock: row('machine_users', id) };
  },
  'revoke-key': async () => {
    const { id, keys } = await machineUser();
    return { id, lock: row('machine_users', id), fields: { key: keys[0]?.id ?? '' } };
  },
  'retry-submission': async () =>
    ofTransfer(
      await atBank(`status = 'processing', submission_attempt = 1, submission_status = 'not-found', next_look_up_at = NULL,
        waiting_until = now() + interval '1 hour'`),
    ),
  'look-up': async () =>
    ofTransfer(await atBank(`status = 'released', reserved_minor = 0, next_look_up_at = now() + interval '1 hour'`)),
  recall: async () => ofTransfer(await atBank(`status = 'released', reserved_minor = 0`)),
  'next-window': async () => ofTransfer(await payment(1_600)),
  'replay-webhooks': async () => {
    const id = await subscription();
    await testDatabase.asOwner(
      `UPDATE events SET first_position = numbered.position FROM (SELECT id, 16 * row_number() OVER (ORDER BY id) AS position FROM events) AS numbered
       WHERE events.id = numbered.id`,
    );
    return { ...ofSubscription(id), fields: { from: '2020-01-01T00:00' } };
  },
  'add-key': async () => {
    const { id } = await machineUser();
    return { id, lock: row('machine_users', id), fields: { key: publicKey() } };
  },
  'register-machine-user': async () => ({
    id: '',
    // Both find the key free, and wait to write it.
    lock: 'LOCK TABLE machine_user_keys IN SHARE MODE',
    fields: { name: 'Reconciler', roles: 'viewer', key: publicKey() },
    audited: null,
  }),
  'stop-list': async () => {
    const list = await frozenList();
    await testDatabase.asOwner(
      `UPDATE remedy_lists SET status = 'running', decided_by = (SELECT id FROM people WHERE id <> created_by LIMIT 1), decided_role = 'approver',
         decided_at = now(), decision_reason = 'asked' WHERE id = '${list}'`,
    );
    return ofList(list);
  },
  'sign-list': async () => ofList(await frozenList()),
  'reject-list': async () => ofList(await frozenList()),
  'resolve-break': async () => {
    const id = world.ids['reconciliation-breaks'] ?? '';
    return { id, lock: row('reconciliation_breaks', id), fields: { note: 'the bank was right' } };
  },
  'decide-outgoing-review': async () => {
    const payer = { clientId: world.client, id: world.account };
    const { id } = await reviews(reviewing).external(payer, await money.beneficiary(world.client), { amount: 9 });
    return { ...ofTransfer(id), fields: { result: 'all-passed' } };
  },
  'return-incoming': async () => {
    const { id } = await reviews(api).payIn({ senderName: 'Augusta Payer' });
    return { id, lock: row('incoming_transfers', id) };
  },
  'assign-incoming': async () => {
    const { id } = await reviews(api).payIn({ senderName: 'Augusta Payer' });
    const account = await builtInAccounts(api).opened(await money.client());
    return { id, lock: row('incoming_transfers', id), fields: { other: account.id } };
  },
  'end-sessions': async () => {
    const { personId, sessionId } = await underTest.signIn('compliance');
    await testDatabase.asOwner(
      `UPDATE console_sessions SET revoked_at = now() WHERE person_id = '${personId}' AND id <> '${sessionId}'`,
    );
    return { id: personId, lock: row('console_sessions', sessionId) };
  },
  'stop-submissions': async () => {
    await api.database.transaction((tx) => openSubmissions(tx, 'test', TESTER));
    return { id: '', lock: 'SELECT FROM provider_submissions FOR UPDATE', audited: 'all' };
  },
  'start-submissions': async () => {
    await api.database.transaction((tx) => closeSubmissions(tx, 'test', TESTER));
    return { id: '', lock: 'SELECT FROM provider_submissions FOR UPDATE', audited: 'all' };
  },
};

const ofList = (id: string): Contest => ({ id, lock: row('remedy_lists', id) });
const ofAccount = (id: string): Contest => ({ id, lock: row('accounts', id) });
const ofClient = (id: string): Contest => ({ id, lock: row('clients', id) });
const ofTransfer = (id: string): Contest => ({ id, lock: row('outgoing_transfers', id) });
const ofSubscription = (id: string): Contest => ({ id, lock: row('webhook_subscriptions', id) });

async function asked(method: 'POST' | 'PATCH', path: string, data: Json, code: string, as: Role): Promise<Json> {
  const answer = await api.call(method, path, { workflow: { code }, data }, { as });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
  return answer.body.data;
}

async function accountIn(status: string): Promise<string> {
  const id = await money.account(world.client);
  await asked('PATCH', `/accounts/${id}`, { account: { status } }, 'client.direct', 'operator');
  return id;
}

async function clientIn(status: string): Promise<string> {
  const id = await money.client();
  await asked('PATCH', `/clients/${id}`, { client: { status } }, 'direct', 'admin');
  return id;
}

async function payment(amount: number): Promise<string> {
  const beneficiaryBankAccountId = await money.beneficiary(world.client);
  const data = {
    outgoingTransfer: {
      clientId: world.client,
      currency: 'GBP',
      amount,
      scope: 'external',
      scheme: 'faster-payments',
      source: { type: 'client-account', accountId: world.account },
      destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId },
    },
  };
  return (await asked('POST', '/outgoing-transfers', data, 'client.direct', 'operator')).outgoingTransfer.id;
}

/** Frozen by a person who is none of the two. */
async function frozenList(): Promise<string> {
  const id = await payment(1_500);
  const item = {
    id,
    transactionNumber: '20261126-ABC123',
    amountMinor: 150_000n,
    currency: 'GBP',
    waitingFor: null,
    accountId: null,
  };
  const list = { remedy: 'cancel', resource: 'outgoing-transfer', filter: '/waiting', items: [item] } as const;
  const maker = { actor: world.ids.people ?? '', requestId: null, role: 'operator', reason: 'asked' } as const;
  return api.database.transaction((tx) => createRemedyList(tx, list, maker));
}

let atBanks: Promise<{ readonly source: Json; readonly bankAccount: string }> | null = null;

/** A payment at a bank, with its row as a workflow would have left it. */
async function atBank(columns: string): Promise<string> {
  atBanks ??= (async () => {
    const client = await money.client();
    const account = await builtInAccounts(api).opened(client);
    await builtInAccounts(api).payIn(account, 'funds', 10_000_000n);
    return { source: { clientId: client, id: account.id }, bankAccount: await money.beneficiary(client) };
  })();
  const { source, bankAccount } = await atBanks;
  const { id } = await reviews(api).external(source, bankAccount);
  await testDatabase.asOwner(
    `SET session_replication_role = replica; UPDATE outgoing_transfers SET ${columns} WHERE id = '${id}'`,
  );
  return id;
}

function publicKey(): string {
  const { kid, jwk } = newKey('PS256');
  return JSON.stringify({ ...jwk, kid, alg: 'PS256' });
}

async function subscription(status = 'active'): Promise<string> {
  const sent = { webhookSubscription: { url: 'http://127.0.0.1:40123/hook' } };
  const { webhookSubscription } = await asked('POST', '/webhook-subscriptions', sent, 'direct', 'admin');
  const path = `/webhook-subscriptions/${webhookSubscription.id}`;
  if (status !== 'active') await asked('PATCH', path, { webhookSubscription: { status } }, 'direct', 'admin');
  return webhookSubscription.id;
}

function machineUser() {
  const { kid, jwk } = newKey('PS256');
  const key = { kid, algorithm: 'PS256', publicKey: jwk } as const;
  return api.database.transaction((tx) => createMachineUser(tx, { name: 'Batch', roles: ['viewer'], key }, TESTER));
}

function remedyOf(kind: string): { readonly remedy: Remedy; readonly role: Role } {
  const remedy = REMEDIES.find((known) => known.kind === kind);
  const [role] = remedy?.roles ?? [];
  if (remedy === undefined || role === undefined) throw new Error(`there is no remedy ${kind}`);
  return { remedy, role };
}

const send = (caller: ConsoleCaller, kind: string, { id, fields = {} }: Pick<Contest, 'id' | 'fields'>) =>
  caller.post(addressOf(remedyOf(kind).remedy, { id }), { ...fields, reason: 'because' });

/** What both have been told, once both have waited for the same row. */
async function contend(kind: string, contest: Contest): Promise<readonly string[]> {
  const pair = await pairOf(remedyOf(kind).role);
  let answers: Promise<BrowserAnswer[]> = Promise.resolve([]);
  await api.database.transaction(async (tx) => {
    await tx.statement(contest.lock, []);
    answers = Promise.all(pair.map((caller) => send(caller, kind, contest)));
    while ((await lockWaiters(tx)) < 2);
  });
  return Promise.all((await answers).map((answer, index) => leadOf(answer, pair[index])));
}

/** How the page begins that an answer leads to: `Done.`, `Nothing changed.` and so on. */
async function leadOf(answer: BrowserAnswer, caller: ConsoleCaller | undefined): Promise<string> {
  const shown = answer.status === 303 ? await caller?.browser.request(locationOf(answer)) : answer;
  const [, lead] = /class="notice[^>]*><strong>([^<]*)<\/strong>/.exec(shown?.text ?? '') ?? [];
  return lead ?? `${answer.status}: ${shown?.text}`;
}

/** How many transactions have written to the audit log what was done to it here. */
async function countActs(resourceId: string | null): Promise<number> {
  const acts =
    resourceId === null ? `resource = 'machine-user' AND action = 'created'` : `resource_id = '${resourceId}'`;
  const [found] = await testDatabase.asOwner<{ count: string }>(
    `SELECT count(DISTINCT xmin::text) AS count FROM audit_entries WHERE ${acts} AND reason = 'because'`,
  );
  return Number(found?.count);
}

describe('of two people at the same moment', () => {
  test.each(Object.entries(CONTESTS))(
    'one does %s, the other is told the truth, and the log has one act',
    async (kind, prepare) => {
      const contest = await prepare();
      const audited = contest.audited === undefined ? contest.id : contest.audited;
      const before = await countActs(audited);
      const leads = [...(await contend(kind, contest))].sort();
      expect(
        leads.filter((lead) => lead === 'Done.' || lead === 'Not yet known.'),
        leads.join(),
      ).toHaveLength(1);
      expect(
        leads.filter((lead) => lead === 'Nothing changed.' || lead === 'Not done.'),
        leads.join(),
      ).toHaveLength(1);
      expect(await countActs(audited)).toBe(before + 1);
      // Sent once more, as by a reload, it does nothing.
      const [one] = await pairOf(remedyOf(kind).role);
      expect(['Nothing changed.', 'Not done.']).toContain(await leadOf(await send(one, kind, contest), one));
      expect(await countActs(audited)).toBe(before + 1);
    },
  );
});

describe('what an act did', () => {
  const NOTICE = /class="notice/;
  const pause = async (caller: ConsoleCaller, id: string) => locationOf(await send(caller, 'pause-webhooks', { id }));

  test('is said once, on the page that it leads to, whatever other pages and tabs show meanwhile', async () => {
    const [admin] = await pairOf('admin');
    const ids = [await subscription(), await subscription()];
    const pages = [];
    for (const id of ids) pages.push(await pause(admin, id));
    for (const path of ['/webhooks', '/', `/webhooks/${ids[0]}/deliveries`])
      expect((await admin.get(path)).text, path).not.toMatch(/<strong>Done\.<\/strong>/);
    for (const page of pages) {
      expect((await admin.browser.request(page)).text).toContain('They are paused.');
      expect((await admin.browser.request(page)).text).not.toMatch(NOTICE);
    }
  });

  test('is said to the person who did it, and not to another who looks at the same page', async () => {
    const [one, other] = await pairOf('admin');
    const page = await pause(one, await subscription());
    expect((await other.browser.request(page)).text).not.toMatch(NOTICE);
    expect((await one.browser.request(page)).text).toContain('They are paused.');
  });

  test('is not taken by live rows that refresh themselves, nor by a request without a body', async () => {
    const [admin] = await pairOf('admin');
    const page = await pause(admin, await subscription());
    await admin.browser.request(page, { headers: { 'hx-request': 'true' } });
    await admin.browser.request(page, { method: 'HEAD' });
    expect((await admin.browser.request(page)).text).toContain('They are paused.');
  });

  test('is said also if it can no longer be kept for the next page', async () => {
    const [admin] = await pairOf('admin');
    const id = await subscription();
    await testDatabase.asOwner(
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'away' USING ERRCODE = '57P01'; END$$;
       CREATE TRIGGER fail BEFORE UPDATE OF notice ON console_sessions EXECUTE FUNCTION fail()`,
    );
    const answer = await send(admin, 'pause-webhooks', { id });
    await testDatabase.asOwner('DROP TRIGGER fail ON console_sessions; DROP FUNCTION fail');
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('They are paused.') });
  });
});

test('all sessions of a person end at once, however many they are', async () => {
  const { personId, sessionId } = await underTest.signIn('viewer');
  await testDatabase.asOwner(
    `INSERT INTO console_sessions SELECT sha256(n::text::bytea), gen_random_uuid(), person_id, roles, csrf_token, signed_in_at, created_at,
       last_seen_at, ends_at FROM console_sessions, generate_series(1, 250) AS n WHERE id = '${sessionId}'`,
  );
  const [admin] = await pairOf('admin');
  await send(admin, 'end-sessions', { id: personId });
  const open = await testDatabase.asOwner(
    `SELECT FROM console_sessions WHERE person_id = '${personId}' AND revoked_at IS NULL`,
  );
  expect(open).toHaveLength(0);
});

test('while the database is away each page says so, nothing is said to be done, and afterwards all goes on', async () => {
  const [admin] = await pairOf('admin');
  const id = await subscription();
  const name = new URL(testDatabase.url).pathname.slice(1);
  const allow = (connections: boolean) =>
    executeOn(
      testDatabase.ownerUrl.replace(`/${name}`, '/postgres'),
      `ALTER DATABASE "${name}" ALLOW_CONNECTIONS ${connections}`,
    );
  await allow(false);
  try {
    await executeOn(
      testDatabase.ownerUrl.replace(`/${name}`, '/postgres'),
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    );
    const answers = [
      await admin.get('/'),
      await admin.get('/outgoing-transfers'),
      await send(admin, 'pause-webhooks', { id }),
    ];
    for (const { status, text } of answers) {
      expect(status, text).toBe(503);
      expect(text).toContain('The database does not answer');
      expect(text).not.toMatch(/Done|FATAL|postgres/);
    }
  } finally {
    await allow(true);
  }
  expect((await admin.get(`/webhooks/${id}`)).text).toContain('active');
});
