import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { type DrainOptions, ShardDrain } from '../../../activities/webhooks/drain.ts';
import { createReceivers, type ReceiverOptions } from '../../../activities/webhooks/receivers.ts';
import { appendEvents } from '../../../db/common/events.ts';
import { newId } from '../../../db/common/ids.ts';
import type { Database, Transaction } from '../../../db/query/database.ts';
import { numberEvents } from '../../../db/webhooks/event-sequencer.ts';
import {
  createWebhookSubscription,
  type NewWebhookSubscription,
  type WebhookSubscription,
} from '../../../db/webhooks/subscriptions.ts';
import type { ClientId } from '../../../domain/common/ids.ts';
import type { WebhookAddressPolicy } from '../../../domain/webhooks/addresses.ts';
import type { Json } from '../api.ts';
import { TESTER } from '../audit.ts';
import { TEST_KEYRING } from '../keyring.ts';
import { webhookProblem } from './webhook-contract.ts';

export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Parsed. */
  readonly body: Json;
  readonly id: string;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: readonly Received[];
  /** Sets its answers from now on; initially 200. */
  answer(handler: (message: Received, response: ServerResponse, request: IncomingMessage) => void): void;
  connections(): number;
  close(): Promise<void>;
}

/** A webhook receiver on loopback that records its requests. Those that contradict the OpenAPI document fail its `close`. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const problems: string[] = [];
  let connections = 0;
  let handle: Parameters<Receiver['answer']>[0] = (_message, response) => {
    response.writeHead(200).end('thank you');
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      const message = { headers, text, body: JSON.parse(text), id: headers['webhook-id'] ?? '' };
      received.push(message);
      const isSigned = headers['webhook-signature'] !== undefined;
      const problem = isSigned ? webhookProblem(message.body) : null;
      if (problem !== null) problems.push(problem);
      handle(message, response, request);
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    answer: (handler) => {
      handle = handler;
    },
    connections: () => connections,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (problems.length > 0) throw new Error(problems.join('\n'));
    },
  };
}

export const LOOPBACK_POLICY: WebhookAddressPolicy = {
  allowPlainHttp: true,
  allowLoopback: true,
  ownBaseUrl: 'http://127.0.0.1:3000',
};

export const SCHEDULE = {
  attemptDelaysSeconds: [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
  jitterRatio: 0,
};

/** Drains of all shards in this process, like the worker's but without Temporal. */
export function createDrains(
  database: Database,
  options: Partial<DrainOptions> & { receiver?: Partial<ReceiverOptions> } = {},
) {
  const timeoutMs = options.timeoutMs ?? 30_000;
  const receivers = options.receivers ?? createReceivers({ policy: LOOPBACK_POLICY, timeoutMs, ...options.receiver });
  const all: DrainOptions = {
    database,
    receivers,
    keyring: TEST_KEYRING,
    schedule: SCHEDULE,
    timeoutMs,
    disableAfterHours: 120,
    logger: pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
    now: () => new Date(),
    random: () => 0,
    lingerMs: 20,
    ...options,
  };
  const drains = [0, 1, 2, 3].map((shard) => new ShardDrain(all, shard));
  const stop = new AbortController();
  const running = new Set<Promise<unknown>>();
  return {
    drains,
    /** Runs until every shard is idle; returns the shortest wait until a delivery is due, null if none is. */
    async drain(): Promise<number | null> {
      const draining = drains.map((drain) => drain.run(stop.signal));
      for (const one of draining) running.add(one);
      const ended = await Promise.all(draining);
      const waits = ended.flatMap(({ waitMs }) => (waitMs === null ? [] : [waitMs]));
      return waits.length === 0 ? null : Math.min(...waits);
    },
    /** Also ends what a failed test has left running, which would disturb the next one. */
    async close(): Promise<void> {
      stop.abort();
      await Promise.allSettled(running);
      await receivers.close();
    },
  };
}

/** Numbers everything that is committed. */
export async function sequence(database: Database): Promise<number> {
  let rows = 0;
  for (;;) {
    const { rowCount } = await numberEvents(database, 1_000, null);
    if (rowCount === 0) return rows;
    rows += rowCount;
  }
}

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

export async function subscribe(
  database: Database,
  url: string,
  change: Partial<NewWebhookSubscription> = {},
  secret: string = newSecret(),
): Promise<WebhookSubscription> {
  const subscription = { url, modules: null, types: null, status: 'active', description: null, ...change } as const;
  const creation = { secret, shards: 4, initiator: TESTER };
  return database.transaction((tx) => createWebhookSubscription(tx, TEST_KEYRING, subscription, creation));
}

let numbers = 0;

/** A resource to record events for. */
export async function insertClient(database: Database): Promise<ClientId> {
  const id = newId<ClientId>();
  numbers += 1;
  await database.reader.execute(sql`
    INSERT INTO clients (id, client_number, status, identity_type, identity, profile, full_name, created_at)
    VALUES (${id}, ${`${process.pid}${String(numbers).padStart(6, '0')}`}, 'active', 'individual',
      '{"type":"individual"}', '{}', 'Ann Example', service_now())`);
  return id;
}

const CLIENT = {
  clientNumber: '0000000195',
  status: 'active',
  fullName: 'Ann Example',
  identity: {
    type: 'individual',
    givenName: 'Ann',
    familyName: 'Example',
    birthDate: null,
    country: null,
    identifications: [],
    identificationNumbers: {},
  },
};

/** Records `count` events of a client in the caller's transaction. */
export async function appendClientEvents(tx: Transaction, id: ClientId, count = 1): Promise<void> {
  const [clock] = await tx.execute<{ now: Date }>(sql`SELECT service_now() AS now`);
  if (clock === undefined) throw new Error('no clock');
  const entries = Array.from({ length: count }, () => ({ type: 'created', data: { id, ...CLIENT } }));
  appendEvents(tx, { module: 'clients', resourceId: id, occurredAt: clock.now, entries });
}

export async function recordEvents(database: Database, id: ClientId, count = 1): Promise<void> {
  await database.transaction((tx) => appendClientEvents(tx, id, count));
}
