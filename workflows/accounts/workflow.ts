import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { AccountProviderCalls, AccountTransitions } from '../../activities/accounts/activities.ts';
import { PROVIDER_CALL, TRANSITION } from '../common/policies.ts';
import { reconcileLoop } from '../common/waits.ts';

const { advanceAccountConnection } = proxyLocalActivities<AccountTransitions>({
  ...TRANSITION,
  summary: "Advance the account's opening or closing",
});
const { connectClient } = proxyActivities<AccountProviderCalls>({
  ...PROVIDER_CALL,
  summary: 'Connect the client at the provider, and open the account',
});
const { openAccount } = proxyActivities<AccountProviderCalls>({
  ...PROVIDER_CALL,
  summary: 'Open the account at the provider',
});
const { closeAccount } = proxyActivities<AccountProviderCalls>({
  ...PROVIDER_CALL,
  summary: 'Close the account at the provider',
});
const { lookUpAccount } = proxyActivities<AccountProviderCalls>({
  ...PROVIDER_CALL,
  summary: 'Look up the request at the provider',
});

/** Opens or closes an account at its provider, after connecting the client. */
export function accountConnection(): Promise<void> {
  return reconcileLoop('account-connection', advanceAccountConnection, (next, id, { callThenReload }) => {
    switch (next.do) {
      case 'connect-client':
        return callThenReload(() => connectClient(id));

      case 'open-account':
        return callThenReload(() => openAccount(id, next.attempt));

      case 'close-account':
        return callThenReload(() => closeAccount(id, next.attempt));

      case 'look-up':
        return callThenReload(() => lookUpAccount(id, next.count));
    }
  });
}
