import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { ServerLimits } from './limits.ts';

export type Serve = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Pipelined requests that may wait on one connection; regular clients do not pipeline. */
const WAITING_MAX = 32;

/**
 * Answers one request at a time, stops reading while the caller does not receive its answer, and closes in stages
 * (RFC 9112, 9.6), because closing with unread bytes resets the connection, and many clients then lose the answer.
 */
export class Connection {
  readonly socket: Socket;
  /** Whether it has carried a valid token. */
  isAuthenticated = false;
  /** Whether its current answer is a file, which has no total time limit. */
  sendsFile = false;
  readonly #limits: ServerLimits;
  readonly #serve: Serve;
  /** The current request, or the last one. */
  #incoming: IncomingMessage | null = null;
  #outgoing: ServerResponse | null = null;
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  /** The answer that a check found not fully received, and since when. */
  #untaken: { readonly outgoing: ServerResponse | null; readonly sinceMs: number } | null = null;
  /** Whether a request has arrived after the answer that closes the connection. */
  #ignoresInput = false;
  /** The bytes read when the closing began. */
  #closesAfterBytes: number | null = null;

  constructor(socket: Socket, serve: Serve, limits: ServerLimits) {
    this.socket = socket;
    this.#serve = serve;
    this.#limits = limits;
    // Node calls this to close a connection after its last answer.
    socket.destroySoon = () => this.#closeInStages();
    // Node resumes reading after each request, which must not happen while requests wait.
    socket.on('resume', () => {
      if (this.#waiting.length > 0 || this.#ignoresInput) socket.pause();
    });
  }

  /** False until its first request. */
  get hasSentRequest(): boolean {
    return this.#outgoing !== null;
  }

  /** Whether an answer is due, or not yet fully received. */
  get isAnswering(): boolean {
    return this.#outgoing !== null && !this.#outgoing.writableFinished;
  }

  take(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (this.#closesAfterBytes !== null || this.socket.destroyed) {
      // Requests after the answer that closes the connection are not answered (RFC 9112, 9.6).
      this.#ignoresInput = true;
      this.socket.pause();
    } else if (this.#waiting.length === 0 && !this.isAnswering) {
      this.#start(incoming, outgoing);
    } else if (this.#waiting.length >= WAITING_MAX) {
      this.#waiting.length = 0;
      this.socket.destroy();
    } else {
      if (this.#waiting.length === 0) this.#outgoing?.once('close', () => this.#startNext());
      this.#waiting.push([incoming, outgoing]);
      this.socket.pause();
    }
  }

  #start(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.sendsFile = false;
    this.#serve(incoming, outgoing);
  }

  #startNext(): void {
    if (this.socket.destroyed || this.#closesAfterBytes !== null) {
      this.#waiting.length = 0;
      return;
    }
    const next = this.#waiting.shift();
    if (next === undefined) return;
    const [incoming, outgoing] = next;
    if (this.#waiting.length > 0) outgoing.once('close', () => this.#startNext());
    else this.socket.resume();
    this.#start(incoming, outgoing);
  }

  /** Called every few seconds: ends a connection if its caller does not receive the answer in time. */
  check(nowMs: number): void {
    const { socket } = this;
    if (socket.writableLength === 0) {
      this.#untaken = null;
    } else if (this.#untaken === null || this.#untaken.outgoing !== this.#outgoing) {
      this.#untaken = { outgoing: this.#outgoing, sinceMs: nowMs };
      // From now on Node watches whether any byte is received.
      socket.setTimeout(this.sendsFile ? this.#limits.fileStallMs : this.#limits.stallMs);
    } else if (!this.sendsFile && nowMs - this.#untaken.sinceMs > this.#limits.answerMs) {
      socket.destroy();
    }
  }

  /** Called when no byte was sent or received during the connection's current timeout, for a stalled answer or for keep-alive. */
  onSilence(): void {
    const isWorking = this.isAnswering && this.socket.writableLength === 0;
    if (!isWorking) this.socket.destroy();
  }

  #closeInStages(): void {
    if (this.#closesAfterBytes !== null) return;
    const incoming = this.#incoming;
    if (incoming?.complete !== false && this.#waiting.length === 0) {
      this.#closesAfterBytes = this.socket.bytesRead;
      this.#closeNow();
      return;
    }
    this.#linger();
    incoming?.on('data', () => this.ignoresWhatArrives());
    incoming?.resume();
  }

  /** Sends what is written and ends the connection, then keeps reading until the caller closes it too, within limits of time and bytes. */
  #linger(): void {
    const { socket } = this;
    this.#closesAfterBytes = socket.bytesRead;
    socket.end();
    const timer = setTimeout(() => socket.destroy(), this.#limits.lingerMs);
    socket.once('end', () => this.#closeNow());
    socket.once('close', () => clearTimeout(timer));
  }

  /** Node's own way: sends what is written, but unread bytes reset the connection. */
  #closeNow(): void {
    Socket.prototype.destroySoon.call(this.socket);
  }

  /**
   * Answers malformed input and closes the connection, after the answers to earlier requests. A request that has not arrived
   * in full ends here, because its handler must not see the rest of it after this answer.
   */
  reject(answer: string): void {
    const { socket } = this;
    const outgoing = this.#outgoing;
    if (outgoing !== null && this.isAnswering) {
      if (this.#incoming?.complete === true) {
        outgoing.once('close', () => this.reject(answer));
        return;
      }
      if (outgoing.headersSent) socket.destroy();
      else socket.end(answer, () => socket.destroy());
      return;
    }
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    socket.write(answer);
    this.#linger();
  }

  /** Whether the connection is closing. Called for everything that arrives after that, which is limited too. */
  ignoresWhatArrives(): boolean {
    if (this.#closesAfterBytes === null) return false;
    if (this.socket.bytesRead - this.#closesAfterBytes > this.#limits.lingerBytes) this.socket.destroy();
    return true;
  }
}
