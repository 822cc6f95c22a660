import { connect, createServer, type Socket } from 'node:net';

/** A proxy that can cut a server off silently: while held, connections are accepted and never answered. */
export interface TcpProxy {
  readonly port: number;
  hold(): void;
  /** Resumes, and closes all connections, because bytes may be missing from them. Returns how many there were. */
  release(): number;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let held = false;
  const server = createServer((near) => {
    sockets.add(near);
    near.on('close', () => sockets.delete(near));
    near.on('error', () => near.destroy());
    if (held) return;
    const far = connect(target);
    sockets.add(far);
    far.on('close', () => {
      sockets.delete(far);
      near.destroy();
    });
    near.on('close', () => far.destroy());
    far.on('error', () => far.destroy());
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    hold: () => {
      held = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    release: () => {
      held = false;
      const near = [...sockets].filter((socket) => socket.localPort === address.port);
      for (const socket of sockets) socket.destroy();
      return near.length;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
