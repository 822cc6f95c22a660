import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyAccountCallback } from '../../db/accounts/connections.ts';
import { releaseHeldTransfer } from '../../db/incoming-transfers/holds.ts';
import { receivePayment } from '../../db/incoming-transfers/provisioned-account-credits.ts';
import { advanceConsent } from '../../db/open-banking/consents.ts';
import { acceptSignUp, rejectSignUp } from '../../db/users/sign-ups.ts';
import { type AccountId, asId, type UserSignUpId } from '../../domain/common/ids.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { PAYMENT_IN } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { type ConsentWorld, consentWorld, PAYMENT } from '../harness/parties/consents.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { STATE_TABLES } from '../harness/workflows/state-tables.ts';

// The tables of docs/behaviour/states.md are enforced: without its moves in the table, no transition happens.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let clientId: string;

beforeAll(async () => {
  database = await createTestDatabase('states-consulted');
  api = await startApi(database);
  world = moneyWorld(api);
  clientId = await world.client();
});

afterAll(async () => {
  await world?.invariantsHold();
  await api?.stop();
  await database?.drop();
});

async function send(method: 'POST' | 'PATCH', path: string, body: Json, as: Role = 'operator'): Promise<Json> {
  const answer = await api.call(method, path, body, { as });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body.data;
}

const direct = (data: Json) => ({ workflow: { code: 'direct' }, data });
const ofClient = (data: Json) => ({ workflow: { code: 'client.direct' }, data });

async function column(name: string, table: string, id: string): Promise<string | undefined> {
  const [row] = await api.database.reader.statement<{ word: string }>(
    `SELECT ${name} AS word FROM ${table} WHERE id = $1`,
    [id],
  );
  return row?.word;
}

/** A resource in a status, the action that moves it, and the resulting status. */
interface Started {
  readonly act: () => Promise<unknown>;
  readonly status: () => Promise<string | undefined>;
}

type Case = readonly [by: string, from: string, to: string, start: () => Promise<Started>];

async function builtIn(): Promise<string> {
  const data = { account: { clientId, currency: 'GBP' } };
  const connect = { method: 'built-in', type: 'explicit', serviceProvider: 'sandbox-bank' };
  const { account } = await send('POST', '/accounts', { workflow: { code: 'client.issuing' }, data, connect });
  return account.id;
}

function openAtBank(id: string): Promise<unknown> {
  const details = { country: 'GB', iban: null, accountNumber: null, routingCodes: null };
  const outcome = { outcome: 'opened', reference: `bank-${id}`, details } as const;
  const report = { accountId: asId<AccountId>(id), change: 'open', attempt: 1, outcome } as const;
  return api.database.transaction((tx) => applyAccountCallback(tx, report, 'sandbox-bank'));
}

async function opening(name: string): Promise<Started> {
  const id = await builtIn();
  return { act: () => openAtBank(id), status: () => column(name, 'accounts', id) };
}

async function plugInPayment(before: readonly string[], status: string): Promise<Started> {
  const accountId = await world.account(clientId, { amount: 100 });
  const beneficiaryBankAccountId = await world.beneficiary(clientId);
  const outgoingTransfer = {
    clientId,
    currency: 'GBP',
    amount: 10,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId },
    ...(status === 'cancelled' ? { transferDate: dayInTwoWeeks() } : {}),
  };
  const { id } = (await send('POST', '/outgoing-transfers', ofClient({ outgoingTransfer }))).outgoingTransfer;
  const report = (word: string) =>
    send('PATCH', `/outgoing-transfers/${id}`, ofClient({ outgoingTransfer: { status: word } }));
  for (const word of before) await report(word);
  return { act: () => report(status), status: () => column('status', 'outgoing_transfers', id) };
}

/** A working day is among these two weeks' last. */
function dayInTwoWeeks(): string {
  const day = new Date(Date.now() + 14 * 86_400_000);
  while (day.getUTCDay() % 6 === 0) day.setUTCDate(day.getUTCDate() + 1);
  return day.toISOString().slice(0, 10);
}

async function arrived(held: boolean, act: (id: string, serviceProviderId: string) => Promise<unknown>) {
  const serviceProviderId = randomUUID();
  const payment = { ...PAYMENT_IN, serviceProviderId, held };
  await api.database.transaction((tx) => receivePayment(tx, payment, api.services.configuration));
  const [row] = await api.database.reader.statement<{ id: string }>(
    'SELECT id FROM incoming_transfers WHERE service_provider_id = $1',
    [serviceProviderId],
  );
  const id = row?.id ?? '';
  return { act: () => act(id, serviceProviderId), status: () => column('status', 'incoming_transfers', id) };
}

async function credited(): Promise<Started> {
  const account = await world.account(clientId);
  return {
    act: () => world.credit(account, 10),
    status: async () => {
      const [row] = await api.database.reader.statement<{ status: string }>(
        'SELECT status FROM incoming_transfers WHERE account_id = $1',
        [account],
      );
      return row?.status ?? 'pending';
    },
  };
}

