import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Strangers } from './addresses.ts';
import { Connection, type Serve } from './connection.ts';
import type { ServerLimits } from './limits.ts';

/** Why a connection is refused before it has sent anything. */
export type ConnectionRefusal = 'connections-of-address' | 'connections-of-server';
export type OnConnectionRefused = (reason: ConnectionRefusal, address: string | null) => void;

const known = new WeakMap<Socket, Connection>();
const release = new WeakMap<Socket, () => void>();

/** A valid token has come over this connection. */
export function markKnown(socket: Socket): void {
  const connection = known.get(socket);
  if (connection === undefined || connection.isKnown) return;
  connection.isKnown = true;
  release.get(socket)?.();
}

/** The present answer of this connection is a file. */
export function markFile(socket: Socket): void {
  const connection = known.get(socket);
  if (connection !== undefined) connection.sendsFile = true;
}

/** The connections of a server, each with its limits. */
export class Connections {
  readonly #open = new Set<Connection>();
  readonly #strangers: Strangers;
  readonly #limits: ServerLimits;
  readonly #serve: Serve;
  readonly #onRefused: OnConnectionRefused;

  constructor(limits: ServerLimits, serve: Serve, onRefused: OnConnectionRefused) {
    this.#limits = limits;
    this.#serve = serve;
    this.#onRefused = onRefused;
    this.#strangers = new Strangers(limits.strangersPerAddressMax);
  }

  readonly serve: Serve = (incoming, outgoing) => {
    known.get(incoming.socket)?.take(incoming, outgoing);
  };

  watch(server: Server): void {
    server.maxConnections = this.#limits.connectionsMax;
    server.on('connection', (socket: Socket) => this.#add(socket));
    server.on('drop', (data) => this.#onRefused('connections-of-server', data?.remoteAddress ?? null));
    server.on('timeout', (socket: Socket) => known.get(socket)?.onSilence());
    const checks = setInterval(() => {
      const nowMs = performance.now();
      for (const connection of this.#open) connection.check(nowMs);
    }, this.#limits.checkMs).unref();
    server.once('close', () => clearInterval(checks));
  }

  #add(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    if (!this.#strangers.admit(address)) {
      this.#onRefused('connections-of-address', address);
      // Who has hundreds of them open needs no answer.
      socket.destroy();
      return;
    }
    const connection = new Connection(socket, this.#serve, this.#limits);
    known.set(socket, connection);
    release.set(socket, () => this.#strangers.release(address));
    this.#open.add(connection);
    socket.once('close', () => {
      this.#open.delete(connection);
      if (!connection.isKnown) this.#strangers.release(address);
    });
  }

  /** Ends those that have not sent a request yet; Node does not count them as idle. */
  endSilent(): void {
    for (const connection of this.#open) if (!connection.hasAsked) connection.socket.destroy();
  }
}

/** Answers what is no request, and closes the connection. */
export function refuseBroken(socket: Socket, answer: () => string): void {
  const connection = known.get(socket);
  if (connection === undefined) socket.destroy();
  else if (!connection.ignoresWhatArrives()) connection.refuse(answer());
}
