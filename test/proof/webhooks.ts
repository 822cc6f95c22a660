import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { checkLedger } from '../../db/ledger/check.ts';
import { WEBHOOK_TYPES } from '../../domain/webhooks/subscriptions.ts';
import type { Json } from '../harness/api.ts';
import { type FaultPlan, inflictFaults } from '../harness/faults/faults.ts';
import {
  type Arrival,
  isSignedBy,
  problemsOfArrivals,
  readRecordedEvents,
  readUnanswered,
} from '../harness/faults/webhook-verdict.ts';
import { type Random, randomFrom } from '../harness/random.ts';
import { PROCESS_KINDS } from '../harness/servers/service-process.ts';
import { startWholeService, type WholeService } from '../harness/servers/whole-service.ts';

const EVENTS_PER_TRANSFER = 6;
const ITEMS = 30;
const KILLS_EACH = 10;
const BETWEEN_MS = 16_500;
const CALLERS = 4;
const SETTLE_MS = 45 * 60_000;
const SLOW_MS = 100;
/** A fifth of the flaky receiver's answers are errors, some say that it has too much to do, some never come. */
const FLAKY = { 200: 72, 500: 20, 503: 5, cut: 3 };
/** Enough attempts that only a receiver that is always away runs out of them. */
const ATTEMPT_DELAYS_SECONDS = [0, 1, 2, 4, 8, 15, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30];

interface TestReceiver {
  readonly name: string;
  readonly url: string;
  readonly arrivals: Arrival[];
  /** When each event first came, in ms. */
  readonly firstAt: Map<string, number>;
  secret: string;
  subscriptionId: string;
  close(): Promise<void>;
}

/**
 * So many events go to a healthy, a slow, a flaky and a dead receiver while API, worker, Temporal and Postgres are killed ten times
 * each. Every event must reach each living receiver, first attempts in order per resource, and the dead one is disabled by the rule:
 * its failures are dated back by the five days that the rule waits. Returns an exit status.
 */
export async function proveWebhooks(seed: number, eventCount: number, say: (line: string) => void): Promise<number> {
  const random = randomFrom(seed);
  const service = await startWholeService({ attemptDelaysSeconds: ATTEMPT_DELAYS_SECONDS });
  const receivers = await startReceivers(random);
  let problems: string[] = ['the run did not end'];
  try {
    for (const receiver of receivers) await subscribe(service, receiver);
    const transfers = Math.ceil(eventCount / EVENTS_PER_TRANSFER);
    const accounts = await openAccounts(service);
    const beganAt = performance.now();
    const [faults] = await Promise.all([
      inflictFaults(service, [], randomFrom(seed + 1), PLAN, say),
      pay(service, accounts, transfers, say),
    ]);
    const paidMs = performance.now() - beganAt;
    await backdateFailures(service, receivers);
    const settledMs = await untilDelivered(service, say);
    problems = await findProblems(service, receivers);
    const events = await readRecordedEvents(service.database);
    const occurredAt = new Map(events.map(({ id, occurredAt: at }) => [id, at.getTime()]));
    say(
      `${events.length} events by ${transfers} transfers in ${seconds(paidMs)} s; ${JSON.stringify(faults.kills)} kills; delivered ${seconds(settledMs)} s later`,
    );
    for (const { name, arrivals, firstAt } of receivers) {
      const delays = [...firstAt].map(([id, at]) => at - (occurredAt.get(id) ?? at)).sort((one, other) => one - other);
      const at = (share: number) => seconds(delays[Math.floor(delays.length * share)] ?? 0);
      say(
        `${name}: ${arrivals.length} attempts, ${firstAt.size} events, delay of the first attempt ${at(0.5)} s median, ${at(0.99)} s p99`,
      );
    }
  } finally {
    await service.close(problems.length === 0 ? undefined : 'logs');
    for (const receiver of receivers) await receiver.close();
  }
  for (const problem of problems.slice(0, 20)) say(`! ${problem}`);
  say(
    problems.length === 0
      ? 'Every event arrived, in order, and nothing was invented.'
      : `${problems.length} problems; the logs are in ${service.directory}`,
  );
  return problems.length === 0 ? 0 : 1;
}

