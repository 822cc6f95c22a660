import { type OpenTransport, type Transport, TransportFailed } from './transport.ts';

/** More errors than these are not of single files. */
const FAILURES_MAX = 3;

/** Works at the bank's server: each piece by itself, on another connection after one that failed. */
export interface Connections {
  /** False once the server has failed too often in this round: the rest is left for the next. */
  readonly isOver: () => boolean;
  /** Runs a piece of work; the error that ended it, if the server failed. */
  use(work: (transport: Transport) => Promise<void>): Promise<TransportFailed | null>;
  close(): void;
  /** The first failure; null: there was none. */
  readonly failure: () => TransportFailed | null;
}

export function connectionsTo(openTransport: OpenTransport): Connections {
  let transport: Transport | null = null;
  const failures: TransportFailed[] = [];
  const close = () => {
    transport?.close();
    transport = null;
  };
  return {
    isOver: () => failures.length >= FAILURES_MAX,
    failure: () => failures[0] ?? null,
    close,
    use: async (work) => {
      try {
        transport ??= await openTransport();
        await work(transport);
        return null;
      } catch (error) {
        close();
        if (!(error instanceof TransportFailed)) throw error;
        failures.push(error);
        return error;
      }
    },
  };
}