async function user(): Promise<Json> {
  const workflow = { code: 'human.external.direct' };
  const fields = { email: `${randomUUID()}@example.com`, identity: { givenName: 'Grace', familyName: 'Hopper' } };
  return send('POST', '/users', { workflow, data: { user: fields, userClientRelations: [{ clientId }] } });
}

async function related(status: 'allowed' | 'revoked') {
  const { user: made, userClientRelations } = await user();
  const path = `/users/${made.id}/client-relations/${userClientRelations[0].id}`;
  const set = (word: string) => send('PATCH', path, direct({ userClientRelation: { status: word } }));
  if (status === 'revoked') await set('revoked');
  return { email: made.email, set, status: () => column('status', 'user_client_relations', userClientRelations[0].id) };
}

async function invited(email = `${randomUUID()}@example.com`, clientIds: readonly string[] = [clientId]) {
  const fields = { email, identity: { type: 'individual', givenName: 'Grace', familyName: 'Hopper' } };
  const invitations = clientIds.map((id) => ({ clientId: id, userClientRelation: 'director' }));
  const body = { workflow: { code: 'human.external.invitation' }, data: { user: fields, invitations } };
  const { id } = (await send('POST', '/users', body)).invitations[0];
  return { id, email, signUpId: asId<UserSignUpId>(id), status: () => column('status', 'user_invitations', id) };
}

const accept = (signUpId: UserSignUpId) =>
  api.database.transaction((tx) => acceptSignUp(tx, signUpId, 'a hash', TESTER));

/** For each table, every way in which its rows are written. */
const CASES: Readonly<Record<keyof typeof STATE_TABLES, readonly Case[]>> = {
  accounts: [
    ['the provider', 'pending', 'active', () => opening('status')],
    [
      'a plug-in caller',
      'active',
      'suspended',
      async () => {
        const id = await world.account(clientId);
        const body = ofClient({ account: { status: 'suspended' } });
        return {
          act: () => send('PATCH', `/accounts/${id}`, body),
          status: () => column('status', 'accounts', id),
        };
      },
    ],
  ],
  connections: [['the provider', 'creation-in-progress', 'completed-up-to-date', () => opening('connection_state')]],
  clients: [
    [
      'PATCH',
      'active',
      'inactive',
      async () => {
        const id = await world.client();
        return {
          act: () => send('PATCH', `/clients/${id}`, direct({ client: { status: 'inactive' } }), 'compliance'),
          status: () => column('status', 'clients', id),
        };
      },
    ],
  ],
  'outgoing-transfers': [
    ['PATCH', 'pending', 'cancelled', () => plugInPayment([], 'cancelled')],
    ['a report', 'processing', 'released', () => plugInPayment([], 'released')],
    ['a report', 'processing', 'failed', () => plugInPayment([], 'failed')],
    ['a report', 'released', 'completed', () => plugInPayment(['released'], 'completed')],
  ],
  'incoming-transfers': [
    ['its arrival', 'pending', 'completed', credited],
    [
      'an operator',
      'on-hold',
      'completed',
      async () => {
        const accountId = await builtIn();
        await openAtBank(accountId);
        const body = direct({ incomingTransfer: { accountId } });
        return arrived(false, (id) => send('POST', `/incoming-transfers/${id}/assign`, body));
      },
    ],
    [
      'an operator',
      'on-hold',
      'failed',
      () => arrived(false, (id) => send('POST', `/incoming-transfers/${id}/return`, direct({}))),
    ],
    [
      'the provider, to pending and on hold again',
      'on-hold',
      'on-hold',
      () =>
        arrived(true, (_, serviceProviderId) =>
          api.database.transaction((tx) =>
            releaseHeldTransfer(tx, {
              provider: 'sandbox-bank',
              serviceProviderId,
              amountMinor: 1_000n,
              currency: 'GBP',
            }),
          ),
        ),
    ],
  ],
  users: [
    [
      'PATCH',
      'active',
      'inactive',
      async () => {
        const { user: made } = await user();
        const workflow = { code: 'human.external.direct' };
        return {
          act: () => send('PATCH', `/users/${made.id}`, { workflow, data: { user: { status: 'inactive' } } }),
          status: () => column('status', 'users', made.id),
        };
      },
    ],
  ],
  'user-invitations': [
    [
      'PATCH',
      'pending',
      'cancelled',
      async () => {
        const { id, email, status } = await invited();
        const path = `/users/${email}/invitations/${id}`;
        return { act: () => send('PATCH', path, direct({ userInvitation: { status: 'cancelled' } })), status };
      },
    ],
    [
      'the revocation of the relation, one of two',
      'pending',
      'cancelled',
      async () => {
        const { email, set } = await related('allowed');
        const { status } = await invited(email, [clientId, await world.client()]);
        return { act: () => set('revoked'), status };
      },
    ],
    [
      'the invited person',
      'pending',
      'accepted',
      async () => {
        const { signUpId, status } = await invited();
        return { act: () => accept(signUpId), status };
      },
    ],
    [
      'the invited person',
      'pending',
      'rejected',
      async () => {
        const { signUpId, status } = await invited();
        return { act: () => api.database.transaction((tx) => rejectSignUp(tx, signUpId, TESTER)), status };
      },
    ],
  ],
  'user-client-relations': [
    [
      'PATCH',
      'allowed',
      'revoked',
      async () => {
        const { set, status } = await related('allowed');
        return { act: () => set('revoked'), status };
      },
    ],
    [
      'PATCH',
      'revoked',
      'allowed',
      async () => {
        const { set, status } = await related('revoked');
        return { act: () => set('allowed'), status };
      },
    ],
  ],
  'open-banking-consents': [
    consentCase('approve', 'awaiting-authorisation', 'awaiting-exchange'),
    consentCase('reject', 'awaiting-authorisation', 'rejected'),
    consentCase('expire', 'awaiting-authorisation', 'expired'),
    consentCase('exchange', 'awaiting-exchange', 'authorised'),
    consentCase('revoke', 'awaiting-exchange', 'revoked'),
    consentCase('expire', 'awaiting-exchange', 'expired'),
    consentCase('consume', 'authorised', 'consumed'),
    consentCase('revoke', 'authorised', 'revoked'),
    consentCase('expire', 'authorised', 'expired'),
  ],
};

