import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** When answers are held: at once, or from Postgres's confirmation of the commit. */
export type HoldFrom = 'now' | 'commit';

/**
 * A proxy that prolongs the instant between an effect and its answer: requests pass, answers are held, so that a
 * process can be killed at that point.
 */
export interface CrashPointProxy {
  readonly port: number;
  /** Holds answers on the connection that sends this text, immediately or from its next commit on. */
  holdAfter(words: string, from: HoldFrom): void;
  /** All answers on all connections are held. */
  holdAll(): void;
  /** The texts given to `holdAfter` after which no answer has been held yet. */
  notHeld(): readonly string[];
  /** Delays everything sent, and each confirmation of a commit, so that a kill at any instant finds a transaction under way. */
  prolong(delays: { readonly sentMs: number; readonly commitMs: number }): void;
  /** Lets new connections pass, without delay. Held ones stay held until they are closed. */
  pass(): void;
  /** Also releases what `holdAll` held. */
  letGo(): void;
  close(): Promise<void>;
}

/** The end of a transaction in the protocol: CommandComplete with the tag COMMIT. */
const COMMITTED = Buffer.from('COMMIT\0');

export async function startCrashPointProxy(target: { host: string; port: number }): Promise<CrashPointProxy> {
  const sockets = new Set<Socket>();
  const held = new Map<Socket, Buffer[]>();
  let points: { readonly words: string; readonly from: HoldFrom; held: boolean }[] = [];
  let holdsAll = false;
  let delays = { sentMs: 0, commitMs: 0 };

  const server = createServer((near) => {
    const far = connect(target);
    /** What this connection has sent whose commit is to be held. */
    let awaited: (typeof points)[number] | undefined;
    const send = inOrder((data) => far.write(data));
    const answer = inOrder((data) => near.write(data));
    const hold = (point: typeof awaited) => {
      if (point !== undefined) point.held = true;
      if (!held.has(near)) held.set(near, []);
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => socket.destroy());
    }
    const closeBoth = () => {
      held.delete(near);
      for (const socket of [near, far]) {
        sockets.delete(socket);
        socket.destroy();
      }
    };
    near.on('close', closeBoth);
    far.on('close', closeBoth);
    near.on('data', (data: Buffer) => {
      const point = points.find(({ words }) => data.includes(words));
      if (point?.from === 'now') hold(point);
      if (point?.from === 'commit') awaited = point;
      send(data, delays.sentMs);
    });
    far.on('data', (data: Buffer) => {
      if (holdsAll || (awaited !== undefined && data.includes(COMMITTED))) hold(awaited);
      const waiting = held.get(near);
      if (waiting === undefined) answer(data, data.includes(COMMITTED) ? delays.commitMs : 0);
      else waiting.push(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    holdAfter: (words, from) => {
      points.push({ words, from, held: false });
    },
    holdAll: () => {
      holdsAll = true;
    },
    notHeld: () => points.filter(({ held }) => !held).map(({ words }) => words),
    prolong: (given) => {
      delays = given;
    },
    pass: () => {
      points = [];
      holdsAll = false;
      delays = { sentMs: 0, commitMs: 0 };
    },
    letGo: () => {
      points = [];
      holdsAll = false;
      for (const [near, waiting] of held) for (const data of waiting) near.write(data);
      held.clear();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Writes each piece after its delay, and none before an earlier one. */
function inOrder(write: (data: Buffer) => void): (data: Buffer, delayMs: number) => void {
  let waiting = 0;
  let last = Promise.resolve();
  return (data, delayMs) => {
    if (waiting === 0 && delayMs === 0) return write(data);
    waiting += 1;
    last = last.then(async () => {
      if (delayMs > 0) await sleep(delayMs);
      write(data);
      waiting -= 1;
    });
  };
}
