import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/** Listens, and stands still before it accepts anything. */
const LISTENING = `
const { parentPort, workerData } = require('node:worker_threads');
const { createServer } = require('node:net');
const { hosts, port, shared } = workerData;
const listening = hosts.map((host) => new Promise((resolve) => createServer().listen({ host, port, backlog: 1 }, resolve)));
Promise.all(listening).then(() => {
  parentPort.postMessage('listening');
  Atomics.wait(new Int32Array(shared), 0, 0);
  process.exit();
});`;

/** Linux keeps one more connection than the backlog for a listener that does not accept, and answers no further one at all. */
const KEPT = 2;

/** Makes loopback addresses silent, as those of a machine that is off. Returns what ends it. */
export async function silentAddresses(hosts: readonly string[], port: number): Promise<() => Promise<void>> {
  const shared = new SharedArrayBuffer(4);
  const worker = new Worker(LISTENING, { eval: true, workerData: { hosts, port, shared } });
  await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  const kept = hosts.flatMap((host) => Array.from({ length: KEPT }, () => connected(host, port)));
  const sockets = await Promise.all(kept);
  return async () => {
    for (const socket of sockets) socket.destroy();
    Atomics.notify(new Int32Array(shared), 0);
    await worker.terminate();
  };
}

function connected(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port }, () => resolve(socket));
    socket.on('error', reject);
  });
}
