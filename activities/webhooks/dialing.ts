import { connect, type Socket } from 'node:net';
import type { ResolvedAddress } from './name-resolver.ts';

/** How long an address has before the next is tried as well (RFC 8305). */
const NEXT_AFTER_MS = 250;
/** More than a name has in earnest. */
const ADDRESSES_MAX = 32;
const KEEP_ALIVE_MS = 60_000;

/**
 * Connects to the first address that answers. The others go on meanwhile: each has the whole time, so that dead ones cost a live one
 * only its turn. Rejects with the first failure once all have failed, or when `signal` aborts.
 */
export function dialFirst(addresses: readonly ResolvedAddress[], port: number, signal: AbortSignal): Promise<Socket> {
  const waiting = byTurns(addresses).slice(0, ADDRESSES_MAX);
  const dialled = new Set<Socket>();
  let timer: NodeJS.Timeout | undefined;
  return new Promise<Socket>((resolve, reject) => {
    let failure: Error | null = null;
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      for (const one of dialled) one.destroy();
      dialled.clear();
    };
    const giveUp = () => {
      end();
      reject(failure ?? new Error('the time for connecting is over'));
    };
    const dialNext = () => {
      clearTimeout(timer);
      const next = waiting.shift();
      if (next === undefined) return;
      const socket = connect({ host: next.address, port });
      dialled.add(socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS));
      // It stays: until its user listens, an error of a chosen socket would be unhandled.
      socket.on('error', (error) => {
        if (!dialled.delete(socket)) return;
        failure ??= error;
        if (waiting.length > 0) dialNext();
        else if (dialled.size === 0) giveUp();
      });
      socket.once('connect', () => {
        dialled.delete(socket);
        end();
        resolve(socket);
      });
      timer = setTimeout(dialNext, NEXT_AFTER_MS);
    };
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
    else dialNext();
  });
}

/** Both families by turns, as one of them may lead nowhere as a whole. */
function byTurns(addresses: readonly ResolvedAddress[]): ResolvedAddress[] {
  const [first] = addresses;
  const one = addresses.filter(({ family }) => family === first?.family);
  const other = addresses.filter(({ family }) => family !== first?.family);
  return Array.from({ length: Math.max(one.length, other.length) }, (_, index) => [one[index], other[index]])
    .flat()
    .filter((address) => address !== undefined);
}
