import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyWebhook } from '../../sdk/verify-webhook.ts';
import { describeFailure, RemedyError } from '../frame/remedy.ts';
import { isJson, type Json, object, text } from './demo-answers.ts';

const WAIT_LIMIT_MS = 60_000;
const POLL_MS = 100;

interface ReceivedWebhook {
  readonly type: string;
  readonly sequence: number;
  readonly resourceId: string;
}

export interface Receiver {
  readonly server: Server;
  readonly url: string;
  readonly received: ReceivedWebhook[];
  subscriptionId: string | null;
  trust(secret: string): void;
  waitFor(type: string, resourceId: string): Promise<void>;
}

/** An HTTP server that receives webhooks as its own callers would: by sdk/. */
export async function startReceiver(): Promise<Receiver> {
  let trusted: string | null = null;
  const received: ReceivedWebhook[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    try {
      const { event } = verifyWebhook(Buffer.concat(chunks), request.headers, trusted ?? []);
      if (!isJson(event)) throw new Error('not an event');
      received.push(summary(event));
      response.writeHead(204).end();
    } catch (error) {
      console.error(`  A webhook was refused: ${describeFailure(error)}`);
      response.writeHead(400).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    url: `http://127.0.0.1:${port}/webhooks`,
    received,
    subscriptionId: null,
    trust: (secret) => {
      trusted = secret;
    },
    waitFor: async (type, resourceId) => {
      const deadline = Date.now() + WAIT_LIMIT_MS;
      while (!received.some((event) => event.type === type && event.resourceId === resourceId)) {
        if (Date.now() > deadline) throw new RemedyError(`The webhook ${type} of ${resourceId} never came.`);
        await sleep(POLL_MS);
      }
    },
  };
}

function summary(event: Json): ReceivedWebhook {
  const data = object(event, 'data');
  const resource = Object.values(data).find(isJson) ?? {};
  return {
    type: text(event, 'webhook', 'type'),
    sequence: Number(object(event, 'metadata').sequence),
    resourceId: text(resource, 'id'),
  };
}
