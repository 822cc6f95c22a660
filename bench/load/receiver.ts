import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A webhook receiver process that accepts everything. Asked by a message, it reports how many arrived since the last `begin`, and when. */
export interface Received {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

const NOTHING: Received = { count: 0, firstMs: 0, lastMs: 0 };
let received = NOTHING;

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const now = performance.now();
    received = { count: received.count + 1, firstMs: received.count === 0 ? now : received.firstMs, lastMs: now };
    response.writeHead(204).end();
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (question) => {
  if (question === 'begin') received = NOTHING;
  process.send?.(received);
});
process.on('disconnect', () => process.exit(0));
