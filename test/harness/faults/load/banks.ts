import type { Json } from '../../api.ts';
import type { WholeService } from '../../servers/whole-service.ts';
import { SCENARIOS } from './orders.ts';
import { payIn, recallAtBank, steerPayment } from './outside.ts';

export interface MoneyIn {
  readonly amount: number;
  readonly currency: string;
  readonly scheme: string;
}

/** The bank of the load's own accounts, as outside payers and its operator use it. */
export interface LoadBank {
  readonly provider: string;
  /** `connect` of an account that is issued there. */
  readonly connect: Json;
  /** The last digits of the amounts of payments out, and how often each. */
  readonly scenarios: Readonly<Record<string, number>>;
  /** Returns the payment's id in the bank's statement; null if the answer is lost. */
  payIn(service: WholeService, account: Json, money: MoneyIn): Promise<string | null>;
  /** Settles or returns a payment out, if the bank is there and takes it. */
  steer(service: WholeService, id: string, action: 'settle' | 'return', body: Json): Promise<void>;
  /** Does what payments would otherwise wait for for ever. */
  finish(service: WholeService): Promise<void>;
  /** The recall of a payment as the bank has it: its reference and its status. */
  recall(service: WholeService, id: string): Promise<readonly (string | undefined)[]>;
  /** The reference under which it asks for a payment's recall of this number. */
  recallReference(id: string, number: number): string;
}

export const SANDBOX_BANK: LoadBank = {
  provider: 'sandbox-bank',
  connect: { type: 'implicit' },
  scenarios: SCENARIOS,
  payIn: (service, to, money) => payIn(service, { to, ...money }),
  steer: steerPayment,
  finish: async () => {},
  recall: (service, id) => recallAtBank(service, `/bank/payments/${id}`),
  recallReference: (id, number) => `${id}:recall:${number}`,
};
