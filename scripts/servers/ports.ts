import { createServer } from 'node:net';

const LOOPBACK = '127.0.0.1';

/** Picks ports below the ephemeral range, so that a restarted server finds its own still free. */
const FREE_PORT_MIN = 20_000;
const FREE_PORT_MAX = 29_999;

/** Whether a server could listen on this loopback port now. */
export async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

const handedOut = new Set<number>();

/** A free loopback port; never the same twice in one process. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = FREE_PORT_MIN + Math.floor(Math.random() * (FREE_PORT_MAX - FREE_PORT_MIN + 1));
    if (handedOut.has(port)) continue;
    handedOut.add(port);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No free port between ${FREE_PORT_MIN} and ${FREE_PORT_MAX} on ${LOOPBACK}.`);
}
