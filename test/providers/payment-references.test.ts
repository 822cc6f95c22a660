import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Json } from '../harness/api.ts';
import { changed, cutAfter } from '../harness/faults/faulty-server.ts';
import { type PaymentsAtBank, startPaymentsAtBank } from '../harness/servers/payments-at-bank.ts';
import { eventually } from '../harness/servers/sandbox.ts';
import { sequence } from '../harness/webhooks/webhooks.ts';

// Every payment has a name of at most 35 characters, which banks carry: shown with it, sent with it, exported with it, and understood
// wherever the id is, in any writing. Money that comes back names the payment that it was.

let payments: PaymentsAtBank;
let account: Json;

beforeAll(async () => {
  // Noon of a Wednesday, a business day of every scheme.
  const aheadMs = Math.round(Date.parse('2027-06-16T12:00:00Z') - Date.now());
  payments = await startPaymentsAtBank('payment-references', { clockOffset: () => `${aheadMs} milliseconds` });
  account = await payments.account(1_000);
});

afterEach(async () => {
  await payments.bank('DELETE', '/faults');
  await payments.callbacksDelivered();
  await payments.world.invariantsHold();
});

afterAll(() => payments?.stop());

const bare = (id: string) => id.replaceAll('-', '');
/** Every writing of an id. */
const writings = (id: string) => [id, id.toUpperCase(), bare(id), bare(id).toUpperCase()];
const incoming = async (id: string): Promise<Json> =>
  (await payments.api.call('GET', `/incoming-transfers/${id}`)).body.data.incomingTransfer;

/** Returned in two parts. */
async function returned(): Promise<{ readonly id: string; readonly parts: readonly Json[] }> {
  const id = await payments.pay(account.id, 40);
  expect(await payments.steps.go(id)).toEqual({ do: 'end' });
  for (const amount of [10, 15]) {
    await payments.bank('POST', `/payments/${id}/return`, { code: 'AC04', amount });
  }
  const parts = await eventually('both returns', async () => {
    const rows = await payments.api.database.reader.statement<{ id: string }>(
      'SELECT id FROM incoming_transfers WHERE return_of = $1 ORDER BY id',
      [id],
    );
    return rows.length === 2 ? rows : undefined;
  });
  return { id, parts: await Promise.all(parts.map((part) => incoming(part.id))) };
}

test('answers, lists, batches and events show it; money that came back in parts names its payment each time', async () => {
  const { id, parts } = await returned();
  const { api } = payments;
  const sent = { clientId: payments.client, currency: 'GBP', amount: 1, scope: 'external', scheme: 'faster-payments' };
  const shown = await payments.transfer(id);
  const { source, destination } = shown;
  const outgoingTransfer = { ...sent, source, destination: { ...destination, beneficiaryId: undefined } };
  const workflow = { code: 'client.direct' };
  const created = await api.call('POST', '/outgoing-transfers', { workflow, data: { outgoingTransfer } });
  const items = [{ reference: 'one', outgoingTransfer }];
  const batch = await api.call('POST', '/outgoing-transfers/batch', {
    workflow,
    data: { items },
  });
  const listed = await api.call('GET', '/outgoing-transfers?metadata.page.size=100');
  const outgoing = [
    shown,
    created.body.data.outgoingTransfer,
    batch.body.data.results[0].outgoingTransfer,
    ...listed.body.data.outgoingTransfers,
  ];
  expect(outgoing.length).toBeGreaterThan(5);
  for (const one of outgoing) expect(one.paymentReference).toBe(bare(one.id));

  for (const part of parts) {
    expect(part).toMatchObject({ returnedOutgoingTransferId: id, paymentReference: bare(part.id) });
  }
  expect(shown.incomingTransferId).toBe(parts[1]?.id);
  // Both directions: the payment names every part, and no other payment names any.
  const partIds = parts.map(({ id: part }) => part);
  const transfers: Json[] = listed.body.data.outgoingTransfers;
  const namingParts = transfers.filter(({ returningIncomingTransferIds }) => returningIncomingTransferIds.length > 0);
  expect([shown, ...namingParts].map((one: Json) => [one.id, one.returningIncomingTransferIds])).toEqual([
    [id, partIds],
    [id, partIds],
  ]);
  const arrived = (await api.call('GET', '/incoming-transfers?metadata.page.size=100')).body.data.incomingTransfers;
  const naming = arrived.filter(({ returnedOutgoingTransferId }: Json) => returnedOutgoingTransferId !== null);
  expect(naming.map(({ id: part }: Json) => part)).toEqual(parts.map(({ id: part }) => part));
  for (const one of arrived) expect(one.paymentReference).toBe(bare(one.id));

  await sequence(api.database);
  const { events } = (await api.call('GET', '/events?metadata.page.size=100', undefined, { as: 'admin' })).body.data;
  const carried = events.flatMap(({ data }: Json) => data.outgoingTransfer ?? data.incomingTransfer ?? []);
  expect(carried.length).toBeGreaterThan(8);
  for (const one of carried) expect(one.paymentReference).toBe(bare(one.id));
  const back = carried.filter(({ returnedOutgoingTransferId }: Json) => returnedOutgoingTransferId === id);
  expect(new Set(back.map(({ id: part }: Json) => part)).size).toBe(2);
});

