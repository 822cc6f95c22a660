import { connect, createServer, type Socket } from 'node:net';

/**
 * A proxy that can retain what a client sends, its closing message included, and deliver it later, as buffers of a network or
 * a stopped process do. The client gets no answer meanwhile.
 */
export interface LateProxy {
  readonly port: number;
  /** Retains everything sent from now on: on every connection, or on the next one that sends this text. */
  hold(words?: string): void;
  /** Whether this text is among what is retained. */
  holds(words: string): boolean;
  /** Delivers everything retained, in order, and retains nothing more. */
  deliver(): void;
  close(): Promise<void>;
}

interface Way {
  readonly far: Socket;
  held: boolean;
  readonly kept: Buffer[];
}

export async function startLateProxy(target: { host: string; port: number }): Promise<LateProxy> {
  const ways = new Map<Socket, Way>();
  let words: string | null = null;
  let holdsNew = false;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const way: Way = { far: connect(target), held: holdsNew, kept: [] };
    ways.set(near, way);
    near.setNoDelay(true);
    way.far.setNoDelay(true);
    near.on('error', () => {});
    way.far.on('error', () => {});
    near.on('data', (data: Buffer) => {
      if (words !== null && data.includes(words)) way.held = true;
      if (way.held) way.kept.push(data);
      else way.far.write(data);
    });
    near.on('close', () => {
      if (!way.held) way.far.end();
    });
    near.on('end', () => near.end());
    way.far.on('data', (data: Buffer) => {
      if (!way.held) near.write(data);
    });
    way.far.on('close', () => {
      ways.delete(near);
      near.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    hold: (said) => {
      words = said ?? null;
      holdsNew = said === undefined;
      if (said === undefined) for (const way of ways.values()) way.held = true;
    },
    holds: (said) => [...ways.values()].some(({ kept }) => Buffer.concat(kept).includes(said)),
    deliver: () => {
      words = null;
      holdsNew = false;
      for (const [near, way] of ways) {
        if (!way.held) continue;
        way.held = false;
        for (const data of way.kept.splice(0)) way.far.write(data);
        if (near.destroyed || near.readableEnded) way.far.end();
      }
    },
    close: async () => {
      for (const [near, { far }] of ways) {
        near.destroy();
        far.destroy();
      }
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
