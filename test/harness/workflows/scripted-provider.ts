import type { Provider } from '../../../activities/providers/port.ts';
import type { PaymentAnswer, PaymentRequest, PaymentState } from '../../../activities/providers/ports/payment-port.ts';

/**
 * A provider inside the test process, for workflow tests that script its answers; whole-service tests use the sandbox
 * bank.
 */
export interface ScriptedProvider
  extends Required<Omit<Provider, 'recallPayment' | 'hasStatementOf'>>,
    Pick<Provider, 'recallPayment'> {
  /** References in order of submission, repetitions included. */
  readonly submissions: string[];
  readonly lookUps: string[];
  readonly returned: string[];
  /** How it answers from now on. */
  answer: {
    submit: (request: PaymentRequest, signal: AbortSignal | undefined) => Promise<PaymentAnswer>;
    lookUp: (ourReference: string) => Promise<PaymentState | { readonly outcome: 'not-found' }>;
  };
}

/** The money of the stage's transfers, unless a test sets another amount. */
export const MONEY = { amountMinor: 1_000n, currency: 'GBP' } as const;

export function completedPayment(ourReference: string): PaymentAnswer & PaymentState {
  return { outcome: 'completed', serviceProviderId: `p-${ourReference}`, serviceProviderReference: null, ...MONEY };
}

export function acceptedPayment(ourReference: string): PaymentAnswer & PaymentState {
  return { outcome: 'accepted', serviceProviderId: `p-${ourReference}`, serviceProviderReference: null, ...MONEY };
}

export function scriptedProvider(): ScriptedProvider {
  const submissions: string[] = [];
  const lookUps: string[] = [];
  const returned: string[] = [];
  const answer: ScriptedProvider['answer'] = {
    submit: async ({ ourReference }) => completedPayment(ourReference),
    lookUp: async (ourReference) => completedPayment(ourReference),
  };
  const opened = (accountId: string) => ({
    outcome: 'opened' as const,
    reference: `a-${accountId}`,
    country: 'GB',
    currency: 'GBP',
    iban: null,
    accountNumber: accountId.replaceAll(/\D/g, '').slice(-8).padStart(8, '1'),
    routingCodes: { 'sort-code': '040004' },
  });
  return {
    name: 'sandbox-bank',
    submissions,
    lookUps,
    returned,
    answer,
    lookUpClient: async () => ({ outcome: 'not-found' }),
    lookUpBeneficiary: async () => ({ outcome: 'not-found' }),
    lookUpExistingAccount: async () => ({ outcome: 'not-found' }),
    handOverAccount: async () => ({ outcome: 'not-found' }),
    lookUpOpeningBalance: async () => ({ outcome: 'not-found' }),
    connectClient: async ({ clientId }) => ({ outcome: 'connected', reference: `c-${clientId}` }),
    openAccount: async ({ accountId }) => opened(accountId),
    lookUpAccount: async (accountId) => opened(accountId),
    changeAccount: async () => ({ outcome: 'changed' }),
    lookUpAccountChange: async () => ({ outcome: 'changed' }),
    submitPayment: async (request, { signal }) => {
      submissions.push(request.ourReference);
      return answer.submit(request, signal);
    },
    lookUpPayment: async (ourReference) => {
      lookUps.push(ourReference);
      return answer.lookUp(ourReference);
    },
    lookUpPaymentIn: async () => ({ outcome: 'not-found' }),
    returnPayment: async ({ incomingTransferId }) => {
      returned.push(incomingTransferId);
      return { outcome: 'returned', reference: `r-${incomingTransferId}` };
    },
    fetchStatement: async () => ({ entries: [], unreadable: [], next: null }),
    verifyCallback: () => [],
  };
}
