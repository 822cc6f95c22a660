import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../client.ts';

// What nothing refers to is collected: a time limit must not be among it.

let server: Server;
let baseUrl: string;
let collecting: NodeJS.Timeout;

beforeAll(async () => {
  server = createServer(() => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collecting = setInterval(collect, 50);
});

afterAll(() => {
  clearInterval(collecting);
  server.close();
  server.closeAllConnections();
});

const token = () => 'any';
const neverEnding = new AbortController().signal;

test.each([
  ['an attempt', { attemptTimeoutMs: 300, retriesMax: 0 }, 'client.connection.failed'],
  ['a call', { timeoutMs: 300 }, 'client.deadline.exceeded'],
])('the time of %s ends also if garbage is collected meanwhile', async (_, limits, code) => {
  const client = createClient({ baseUrl, token, ...limits });
  await expect(client.accounts.get('any', {}, { signal: neverEnding })).rejects.toMatchObject({ code });
});

test('the time of a wait ends also if garbage is collected meanwhile', async () => {
  const client = createClient({ baseUrl, token });
  const wait = client.accounts.waitFor({ id: 'any' }, 'active', { timeoutMs: 300, signal: neverEnding });
  await expect(wait).rejects.toMatchObject({ code: 'client.deadline.exceeded' });
});

test('a caller who ends a call, before or after it began, gets that as the reason', async () => {
  const client = createClient({ baseUrl, token });
  const aborted = { code: 'client.aborted' };
  await expect(client.accounts.get('any', {}, { signal: AbortSignal.abort() })).rejects.toMatchObject(aborted);
  const controller = new AbortController();
  const call = client.accounts.get('any', {}, { signal: controller.signal });
  server.once('request', () => controller.abort());
  await expect(call).rejects.toMatchObject(aborted);
});
