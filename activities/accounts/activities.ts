import {
  advanceAccountConnection,
  findAccountForProvider,
  recordAccountOutcome,
} from '../../db/accounts/connections.ts';
import { recordClientConnection } from '../../db/clients/connections.ts';
import type { Transaction } from '../../db/query/database.ts';
import type { AccountConnectionStep } from '../../domain/accounts/accounts.ts';
import type { AccountOutcome } from '../../domain/accounts/connections.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import { type AccountId, asId } from '../../domain/common/ids.ts';
import type { WithWait } from '../../domain/common/waits.ts';
import { type ActivityDependencies, providerOf } from '../common/dependencies.ts';
import { whileHeartbeating } from '../common/heartbeats.ts';
import { endWhenGone, TRANSITION_LIMITS, withWait } from '../common/open-work.ts';
import { type AccountCalls, opensAccounts } from '../providers/port.ts';
import type { CallOptions } from '../providers/ports/common.ts';
import { ownAccounts } from '../providers/ports/own-accounts.ts';
import {
  type AnsweringProvider,
  closingOutcome,
  closingReference,
  openingOutcome,
} from '../providers/reports/account-reports.ts';

export type AccountConnectionNext = WithWait<AccountConnectionStep>;

export type AccountTransitions = ReturnType<typeof accountTransitions>;
export type AccountProviderCalls = ReturnType<typeof accountProviderCalls>;

export function accountTransitions({ database, logger }: ActivityDependencies) {
  return {
    async advanceAccountConnection(id: string): Promise<AccountConnectionNext> {
      return endWhenGone(logger, id, () => database.transaction((tx) => nextStep(tx, id), TRANSITION_LIMITS));
    },
  };
}

async function nextStep(tx: Transaction, id: string): Promise<AccountConnectionNext> {
  const step = await advanceAccountConnection(tx, asId<AccountId>(id));
  return withWait(tx, 'account-connection', id, step);
}

/**
 * Each activity calls the provider and records the answer before it returns the next step. Elsewhere these are two
 * activities; here the answer contains account numbers and names, which must stay out of workflow histories. Both
 * halves are safe to repeat: the provider knows our reference, and a completed transition is not repeated.
 */
export function accountProviderCalls(dependencies: ActivityDependencies) {
  const { database, logger } = dependencies;

  async function ask(id: string, call: Call): Promise<AccountConnectionNext> {
    return endWhenGone(logger, id, () =>
      whileHeartbeating(async (signal) => {
        const found = await findAccountForProvider(database.reader, asId<AccountId>(id));
        if (found === null) throw recordNotFound('account', 'id', id);
        const { provider } = found.account;
        const from = { provider, providers: dependencies.configuration.providers };
        const record = await call(found, accountCallsOf(dependencies, provider), { signal }, from);
        return database.transaction(async (tx) => {
          await record(tx);
          return nextStep(tx, id);
        });
      }),
    );
  }

  return {
    /**
     * Continues with the opening of the account if that is the next step. If the provider does not answer, returns that step,
     * and the `openAccount` activity repeats the same request.
     */
    async connectClient(id: string): Promise<AccountConnectionNext> {
      const next = await ask(id, connecting);
      if (next.do !== 'open-account') return next;
      return ask(id, opening(next.attempt)).catch((error: unknown) => {
        logger.info(
          { id, reason: error instanceof Error ? error.name : typeof error },
          'the provider did not answer the opening; it is requested again',
        );
        return next;
      });
    },
    async openAccount(id: string, attempt: number): Promise<AccountConnectionNext> {
      return ask(id, opening(attempt));
    },
    async closeAccount(id: string, attempt: number): Promise<AccountConnectionNext> {
      return ask(id, async (found, provider, options) => {
        const change = { ...closingOf(found, attempt), change: { kind: 'close' } } as const;
        return recordingOf(found, 'close', attempt, closingOutcome(await provider.changeAccount(change, options)));
      });
    },
    /** Looks up the pending request; the count only distinguishes one look-up from the next. */
    async lookUpAccount(id: string, _count: number): Promise<AccountConnectionNext> {
      return ask(id, async (found, provider, options, from) => {
        const { id: accountId, requestedChange, changeAttempt } = found.account;
        if (requestedChange === null) return async () => {};
        const outcome =
          requestedChange === 'open'
            ? openingOutcome(await provider.lookUpAccount(accountId, options), from)
            : closingOutcome(await provider.lookUpAccountChange(closingOf(found, changeAttempt), options));
        return recordingOf(found, requestedChange, changeAttempt, outcome);
      });
    },
  };
}

/** The provider's, or our own for one that opens no accounts. */
function accountCallsOf(dependencies: ActivityDependencies, code: string): AccountCalls {
  const provider = providerOf(dependencies, code);
  if (opensAccounts(provider)) return provider;
  const configured = dependencies.configuration.providers.find((one) => one.code === code);
  if (configured === undefined) throw new Error(`${code} is no provider of the configuration`);
  return ownAccounts(configured);
}

type FoundAccount = NonNullable<Awaited<ReturnType<typeof findAccountForProvider>>>;

type RecordAnswer = (tx: Transaction) => Promise<void>;
type Call = (
  found: FoundAccount,
  provider: AccountCalls,
  options: CallOptions,
  from: AnsweringProvider,
) => Promise<RecordAnswer>;

const connecting: Call = async ({ client, account }, provider, options) => {
  const { id: clientId, identityType, fullName, country } = client;
  const outcome = await provider.connectClient({ clientId, identityType, fullName, country }, options);
  return (tx) => recordClientConnection(tx, { clientId, provider: account.provider, outcome });
};

const opening =
  (attempt: number): Call =>
  async (found, provider, options, from) =>
    recordingOf(
      found,
      'open',
      attempt,
      openingOutcome(await provider.openAccount(accountRequest(found), options), from),
    );

function recordingOf(
  { account }: FoundAccount,
  change: 'open' | 'close',
  attempt: number,
  outcome: AccountOutcome,
): RecordAnswer {
  return async (tx) => {
    await recordAccountOutcome(tx, { accountId: account.id, change, attempt, outcome });
  };
}

function accountRequest({ account, clientReference }: FoundAccount) {
  if (clientReference === null) throw new Error(`the client of account ${account.id} is not connected`);
  return {
    accountId: account.id,
    clientReference,
    accountHolderName: account.accountHolderName,
    alias: account.alias,
    currency: account.currency,
    country: account.country,
  };
}

function closingOf({ account }: FoundAccount, attempt: number) {
  return { accountId: account.id, changeReference: closingReference(account.id, attempt) };
}
