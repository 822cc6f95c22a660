import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ActionableError, describeFailure } from '../../cli/common/actionable-error.ts';
import { type KnownWebhook, webhookListener } from '../../client/webhooks.ts';

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
  showReceived(): void;
}

/** An HTTP server that receives webhooks as a caller's would: by client/webhooks.ts. */
export async function startReceiver(): Promise<Receiver> {
  let trusted: string | null = null;
  const received: ReceivedWebhook[] = [];
  const listener = webhookListener({
    secrets: () => trusted ?? [],
    handle: (webhook) => {
      if (webhook.name !== 'unknown') received.push(summary(webhook));
    },
    failed: (error) => console.error(`  A webhook could not be handled: ${describeFailure(error)}`),
  });
  const server = createServer(listener);
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
        if (Date.now() > deadline) throw new ActionableError(`The webhook ${type} of ${resourceId} did not arrive.`);
        await sleep(POLL_MS);
      }
    },
    showReceived: () => {
      for (const { sequence, type, resourceId } of received) {
        console.log(`  ${String(sequence).padStart(2)}  ${type.padEnd(34)} ${resourceId}`);
      }
    },
  };
}

function summary({ event }: KnownWebhook): ReceivedWebhook {
  const [resource] = Object.values<unknown>(event.data);
  const resourceId = typeof resource === 'object' && resource !== null && 'id' in resource ? `${resource.id}` : '';
  return { type: event.webhook.type, sequence: Number(event.metadata.sequence), resourceId };
}
