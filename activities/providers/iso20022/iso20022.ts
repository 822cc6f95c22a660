import { readLatestCancellation, storeCancellation } from '../../../db/bank-files/cancellations.ts';
import { listReturns } from '../../../db/bank-files/entries.ts';
import {
  findStanding,
  type Instruction,
  readLatestInstruction,
  storeInstruction,
} from '../../../db/bank-files/instructions.ts';
import { listStatedAccounts, listStatementEntries, readReceivedEvent } from '../../../db/bank-files/statements.ts';
import { readClock } from '../../../db/common/clock.ts';
import type { Database } from '../../../db/query/database.ts';
import { rejectionCode } from '../../../domain/bank-files/exchange/progress.ts';
import { areAllNamed } from '../../../domain/bank-files/exchange/receipts.ts';
import { ATTEMPTS_MAX, instructionIdOf } from '../../../domain/bank-files/instructions.ts';
import { problemOf } from '../../../domain/bank-files/profile-rules.ts';
import { isUuid } from '../../../domain/common/ids.ts';
import { dateInUtc, type LocalDate } from '../../../domain/common/time/dates.ts';
import { findOffer } from '../../../domain/providers/providers.ts';
import { BOUNDARY_MS } from '../../../domain/reconciliation/movements.ts';
import { type Provider, ProviderUnavailable } from '../port.ts';
import {
  type PaymentAnswer,
  type PaymentRequest,
  type PaymentState,
  type RecallState,
  recallNumber,
  recallReference,
} from '../ports/payment-port.ts';
import { answered, type Options, payingAccount } from './options.ts';
import { NOT_TAKEN, rejectionOf, statedRejection } from './rejections.ts';
import { returnCalls } from './returns.ts';
import { receivedState, statementEntryOf } from './statement.ts';

const STATEMENT_PAGE = 500;

/**
 * A bank that is instructed by files. Every call is answered from Postgres: an instruction is a row that the next file carries, and what the
 * bank has told of it since is in the row.
 */
export function iso20022Provider(options: Options): Provider {
  const { provider, profile } = options;
  return {
    name: provider,
    ...paymentCalls(options),
    ...(profile.takesCancellations ? recallCalls(options) : {}),
    ...reportCalls(options),
    ...returnCalls(options),
  };
}

type PaymentCalls = Pick<Provider, 'submitPayment' | 'lookUpPayment'>;

function paymentCalls(options: Options): PaymentCalls {
  const { database, configuration, provider, profile } = options;
  const configured = configuration.providers.find(({ code }) => code === provider);

  async function instructed(request: PaymentRequest, signal: AbortSignal | undefined): Promise<PaymentAnswer> {
    // The caller is gone, and may have submitted again since.
    if (signal?.aborted) throw new ProviderUnavailable(provider, 'timeout');
    const { ourReference, paymentReference, attempt, debtor, returnOf: _, ...payment } = request;
    if (attempt > ATTEMPTS_MAX) throw new Error(`attempt ${attempt} of ${ourReference} has no instruction id`);
    const { currency, amountMinor, scheme } = payment;
    const country = debtor.country ?? configured?.offers[0]?.defaultCountry ?? '';
    const offer = configured === undefined ? undefined : findOffer(configured, { currency, country })?.offer;
    const account = payingAccount(offer, currency);
    const instructionId = instructionIdOf(paymentReference, attempt);
    const instruction = { ...payment, paymentReference, ultimateDebtorName: debtor.name, isReturn: false };
    const executionDate = configuration.schemes.nextAvailableDate(
      { scheme, currency },
      await readClock(database.reader),
    );
    const stored = await database.transaction(async (tx) => {
      // What stands may be paid, whatever the profile takes by now.
      const standing = await findStanding(tx, ourReference, attempt);
      if (standing !== null && (standing.state !== 'rejected' || standing.attempt >= attempt)) return standing;
      // Checked before acceptance, and here as the profile may have changed since, or a return may name no account.
      const found = problemOf({ ...instruction, id: instructionId, executionDate }, profile);
      const reasons = found === null ? null : [NOT_TAKEN, found.field, found.rule];
      const stated = { ...instruction, transferId: ourReference, attempt, provider, instructionId, account };
      return storeInstruction(tx, stated, { reasons });
    });
    if (stored.amountMinor !== amountMinor || stored.currency !== currency) {
      throw new ProviderUnavailable(provider, 'answer about another amount');
    }
    return answerOf(stored);
  }

  return {
    submitPayment: (request, { signal }) => answered(provider, () => instructed(request, signal)),
    lookUpPayment: (ourReference) =>
      answered(provider, async () => {
        const found = isUuid(ourReference) ? await readLatestInstruction(database.reader, ourReference) : null;
        return found === null ? { outcome: 'not-found' } : stateOf(database, found);
      }),
  };
}

