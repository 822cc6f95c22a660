import { createHmac } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../db/common/ids.ts';
import type { Json, TestApi } from '../harness/api.ts';
import { eventually, SANDBOX_SECRET } from '../harness/servers/sandbox.ts';
import { type AccountsAtBank, startAccountsAtBank } from '../harness/workflows/accounts-at-bank.ts';

let service: AccountsAtBank;
let api: TestApi;

beforeAll(async () => {
  service = await startAccountsAtBank('account-connections');
  api = service.api;
});

afterAll(() => service.stop());

const createClient = (givenName: string) => service.createClient(givenName);
const issue = (fields: Json) => service.issue(fields);
const read = (id: string) => service.read(id);
const reaches = (id: string, statuses: readonly string[]) => service.reaches(id, statuses);
const close = (id: string) => service.close(id);
const eventTypes = (id: string) => service.eventTypes(id);

async function hasEnded(accountId: string): Promise<true> {
  return eventually('the workflow has ended and nothing is left to wake', async () => {
    const { status } = await service.temporalClient.client.workflow
      .getHandle(`account-connection/${accountId}`)
      .describe();
    const wakes = await api.database.reader.execute(
      sql`SELECT 1 FROM workflow_wakeups WHERE workflow_id = ${`account-connection/${accountId}`}`,
    );
    const [row] = await api.database.reader.execute<{ open: boolean }>(
      sql`SELECT next_check_at IS NOT NULL OR requested_change IS NOT NULL AS open FROM accounts WHERE id = ${accountId}`,
    );
    return status.name === 'COMPLETED' && wakes.length === 0 && row?.open === false ? true : undefined;
  });
}

/** Those that its workflow has asked for. */
async function activitiesOf(accountId: string): Promise<string[]> {
  const handle = service.temporalClient.client.workflow.getHandle(`account-connection/${accountId}`);
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
}

describe('opening at the bank', () => {
  test('an account becomes active with the identifiers of the bank, its client is connected once, the workflow ends', async () => {
    const owner = await createClient('Grace');
    const first = await issue({ clientId: owner });
    const second = await issue({ clientId: owner, currency: 'EUR' });
    const active = await reaches(first.id, ['active']);
    expect(active).toMatchObject({
      country: 'GB',
      alias: 'GBP Account',
      connection: { state: 'completed-up-to-date', status: 'active', error: null },
    });
    expect(active.iban).toMatch(/^GB/);
    expect(active.routingCodes['sort-code']).toMatch(/^\d{6}$/);
    expect(active.connection.reference).not.toBeNull();
    await reaches(second.id, ['active']);
    expect(await eventTypes(first.id)).toEqual([
      'connection-creation-instructed',
      'connection-created',
      'account-activated',
    ]);
    expect((await eventTypes(owner)).filter((type) => type === 'connection-created')).toHaveLength(1);
    expect(await hasEnded(first.id)).toBe(true);
    // One activity connects the client and opens the account.
    expect(await activitiesOf(first.id)).toEqual(['connectClient']);
    const { body } = await api.call('GET', `/accounts/${first.id}/deposit-information`);
    expect(body.data.depositInformation['faster-payments']).toMatchObject({ accountNumber: active.accountNumber });
  });

  test('an account of a client who was migrated from the bank opens there without creating the client a second time', async () => {
    const { status, body, text } = await api.call('POST', '/clients', {
      workflow: { code: 'migration' },
      data: { sourceId: 'client-corporate' },
      connect: { type: 'explicit', serviceProvider: 'sandbox-bank' },
    });
    expect(status, text).toBe(201);
    const owner = body.data.client.id;
    const { id } = await issue({ clientId: owner });
    expect(await reaches(id, ['active'])).toMatchObject({ accountHolderName: 'Analytical Engines Ltd' });
    await hasEnded(id);
    expect(await activitiesOf(id)).toEqual(['openAccount']);
    const read = await api.call('GET', `/clients/${owner}?metadata.include=connect.connections`);
    expect(read.body.connect.connections).toEqual([body.connect.connection]);
    expect(await eventTypes(owner)).toEqual(['created', 'connection-created']);
  });

  test.each(['functional', 'technical'])('a final %s rejection declines the account and says why', async (category) => {
    const { id } = await issue({ alias: `fail-${category} 1` });
    const declined = await reaches(id, ['declined', 'active']);
    expect(declined).toMatchObject({
      status: 'declined',
      connection: { state: 'creation-failed', error: { category } },
    });
    expect(await eventTypes(id)).toEqual([
      'connection-creation-instructed',
      'connection-creation-failed',
      'account-declined',
    ]);
    expect(await hasEnded(id)).toBe(true);
  });

  test('an account whose client the bank rejects is declined as dependency-failed, and a later one tries again', async () => {
    const owner = await createClient('fail-functional');
    const { id } = await issue({ clientId: owner });
    const declined = await reaches(id, ['declined', 'active']);
    expect(declined.connection).toMatchObject({
      state: 'dependency-failed',
      error: { code: 'client-connection-failed' },
    });
    await api.database.reader.execute(sql`UPDATE clients SET full_name = 'Accepted' WHERE id = ${owner}`);
    const again = await issue({ clientId: owner });
    expect((await reaches(again.id, ['declined', 'active'])).status).toBe('active');
  });

  test('accounts whose callback is late or never comes become active by callback or look-up', async () => {
    const [silent, slow] = await Promise.all([issue({ alias: 'silent 1' }), issue({ alias: 'slow 1' })]);
    expect((await reaches(silent.id, ['active', 'declined'])).status).toBe('active');
    expect((await reaches(slow.id, ['active', 'declined'])).status).toBe('active');
    expect(await eventTypes(slow.id)).toHaveLength(3);
  });
});

