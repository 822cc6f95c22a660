import type { Json } from '../../api.ts';
import type { Random } from '../../random.ts';
import type { WholeService } from '../../servers/whole-service.ts';
import type { LoadBank } from './banks.ts';
import type { Calls } from './calls.ts';

/** What every kind of load works with. */
export interface LoadWorld {
  readonly service: WholeService;
  readonly random: Random;
  readonly calls: Calls;
  readonly clientId: string;
  readonly bank: LoadBank;
  /** Funded accounts in GBP at the bank, which stay open. */
  readonly accounts: readonly Json[];
  /** How many of the transfers of a batch are external. */
  readonly externalShare: number;
  /** Has an outside payer pay, and notes the payment if the bank acknowledges it. */
  payIn(account: Json, amount: number, currency: string, scheme: string): Promise<void>;
}

/** One kind of load in addition to transfers and payments in. */
export interface LoadKind {
  /** What one caller does once. */
  act(): Promise<void>;
  /** After the load, again and again: does what would otherwise be waited for for ever. */
  finish(): Promise<void>;
  /** What contradicts the answers that callers had. */
  findProblems(): Promise<string[]>;
}

/** An amount in this range of pounds, with pence that have no meaning at the bank. */
export function plainAmount(random: Random, { from = 1, to }: { readonly from?: number; readonly to: number }): number {
  return Number(`${random.whole(from, to)}.${random.whole(20, 99)}`);
}
