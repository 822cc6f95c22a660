import { createHmac } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import { newId } from '../../db/common/ids.ts';
import { checkLedger } from '../../db/ledger/check.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Callbacks over HTTP as the bank signs them, without the bank: its adapter is only asked to verify.
const SECRET = 'shared by bank and service';
const PATH = '/provider-callbacks/sandbox-bank';

let testDatabase: TestDatabase;
let api: TestApi;
let clientId: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase('provider-callbacks');
  const bank = createSandboxBank({ url: 'http://127.0.0.1:9', secret: SECRET });
  api = await startApi(testDatabase, { providers: new Map([['sandbox-bank', bank]]) });
  const { body } = await api.call('POST', '/clients', {
    workflow: { code: 'direct' },
    data: {
      client: {
        identity: { type: 'individual', givenName: 'Ada', familyName: 'Lovelace' },
        profile: { identityType: 'individual', residentialAddress: { country: 'GB' } },
      },
    },
  });
  clientId = body.data.client.id;
});

afterAll(async () => {
  await api.stop();
  await testDatabase.drop();
});

function event(type: string, data: Json): Json {
  return { id: `evt-${newId()}`, type, createdAt: new Date().toISOString(), data };
}

async function send(body: string, options: { id: string; secret?: string; ageSeconds?: number }): Promise<number> {
  const timestamp = String(Math.floor(Date.now() / 1000) - (options.ageSeconds ?? 0));
  const mac = createHmac('sha256', options.secret ?? SECRET)
    .update(`${options.id}.${timestamp}.${body}`)
    .digest('base64');
  const answer = await fetch(`${api.url}${PATH}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': options.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${mac}`,
    },
    body,
  });
  return answer.status;
}

function post(callback: Json): Promise<number> {
  return send(JSON.stringify(callback), { id: callback.id });
}

async function outcomeOf(callback: Json): Promise<string | undefined> {
  const [row] = await api.database.reader.execute<{ outcome: string }>(
    sql`SELECT outcome FROM provider_callbacks WHERE provider_event_id = ${callback.id}`,
  );
  return row?.outcome;
}

async function breaks(): Promise<number> {
  const [row] = await api.database.reader.execute<{ n: number }>(
    sql`SELECT count(*)::integer AS n FROM reconciliation_breaks`,
  );
  return row?.n ?? 0;
}

let drawn = 0;

async function openedAccount(): Promise<Json> {
  const { body } = await api.call('POST', '/accounts', {
    workflow: { code: 'client.issuing' },
    data: { account: { clientId, currency: 'GBP' } },
  });
  drawn += 1;
  const { id } = body.data.account;
  const details = { accountNumber: `0000${String(1000 + drawn)}`, iban: null, routingCodes: { 'sort-code': '040668' } };
  const opened = event('account-opened', {
    ourReference: id,
    reference: `SBA-${drawn}`,
    currency: 'GBP',
    country: 'GB',
    ...details,
  });
  expect(await post(opened)).toBe(200);
  return read(id);
}

async function read(id: string): Promise<Json> {
  return (await api.call('GET', `/accounts/${id}`)).body.data.account;
}

function paymentIn(reference: string, amount = 12.5, paymentId = `pay-${newId()}`): Json {
  return event('payment-received', {
    paymentId,
    paymentReference: null,
    amount,
    currency: 'GBP',
    scheme: 'faster-payments',
    senderName: 'Charles Babbage',
    senderAccount: null,
    iban: null,
    accountNumber: null,
    routingCodes: {},
    reference,
  });
}

test('forged, stale and garbled callbacks are rejected and leave nothing behind', async () => {
  const account = await openedAccount();
  const callback = paymentIn(account.ledgerNumber);
  const body = JSON.stringify(callback);
  expect(await send(body, { id: callback.id, secret: 'guessed' })).toBe(401);
  expect(await send(body, { id: callback.id, ageSeconds: 3_600 })).toBe(401);
  expect(await send('{"type":', { id: callback.id })).toBe(400);
  expect(await send('{"type":"something-else"}', { id: callback.id })).toBe(400);
  expect(await outcomeOf(callback)).toBeUndefined();
  expect((await read(account.id)).availableBalance).toBe(0);
});

