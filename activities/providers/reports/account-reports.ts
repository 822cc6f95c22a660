import type { AccountReport } from '../../../db/accounts/connections.ts';
import type { AccountOutcome, ProviderStatusChange } from '../../../domain/accounts/connections.ts';
import { presentRoutingCodes } from '../../../domain/accounts/identifiers/routing-codes.ts';
import { type AccountId, asId, isUuid } from '../../../domain/common/ids.ts';
import { ownNumbersOf, type Provider } from '../../../domain/providers/providers.ts';
import type { AccountAnswer, AccountChangeAnswer, ProviderEvent } from '../port.ts';
import { type AccountIdentifiers, type NotFound, stepReference } from '../ports/common.ts';

/** An account is requested once; only its closing can be requested again after a rejection. */
const OPENING_ATTEMPT = 1;
const CLOSING = 'close';

/** The provider's reference of the transition "close, attempt n". */
export function closingReference(accountId: AccountId, attempt: number): string {
  return stepReference(accountId, CLOSING, attempt);
}

/** The provider that answers, and the configured providers. */
export interface AnsweringProvider {
  readonly provider: string;
  readonly providers: readonly Provider[];
}

/** A closed account was opened before; the provider reports its closing separately. */
export function openingOutcome(answer: AccountAnswer | NotFound, from: AnsweringProvider): AccountOutcome {
  return answer.outcome === 'opened' || answer.outcome === 'closed' ? opened(answer, from) : answer;
}

export function closingOutcome(answer: AccountChangeAnswer | NotFound): AccountOutcome {
  switch (answer.outcome) {
    case 'changed':
      return { outcome: 'closed' };
    case 'accepted':
      return { outcome: 'accepted', reference: null };
    default:
      return answer;
  }
}

function opened(
  account: AccountIdentifiers & { readonly country: string; readonly reference: string },
  { provider, providers }: AnsweringProvider,
): AccountOutcome {
  const { country, routingCodes, reference } = account;
  const { iban, accountNumber } = ownNumbersOf(account, provider, providers);
  const details = { country, iban, accountNumber, routingCodes: presentRoutingCodes(routingCodes) };
  return { outcome: 'opened', reference, details };
}

export type AccountEvent = Extract<ProviderEvent, { readonly accountId: string }>;
type AccountStatusChanged = Extract<AccountEvent, { readonly type: 'account-status-changed' }>;

/** An answer that came by callback, as a report; null if the reference is not ours. */
export function accountReportOf(
  event: Exclude<AccountEvent, AccountStatusChanged>,
  from: AnsweringProvider,
): AccountReport | null {
  if (!isUuid(event.accountId)) return null;
  const accountId = asId<AccountId>(event.accountId);
  const opening = { accountId, change: 'open', attempt: OPENING_ATTEMPT } as const;
  switch (event.type) {
    case 'account-opened':
      return { ...opening, outcome: opened(event, from) };
    case 'account-opening-rejected':
      return { ...opening, outcome: { outcome: 'rejected', error: event.error } };
    case 'account-changed':
      return closing(accountId, event.changeReference, { outcome: 'closed' });
    case 'account-change-rejected':
      return closing(accountId, event.changeReference, { outcome: 'rejected', error: event.error });
  }
}

/** A provider's change of an account's status; null if the reference is not ours. */
export function providerStatusChangeOf({
  accountId,
  status,
  number,
}: AccountStatusChanged): ProviderStatusChange<AccountId> | null {
  return isUuid(accountId) ? { accountId: asId<AccountId>(accountId), status, number } : null;
}

function closing(accountId: AccountId, reference: string, outcome: AccountOutcome): AccountReport | null {
  const prefix = stepReference(accountId, CLOSING, 0).slice(0, -1);
  const attempt = reference.startsWith(prefix) ? Number(reference.slice(prefix.length)) : Number.NaN;
  return Number.isSafeInteger(attempt) && attempt > 0 ? { accountId, change: 'close', attempt, outcome } : null;
}
