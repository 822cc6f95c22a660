import { defineSignal, proxyActivities, proxyLocalActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { AccountConnectionNext, AccountProviderCalls, AccountTransitions } from '../activities/accounts.ts';
import type { OpenWorkReads } from '../activities/open-work.ts';
import { CHANGED_SIGNAL, resourceIdOf } from './messages.ts';
import { PROVIDER_CALL, TRANSITION } from './policies.ts';
import { answerOf, changeOrDeadline, evenIfCancelled, transition } from './waits.ts';

const { advanceAccountConnection } = proxyLocalActivities<AccountTransitions>({
  ...TRANSITION,
  summary: "Move the account's change as far as its row allows",
});
const { describeWait } = proxyLocalActivities<OpenWorkReads>({
  ...TRANSITION,
  summary: 'Show what the account waits for',
});
const { connectClient } = proxyActivities<AccountProviderCalls>({
  ...PROVIDER_CALL,
  summary: 'Make the client known to the provider',
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
  summary: 'Ask the provider what became of the request',
});

/** An account is opened or closed at its provider: first the client is made known there, then the request goes out. */
export async function accountConnection(): Promise<void> {
  let changed = false;
  setHandler(defineSignal(CHANGED_SIGNAL), () => {
    changed = true;
  });
  const id = resourceIdOf(workflowInfo().workflowId);
  const advance = () => advanceAccountConnection(id);
  const unanswered = { changed: () => changed, describe: () => describeWait('account-connection', id) };
  // A call to the provider records the answer where it is received and returns what is next: it is a load as well.
  const ask = (call: () => Promise<AccountConnectionNext>) => async () =>
    (await answerOf(call, unanswered)) ?? (await advance());
  let load = advance;

  await evenIfCancelled(async () => {
    for (;;) {
      changed = false;
      const next = await transition(load);
      load = advance;
      switch (next.do) {
        case 'end':
          if (changed) break;
          return;

        case 'wait':
          await changeOrDeadline(() => changed, next);
          break;

        case 'connect-client':
          load = ask(() => connectClient(id));
          break;

        case 'open-account':
          load = ask(() => openAccount(id, next.attempt));
          break;

        case 'close-account':
          load = ask(() => closeAccount(id, next.attempt));
          break;

        case 'look-up':
          load = ask(() => lookUpAccount(id, next.count));
          break;
      }
    }
  });
}
