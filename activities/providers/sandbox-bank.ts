import * as v from 'valibot';
import { amountNumber } from '../../domain/money.ts';
import {
  type AccountAnswer,
  type AccountChangeAnswer,
  type PaymentState,
  type Provider,
  STATEMENT_ENTRY_KINDS,
  type StatementEntry,
  type StatementRequest,
} from './port.ts';
import { paymentInState, verifySandboxBankCallback } from './sandbox-bank-callbacks.ts';
import { migrationCalls } from './sandbox-bank-migration.ts';
import {
  BankConnection,
  IDENTIFIERS,
  INSTANT,
  isNotFound,
  MONEY,
  minorOf,
  REFUSAL,
  refusalOf,
  SANDBOX_BANK,
  unavailable,
  understood,
} from './sandbox-bank-wire.ts';

const NOT_FOUND = { outcome: 'not-found' } as const;

/** The adapter of the sandbox bank. `url` is the sandbox's own; docs/sandbox.md has the bank's side. */
export function createSandboxBank(settings: { readonly url: string; readonly secret: string }): Provider {
  const bank = new BankConnection(settings.url);
  return {
    name: SANDBOX_BANK,
    ...accountCalls(bank),
    ...migrationCalls(bank),
    ...paymentCalls(bank),
    verifyCallback: (headers, rawBody, now) => verifySandboxBankCallback(settings.secret, { headers, rawBody, now }),
  };
}

/** References of ours and of the bank's, as parts of a path. */
function path(parts: TemplateStringsArray, ...references: string[]): string {
  return String.raw(parts, ...references.map(encodeURIComponent));
}

type AccountCalls = Pick<
  Provider,
  'connectClient' | 'openAccount' | 'lookUpAccount' | 'changeAccount' | 'lookUpAccountChange'
>;

function accountCalls(bank: BankConnection): AccountCalls {
  return {
    async connectClient({ clientId, ...client }, options) {
      const answer = await bank.call('POST', '/clients', { ourReference: clientId, ...client }, options);
      const refused = refusalOf(answer);
      if (refused !== null) return refused;
      return { outcome: 'connected', reference: understood(CLIENT, answer.body).reference };
    },

    async openAccount({ accountId, ...account }, options) {
      const answer = await bank.call('POST', '/accounts', { ourReference: accountId, ...account }, options);
      return refusalOf(answer) ?? accountAnswer(answer.body);
    },

    async lookUpAccount(accountId, options) {
      const answer = await bank.call('GET', path`/accounts/${accountId}`, null, options);
      return isNotFound(answer) ? NOT_FOUND : (refusalOf(answer) ?? accountAnswer(answer.body));
    },

    async changeAccount({ accountId, changeReference, change }, options) {
      const body = { changeReference, ...change };
      const answer = await bank.call('POST', path`/accounts/${accountId}/changes`, body, options);
      return refusalOf(answer) ?? changeAnswer(answer.body);
    },

    async lookUpAccountChange({ accountId, changeReference }, options) {
      const answer = await bank.call('GET', path`/accounts/${accountId}/changes/${changeReference}`, null, options);
      return isNotFound(answer) ? NOT_FOUND : (refusalOf(answer) ?? changeAnswer(answer.body));
    },
  };
}

type PaymentCalls = Pick<
  Provider,
  'submitPayment' | 'lookUpPayment' | 'lookUpPaymentIn' | 'sendBack' | 'fetchStatement'
>;

function paymentCalls(bank: BankConnection): PaymentCalls {
  return {
    async submitPayment({ amountMinor, ...payment }, options) {
      const body = { ...payment, amount: amountNumber(amountMinor, payment.currency) };
      const answer = await bank.call('POST', '/payments', body, options);
      const refused = refusalOf(answer);
      if (refused !== null) return refused;
      const state = paymentState(answer.body);
      // A repeated submission is answered with what the payment has become.
      if (state.outcome !== 'failed' && state.outcome !== 'returned') return state;
      const { serviceProviderId, serviceProviderReference } = state;
      return { outcome: 'accepted', serviceProviderId, serviceProviderReference };
    },

    async lookUpPayment(ourReference, options) {
      const answer = await bank.call('GET', path`/payments/${ourReference}`, null, options);
      return isNotFound(answer) ? NOT_FOUND : (refusalOf(answer) ?? paymentState(answer.body));
    },

    async lookUpPaymentIn(serviceProviderId, options) {
      const answer = await bank.call('GET', path`/payments-in/${serviceProviderId}`, null, options);
      if (isNotFound(answer)) return NOT_FOUND;
      if (answer.status !== 200) throw unavailable(`status ${answer.status}`);
      return paymentInState(answer.body);
    },

    async sendBack({ incomingTransferId, serviceProviderId, amountMinor, currency, code }, options) {
      const body = { ourReference: incomingTransferId, amount: amountNumber(amountMinor, currency), currency, code };
      const answer = await bank.call('POST', path`/payments-in/${serviceProviderId}/send-back`, body, options);
      const refused = refusalOf(answer);
      if (refused !== null) return refused;
      return { outcome: 'sent-back', reference: understood(SENT_BACK, answer.body).sentBack.reference };
    },

    async fetchStatement(request, options) {
      const answer = await bank.call('GET', `/statement?${statementQuery(request)}`, null, options);
      if (answer.status !== 200) throw unavailable(`status ${answer.status}`);
      const { entries, next } = understood(STATEMENT, answer.body);
      return { entries: entries.map(statementEntry), next };
    },
  };
}

