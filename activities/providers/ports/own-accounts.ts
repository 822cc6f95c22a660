import { findOffer, type Provider } from '../../../domain/providers/providers.ts';
import type { AccountCalls, OpenedAccount } from '../port.ts';
import type { AccountPlace } from './common.ts';

/**
 * Our clients' accounts at a provider that opens none: they are known to us alone, and are paid into through the pooled account that their
 * offer states. So every request is answered here and at once.
 */
export function ownAccounts(provider: Provider): AccountCalls {
  const opened = (accountId: string, place: AccountPlace): OpenedAccount => {
    const bank = findOffer(provider, place)?.offer.bank ?? null;
    const { iban = null, accountNumber = null } = bank?.pooledAccount ?? {};
    return { ...place, reference: accountId, iban, accountNumber, routingCodes: bank?.routingCodes ?? {} };
  };
  return {
    connectClient: async ({ clientId }) => ({ outcome: 'connected', reference: clientId }),
    openAccount: async ({ accountId, currency, country }) => ({
      outcome: 'opened',
      ...opened(accountId, { currency, country }),
    }),
    // Nothing is ever left unanswered, so nothing is to be found out: a request that was not recorded is made once more.
    lookUpAccount: async () => ({ outcome: 'not-found' }),
    changeAccount: async () => ({ outcome: 'changed' }),
    lookUpAccountChange: async () => ({ outcome: 'changed' }),
  };
}
