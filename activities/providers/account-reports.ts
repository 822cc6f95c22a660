import type { AccountReport } from '../../db/accounts/connections.ts';
import type { AccountOutcome, ProviderAccountMove } from '../../domain/accounts/connections.ts';
import { type AccountId, asId, isUuid } from '../../domain/frame/ids.ts';
import { ownNumbersOf, type Provider } from '../../domain/providers/providers.ts';
import {
  type AccountAnswer,
  type AccountChangeAnswer,
  type AccountIdentifiers,
  type NotFound,
  type ProviderEvent,
  stepReference,
} from './port.ts';

/** An account is requested once; only its closing can be requested again after a refusal. */
const OPENING_ATTEMPT = 1;
const CLOSING = 'close';

/** The provider's reference of the transition "close, attempt n". */
export function closingReference(accountId: AccountId, attempt: number): string {
  return stepReference(accountId, CLOSING, attempt);
}

/** Whose answer it is, and what is configured of it. */
export interface Answering {
  readonly provider: string;
  readonly providers: readonly Provider[];
}

/** An account that is closed by now was opened before; the provider reports its closing by itself. */
export function openingOutcome(answer: AccountAnswer | NotFound, from: Answering): AccountOutcome {
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
  { provider, providers }: Answering,
): AccountOutcome {
  const { country, routingCodes, reference } = account;
  const { iban, accountNumber } = ownNumbersOf(account, provider, providers);
  const codes = Object.keys(routingCodes).length === 0 ? null : routingCodes;
  return { outcome: 'opened', reference, details: { country, iban, accountNumber, routingCodes: codes } };
}

export type AccountEvent = Extract<ProviderEvent, { readonly accountId: string }>;
type AccountMoved = Extract<AccountEvent, { readonly type: 'account-status-changed' }>;

/** The answer to a request of ours, given by callback, as a report; null if the reference is not ours. */
export function accountReportOf(event: Exclude<AccountEvent, AccountMoved>, from: Answering): AccountReport | null {
  if (!isUuid(event.accountId)) return null;
  const accountId = asId<AccountId>(event.accountId);
  const opening = { accountId, change: 'open', attempt: OPENING_ATTEMPT } as const;
  switch (event.type) {
    case 'account-opened':
      return { ...opening, outcome: opened(event, from) };
    case 'account-opening-refused':
      return { ...opening, outcome: { outcome: 'refused', error: event.error } };
    case 'account-changed':
      return closing(accountId, event.changeReference, { outcome: 'closed' });
    case 'account-change-refused':
      return closing(accountId, event.changeReference, { outcome: 'refused', error: event.error });
  }
}

/** A provider's move of an account; null if the reference is not ours. */
export function providerMoveOf({ accountId, status, number }: AccountMoved): ProviderAccountMove<AccountId> | null {
  return isUuid(accountId) ? { accountId: asId<AccountId>(accountId), status, number } : null;
}

function closing(accountId: AccountId, reference: string, outcome: AccountOutcome): AccountReport | null {
  const prefix = stepReference(accountId, CLOSING, 0).slice(0, -1);
  const attempt = reference.startsWith(prefix) ? Number(reference.slice(prefix.length)) : Number.NaN;
  return Number.isSafeInteger(attempt) && attempt > 0 ? { accountId, change: 'close', attempt, outcome } : null;
}
