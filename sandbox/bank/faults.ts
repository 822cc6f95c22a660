import type { HttpBindings } from '@hono/node-server';

import type { Context } from 'hono';
import { alreadySent } from '../http/already-sent.ts';
import type { Entry } from './books.ts';
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
  /** Who answers look-ups: the bank, or a gateway that knows no payments and answers 400 or 404. */
  readonly lookUps: (typeof LOOK_UPS)[number];
  /** The faults of the statement. */
  readonly statement: readonly StatementFault[];
}

/** The kinds of faults that the bank's statement can have. */
export const STATEMENT_FAULTS = [
  'unknown-payment',
  'missing-payment',
  'other-amount',
  'other-account',
  'doubled-payment',
  'late-booking',
  'denied-payment',
  'undone-payment',
  'partly-undone-payment',
] as const;
export type StatementFaultKind = (typeof STATEMENT_FAULTS)[number];

export interface StatementFault {
  readonly kind: StatementFaultKind;
  /** Our reference of a payment out, or the bank's id; null: every payment that is booked after the switch. */
  readonly payment: string | null;
  /** The last entry before the switch. */
  readonly afterSequence: number;
  /** The invented entry of `unknown-payment`. */
  readonly invented: Entry | null;
}

export const LOOK_UPS = ['normal', 'rejected', 'gateway'] as const;

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
  return { ...faults, statement: faults.statement.map(({ kind, payment }) => ({ fault: kind, payment })) };
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
  return alreadySent();
}

export function lookUpRejected(): BankError {
  return new BankError(400, 'invalid-request', 'The request is not understood.');
}

/** A gateway's page. */
export function gatewayPage(context: Context): Response {
  return context.html('<!doctype html><title>404</title><h1>Not found</h1>', 404);
}