/** A consent to a payment in a status, with what its next step needs. */
async function consent(status: 'awaiting-authorisation' | 'awaiting-exchange' | 'authorised') {
  const consents: ConsentWorld = consentWorld(api);
  const requested = await consents.request(await consents.thirdParty(), PAYMENT);
  const { id } = requested;
  const [userId, accountId] = [await consents.user([clientId]), await world.account(clientId)];
  const approve = () => consents.approve(id, userId, [accountId]);
  const code = status === 'awaiting-authorisation' ? null : (await approve()).code;
  const exchange = () => consents.exchange(requested, code);
  if (status === 'authorised') await exchange();
  const deadlines =
    "request_expires_at = created_at, code_expires_at = code_expires_at - interval '1 day', expires_at = granted_at";
  return {
    approve,
    exchange,
    consume: () => consents.consume(id),
    decide: async (action: string) => {
      const answer = await consents.decide(id, { action });
      if (answer.status !== 200) throw new Error(answer.text);
    },
    expire: async () => {
      await api.database.transaction((tx) =>
        tx.statement(`UPDATE open_banking_consents SET ${deadlines} WHERE id = $1`, [id]),
      );
      await api.database.transaction((tx) => advanceConsent(tx, id));
    },
    status: () => column('status', 'open_banking_consents', id),
  };
}

type ConsentStep = Exclude<keyof Awaited<ReturnType<typeof consent>>, 'status' | 'decide'>;

function consentCase(by: ConsentStep | 'reject' | 'revoke', from: Parameters<typeof consent>[0], to: string): Case {
  return [
    by,
    from,
    to,
    async () => {
      const made = await consent(from);
      return { act: by === 'reject' || by === 'revoke' ? () => made.decide(by) : made[by], status: made.status };
    },
  ];
}

/** Runs something while the table has no move from a status. */
async function withoutMoves(table: keyof typeof STATE_TABLES, from: string, run: () => Promise<unknown>) {
  const moves: Record<string, readonly string[]> = STATE_TABLES[table].moves;
  const kept = moves[from];
  if (kept === undefined) throw new Error(`${table} has no ${from}`);
  Object.assign(moves, { [from]: [] });
  try {
    await run().catch(() => undefined);
  } finally {
    Object.assign(moves, { [from]: kept });
  }
}

const rows = Object.entries(CASES).flatMap(([table, cases]) =>
  cases.map(([by, from, to, start]) => ({ table, by, from, to, start })),
);

describe('a transition that the table does not have does not happen', () => {
  test.each(rows)('$table, by $by: $from to $to', async ({ table, from, to, start }) => {
    const name = Object.keys(STATE_TABLES).find(
      (candidate): candidate is keyof typeof STATE_TABLES => candidate === table,
    );
    if (name === undefined) throw new Error(`no table ${table}`);
    const held = await start();
    expect(await held.status()).toBe(from);
    const eventsBefore = await countEvents();
    await withoutMoves(name, from, held.act);
    expect(await held.status()).toBe(from);
    expect(await countEvents()).toBe(eventsBefore);
    // With the table as it is, the same does happen.
    const free = await start();
    await free.act();
    expect(await free.status()).toBe(to);
  });
});

async function countEvents(): Promise<number> {
  const [row] = await api.database.reader.statement<{ total: number }>(
    `SELECT count(*)::integer AS total FROM events WHERE module <> 'users'`,
    [],
  );
  return row?.total ?? 0;
}
