import { findEntry, readEventOutcome } from '../../../db/bank-files/entries.ts';
import { listOpenFiles } from '../../../db/bank-files/files.ts';
import {
  type NewInstruction,
  type PayingAccount,
  readLatestInstruction,
  storeInstruction,
} from '../../../db/bank-files/instructions.ts';
import { lockDueReturn } from '../../../db/bank-files/returns.ts';
import { readClock } from '../../../db/common/clock.ts';
import type { Transaction } from '../../../db/query/database.ts';
import {
  ACCOUNT_UNCLEAR,
  NO_PAYER_ACCOUNT,
  rejectedReturn,
  unwritableReturn,
} from '../../../domain/bank-files/exchange/holds.ts';
import { rejectionCode } from '../../../domain/bank-files/exchange/progress.ts';
import { isPooledAccount } from '../../../domain/bank-files/exchange/receipts.ts';
import { ATTEMPTS_MAX, instructionIdOf } from '../../../domain/bank-files/instructions.ts';
import { type ProfileProblem, problemOf } from '../../../domain/bank-files/profile-rules.ts';
import { asId, type IncomingTransferId } from '../../../domain/common/ids.ts';
import { offersIn, type ProviderOffer } from '../../../domain/providers/providers.ts';
import { type Provider, ProviderUnavailable, type ReturnAnswer, type ReturnRequest } from '../port.ts';
import { answered, type Options, payingAccount } from './options.ts';
import { NOT_TAKEN } from './rejections.ts';

/**
 * The return of money in is a payment to its payer, in full. Banks let no one take back what they have booked, so what cannot go by file, or
 * came to nothing, is an instruction that is held until people say what the bank says, or the bank books a return of its own.
 */
export function returnCalls(options: Options): Pick<Provider, 'returnPayment'> {
  const { provider, database } = options;

  async function instructed(request: ReturnRequest): Promise<ReturnAnswer> {
    const id = asId<IncomingTransferId>(request.incomingTransferId);
    const now = await readClock(database.reader);
    const standing = await database.transaction(async (tx) => {
      const isDue = await lockDueReturn(tx, id);
      const latest = await readLatestInstruction(tx, id);
      if (!isDue || (latest !== null && latest.state !== 'rejected')) return latest;
      const { account, isCertain } = await payerOf(tx, options, request);
      const instruction = returnOf(options, request, account, (latest?.attempt ?? 0) + 1);
      const problem = isCertain ? problemIn(options, instruction, now) : NO_POOLED_ACCOUNT;
      if (problem !== null) {
        const { field, rule } = problem;
        const hold = HOLDS.get(problem) ?? unwritableReturn(field, rule);
        return storeInstruction(tx, instruction, { reasons: [NOT_TAKEN, field, rule], hold });
      }
      const hold = latest === null ? null : rejectedReturn(rejectionCode(latest.reasons));
      return storeInstruction(tx, instruction, { reasons: null, hold });
    });
    if (standing === null) throw new ProviderUnavailable(provider, 'no return is due');
    const { attempt, state, amountMinor, currency, instructionId } = standing;
    if (amountMinor !== request.amountMinor || currency !== request.currency) {
      throw new ProviderUnavailable(provider, 'answer about another amount');
    }
    return state === 'completed' ? { outcome: 'returned', reference: instructionId } : { outcome: 'queued', attempt };
  }

  return {
    returnPayment: (request, { signal }) =>
      answered(provider, () => {
        // The caller is gone, and may have asked again since.
        if (signal?.aborted) throw new ProviderUnavailable(provider, 'timeout');
        return instructed(request);
      }),
  };
}

/** A payment in our own name: the money is no client's. */
function returnOf(
  { provider }: Options,
  request: ReturnRequest,
  account: PayingAccount | undefined,
  attempt: number,
): NewInstruction {
  const { incomingTransferId: transferId, paymentReference, amountMinor, currency, creditor, remittanceText } = request;
  if (attempt > ATTEMPTS_MAX) throw new Error(`attempt ${attempt} of ${transferId} has no instruction id`);
  const instructionId = instructionIdOf(paymentReference, attempt);
  if (account === undefined) throw new Error(`there is no pooled account in ${currency}`);
  const named = { transferId, attempt, provider, instructionId, paymentReference, account, isReturn: true };
  const money = { scheme: request.scheme ?? '', currency, amountMinor };
  return { ...named, ...money, creditor, remittanceText, ultimateDebtorName: '', attributes: {} };
}