test('money in is booked once however often, and over however many connections, it is reported', async () => {
  const account = await openedAccount();
  const callback = paymentIn(account.ledgerNumber);
  const statuses = await Promise.all(Array.from({ length: 8 }, () => post(callback)));
  expect(new Set(statuses)).toEqual(new Set([200]));
  // The same payment under another event id has no effect either.
  const again = { ...callback, id: `evt-${newId()}` };
  expect(await post(again)).toBe(200);
  expect([await outcomeOf(callback), await outcomeOf(again)]).toEqual(['applied', 'no-effect']);
  expect((await read(account.id)).availableBalance).toBe(12.5);
});

test('the same payment with another amount is a break: nothing is posted, and it is recorded for a person', async () => {
  const account = await openedAccount();
  const callback = paymentIn(account.ledgerNumber);
  await post(callback);
  const before = await breaks();
  const other = paymentIn(account.ledgerNumber, 99, callback.data.paymentId);
  expect(await post(other)).toBe(200);
  expect(await outcomeOf(other)).toBe('break');
  expect(await breaks()).toBe(before + 1);
  expect((await read(account.id)).availableBalance).toBe(12.5);
});

test('money that matches no account is on hold, not lost', async () => {
  const callback = paymentIn('no ledger number in here');
  expect(await post(callback)).toBe(200);
  expect(await outcomeOf(callback)).toBe('applied');
  const { body } = await api.call(
    'GET',
    `/incoming-transfers?data.incomingTransfer.serviceProviderId=${callback.data.paymentId}`,
  );
  expect(body.data.incomingTransfers).toMatchObject([{ status: 'on-hold', accountId: null, amount: 12.5 }]);
});

describe('money that the bank holds and releases', () => {
  const heldIn = (reference: string): Json => {
    const received = paymentIn(reference);
    return { ...received, data: { ...received.data, held: true } };
  };
  const releaseOf = ({ data: { paymentId, amount, currency } }: Json, change: Json = {}): Json =>
    event('payment-in-released', { paymentId, paymentReference: null, amount, currency, ...change });
  const transferOf = async ({ data }: Json): Promise<Json> =>
    (await api.call('GET', `/incoming-transfers?data.incomingTransfer.serviceProviderId=${data.paymentId}`)).body.data
      .incomingTransfers[0];

  test('is completed whichever callback comes first, also both at once, and once however often', async () => {
    const account = await openedAccount();
    const orders: ((held: Json, release: Json) => Promise<unknown>)[] = [
      async (held, release) => [await post(held), await post(release)],
      async (held, release) => [await post(release), await post(held)],
      ...Array.from({ length: 4 }, () => (held: Json, release: Json) => Promise.all([post(held), post(release)])),
      (held, release) => Promise.all([release, held, release, held].map(post)),
    ];
    for (const inOrder of orders) {
      const held = heldIn(account.ledgerNumber);
      const release = releaseOf(held);
      await inOrder(held, release);
      expect((await transferOf(held)).status).toBe('completed');
      await post(release);
      await post({ ...release, id: `evt-${newId()}` });
    }
    expect((await read(account.id)).availableBalance).toBe(12.5 * orders.length);
  });

  test('waits for its release, which must be of the same amount', async () => {
    const account = await openedAccount();
    const held = heldIn(account.ledgerNumber);
    await post(held);
    const wrong = releaseOf(held, { amount: 99 });
    const before = await breaks();
    await post(wrong);
    expect([await outcomeOf(wrong), await breaks()]).toEqual(['break', before + 1]);
    expect(await transferOf(held)).toMatchObject({ status: 'on-hold', accountId: account.id });
    expect(await read(account.id)).toMatchObject({ availableBalance: 0, receivableBalance: 12.5 });
    const release = releaseOf(held);
    await post(release);
    expect(await outcomeOf(release)).toBe('applied');
    expect(await read(account.id)).toMatchObject({ availableBalance: 12.5, receivableBalance: 0 });
  });

  test('finds an account that was opened while it was held', async () => {
    const account = await openedAccount();
    const held = heldIn(account.ledgerNumber);
    const provider = (name: string) =>
      api.database.reader.execute(sql`UPDATE accounts SET provider = ${name} WHERE id = ${account.id}`);
    await provider('elsewhere');
    await post(held);
    expect((await transferOf(held)).accountId).toBeNull();
    await provider('sandbox-bank');
    await post(releaseOf(held));
    expect(await transferOf(held)).toMatchObject({ status: 'completed', accountId: account.id });
  });

  test('is released too when the payment is reported again as no longer held', async () => {
    const account = await openedAccount();
    const held = heldIn(account.ledgerNumber);
    await post(held);
    await post(paymentIn(account.ledgerNumber, 12.5, held.data.paymentId));
    expect((await transferOf(held)).status).toBe('completed');
  });
});

