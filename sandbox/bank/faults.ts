import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';

/** What an operator or a test makes go wrong. Gone when the bank is started again. */
export interface Faults {
  /** Every answer to the customer's service comes so much later. */
  readonly latencyMs: number;
  /** The share of the service's calls that is answered with 503, without effect. */
  readonly errorRate: number;
  /** The share of the service's calls whose connection is cut after the effect. */
  readonly cutRate: number;
  readonly callbacks: 'normal' | 'held' | 'shuffled';
  readonly callbackDelayMs: number;
}

export const NO_FAULTS: Faults = { latencyMs: 0, errorRate: 0, cutRate: 0, callbacks: 'normal', callbackDelayMs: 0 };

export class FaultSwitch {
  #faults = NO_FAULTS;
  readonly #onChange: (() => void)[] = [];

  get now(): Faults {
    return this.#faults;
  }

  onChange(listener: () => void): void {
    this.#onChange.push(listener);
  }

  set(faults: Faults): void {
    this.#faults = faults;
    for (const listener of this.#onChange) listener();
  }
}

/** Cuts the connection in the place of an answer. */
export function cut(context: Context<{ Bindings: HttpBindings }>): Response {
  context.env.incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
}
