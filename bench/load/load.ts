import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import type { LoadCommand, LoadResult, PreparedRequest } from './callers.ts';

/**
 * The load generator process: a number of callers, each on one keep-alive connection, which send the next prepared
 * request as soon as the previous answer arrives.
 */
process.on('message', (command: LoadCommand) => {
  run(command).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));

async function run(command: LoadCommand): Promise<LoadResult> {
  const latencies: number[] = [];
  let errors = 0;
  let firstError: string | null = null;
  const startedMs = performance.now();
  const endsMs = startedMs + command.seconds * 1000;
  const { requests, once = false } = command;
  let left = Math.min(command.count ?? Number.POSITIVE_INFINITY, once ? requests.length : Number.POSITIVE_INFINITY);
  let sent = 0;
  const next = (): PreparedRequest => {
    const request = requests[once ? sent : Math.floor(Math.random() * requests.length)];
    sent += 1;
    if (request === undefined) throw new Error('no requests were prepared');
    return request;
  };

  const fail = (problem: string): void => {
    errors += 1;
    firstError ??= problem;
  };
  const call = async (client: Client, request: PreparedRequest): Promise<void> => {
    const sentMs = performance.now();
    try {
      const { statusCode, body } = await client.request(messageOf(command, request));
      const text = await body.text();
      latencies.push(performance.now() - sentMs);
      if (statusCode >= 300) fail(`${statusCode} ${text.slice(0, 300)}`);
    } catch (error) {
      fail(String(error));
    }
  };
  const caller = async (): Promise<void> => {
    const client = new Client(command.origin, { pipelining: 1, keepAliveTimeout: 60_000 });
    while (left > 0 && performance.now() < endsMs) {
      left -= 1;
      await call(client, next());
      if (command.pauseMs !== undefined) await sleep(command.pauseMs);
    }
    await client.close();
  };
  await Promise.all(Array.from({ length: command.callers }, caller));
  const elapsedMs = performance.now() - startedMs;
  latencies.sort((a, b) => a - b);
  const quantile = (share: number): number => latencies[Math.floor((latencies.length - 1) * share)] ?? 0;
  return { count: latencies.length, errors, firstError, elapsedMs, p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
}

function messageOf({ method, headers, idempotent }: LoadCommand, { path, body, headers: own }: PreparedRequest) {
  return {
    method,
    path,
    headers: { ...headers, ...own, ...(idempotent ? { 'idempotency-key': randomUUID() } : {}) },
    ...(body === undefined ? {} : { body }),
  };
}
