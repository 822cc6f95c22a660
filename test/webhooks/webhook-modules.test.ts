import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { moneyWorld } from '../harness/money.ts';
import { beneficiariesOf, direct, EURO, PERSON } from '../harness/parties/beneficiaries.ts';
import { consentWorld } from '../harness/parties/consents.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { createDrains, sequence, startReceiver } from '../harness/webhooks/webhooks.ts';

// Modules beyond the specification: only subscribers who name them receive their events; the event log shows all.

let database: TestDatabase;
let api: TestApi;
let clientId: string;

beforeAll(async () => {
  database = await createTestDatabase('webhook-modules');
  api = await startApi(database);
  clientId = await moneyWorld(api).client();
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

interface RecordedEvents {
  readonly id: string;
  /** What the resource is in the order of its events. */
  readonly shown: readonly Json[];
}

async function changedBeneficiary(): Promise<RecordedEvents> {
  const beneficiaries = beneficiariesOf(api, clientId);
  const { bankAccounts: _, ...created } = await beneficiaries.created();
  const { body } = await beneficiaries.patch(created.id, { identity: { legalName: 'Mill Lane Bakery Ltd' } });
  return { id: created.id, shown: [created, body.data.beneficiary] };
}

test('an added or changed bank account is in its beneficiary’s event, an unchanged one is not', async () => {
  const { bankAccounts, ...beneficiary } = await beneficiariesOf(api, clientId).created();
  const path = `/beneficiaries/${beneficiary.id}/bank-accounts`;
  const send = async (method: 'POST' | 'PATCH', to: string, beneficiaryBankAccount: Json): Promise<Json> => {
    const answer = await api.call(method, to, direct({ beneficiaryBankAccount }));
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body.data.beneficiaryBankAccount;
  };
  const added = await send('POST', path, EURO);
  const changed = await send('PATCH', `${path}/${bankAccounts[0].id}`, { status: 'inactive' });
  await send('PATCH', `${path}/${added.id}`, { alias: null });
  await sequence(api.database);
  const { body } = await api.call('GET', '/events?metadata.page.size=100', undefined, { as: 'admin' });
  const recorded = body.data.events.filter(({ resourceId }: Json) => resourceId === beneficiary.id);
  expect(recorded.map(({ webhook, data }: Json) => [webhook.type, data.beneficiary])).toEqual([
    ['beneficiary-created', beneficiary],
    ['beneficiary-bank-account-created', { ...beneficiary, bankAccounts: [added] }],
    ['beneficiary-bank-account-updated', { ...beneficiary, bankAccounts: [changed] }],
  ]);
});

async function changedUser(): Promise<RecordedEvents> {
  const workflow = { code: 'human.external.direct' };
  const sent = { email: 'grace@example.com', identity: PERSON };
  const created = (await api.call('POST', '/users', { workflow, data: { user: sent } })).body.data.user;
  const change = { workflow, data: { user: { identity: { familyName: 'Murray' } } } };
  const changed = await api.call('PATCH', `/users/${created.id}`, change);
  return { id: created.id, shown: [created, changed.body.data.user] };
}

async function rejectedConsent(): Promise<RecordedEvents> {
  const consents = consentWorld(api);
  const { id } = await consents.request(await consents.thirdParty());
  const requested = await consents.find(id);
  await consents.decide(id, { action: 'reject' });
  return { id, shown: [requested, await consents.find(id)] };
}

test.each<[module: string, resource: string, types: [string, string], happen: () => Promise<RecordedEvents>]>([
  ['users', 'user', ['user-created', 'user-updated'], changedUser],
  ['beneficiaries', 'beneficiary', ['beneficiary-created', 'beneficiary-updated'], changedBeneficiary],
  ['open-banking-consents', 'consent', ['consent-requested', 'consent-rejected'], rejectedConsent],
])('%s reach only subscribers who name the module or a type; the log shows them', async (...row) => {
  const [module, resource, types, happen] = row;
  const receiver = await startReceiver();
  const drains = createDrains(api.database);
  try {
    await sequence(api.database);
    const subscriptions = { all: {}, module: { modules: [module] }, type: { types: [types[1]] } };
    for (const [name, wanted] of Object.entries(subscriptions)) {
      const webhookSubscription = { url: `${receiver.url}/${name}`, ...wanted };
      const answer = await api.call('POST', '/webhook-subscriptions', direct({ webhookSubscription }), { as: 'admin' });
      expect(answer.status, answer.text).toBe(201);
    }
    const { id, shown } = await happen();
    await sequence(api.database);
    await drains.drain();
    const first = { webhook: { module, type: types[0] }, data: { [resource]: shown[0] } };
    const second = { webhook: { module, type: types[1] }, data: { [resource]: shown[1] } };
    const delivered = receiver.received.map(({ body: { webhook, data } }) => ({ webhook, data }));
    expect(delivered).toHaveLength(3);
    expect(delivered).toEqual(expect.arrayContaining([first, second]));
    expect(delivered.filter(({ webhook }) => webhook.type === types[1])).toEqual([second, second]);
    const logged = async (filter: string) => {
      const answer = await api.call('GET', `/events?metadata.page.size=100&${filter}`, undefined, { as: 'admin' });
      expect(answer.status, answer.text).toBe(200);
      return answer.body.data.events.filter(({ resourceId }: Json) => resourceId === id);
    };
    expect(await logged(`data.event.type=${types[1]}`)).toMatchObject([{ ...second, metadata: { sequence: 2 } }]);
    expect(await logged(`data.event.module=${module}`)).toMatchObject([first, second]);
  } finally {
    await drains.close();
    await receiver.close();
  }
});