const CLIENT = v.object({ reference: v.string() });

const ACCOUNT = v.variant('status', [
  v.object({ status: v.literal('opening'), reference: v.string() }),
  v.object({ status: v.literal('closed'), reference: v.string() }),
  v.object({ status: v.literal('refused'), error: REFUSAL }),
  v.object({
    status: v.literal('open'),
    reference: v.string(),
    currency: v.string(),
    country: v.string(),
    ...IDENTIFIERS,
  }),
]);

function accountAnswer(body: unknown): AccountAnswer {
  const account = understood(ACCOUNT, body);
  switch (account.status) {
    case 'opening':
      return { outcome: 'accepted', reference: account.reference };
    case 'closed':
      return { outcome: 'closed', reference: account.reference };
    case 'refused':
      return { outcome: 'refused', error: account.error };
    case 'open': {
      const { status: _, ...opened } = account;
      return { outcome: 'opened', ...opened };
    }
  }
}

const CHANGE = v.variant('status', [
  v.object({ status: v.picklist(['accepted', 'changed']) }),
  v.object({ status: v.literal('refused'), error: REFUSAL }),
]);

function changeAnswer(body: unknown): AccountChangeAnswer {
  const change = understood(CHANGE, body);
  return change.status === 'refused' ? { outcome: 'refused', error: change.error } : { outcome: change.status };
}

const PAYMENT_NAMES = { paymentId: v.string(), paymentReference: v.string() };

const PAYMENT = v.variant('status', [
  v.object({ status: v.picklist(['accepted', 'released', 'completed']), ...PAYMENT_NAMES }),
  v.object({ status: v.literal('refused'), error: REFUSAL }),
  v.object({ status: v.literal('failed'), code: v.string(), ...PAYMENT_NAMES }),
  v.object({
    status: v.literal('returned'),
    code: v.string(),
    returnReference: v.string(),
    ...MONEY,
    ...PAYMENT_NAMES,
  }),
]);

function paymentState(body: unknown): PaymentState {
  const payment = understood(PAYMENT, body);
  if (payment.status === 'refused') return { outcome: 'refused', error: payment.error };
  const names = { serviceProviderId: payment.paymentId, serviceProviderReference: payment.paymentReference };
  switch (payment.status) {
    case 'completed':
      return { outcome: 'completed', ...names };
    case 'failed':
      return { outcome: 'failed', code: payment.code, ...names };
    case 'returned': {
      const { code, returnReference, currency } = payment;
      return { outcome: 'returned', code, returnReference, amountMinor: minorOf(payment), currency, ...names };
    }
    default:
      return { outcome: 'accepted', ...names };
  }
}

const SENT_BACK = v.object({ sentBack: v.object({ reference: v.string() }) });

const STATEMENT = v.object({
  entries: v.array(
    v.object({
      entryId: v.string(),
      bookedAt: INSTANT,
      kind: v.picklist(STATEMENT_ENTRY_KINDS),
      direction: v.picklist(['debit', 'credit']),
      ...MONEY,
      paymentId: v.string(),
      ourReference: v.nullable(v.string()),
    }),
  ),
  next: v.nullable(v.string()),
});

function statementQuery({ currency, from, to, after }: StatementRequest): URLSearchParams {
  const query = new URLSearchParams({ currency, from: from.toISOString(), to: to.toISOString() });
  if (after !== undefined) query.set('after', after);
  return query;
}

function statementEntry(entry: v.InferOutput<typeof STATEMENT>['entries'][number]): StatementEntry {
  const { entryId, bookedAt, kind, direction, currency, paymentId, ourReference } = entry;
  const amountMinor = minorOf(entry);
  return { entryId, bookedAt, kind, direction, amountMinor, currency, serviceProviderId: paymentId, ourReference };
}
