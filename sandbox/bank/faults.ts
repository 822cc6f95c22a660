import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import type { StatementLie } from './payments/statement-lies.ts';
import { BankError } from './wire.ts';

/** Faults that an operator or a test injects. Cleared by a restart of the bank. */
export interface Faults {
  /** Delay of every answer to the customer's service. */
  readonly latencyMs: number;
  /** Fraction of the service's calls that get 503 without effect. */
  readonly errorRate: number;
  /** Fraction of the service's calls whose connection is cut after the effect. */
  readonly cutRate: number;
  readonly callbacks: 'normal' | 'held' | 'shuffled';
  readonly callbackDelayMs: number;
  /** Who answers look-ups: the bank, or a gateway that knows no payments and says 400 or 404. */
  readonly lookUps: (typeof LOOK_UPS)[number];
  /** How the statement lies. */
  readonly statement: readonly StatementLie[];
}

export const LOOK_UPS = ['normal', 'refused', 'gateway'] as const;

export const NO_FAULTS: Faults = {
  latencyMs: 0,
  errorRate: 0,
  cutRate: 0,
  callbacks: 'normal',
  callbackDelayMs: 0,
  lookUps: 'normal',
  statement: [],
};

/** As callers see them. */
export function showFaults(faults: Faults) {
  return { ...faults, statement: faults.statement.map(({ lie, payment }) => ({ lie, payment })) };
}

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

/** Cuts the connection instead of answering. */
export function cut(context: Context<{ Bindings: HttpBindings }>): Response {
  context.env.incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
}

export function lookUpRefused(): BankError {
  return new BankError(400, 'invalid-request', 'The request is not understood.');
}

/** A gateway's page. */
export function gatewayPage(context: Context): Response {
  return context.html('<!doctype html><title>404</title><h1>Not found</h1>', 404);
}