type Problem = Pick<ProfileProblem, 'field' | 'rule'>;

const NO_ACCOUNT: Problem = { field: 'creditor.iban', rule: 'account' };
const NO_POOLED_ACCOUNT: Problem = { field: 'account', rule: 'account' };
const HOLDS: ReadonlyMap<Problem, string> = new Map([
  [NO_ACCOUNT, NO_PAYER_ACCOUNT],
  [NO_POOLED_ACCOUNT, ACCOUNT_UNCLEAR],
]);

/** Why no file can carry it. */
function problemIn({ configuration, profile }: Options, payment: NewInstruction, now: Date): Problem | null {
  const { scheme, currency, amountMinor, creditor, instructionId: id } = payment;
  if (creditor.iban === null && creditor.accountNumber === null) return NO_ACCOUNT;
  const { schemes } = configuration;
  const of = { scheme, currency };
  if (!schemes.knows(scheme) || !schemes.carries(of)) return { field: 'scheme', rule: 'scheme' };
  const limitMinor = schemes.amountLimitMinor(of);
  if (limitMinor !== null && amountMinor > limitMinor) return { field: 'amountMinor', rule: 'amount' };
  const written = { ...payment, id, executionDate: schemes.nextAvailableDate(of, now) };
  return problemOf(written, profile);
}

interface Payer {
  readonly account: PayingAccount | undefined;
  /** False: it may have come in at another of ours. */
  readonly isCertain: boolean;
}

/**
 * The account at which it came in, as the bank has booked it; of before that was stored, the one that it names. Money that names another may
 * have come in at any of its currency.
 */
async function payerOf(
  tx: Transaction,
  { configuration, provider }: Options,
  { receiver, currency, serviceProviderId: key }: ReturnRequest,
): Promise<Payer> {
  const configured = configuration.providers.find(({ code }) => code === provider);
  if (configured === undefined) return { account: undefined, isCertain: false };
  const credit = await findEntry(tx, provider, key);
  const ofCurrency = offersIn(configured, currency);
  const accounts = accountsIn(ofCurrency, currency);
  if (credit === null && accounts.length > 1 && (await isBeingStored(tx, provider, key)))
    throw new ProviderUnavailable(provider, 'its credit is not stored yet');
  const booked = credit?.account ?? null;
  const numbers = booked === null ? [receiver.iban, receiver.accountNumber] : [booked];
  const isNamed = (offer: ProviderOffer) =>
    numbers.some((number) => number !== null && isPooledAccount({ offers: [offer] }, number));
  const named = [ofCurrency, configured.offers].map((offers) => accountsIn(offers.filter(isNamed), currency));
  const [account, ...others] = named.find(({ length }) => length > 0) ?? [];
  if (account !== undefined) return { account, isCertain: others.length === 0 };
  return { account: accounts[0], isCertain: booked === null && accounts.length === 1 };
}

/** Its event has come from a file that has still to be taken to its end. */
async function isBeingStored(tx: Transaction, provider: string, key: string): Promise<boolean> {
  if ((await readEventOutcome(tx, provider, `entry:${key}`)) === null) return false;
  return (await listOpenFiles(tx, provider, 'in')).length > 0;
}

/** Each once, as its first offer writes it: another may have other routing codes of the same bank. */
function accountsIn(offers: readonly ProviderOffer[], currency: string): readonly PayingAccount[] {
  const accounts = new Map<string, PayingAccount>();
  for (const offer of offers) {
    const account = payingAccount(offer, currency);
    const { iban, accountNumber, routingCodes } = account;
    const key = iban ?? `${routingCodes['sort-code'] ?? ''} ${accountNumber}`;
    if (!accounts.has(key)) accounts.set(key, account);
  }
  return [...accounts.values()];
}
