import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { expect, test, vi } from 'vitest';
import { alreadySent } from './already-sent.ts';

test('a route that has answered itself is answered once, also where a server was made before', async () => {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get('/', async (c) => {
    c.env.outgoing.writeHead(200, { 'content-type': 'text/plain' });
    c.env.outgoing.end('by itself');
    return alreadySent();
  });
  const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    for (let count = 0; count < 2; count += 1) {
      const answer = await fetch(`http://127.0.0.1:${port}/`);
      expect([answer.status, await answer.text()]).toEqual([200, 'by itself']);
    }
    expect(reported).not.toHaveBeenCalled();
  } finally {
    await new Promise((resolve) => server.close(resolve));
    reported.mockRestore();
  }
});
