import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';

const LOST = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
/** The channel on which undici publishes the connection of each request. */
const SENT = 'undici:client:sendHeaders';

/** Recognizes requests that were lost because their connection had been closed while it was idle. */
export interface IdleConnections {
  watch(socket: Socket): void;
  /** Whether the error is the loss of a connection that had served an earlier request and returned nothing for this one. */
  hasClosedBefore(error: unknown): boolean;
  close(): void;
}

export function watchIdleConnections(): IdleConnections {
  /** The bytes read from each connection when its last request was sent. */
  const readBefore = new WeakMap<Socket, number>();
  const lost = new WeakSet<Error>();
  const onSent = (message: unknown) => {
    if (typeof message !== 'object' || message === null || !('socket' in message)) return;
    const { socket } = message;
    if (socket instanceof Socket && readBefore.has(socket)) readBefore.set(socket, socket.bytesRead);
  };
  subscribe(SENT, onSent);
  return {
    watch: (socket) => {
      const readAtFirst = socket.bytesRead;
      readBefore.set(socket, readAtFirst);
      socket.on('error', (error) => {
        const isLoss = 'code' in error && typeof error.code === 'string' && LOST.has(error.code);
        const read = readBefore.get(socket) ?? 0;
        if (isLoss && read > readAtFirst && socket.bytesRead === read) lost.add(error);
      });
    },
    hasClosedBefore: (error) => error instanceof Error && lost.has(error),
    close: () => unsubscribe(SENT, onSent),
  };
}