test('lists find the one transfer by it in any writing, and reject what is none', async () => {
  const { id, parts } = await returned();
  const [part] = parts;
  for (const [path, kind, wanted] of [
    ['/outgoing-transfers', 'outgoingTransfer', id],
    ['/incoming-transfers', 'incomingTransfer', part?.id ?? ''],
  ] as const) {
    const find = (reference: string) => payments.api.call('GET', `${path}?data.${kind}.paymentReference=${reference}`);
    for (const written of writings(wanted)) {
      const { body } = await find(written);
      expect(body.data[`${kind}s`].map((one: Json) => one.id)).toEqual([wanted]);
      expect(body.metadata.page.totalElements).toBe(1);
    }
    expect((await find(bare(account.id))).body.data[`${kind}s`]).toEqual([]);
    for (const wrong of ['', 'x', `${bare(wanted)}0`, `${wanted}%20`]) expect((await find(wrong)).status).toBe(400);
  }
});

test('the bank gets it with a payment and with money that goes back, and its statement shows it', async () => {
  const { id } = await returned();
  const submission = payments.server.exchanges.find(({ requestBody }) => requestBody.includes(id));
  expect(JSON.parse(submission?.requestBody ?? '{}')).toMatchObject({ ourReference: id, endToEndId: bare(id) });
  const { entries } = await payments.bank('GET', '/statement?account=GBP');
  const about = (entries as Json[]).filter(({ ourReference }) => ourReference === id);
  expect(about.map(({ kind, endToEndId }) => [kind, endToEndId])).toEqual([
    ['payment-out', bare(id)],
    ['payment-out-returned', bare(id)],
    ['payment-out-returned', bare(id)],
  ]);
});

test('an account’s camt.053 file names each transfer by it, as EndToEndId', async () => {
  const { id, parts } = await returned();
  const path = `/accounts/${account.id}/account-statements/export?format=camt.053`;
  const { text } = await payments.api.call('GET', path);
  const named = [...text.matchAll(/<EndToEndId>([^<]*)<\/EndToEndId>/g)].map(([, reference]) => reference);
  expect(named).toEqual(expect.arrayContaining([bare(id), ...parts.map((part) => bare(part.id))]));
  expect(named.length).toBe([...text.matchAll(/<Ntry>/g)].length);
});

/** The bank writes our reference in another way. */
const rewritten = (id: string, other: string) => changed((body) => body.replaceAll(id, other));

test.each([1, 2, 3])('a bank that gives it back in another writing is understood: writing %i', async (writing) => {
  const id = await payments.pay(account.id, 10.1);
  const other = writings(id)[writing] ?? '';
  await payments.server.during(rewritten(id, other), () => payments.steps.go(id));
  expect(await payments.transfer(id)).toMatchObject({ status: 'released' });

  const lost = await payments.pay(account.id, 10.1);
  await payments.bank('POST', '/faults', { callbacks: 'held' });
  await payments.server.during(cutAfter, () => payments.steps.go(lost));
  await payments.bank('POST', `/payments/${lost}/settle`);
  expect((await payments.operate('look-up', lost)).exit).toBe(2);
  const again = writings(lost)[writing] ?? '';
  expect(await payments.server.during(rewritten(lost, again), () => payments.steps.go(lost))).toEqual({ do: 'end' });
  expect(await payments.transfer(lost)).toMatchObject({ status: 'completed' });
});

test('an operator’s commands take it for the id', async () => {
  const id = await payments.pay(account.id, 10.1);
  await payments.steps.go(id);
  for (const written of writings(id)) {
    const { exit, printed } = await payments.operate('why', written, '--json');
    expect(exit).toBe(0);
    expect(JSON.parse(printed.at(-1) ?? '{}')).toMatchObject({ id, resource: 'outgoing-transfer' });
  }
  const { printed } = await payments.operate('look-up', bare(id).toUpperCase(), '--json');
  expect(JSON.parse(printed.at(-1) ?? '{}')).toMatchObject({ id });
});
