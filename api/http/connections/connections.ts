import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { UnauthenticatedConnections } from './addresses.ts';
import { Connection, type Serve } from './connection.ts';
import type { ServerLimits } from './limits.ts';

/** Why a connection is rejected before it has sent anything. */
export type ConnectionRejection = 'connections-of-address' | 'connections-of-server';
export type OnConnectionRejected = (reason: ConnectionRejection, address: string | null) => void;

const known = new WeakMap<Socket, Connection>();
const release = new WeakMap<Socket, () => void>();

/** Records that this connection has carried a valid token. */
export function markAuthenticated(socket: Socket): void {
  const connection = known.get(socket);
  if (connection === undefined || connection.isAuthenticated) return;
  connection.isAuthenticated = true;
  release.get(socket)?.();
}

/** Records that the current answer of this connection is a file. */
export function markFileResponse(socket: Socket): void {
  const connection = known.get(socket);
  if (connection !== undefined) connection.sendsFile = true;
}

/** The connections of a server, each with its limits. */
export class Connections {
  readonly #open = new Set<Connection>();
  readonly #unauthenticated: UnauthenticatedConnections;
  readonly #limits: ServerLimits;
  readonly #serve: Serve;
  readonly #onRejected: OnConnectionRejected;

  constructor(limits: ServerLimits, serve: Serve, onRejected: OnConnectionRejected) {
    this.#limits = limits;
    this.#serve = serve;
    this.#onRejected = onRejected;
    this.#unauthenticated = new UnauthenticatedConnections(limits.unauthenticatedPerAddressMax);
  }

  readonly serve: Serve = (incoming, outgoing) => {
    known.get(incoming.socket)?.take(incoming, outgoing);
  };

  watch(server: Server): void {
    server.maxConnections = this.#limits.connectionsMax;
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.on('drop', (data) => this.#onRejected('connections-of-server', data?.remoteAddress ?? null));
    server.on('timeout', (socket: Socket) => known.get(socket)?.onSilence());
    const checks = setInterval(() => {
      const nowMs = performance.now();
      for (const connection of this.#open) connection.check(nowMs);
    }, this.#limits.checkMs).unref();
    server.once('close', () => clearInterval(checks));
  }

  #add(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    if (!this.#unauthenticated.admit(address)) {
      this.#onRejected('connections-of-address', address);
      // A caller with hundreds of open connections needs no answer.
      socket.destroy();
      return;
    }
    const connection = new Connection(socket, this.#serve, this.#limits);
    known.set(socket, connection);
    release.set(socket, () => this.#unauthenticated.release(address));
    this.#open.add(connection);
    socket.once('close', () => {
      this.#open.delete(connection);
      if (!connection.isAuthenticated) this.#unauthenticated.release(address);
    });
  }

  /** Ends the connections that have not sent a request yet; Node does not count them as idle. */
  endUnused(): void {
    for (const connection of this.#open) if (!connection.hasSentRequest) connection.socket.destroy();
  }
}

/** Answers malformed input, and closes the connection. */
export function rejectMalformed(socket: Socket, answer: () => string): void {
  const connection = known.get(socket);
  if (connection === undefined) socket.destroy();
  else if (!connection.ignoresWhatArrives()) connection.reject(answer());
}