/** Its rejection of a recall of a payment that it did not carry out. */
const NOTHING_LEFT = 'ARDT';
const RECALL_REJECTED = 'CUST';

function recallCalls({ database, provider }: Options): Pick<Provider, 'recallPayment'> {
  return {
    recallPayment: ({ ourReference, recallReference: reference }) =>
      answered(provider, async () => {
        const number = recallNumber(ourReference, reference);
        const found = await readLatestInstruction(database.reader, ourReference);
        if (number === null || found === null) throw new Error(`${ourReference} was not instructed at ${provider}`);
        const { attempt, paymentReference, state } = found;
        if (state === 'rejected' || state === 'failed')
          return { outcome: 'rejected', error: rejectionOf(NOTHING_LEFT) };
        const cancellationId = `${paymentReference}R${number}`;
        const request = { transferId: ourReference, number, attempt, provider, cancellationId };
        const stored = await database.transaction((tx) => storeCancellation(tx, request));
        if (stored.state === 'rejected') return { outcome: 'rejected', error: rejectionOf(RECALL_REJECTED) };
        return { outcome: 'asked' };
      }),
  };
}

type ReportCalls = Pick<Provider, 'lookUpPaymentIn' | 'fetchStatement' | 'hasStatementOf'>;

function reportCalls({ database, configuration, provider }: Options): ReportCalls {
  const configured = configuration.providers.find(({ code }) => code === provider);
  const hasStatementOf = async (currency: string, day: LocalDate) =>
    areAllNamed(configured, currency, await listStatedAccounts(database.reader, provider, currency, day));
  return {
    hasStatementOf: ({ currency, day }) => answered(provider, () => hasStatementOf(currency, day)),
    lookUpPaymentIn: (serviceProviderId) =>
      answered(provider, async () => {
        const event = await readReceivedEvent(database.reader, provider, serviceProviderId);
        return event === null ? { outcome: 'not-found' } : receivedState(event);
      }),
    fetchStatement: ({ currency, from, to, after }) =>
      answered(provider, async () => {
        const day = dateInUtc(new Date(to.getTime() - BOUNDARY_MS - 1));
        if (!(await hasStatementOf(currency, day)))
          throw new ProviderUnavailable(provider, 'no statement of the day yet');
        const page = { provider, currency, from, to, after: after ?? null, limit: STATEMENT_PAGE };
        const entries = await listStatementEntries(database.reader, page);
        const read = entries.map(statementEntryOf);
        return {
          entries: read.flatMap((entry) => (entry === null ? [] : [entry])),
          unreadable: entries.filter((_, index) => read[index] === null).map(({ key }) => key),
          next: entries.length < STATEMENT_PAGE ? null : (entries.at(-1)?.key ?? null),
        };
      }),
  };
}

function answerOf(instruction: Instruction): PaymentAnswer {
  const { attempt, state, instructionId, bankReference, reasons } = instruction;
  const named = { serviceProviderId: instructionId, serviceProviderReference: bankReference };
  switch (state) {
    case 'released':
    // Its look-up says that it failed.
    case 'failed':
      return { outcome: 'accepted', ...named };
    case 'completed':
      return { outcome: 'completed', ...named };
    case 'rejected':
      return { outcome: 'rejected', error: statedRejection(reasons) };
    default:
      return { outcome: 'queued', attempt };
  }
}

async function stateOf(database: Database, instruction: Instruction): Promise<PaymentState> {
  const { transferId, attempt, amountMinor, currency, state, instructionId, bankReference, reasons } = instruction;
  const shared = { amountMinor, currency, ...(await recallOf(database, transferId)) };
  const named = { serviceProviderId: instructionId, serviceProviderReference: bankReference };
  if (state === 'failed') return { outcome: 'failed', code: rejectionCode(reasons), ...named, ...shared };
  if (state === 'completed') {
    const [first, ...others] = (await listReturns(database.reader, transferId)).map((entry) => ({
      returnReference: entry.key,
      code: entry.code ?? 'NARR',
      returnedMinor: entry.amountMinor,
    }));
    if (first !== undefined) return { outcome: 'returned', returns: [first, ...others], ...named, ...shared };
  }
  const answer = answerOf(instruction);
  return answer.outcome === 'rejected' ? { ...answer, attempt, ...shared } : { ...answer, ...shared };
}

const RECALLS = { queued: 'asked', assigned: 'asked', accepted: 'accepted', rejected: 'rejected' } as const;

async function recallOf(database: Database, transferId: string): Promise<{ readonly recall?: RecallState }> {
  const found = await readLatestCancellation(database.reader, transferId);
  if (found === null) return {};
  return { recall: { recallReference: recallReference(transferId, found.number), outcome: RECALLS[found.state] } };
}