describe('an account that its provider moves', () => {
  const moveTo = (ourReference: string, status: string, number: number): Json =>
    event('account-status-changed', { ourReference, status, number });
  const eventsOf = async (id: string): Promise<string[]> => {
    const rows = await api.database.reader.execute<{ entries: Json[] }>(
      sql`SELECT entries FROM events WHERE resource_id = ${id} ORDER BY first_sequence`,
    );
    return rows.flatMap(({ entries }) => entries.map(({ type }) => type));
  };
  const issuedAccount = async (): Promise<string> => {
    const { body } = await api.call('POST', '/accounts', {
      workflow: { code: 'client.issuing' },
      data: { account: { clientId, currency: 'GBP' } },
    });
    return body.data.account.id;
  };
  const STATUSES = ['active', 'inactive', 'suspended', 'closed'] as const;
  const EVENTS = {
    active: 'account-activated',
    inactive: 'account-inactivated',
    suspended: 'account-suspended',
    closed: 'account-closed',
  };
  const moves = STATUSES.slice(0, 3).flatMap((from) => STATUSES.map((to) => [from, to] as const));

  test.each(moves)('from %s to %s: the account and its connection follow, with their events', async (from, to) => {
    const { id } = await openedAccount();
    await post(moveTo(id, from, 1));
    const before = await eventsOf(id);
    const callback = moveTo(id, to, 2);
    expect(await post(callback)).toBe(200);
    expect(await outcomeOf(callback)).toBe('applied');
    const shown = to === 'suspended' ? 'inactive' : to;
    expect(await read(id)).toMatchObject({ status: to, connection: { state: 'completed-up-to-date', status: shown } });
    const connected = from === 'suspended' ? 'inactive' : from;
    const expected = [...(connected === shown ? [] : ['connection-updated']), ...(from === to ? [] : [EVENTS[to]])];
    expect((await eventsOf(id)).slice(before.length)).toEqual(expected);
  });

  test('stays where a later report left it, however often and late an earlier one comes', async () => {
    const { id } = await openedAccount();
    const [first, second] = [moveTo(id, 'suspended', 1), moveTo(id, 'active', 2)];
    await Promise.all([second, first, second, first].map(post));
    await post(moveTo(id, 'suspended', 1));
    expect((await read(id)).status).toBe('active');
  });

  test('changes status on opening by a report that overtakes that of the opening', async () => {
    const id = await issuedAccount();
    const early = moveTo(id, 'suspended', 1);
    await post(early);
    expect([await outcomeOf(early), (await read(id)).status]).toEqual(['applied', 'pending']);
    const details = { accountNumber: '00009999', iban: null, routingCodes: { 'sort-code': '040668' } };
    await post(
      event('account-opened', { ourReference: id, reference: 'SBA-9', currency: 'GBP', country: 'GB', ...details }),
    );
    expect(await read(id)).toMatchObject({ status: 'suspended', connection: { status: 'inactive' } });
    expect((await eventsOf(id)).slice(-2)).toEqual(['connection-updated', 'account-suspended']);
  });

  test('is suspended on opening if money is expected there and a report that overtakes that of the opening says closed', async () => {
    const id = await issuedAccount();
    await post(paymentIn((await read(id)).ledgerNumber));
    await post(moveTo(id, 'closed', 1));
    const before = await breaks();
    const details = { accountNumber: '00009998', iban: null, routingCodes: { 'sort-code': '040668' } };
    await post(
      event('account-opened', { ourReference: id, reference: 'SBA-8', currency: 'GBP', country: 'GB', ...details }),
    );
    expect(await read(id)).toMatchObject({ status: 'suspended', connection: { status: 'closed' } });
    expect(await breaks()).toBe(before + 1);
    await post(moveTo(id, 'closed', 2));
    expect(await breaks()).toBe(before + 1);
  });

  test('that has changed status cannot have been rejected: operators are alerted', async () => {
    const id = await issuedAccount();
    await post(moveTo(id, 'active', 1));
    const before = await breaks();
    const error = { category: 'functional', origin: 'customer', code: 'no', message: 'No.', attributes: {} };
    const rejected = event('account-opening-rejected', { ourReference: id, error });
    await post(rejected);
    expect([await outcomeOf(rejected), await breaks()]).toEqual(['break', before + 1]);
  });

  test('is suspended, not closed, while it holds money, and operators are alerted', async () => {
    const account = await openedAccount();
    await post(paymentIn(account.ledgerNumber));
    const before = await breaks();
    await post(moveTo(account.id, 'closed', 1));
    expect(await read(account.id)).toMatchObject({ status: 'suspended', connection: { status: 'closed' } });
    expect(await breaks()).toBe(before + 1);
  });

  test.each(['active', 'inactive', 'suspended'])('does not come back as %s once it is closed', async (status) => {
    const { id } = await openedAccount();
    await post(moveTo(id, 'closed', 1));
    const [before, seen] = [await breaks(), await eventsOf(id)];
    const callback = moveTo(id, status, 2);
    expect(await post(callback)).toBe(200);
    expect(await outcomeOf(callback)).toBe('break');
    expect([(await read(id)).status, await breaks(), await eventsOf(id)]).toEqual(['closed', before + 1, seen]);
    const again = moveTo(id, 'closed', 3);
    await post(again);
    expect(await outcomeOf(again)).toBe('no-effect');
  });

  test('that was never opened is neither closed nor activated', async () => {
    const id = await issuedAccount();
    const error = { category: 'functional', origin: 'customer', code: 'no', message: 'No.', attributes: {} };
    await post(event('account-opening-rejected', { ourReference: id, error }));
    const [closing, life] = [moveTo(id, 'closed', 1), moveTo(id, 'active', 2)];
    expect([await post(closing), await post(life)]).toEqual([200, 200]);
    expect([await outcomeOf(closing), await outcomeOf(life)]).toEqual(['no-effect', 'break']);
    expect((await read(id)).status).toBe('declined');
  });

  test('is closed at once when its provider closes it while a request to close it is under way', async () => {
    const { id } = await openedAccount();
    const workflow = { code: 'client.direct' };
    await api.call('PATCH', `/accounts/${id}`, { workflow, data: { account: { status: 'closed' } } });
    await post(moveTo(id, 'closed', 1));
    expect(await read(id)).toMatchObject({ status: 'closed', connection: { state: 'completed-up-to-date' } });
    const rows = await api.database.reader.execute(
      sql`SELECT FROM accounts WHERE id = ${id} AND requested_change IS NULL`,
    );
    expect(rows).toHaveLength(1);
  });

  test.each([
    ['a status that none has', { status: 'pending' }],
    ['number zero', { number: 0 }],
    ['a number with decimals', { number: 1.5 }],
  ])('is not moved by %s', async (_what, wrong) => {
    const { id } = await openedAccount();
    const callback = moveTo(id, 'suspended', 1);
    expect(await post({ ...callback, data: { ...callback.data, ...wrong } })).toBe(400);
    expect((await read(id)).status).toBe('active');
  });

  test('of an unknown account waits', async () => {
    const callback = moveTo(newId(), 'suspended', 1);
    expect(await post(callback)).toBe(200);
    expect(await outcomeOf(callback)).toBe('waiting');
  });
});

test('a report about an unknown payment waits', async () => {
  const claim = { paymentId: 'pay-1', paymentReference: null, amount: 5, currency: 'GBP' };
  const unknown = event('payment-completed', { ourReference: newId(), ...claim });
  const foreign = event('payment-completed', { ourReference: 'of another service', ...claim });
  expect([await post(unknown), await post(foreign)]).toEqual([200, 200]);
  expect([await outcomeOf(unknown), await outcomeOf(foreign)]).toEqual(['waiting', 'waiting']);
});

test('after all this every invariant of the books holds', async () => {
  expect(await checkLedger(api.database.reader)).toEqual([]);
});
