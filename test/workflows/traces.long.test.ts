import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { workflowBundle } from '../../activities/workflow-bundle.ts';
import { workflowId } from '../../workflows/common/messages.ts';
import type { Json } from '../harness/api.ts';
import { adjustment, externalTransfer, issuing, transferOf } from '../harness/faults/load/orders.ts';
import { type ReceivedSpan, type SpanReceiver, startSpanReceiver } from '../harness/http/span-receiver.ts';
import { startWholeService, type WholeService } from '../harness/servers/whole-service.ts';
import { connectClient, until } from '../harness/stage.ts';
import '../harness/workflows/temporal-runtime.ts';

let spans: SpanReceiver;
let service: WholeService;
let clientId: string;
let accountId: string;
let bankAccountId: string;

beforeAll(async () => {
  spans = await startSpanReceiver();
  service = await startWholeService({
    processesEach: 1,
    environment: { ...spans.environment, OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
  });
  ({
    client: { id: clientId },
  } = await create('/clients', {
    client: {
      identity: { type: 'corporate', legalName: 'Payroll Ltd', country: 'GB' },
      profile: { identityType: 'corporate', registrationAddress: { country: 'GB', city: 'London' } },
    },
  }));
  const iban = 'DE89370400440532013000';
  const bankAccounts = [{ country: 'DE', currency: 'EUR', iban }];
  const { beneficiary } = await create('/beneficiaries', {
    beneficiary: { clientId, fullName: 'Am Bach', bankAccounts },
  });
  bankAccountId = beneficiary.bankAccounts[0].id;
  const { path, body } = issuing(clientId, 'EUR');
  ({
    account: { id: accountId },
  } = (await call('POST', path, body)).data);
  await until(
    async () => (await call('GET', `/accounts/${accountId}`)).data.account,
    ({ status }) => status === 'active',
  );
  const funds = adjustment({ accountId, direction: 'credit', amount: 5_000, currency: 'EUR' });
  await call('POST', funds.path, funds.body);
  await create('/webhook-subscriptions', { webhookSubscription: { url: service.receiver.url } });
});

afterAll(async () => {
  await service?.close();
  await spans?.close();
});

async function call(
  method: string,
  path: string,
  body?: Json,
  headers: Readonly<Record<string, string>> = {},
): Promise<Json> {
  const response = await fetch(`${service.apiUrls[0]}${path}`, {
    method,
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: Json = await response.json();
  expect(response.ok, JSON.stringify(answer)).toBe(true);
  return answer;
}

async function create(path: string, data: Json): Promise<Json> {
  return (await call('POST', path, { workflow: { code: 'direct' }, data })).data;
}

/** As a caller's own trace sends it. */
function callersTrace(flags: '00' | '01') {
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  return { traceId, spanId, header: { traceparent: `00-${traceId}-${spanId}-${flags}` } };
}

async function pay(header: Readonly<Record<string, string>>, amount = 10.5): Promise<string> {
  const money = { clientId, currency: 'EUR', amount, from: accountId };
  const { path, body } = transferOf(externalTransfer(money, 'sepa-instant', bankAccountId));
  return (await call('POST', path, body, header)).data.outgoingTransfer.id;
}

function transferWhen(id: string, good: (transfer: Json) => boolean): Promise<Json> {
  return until(async () => (await call('GET', `/outgoing-transfers/${id}`)).data.outgoingTransfer, good);
}

const inReview = (transfer: Json) => transfer.requirementConfiguration.complianceCheckStatus === 'not-checked';

async function approve(id: string, header: Readonly<Record<string, string>> = {}): Promise<void> {
  const procedureResult = { procedure: 'transaction-monitoring', result: 'all-passed' };
  const body = { workflow: { code: 'direct' }, data: { complianceCheck: { procedureResult } } };
  const authorization = `Bearer ${service.reviewerToken}`;
  await call('PATCH', `/outgoing-transfers/${id}/compliance-check`, body, { authorization, ...header });
}

async function settled(id: string): Promise<void> {
  await transferWhen(id, ({ status }) => status === 'completed');
  await until(
    async () => service.receiver.received.map(({ body }) => body),
    (bodies) =>
      bodies.some(
        ({ webhook, data }) => webhook.type === 'outgoing-transfer-completed' && data.outgoingTransfer.id === id,
      ),
  );
}

/** Whether an event of the part of the trace with this name has been sent. */
function hasSent(trace: readonly ReceivedSpan[], part: string): boolean {
  const parts = new Set(trace.filter(({ name }) => name.startsWith(part)).map(({ spanId }) => spanId));
  return trace.some(({ name, parentSpanId }) => name === 'send webhook' && parts.has(parentSpanId));
}

describe('the trace of an external payment that waits for its review, while the worker is replaced', () => {
  const caller = callersTrace('01');
  let id: string;
  let trace: readonly ReceivedSpan[];
  const named = (name: string) => trace.filter((span) => span.name === name);
  const parentOf = (span: ReceivedSpan | undefined) => trace.find(({ spanId }) => spanId === span?.parentSpanId);

  beforeAll(async () => {
    id = await pay(caller.header);
    await transferWhen(id, inReview);
    const worker = service.process('worker');
    await until(
      async () => spans.ofTrace(caller.traceId),
      (found) =>
        found.some(({ name }) => name.startsWith('RunActivity:')) && hasSent(found, 'POST /outgoing-transfers'),
    );
    await worker.kill();
    await worker.start();
    await approve(id);
    await settled(id);
    trace = await until(
      async () => spans.ofTrace(caller.traceId),
      (found) => found.some(({ name }) => name === 'RunWorkflow:outgoing-transfer') && hasSent(found, 'RunActivity:'),
    );
  });

  test('leads from the caller’s span through request, wake-up and workflow to the bank', () => {
    const [request] = named('POST /outgoing-transfers');
    expect(request).toMatchObject({ service: 'financial-accounts-api', parentSpanId: caller.spanId });
    expect(request?.attributes).toMatchObject({
      'http.route': '/outgoing-transfers',
      'http.response.status_code': 201,
    });
    const [wakeUp] = named('wake outgoing-transfer');
    expect(parentOf(wakeUp)).toBe(request);
    const [workflow] = named('RunWorkflow:outgoing-transfer');
    expect(workflow?.service).toBe('financial-accounts-worker');
    expect(parentOf(workflow)).toBe(wakeUp);
    const [submission] = named('submitPayment');
    expect(submission?.attributes).toMatchObject({ provider: 'sandbox-bank', 'provider.outcome': 'ok' });
    const activity = parentOf(submission);
    expect(activity?.name).toMatch(/^RunActivity:/);
    expect(parentOf(parentOf(activity))).toBe(workflow);
  });

  test('leads to the webhooks of what the request and the workflow did', () => {
    const sent = named('send webhook');
    expect(hasSent(trace, 'POST /outgoing-transfers')).toBe(true);
    expect(hasSent(trace, 'RunActivity:')).toBe(true);
    const ids = service.receiver.received.map((message) => message.id);
    for (const span of sent) expect(ids).toContain(span.attributes['webhook.event_id']);
  });

  test('is named in the log of the request', () => {
    const lines = readFileSync(service.process('api').logFile, 'utf8').split('\n');
    const line = lines.find((one) => one.includes(caller.traceId));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      route: '/outgoing-transfers',
      status: 201,
      traceId: caller.traceId,
    });
  });

  test('is not sent to the receivers of webhooks', () => {
    expect(service.receiver.received.length).toBeGreaterThan(0);
    expect(service.receiver.received.filter(({ headers }) => 'traceparent' in headers)).toEqual([]);
  });

  test('leaves a history that a worker without traces continues', async () => {
    const temporal = await connectClient(service.temporalAddress);
    const history = await temporal.workflow.getHandle(workflowId('outgoing-transfer', id)).fetchHistory();
    await temporal.connection.close();
    expect(JSON.stringify(history)).toContain('_tracer-data');
    await Worker.runReplayHistory({ workflowBundle: await workflowBundle('untraced') }, history);
  });
});

describe('a callback of the bank, which knows no trace of ours', () => {
  /** The bank completes it by a callback, which it sends twice. */
  const COMPLETED_BY_CALLBACK = 10.08;

  test('continues the trace of the payment that it reports, to its webhook, and is linked with its own request', async () => {
    const caller = callersTrace('01');
    const id = await pay(caller.header, COMPLETED_BY_CALLBACK);
    await transferWhen(id, inReview);
    await approve(id);
    await settled(id);
    const trace = await until(
      async () => spans.ofTrace(caller.traceId),
      (found) => hasSent(found, 'receive payment-completed'),
    );
    const request = trace.find(({ name }) => name === 'POST /outgoing-transfers');
    const receipts = trace.filter(({ name }) => name === 'receive payment-completed');
    expect(receipts).toHaveLength(2);
    for (const receipt of receipts)
      expect(receipt).toMatchObject({
        service: 'financial-accounts-api',
        parentSpanId: request?.spanId,
        attributes: { provider: 'sandbox-bank' },
      });
    // Both repetitions were received; one had an effect, which sends the webhooks.
    const senders = receipts.filter(({ spanId }) =>
      trace.some(({ name, parentSpanId }) => name === 'send webhook' && parentSpanId === spanId),
    );
    expect(senders).toHaveLength(1);
  });
});

test('a call to a directory before the answer is part of the trace of its request', async () => {
  const caller = callersTrace('01');
  const bankAccount = { accountNumber: '00000001', routingCodes: { 'sort-code': '123456' } };
  const identity = { type: 'individual', givenName: 'Grace', familyName: 'Hopperson' };
  const data = { beneficiary: { clientId, identity, bankAccount } };
  await call('POST', '/beneficiary-verifications', { workflow: { code: 'client.pay-uk.cop' }, data }, caller.header);
  const [asked] = await until(
    async () => spans.ofTrace(caller.traceId).filter(({ name }) => name === 'verifyName'),
    ({ length }) => length > 0,
  );
  const request = spans.ofTrace(caller.traceId).find(({ spanId }) => spanId === asked?.parentSpanId);
  expect(request?.name).toBe('POST /beneficiary-verifications');
  expect(asked).toMatchObject({
    service: 'financial-accounts-api',
    attributes: { provider: 'sandbox-bank', 'provider.outcome': 'ok' },
  });
});

test('a request that is not sampled leaves no span and stores nothing, and neither does work that no request began', async () => {
  const caller = callersTrace('00');
  const id = await pay(caller.header);
  await transferWhen(id, inReview);
  const approval = callersTrace('01');
  await approve(id, approval.header);
  await settled(id);
  await until(
    async () => spans.ofTrace(approval.traceId),
    (found) => found.some(({ name }) => name.startsWith('HandleSignal:')),
  );
  expect(spans.ofTrace(caller.traceId)).toEqual([]);
  const rows = await service.database.reader.statement<{ traceparent: string | null }>(
    'SELECT traceparent FROM events WHERE resource_id = $1 ORDER BY first_sequence LIMIT 1',
    [id],
  );
  expect(rows).toEqual([{ traceparent: null }]);
  const begun = new Set(spans.received().map(({ name }) => name));
  expect(
    [...begun].filter((name) => /housekeeping|webhook-delivery|deliverWebhooks|reconciliation/.test(name)),
  ).toEqual([]);
});
