import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { ServerLimits } from './limits.ts';

export type Serve = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Requests that may wait on one connection for the answer before them; regular clients send none ahead. */
const WAITING_MAX = 32;

/**
 * One connection: it answers one request at a time, reads no further while an answer is not taken, and closes in stages
 * (RFC 9112, 9.6), since closing with bytes unread resets the connection, and many clients then lose the answer.
 */
export class Connection {
  readonly socket: Socket;
  /** Whether a valid token has come over it. */
  isKnown = false;
  /** Whether its present answer is a file, which may take its time. */
  sendsFile = false;
  readonly #limits: ServerLimits;
  readonly #serve: Serve;
  /** The request that is being answered, or was last. */
  #incoming: IncomingMessage | null = null;
  #outgoing: ServerResponse | null = null;
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  /** The answer that a check found untaken, and when it first did. */
  #untaken: { readonly outgoing: ServerResponse | null; readonly sinceMs: number } | null = null;
  /** Whether a request has come after the answer that closes the connection. */
  #isDeaf = false;
  /** The bytes read when the closing began. */
  #closesAfterBytes: number | null = null;

  constructor(socket: Socket, serve: Serve, limits: ServerLimits) {
    this.socket = socket;
    this.#serve = serve;
    this.#limits = limits;
    // By this Node closes a connection after its last answer.
    socket.destroySoon = () => this.#closeInStages();
    // Node reads on after each request; requests that wait must stop that again.
    socket.on('resume', () => {
      if (this.#waiting.length > 0 || this.#isDeaf) socket.pause();
    });
  }

  /** False until its first request. */
  get hasAsked(): boolean {
    return this.#outgoing !== null;
  }

  /** Whether an answer is owed, or not yet taken. */
  get isAnswering(): boolean {
    return this.#outgoing !== null && !this.#outgoing.writableFinished;
  }

  take(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (this.#closesAfterBytes !== null || this.socket.destroyed) {
      // Nothing is answered after an answer that closes the connection (RFC 9112, 9.6).
      this.#isDeaf = true;
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

  /** Called every few seconds: ends a connection whose caller does not take its answer in time. */
  check(nowMs: number): void {
    const { socket } = this;
    if (socket.writableLength === 0) {
      this.#untaken = null;
    } else if (this.#untaken === null || this.#untaken.outgoing !== this.#outgoing) {
      this.#untaken = { outgoing: this.#outgoing, sinceMs: nowMs };
      // From here on Node watches whether any byte is taken.
      socket.setTimeout(this.sendsFile ? this.#limits.fileStallMs : this.#limits.stallMs);
    } else if (!this.sendsFile && nowMs - this.#untaken.sinceMs > this.#limits.answerMs) {
      socket.destroy();
    }
  }

  /** Neither a byte was sent nor received for as long as the present timeout of the connection: of a stalled answer, or of keep-alive. */
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

  /** Sends what is written and the end, and then reads on for a limited time and amount, until the caller closes too. */
  #linger(): void {
    const { socket } = this;
    this.#closesAfterBytes = socket.bytesRead;
    socket.end();
    const timer = setTimeout(() => socket.destroy(), this.#limits.lingerMs);
    socket.once('end', () => this.#closeNow());
    socket.once('close', () => clearTimeout(timer));
  }

  /** As Node does it: what is written is sent, but what is unread resets the connection. */
  #closeNow(): void {
    Socket.prototype.destroySoon.call(this.socket);
  }

  /**
   * Answers what is no request and closes. After requests that are being answered their answers come first; one that has
   * not arrived in full ends here, since its handler must not see the rest of it after this answer.
   */
  refuse(answer: string): void {
    const { socket } = this;
    const outgoing = this.#outgoing;
    if (outgoing !== null && this.isAnswering) {
      if (this.#incoming?.complete === true) {
        outgoing.once('close', () => this.refuse(answer));
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

  /** Whether the connection is closing. Called with all that still arrives then, which is limited too. */
  ignoresWhatArrives(): boolean {
    if (this.#closesAfterBytes === null) return false;
    if (this.socket.bytesRead - this.#closesAfterBytes > this.#limits.lingerBytes) this.socket.destroy();
    return true;
  }
}
