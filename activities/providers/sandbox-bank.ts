import * as v from 'valibot';
import { amountNumber, isCurrency } from '../../domain/common/money.ts';
import type { AccountAnswer, AccountCalls, AccountChangeAnswer, Provider } from './port.ts';
import type { PaymentAmount, PaymentAnswer, PaymentState } from './ports/payment-port.ts';
import type { StatementRequest } from './ports/statement-port.ts';
import { code, one, ourReference, providerId } from './ports/texts.ts';
import { paymentInState, verifySandboxBankCallback } from './sandbox-bank-callbacks.ts';
import { migrationCalls } from './sandbox-bank-migration.ts';
import { readEntries, STATEMENT } from './sandbox-bank-statement.ts';
import {
  AMOUNT,
  ATTEMPT,
  BankConnection,
  IDENTIFIERS,
  isCountry,
  lookUp,
  MONEY,
  minorOf,
  REFERENCE_MAX,
  REJECTION,
  rejectionOf,
  requireSameReference,
  SANDBOX_BANK,
  unavailable,
  understood,
} from './sandbox-bank-wire.ts';

/** The adapter of the sandbox bank at `url`; docs/sandbox.md describes the bank's side. */
export function createSandboxBank(settings: {
  readonly url: string;
  readonly secret: string;
}): Required<Omit<Provider, 'hasStatementOf'>> {
  const bank = new BankConnection(settings.url);
  return {
    name: SANDBOX_BANK,
    ...accountCalls(bank),
    ...migrationCalls(bank),
    ...paymentCalls(bank),
    verifyCallback: (headers, rawBody, now) => verifySandboxBankCallback(settings.secret, { headers, rawBody, now }),
  };
}

/** References, ours and the bank's, as path segments. */
function path(parts: TemplateStringsArray, ...references: string[]): string {
  return String.raw(parts, ...references.map(encodeURIComponent));
}

function accountCalls(bank: BankConnection): AccountCalls {
  return {
    async connectClient({ clientId, ...client }, options) {
      const answer = await bank.call('POST', '/clients', { ourReference: clientId, ...client }, options);
      const rejected = rejectionOf(answer, clientId);
      if (rejected !== null) return rejected;
      const { ourReference, reference } = understood(CLIENT, answer.body);
      requireSameReference(clientId, ourReference);
      return { outcome: 'connected', reference };
    },

    async openAccount({ accountId, ...account }, options) {
      const answer = await bank.call('POST', '/accounts', { ourReference: accountId, ...account }, options);
      return rejectionOf(answer, accountId) ?? accountAnswer(accountId, answer.body);
    },

    lookUpAccount: (accountId, options) =>
      lookUp(bank, path`/accounts/${accountId}`, options, (body) => accountAnswer(accountId, body)),

    async changeAccount({ accountId, changeReference, change }, options) {
      const body = { changeReference, ...change };
      const answer = await bank.call('POST', path`/accounts/${accountId}/changes`, body, options);
      return rejectionOf(answer) ?? changeAnswer(changeReference, answer.body);
    },

    lookUpAccountChange: ({ accountId, changeReference }, options) =>
      lookUp(bank, path`/accounts/${accountId}/changes/${changeReference}`, options, (body) =>
        changeAnswer(changeReference, body),
      ),
  };
}

type PaymentCalls = Pick<
  Required<Omit<Provider, 'hasStatementOf'>>,
  'submitPayment' | 'recallPayment' | 'lookUpPayment' | 'lookUpPaymentIn' | 'returnPayment' | 'fetchStatement'
>;

function paymentCalls(bank: BankConnection): PaymentCalls {
  return {
    async submitPayment({ amountMinor, paymentReference: endToEndId, returnOf, ...payment }, options) {
      const returned =
        returnOf === undefined ? {} : { returnOf: { paymentId: returnOf.serviceProviderId, code: returnOf.code } };
      const body = { ...payment, endToEndId, amount: amountNumber(amountMinor, payment.currency), ...returned };
      const answer = await bank.call('POST', '/payments', body, options);
      const rejected = rejectionOf(answer, payment.ourReference, payment.attempt);
      if (rejected !== null) return rejected;
      return submissionAnswer({ ...payment, amountMinor }, paymentState(payment.ourReference, answer.body));
    },

    async recallPayment({ ourReference, recallReference }, options) {
      const answer = await bank.call('POST', path`/payments/${ourReference}/recalls`, { recallReference }, options);
      const rejected = rejectionOf(answer, ourReference);
      // Not the rejection of a recall: the next look-up finds out what happened to the payment.
      if (rejected?.error.code === NOTHING_LEFT) return { outcome: 'asked' };
      if (rejected !== null) return rejected;
      const recalled = understood(RECALLED, answer.body);
      requireSameReference(ourReference, recalled.ourReference);
      requireSameReference(recallReference, recalled.recallReference);
      return { outcome: 'asked' };
    },

    lookUpPayment: (ourReference, options) =>
      lookUp(bank, path`/payments/${ourReference}`, options, (body) => paymentState(ourReference, body)),

    lookUpPaymentIn: (serviceProviderId, options) =>
      lookUp(bank, path`/payments-in/${serviceProviderId}`, options, (body) => {
        const payment = paymentInState(body);
        requireSameReference(serviceProviderId, payment.serviceProviderId);
        return payment;
      }),

    async returnPayment({ incomingTransferId, serviceProviderId, amountMinor, ...returned }, options) {
      const { currency, code, paymentReference: endToEndId } = returned;
      const amount = amountNumber(amountMinor, currency);
      const body = { ourReference: incomingTransferId, endToEndId, amount, currency, code };
      const answer = await bank.call('POST', path`/payments-in/${serviceProviderId}/send-back`, body, options);
      const rejected = rejectionOf(answer);
      if (rejected !== null) return rejected;
      const { sentBack } = understood(SENT_BACK, answer.body);
      requireSameReference(incomingTransferId, sentBack.ourReference);
      return { outcome: 'returned', reference: sentBack.reference };
    },

    async fetchStatement(request, options) {
      const answer = await bank.call('GET', `/statement?${statementQuery(request)}`, null, options);
      if (answer.status !== 200) throw unavailable(`status ${answer.status}`);
      const { entries, next } = understood(STATEMENT, answer.body);
      return { ...readEntries(entries, request.currency), next };
    },
  };
}

