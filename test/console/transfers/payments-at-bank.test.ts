import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Provider } from '../../../activities/providers/port.ts';
import { measured } from '../../../activities/providers/ports/measured.ts';
import { UNMEASURED } from '../../../config/metrics/provider-calls.ts';
import { startTracing, stopTracing } from '../../../config/tracing/tracing.ts';
import { OUTGOING_TRANSFER_REMEDIES } from '../../../console/outgoing-transfers/remedies.ts';
import type { Json } from '../../harness/api.ts';
import { builtInAccounts } from '../../harness/built-in-accounts.ts';
import { startSpanReceiver } from '../../harness/http/span-receiver.ts';
import { moneyWorld } from '../../harness/money.ts';
import { until } from '../../harness/stage.ts';
import { reviews } from '../../harness/transfers/reviews.ts';
import { type OperatedService, operatedService } from '../../harness/workflows/operated-service.ts';
import { acceptedPayment, completedPayment } from '../../harness/workflows/scripted-provider.ts';
import type { BrowserAnswer } from '../browser.ts';
import { type ConsoleCaller, type ConsoleUnderTest, startConsole } from '../console-under-test.ts';

// What a person does about a payment at a bank, with its workflow running.

/** Noon of a Wednesday, a business day of every scheme. */
const NOON = '2027-06-16T12:00:00Z';
const because = { reason: 'the bank is silent' };

let service: OperatedService;
let underTest: ConsoleUnderTest;
let operator: ConsoleCaller;
let source: Json;
let bankAccount: string;

beforeAll(async () => {
  service = await operatedService('console-bank', NOON);
  const { api, temporal } = service;
  const offset = `${Math.round((Date.parse(NOON) - Date.now()) / 1_000)} seconds`;
  const { address = '' } = temporal.connection.options;
  underTest = await startConsole(service.testDatabase, {
    clockOffset: () => offset,
    providers: new Map([['sandbox-bank', measured<Provider>(service.provider, 'sandbox-bank', UNMEASURED)]]),
    temporal: { address, namespace: temporal.client.options.namespace },
    configuration: (loaded) => ({ ...loaded, prices: [] }),
    settings: (settings) => ({ ...settings, temporalUiUrl: 'http://127.0.0.1:8233/namespaces/default' }),
  });
  operator = await underTest.signIn('operator');
  const world = moneyWorld(api);
  const clientId = await world.client('Ada');
  const account = await builtInAccounts(api).opened(clientId);
  await builtInAccounts(api).payIn(account, 'funds', 10_000_000n);
  source = { clientId, id: account.id };
  bankAccount = await world.beneficiary(clientId);
  service.relay.start();
});

afterAll(async () => {
  await underTest?.stop();
  await service?.stop();
});

const page = (id: string) => `/outgoing-transfers/${id}`;
const find = (id: string) => reviews(service.api).find('outgoing-transfer', id);
const reaches = (id: string, status: string) =>
  until(
    () => find(id),
    (transfer) => transfer.status === status,
  );

function wordsOf({ text }: BrowserAnswer): string {
  return text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
}

/** A payment that the bank has accepted and says nothing more about. */
async function silentPayment(): Promise<string> {
  const { answer } = service.provider;
  answer.submit = async ({ ourReference }) => acceptedPayment(ourReference);
  answer.lookUp = async (reference) => acceptedPayment(reference);
  const { id } = await reviews(service.api).external(source, bankAccount);
  await reaches(id, 'released');
  return id;
}

test('a payment that its bank is silent about: the page says since when, a look-up asks, and shows what came of it', async () => {
  const id = await silentPayment();
  const shown = await operator.get(page(id));
  const words = wordsOf(shown);
  expect(words).toMatch(/pending done .* processing done .* released now .* completed still ahead/);
  expect(words).toContain('It waits for the provider');
  expect(words).toContain('then the provider is asked how the payment went.');
  expect(words).toContain('submission, attempt 1: answered');
  expect(words).toContain('Names compared by pay-uk: Confirmation of Payee (Pay.UK)');
  expect(shown.text).toContain(
    `href="http://127.0.0.1:8233/namespaces/default/workflows/${encodeURIComponent(`outgoing-transfer/${id}`)}"`,
  );
  expect(words).toContain(`outgoing-transfer/${id} runs`);
  service.provider.answer.lookUp = async (reference) => completedPayment(reference);
  expect((await operator.post(`${page(id)}/look-up`, because)).status).toBe(303);
  expect(wordsOf(await operator.get(page(id)))).toContain('Not yet known. The bank is being asked.');
  await reaches(id, 'completed');
  expect(wordsOf(await operator.get(page(id)))).toContain('completed now');
});

