import { createHmac, randomUUID } from 'node:crypto';

/** A process that posts `count` signed bodies to an address, `concurrent` at a time, and reports when the last answer has arrived. */
export interface SignedFetches {
  readonly url: string;
  readonly count: number;
  readonly concurrent: number;
  readonly body: string;
}

const KEY = Buffer.from('a bench has no secrets, but its key is long');

process.on('message', (command: SignedFetches) => {
  run(command).then(
    (elapsedMs) => process.send?.(elapsedMs),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));

async function run({ url, count, concurrent, body }: SignedFetches): Promise<number> {
  let left = count;
  const startedMs = performance.now();
  const loop = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await post(url, body);
    }
  };
  await Promise.all(Array.from({ length: concurrent }, loop));
  return performance.now() - startedMs;
}

async function post(url: string, body: string): Promise<void> {
  const id = randomUUID();
  const seconds = Math.floor(Date.now() / 1_000).toString();
  const signature = createHmac('sha256', KEY).update(`${id}.${seconds}.${body}`).digest('base64');
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': `v1,${signature}`,
    },
    body,
  });
  if (!answer.ok) throw new Error(`the receiver answered ${answer.status}`);
  await answer.arrayBuffer();
}