const CLIENT = v.object({ ourReference: ourReference(), reference: providerId(REFERENCE_MAX) });

const ABOUT = { ourReference: ourReference() };

const ACCOUNT = v.variant('status', [
  v.object({ status: v.literal('opening'), reference: providerId(REFERENCE_MAX), ...ABOUT }),
  v.object({ status: v.literal('rejected'), error: REJECTION, ...ABOUT }),
  v.object({
    status: v.picklist(['open', 'closed']),
    ...ABOUT,
    reference: providerId(REFERENCE_MAX),
    currency: one(isCurrency),
    country: one(isCountry),
    ...IDENTIFIERS,
  }),
]);

function accountAnswer(accountId: string, body: unknown): AccountAnswer {
  const account = understood(ACCOUNT, body);
  requireSameReference(accountId, account.ourReference);
  switch (account.status) {
    case 'opening':
      return { outcome: 'accepted', reference: account.reference };
    case 'rejected':
      return { outcome: 'rejected', error: account.error };
    case 'open':
    case 'closed': {
      const { status, ourReference: _, ...opened } = account;
      return { outcome: status === 'open' ? 'opened' : 'closed', ...opened };
    }
  }
}

const CHANGE = v.variant('status', [
  v.object({ status: v.picklist(['accepted', 'changed']), changeReference: ourReference() }),
  v.object({ status: v.literal('rejected'), error: REJECTION, changeReference: ourReference() }),
]);

function changeAnswer(changeReference: string, body: unknown): AccountChangeAnswer {
  const change = understood(CHANGE, body);
  requireSameReference(changeReference, change.changeReference);
  return change.status === 'rejected' ? { outcome: 'rejected', error: change.error } : { outcome: change.status };
}

const RECALL = { recallReference: ourReference(), status: v.picklist(['asked', 'accepted', 'rejected']) };
/** The bank's answer to a recall of a payment that has failed or was already returned. */
const NOTHING_LEFT = 'ARDT';
const RECALLED = v.object({ ...RECALL, ...ABOUT });

const PAYMENT_NAMES = {
  paymentId: providerId(),
  paymentReference: providerId(),
  recall: v.nullish(v.object(RECALL), null),
  ...ABOUT,
  ...MONEY,
};

const RETURN = v.object({ returnReference: providerId(), code: code(), amount: AMOUNT });

const PAYMENT = v.variant('status', [
  v.object({ status: v.picklist(['accepted', 'released', 'completed']), ...PAYMENT_NAMES }),
  v.object({ status: v.literal('rejected'), attempt: ATTEMPT, error: REJECTION, ...PAYMENT_NAMES }),
  v.object({ status: v.literal('failed'), code: code(), ...PAYMENT_NAMES }),
  v.object({
    status: v.literal('returned'),
    returns: v.tupleWithRest([RETURN], RETURN),
    ...PAYMENT_NAMES,
  }),
]);

function paymentState(ourReference: string, body: unknown): PaymentState {
  const payment = understood(PAYMENT, body);
  requireSameReference(ourReference, payment.ourReference);
  const { paymentId, paymentReference, currency } = payment;
  const { recall } = payment;
  const recalled =
    recall === null ? {} : { recall: { recallReference: recall.recallReference, outcome: recall.status } };
  const money = { amountMinor: minorOf(payment), currency, ...recalled };
  const named = { serviceProviderId: paymentId, serviceProviderReference: paymentReference, ...money };
  switch (payment.status) {
    case 'rejected':
      return { outcome: 'rejected', attempt: payment.attempt, error: payment.error, ...money };
    case 'completed':
      return { outcome: 'completed', ...named };
    case 'failed':
      return { outcome: 'failed', code: payment.code, ...named };
    case 'returned': {
      const returnOf = ({ amount, ...one }: v.InferOutput<typeof RETURN>) => ({
        ...one,
        returnedMinor: minorOf({ amount, currency }),
      });
      const [first, ...others] = payment.returns;
      return { outcome: 'returned', returns: [returnOf(first), ...others.map(returnOf)], ...named };
    }
    default:
      return { outcome: 'accepted', ...named };
  }
}

/** The bank answers a repeated submission with the payment's present state: accepted at least, unless rejected. */
function submissionAnswer(asked: PaymentAmount, state: PaymentState): PaymentAnswer {
  if (state.amountMinor !== asked.amountMinor || state.currency !== asked.currency) {
    throw unavailable('answer about another amount');
  }
  // A rejection comes with 422, and names its attempt. This bank queues nothing.
  if (state.outcome === 'rejected' || state.outcome === 'queued') throw unavailable('answer not understood');
  const { serviceProviderId, serviceProviderReference } = state;
  const outcome = state.outcome === 'completed' ? 'completed' : 'accepted';
  return { outcome, serviceProviderId, serviceProviderReference };
}

const SENT_BACK = v.object({ sentBack: v.object({ reference: providerId(REFERENCE_MAX), ...ABOUT }) });

function statementQuery({ currency, from, to, after }: StatementRequest): URLSearchParams {
  const query = new URLSearchParams({ currency, from: from.toISOString(), to: to.toISOString() });
  if (after !== undefined) query.set('after', after);
  return query;
}