test('its workflow is restarted once, however many ask, and goes on from the row', async () => {
  const id = await silentPayment();
  const handle = service.temporal.client.workflow.getHandle(`outgoing-transfer/${id}`);
  const before = await handle.describe();
  const second = await underTest.signIn('second-operator');
  const answers = await Promise.all(
    [operator, second].map((caller) => caller.post(`${page(id)}/restart-workflow-of-outgoing-transfer`, because)),
  );
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  await until(
    () => handle.describe(),
    ({ runId, status }) => runId !== before.runId && status.name === 'RUNNING',
  );
  const old = await service.temporal.client.workflow.getHandle(`outgoing-transfer/${id}`, before.runId).describe();
  expect(old.status.name).toBe('TERMINATED');
  const audited = await service.api.database.reader.statement<{ actor: string }>(
    `SELECT actor FROM audit_entries WHERE resource = 'workflow' AND resource_id = $1`,
    [`outgoing-transfer/${id}`],
  );
  expect(audited).toHaveLength(1);
  service.provider.answer.lookUp = async (reference) => completedPayment(reference);
  await operator.post(`${page(id)}/look-up`, because);
  await reaches(id, 'completed');
  expect(service.provider.submissions.filter((reference) => reference === id)).toHaveLength(1);
});

test('a completed payment is looked up by the console itself, and what the bank says is shown', async () => {
  service.provider.answer.submit = async ({ ourReference }) => completedPayment(ourReference);
  service.provider.answer.lookUp = async (reference) => completedPayment(reference);
  const { id } = await reviews(service.api).external(source, bankAccount);
  await reaches(id, 'completed');
  await operator.post(`${page(id)}/look-up-returns`, because);
  expect(wordsOf(await operator.get(page(id)))).toContain('Nothing changed. Nothing has come back that is not booked.');
  service.provider.answer.lookUp = async () => ({ outcome: 'not-found' });
  await operator.post(`${page(id)}/look-up-returns`, because);
  expect(wordsOf(await operator.get(page(id)))).toContain('The provider does not know this payment');
});

test('what a person asks of a bank is part of the trace of the request', async () => {
  service.provider.answer.submit = async ({ ourReference }) => completedPayment(ourReference);
  service.provider.answer.lookUp = async (reference) => completedPayment(reference);
  const { id } = await reviews(service.api).external(source, bankAccount);
  await reaches(id, 'completed');
  const spans = await startSpanReceiver();
  for (const [name, value] of Object.entries(spans.environment)) vi.stubEnv(name, value);
  try {
    await startTracing(process.env, 'console');
    await operator.post(`${page(id)}/look-up-returns`, because);
  } finally {
    await stopTracing();
    vi.unstubAllEnvs();
    await spans.close();
  }
  const named = (name: string) => spans.received().find((span) => span.name === name);
  const request = named('POST /outgoing-transfers/:id/look-up-returns');
  expect(request).toMatchObject({
    service: 'financial-accounts-console',
    parentSpanId: '',
    attributes: { 'http.response.status_code': expect.anything() },
  });
  expect(named('lookUpPayment')).toMatchObject({ traceId: request?.traceId, parentSpanId: request?.spanId });
});

test('a completed payment of a provider that the configuration no longer has is not looked up, in words', async () => {
  service.provider.answer.submit = async ({ ourReference }) => completedPayment(ourReference);
  const { id } = await reviews(service.api).external(source, bankAccount);
  await reaches(id, 'completed');
  const { address = '' } = service.temporal.connection.options;
  const without = await startConsole(service.testDatabase, { providers: new Map(), temporal: { address } });
  try {
    const caller = await without.signIn('operator');
    const answer = await caller.post(`${page(id)}/look-up-returns`, because);
    expect([answer.status, wordsOf(answer)]).toEqual([
      409,
      expect.stringContaining('sandbox-bank is no provider of this configuration.'),
    ]);
  } finally {
    await without.stop();
  }
});

test('a look-up that may book money asks for a recent sign-in', () => {
  expect(OUTGOING_TRANSFER_REMEDIES.find(({ kind }) => kind === 'look-up-returns')?.movesMoney).toBe(true);
});