describe('a status that the bank changes', () => {
  test('a suspended account keeps money that arrives on hold, and lets it in when the bank activates the account again', async () => {
    const { id } = await issue({});
    const { ledgerNumber } = await reaches(id, ['active']);
    expect((await service.outside(`/accounts/${id}/status`, { status: 'suspended' })).status).toBe(200);
    await reaches(id, ['suspended']);
    const payment = {
      amount: 12.5,
      currency: 'GBP',
      scheme: 'faster-payments',
      reference: ledgerNumber,
      senderName: 'Ann',
    };
    const { paymentId }: Json = await (await service.outside('/payments-in', payment)).json();
    const transferIs = (status: string) =>
      eventually(`the payment is ${status}`, async () => {
        const path = `/incoming-transfers?data.incomingTransfer.serviceProviderId=${paymentId}`;
        const [transfer] = (await api.call('GET', path)).body.data.incomingTransfers;
        return transfer?.status === status ? transfer : undefined;
      });
    expect((await transferIs('on-hold')).statusReason.code).toBe('account.status.not_active');
    await service.outside(`/accounts/${id}/status`, { status: 'active' });
    await transferIs('completed');
    expect(await read(id)).toMatchObject({ status: 'active', availableBalance: 12.5 });
    expect((await service.outside(`/accounts/${id}/status`, { status: 'gone' })).status).toBe(400);
    expect((await service.outside(`/accounts/${newId()}/status`, { status: 'active' })).status).toBe(404);
  });
});

test('an account that the bank closes before its opening is reported opens by a look-up, and then closes', async () => {
  const { id } = await issue({ alias: 'silent 3' });
  await eventually('the bank has opened the account', async () =>
    (await service.outside(`/accounts/${id}/status`, { status: 'closed' })).ok ? true : undefined,
  );
  expect(await reaches(id, ['closed', 'declined'])).toMatchObject({
    status: 'closed',
    connection: { status: 'closed' },
  });
  expect(await eventTypes(id)).toEqual([
    'connection-creation-instructed',
    'connection-created',
    'account-activated',
    'connection-updated',
    'account-closed',
  ]);
  expect(await hasEnded(id)).toBe(true);
});