/** Some fourteen minutes: each kill leaves time to recover before the next, as delays could not be distinguished from outages otherwise. */
const PLAN: FaultPlan = {
  killsEach: KILLS_EACH,
  sessions: 0,
  pauses: 0,
  receiverOutages: 0,
  bankFaults: 0,
  links: 0,
  betweenMs: { minimum: (2 * BETWEEN_MS) / 3, maximum: (4 * BETWEEN_MS) / 3 },
};

const seconds = (ms: number) => (ms / 1_000).toFixed(2);

type Answering = (response: ServerResponse, request: IncomingMessage) => void;

async function startReceivers(random: Random): Promise<TestReceiver[]> {
  const well: Answering = (response) => response.writeHead(200).end();
  const receivers = await Promise.all([
    startReceiver('healthy', well),
    startReceiver('slow', (response) => void sleep(SLOW_MS).then(() => well(response, response.req))),
    startReceiver('flaky', (response, request) => {
      const answer = random.weighted(FLAKY);
      if (answer === 'cut') request.socket.destroy();
      else response.writeHead(Number(answer)).end();
    }),
    startReceiver('dead', well),
  ]);
  // Its port rejects connections from now on.
  await receivers.at(-1)?.close();
  return receivers;
}

async function startReceiver(name: string, answer: Answering): Promise<TestReceiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const eventId: string = JSON.parse(text).metadata.eventId;
      const isSigned = isSignedBy(new Webhook(receiver.secret), request.headers, text);
      receiver.arrivals.push({ eventId, webhookId: String(request.headers['webhook-id']), isSigned });
      if (!receiver.firstAt.has(eventId)) receiver.firstAt.set(eventId, Date.now());
      answer(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: TestReceiver = {
    name,
    url: `http://127.0.0.1:${port}/${name}`,
    arrivals: [],
    firstAt: new Map(),
    secret: '',
    subscriptionId: '',
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** Posts until there is an answer that settles it; the key makes the repetitions one request. */
async function post({ apiUrls, token }: WholeService, path: string, body: Json, key: string): Promise<Json> {
  for (;;) {
    const response = await fetch(`${apiUrls[0]}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    }).catch(() => null);
    const answer: Json = await response?.json().catch(() => null);
    if (answer !== null && answer !== undefined && response?.ok) return answer.data;
    const isRejected = response !== null && response.status < 500 && answer?.code !== 'common.idempotency.in_progress';
    if (isRejected) throw new Error(`POST ${path}: ${JSON.stringify(answer)}`);
    await sleep(300);
  }
}

async function subscribe(service: WholeService, receiver: TestReceiver): Promise<void> {
  const webhookSubscription = { url: receiver.url, types: WEBHOOK_TYPES };
  const body = { workflow: { code: 'direct' }, data: { webhookSubscription } };
  const data = await post(service, '/webhook-subscriptions', body, `subscribe-${receiver.name}`);
  receiver.secret = data.webhookSubscription.secret;
  receiver.subscriptionId = data.webhookSubscription.id;
}

const ACCOUNTS = 40;

async function openAccounts(service: WholeService): Promise<{ clientId: string; ids: string[] }> {
  const identity = { type: 'corporate', legalName: 'Payroll Ltd', country: 'GB' };
  const profile = { identityType: 'corporate', registrationAddress: { country: 'GB', city: 'London' } };
  const client = { workflow: { code: 'direct' }, data: { client: { identity, profile } } };
  const clientId = (await post(service, '/clients', client, 'client')).client.id;
  const ids: string[] = [];
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const account = { workflow: { code: 'client.issuing' }, data: { account: { clientId, currency: 'GBP' } } };
    const connect = { type: 'implicit' };
    ids.push((await post(service, '/accounts', { ...account, connect }, `account-${index}`)).account.id);
  }
  for (const id of ids) await fund(service, id);
  return { clientId, ids };
}

async function fund(service: WholeService, id: string): Promise<void> {
  const isActive = async () => {
    const rows = await service.database.reader.statement(`SELECT 1 FROM accounts WHERE id = $1 AND status = 'active'`, [
      id,
    ]);
    return rows.length > 0;
  };
  while (!(await isActive())) await sleep(100);
  const workflow = { code: 'correction', type: 'unknown', transactionType: 'incoming-transfer' };
  const balanceAdjustment = { accountId: id, direction: 'credit', amount: 100_000, currency: 'GBP' };
  await post(service, `/accounts/${id}/balance-adjustments`, { workflow, data: { balanceAdjustment } }, `fund-${id}`);
}

/** Four callers post batches of internal transfers, evenly over the faults' time. */
async function pay(
  service: WholeService,
  { clientId, ids }: { clientId: string; ids: readonly string[] },
  count: number,
  say: (line: string) => void,
): Promise<void> {
  const batches = Math.ceil(count / ITEMS);
  const betweenMs = (KILLS_EACH * PROCESS_KINDS.length * BETWEEN_MS * CALLERS) / batches;
  let next = 0;
  const caller = async () => {
    for (let batch = next++; batch < batches; batch = next++) {
      const dueAt = performance.now() + betweenMs;
      const items = Array.from({ length: ITEMS }, (_, index) => {
        const at = batch * ITEMS + index;
        const account = (offset: number) => ({ type: 'client-account', accountId: ids[(at + offset) % ids.length] });
        const money = { clientId, currency: 'GBP', amount: 1, scope: 'internal' };
        return { reference: `item-${at}`, outgoingTransfer: { ...money, source: account(0), destination: account(1) } };
      });
      const workflow = { code: 'client.direct', mode: 'each' };
      await post(service, '/outgoing-transfers/batch', { workflow, data: { items } }, `batch-${batch}`);
      if (batch % 100 === 0) say(`batch ${batch} of ${batches}`);
      await sleep(Math.max(0, dueAt - performance.now()));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

/** As if the dead receiver had been away for as long as the rule waits. */
async function backdateFailures({ database }: WholeService, receivers: readonly TestReceiver[]): Promise<void> {
  const dead = receivers.find(({ name }) => name === 'dead');
  await database.reader.statement(
    `UPDATE webhook_subscriptions SET failing_since = failing_since - interval '5 days' WHERE id = $1`,
    [dead?.subscriptionId],
  );
}

/** Until nothing is left to deliver, except to a subscription that is disabled. Returns the milliseconds that it took. */
async function untilDelivered({ database }: WholeService, say: (line: string) => void): Promise<number> {
  const beganAt = performance.now();
  for (let looks = 0; ; looks += 1) {
    const [open] = await database.reader.statement<{ count: number }>(
      `SELECT (SELECT count(*) FROM webhook_deliveries JOIN webhook_subscriptions AS subscription ON subscription.id = subscription_id
          WHERE webhook_deliveries.status = 'pending' AND subscription.status = 'active')::integer
        + (SELECT count(*) FROM events WHERE first_position IS NULL)::integer
        + (SELECT count(*) FROM workflow_wakeups)::integer AS count`,
      [],
    );
    if (open?.count === 0) return performance.now() - beganAt;
    if (looks % 15 === 0) say(`${open?.count} left to do`);
    if (performance.now() - beganAt > SETTLE_MS) throw new Error(`${open?.count} deliveries never ended`);
    await sleep(2_000);
  }
}

async function findProblems({ database }: WholeService, receivers: readonly TestReceiver[]): Promise<string[]> {
  const events = await readRecordedEvents(database);
  const problems: string[] = [];
  for (const { name, subscriptionId, arrivals } of receivers) {
    const [found] = await database.reader.statement<{ status: string; reason: string | null; failed: number }>(
      `SELECT status, status_reason AS reason, (SELECT count(*) FROM webhook_deliveries AS delivery
         WHERE delivery.subscription_id = subscription.id AND delivery.status = 'failed')::integer AS failed
       FROM webhook_subscriptions AS subscription WHERE id = $1`,
      [subscriptionId],
    );
    if (name === 'dead') {
      if (found?.status !== 'disabled' || found.reason !== 'failing') problems.push(`the dead one is ${found?.status}`);
      continue;
    }
    if (found?.status !== 'active') problems.push(`${name} is ${found?.status}`);
    if (found?.failed !== 0) problems.push(`${name}: ${found?.failed} deliveries failed`);
    const unanswered = await readUnanswered(database, subscriptionId);
    problems.push(...problemsOfArrivals(events, arrivals, unanswered).map((problem) => `${name}: ${problem}`));
  }
  const violations = await checkLedger(database.reader);
  problems.push(...violations.map(({ rule, subject }) => `ledger: ${rule}: ${subject}`));
  return problems;
}