describe('closing at the bank', () => {
  test('goes through the bank, with its events in order', async () => {
    const { id } = await issue({});
    await reaches(id, ['active']);
    const asked = await close(id);
    expect(asked.status, asked.text).toBe(200);
    expect(asked.body.data.account).toMatchObject({ status: 'active', connection: { state: 'update-in-progress' } });
    const closed = await reaches(id, ['closed']);
    expect(closed.connection).toMatchObject({ state: 'completed-up-to-date', status: 'closed' });
    expect((await eventTypes(id)).slice(3)).toEqual([
      'connection-update-instructed',
      'connection-updated',
      'account-closed',
    ]);
    expect((await close(id)).status).toBe(409);
    expect(await hasEnded(id)).toBe(true);
  });

  test('while pending is an illegal transition, and only the bank sets bank details', async () => {
    const { id } = await issue({ alias: 'slow 2' });
    expect((await close(id)).status).toBe(409);
    const details = await api.call('PATCH', `/accounts/${id}`, {
      workflow: { code: 'client.direct' },
      data: { account: { iban: 'GB29NWBK60161331926819' } },
    });
    expect([details.status, details.body.code]).toEqual([400, 'common.validation.field_unexpected']);
    await reaches(id, ['active']);
  });
});

describe('provider callbacks', () => {
  async function callback(event: Json, options: { secret?: string; id?: string } = {}) {
    const id = options.id ?? event.id;
    const body = JSON.stringify(event);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', options.secret ?? SANDBOX_SECRET)
      .update(`${id}.${timestamp}.${body}`)
      .digest('base64');
    return fetch(`${api.url}/provider-callbacks/sandbox-bank`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body,
    });
  }

  function opened(accountId: string): Json {
    return {
      id: `evt-${newId()}`,
      type: 'account-opened',
      createdAt: new Date().toISOString(),
      data: {
        ourReference: accountId,
        reference: 'SBA-test',
        currency: 'GBP',
        country: 'GB',
        iban: 'GB82WEST12345698765432',
        accountNumber: '98765432',
        routingCodes: { 'sort-code': '123456' },
      },
    };
  }

  async function outcomeOf(event: Json): Promise<unknown> {
    const [row] = await api.database.reader.execute<{ outcome: string }>(
      sql`SELECT outcome FROM provider_callbacks WHERE provider_event_id = ${event.id}`,
    );
    return row?.outcome;
  }

  test('forged is 401 and has no effect, an unknown provider is 404', async () => {
    const event = opened(newId());
    expect((await callback(event, { secret: 'guessed' })).status).toBe(401);
    expect(await outcomeOf(event)).toBeUndefined();
    const unknownProvider = await fetch(`${api.url}/provider-callbacks/unknown-bank`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect(unknownProvider.status).toBe(404);
  });

  test('of an unknown account waits, and of an account that is open already has no effect', async () => {
    const unknown = opened(newId());
    expect((await callback(unknown)).status).toBe(200);
    expect(await outcomeOf(unknown)).toBe('waiting');
    const { id } = await issue({});
    const active = await reaches(id, ['active']);
    const late = opened(id);
    expect((await callback(late)).status).toBe(200);
    expect((await callback(late)).status).toBe(200);
    expect(await outcomeOf(late)).toBe('no-effect');
    expect(await read(id)).toEqual(active);
    expect(await eventTypes(id)).toHaveLength(3);
  });

  test('is applied without a running workflow, and ends it when it comes back', async () => {
    await service.stopWorkers();
    const { id } = await issue({});
    const event = opened(id);
    expect((await callback(event)).status).toBe(200);
    expect(await outcomeOf(event)).toBe('applied');
    expect(await read(id)).toMatchObject({ status: 'active', iban: 'GB82WEST12345698765432' });
    await service.startWorkers();
    expect(await hasEnded(id)).toBe(true);
    expect(await eventTypes(id)).toHaveLength(3);
  });
});
