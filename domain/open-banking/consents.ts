import type { LosslessNumber } from 'lossless-json';
import { rejection } from '../common/errors.ts';
import type { AccountId, ConsentId, UserId } from '../common/ids.ts';
import { amountNumber, type Currency } from '../common/money.ts';
import { formatDateTime } from '../common/time/dates.ts';
import type { Transitions } from '../common/transitions.ts';

/** Consents that users give to third-party providers (specification 2.12, 3). */
export const CONSENT_STATUSES = [
  'awaiting-authorisation',
  'awaiting-exchange',
  'authorised',
  'consumed',
  'rejected',
  'revoked',
  'expired',
] as const;
export type ConsentStatus = (typeof CONSENT_STATUSES)[number];

/** `consumed` is for payments only. */
export const CONSENT_TRANSITIONS: Transitions<ConsentStatus> = {
  'awaiting-authorisation': ['awaiting-exchange', 'rejected', 'expired'],
  'awaiting-exchange': ['authorised', 'revoked', 'expired'],
  authorised: ['consumed', 'revoked', 'expired'],
  consumed: [],
  rejected: [],
  revoked: [],
  expired: [],
};

/** Event types of consents, beyond the specification. */
export const CONSENT_EVENT_TYPES = [
  'consent-requested',
  'consent-approved',
  'consent-authorised',
  'consent-rejected',
  'consent-revoked',
  'consent-expired',
  'consent-consumed',
] as const;
export type ConsentEventType = (typeof CONSENT_EVENT_TYPES)[number];

export const CONSENT_SCOPES = ['accounts', 'payments'] as const;
export type ConsentScope = (typeof CONSENT_SCOPES)[number];
export const PAYMENT_SCOPES = ['domestic', 'international'] as const;
export const PAYMENT_TYPES = ['standard', 'scheduled'] as const;

/** How long a request can be approved, its code exchanged, and the grant used. */
export const REQUEST_LIFETIME_MS = 10 * 60_000;
export const CODE_LIFETIME_MS = 60_000;
export const GRANT_LIFETIME_MS = 90 * 86_400_000;

/** An access token lives this long, and no longer than the grant. */
export const ACCESS_TOKEN_LIFETIME_MS = 60 * 60_000;

/**
 * How long after its deadline a workflow may run. Thousands of consents may expire at one instant: the loop records them at once,
 * and their workflows, which then only end, must not delay those of payments.
 */
export const EXPIRY_JITTER_MS_MAX = 30 * 60_000;

/** When the sweep checks a consent after its deadline, in case its workflow is lost. */
export const CONSENT_CHECK_MS = 60_000;

export interface CreditorAccount {
  readonly schemeName: string;
  readonly identification: string;
  readonly name: string;
}

export interface PaymentContent {
  readonly scope: 'payments';
  readonly paymentScope: (typeof PAYMENT_SCOPES)[number];
  readonly paymentType: (typeof PAYMENT_TYPES)[number];
  readonly instructedAmountMinor: bigint;
  readonly instructedCurrency: Currency;
  readonly creditorAccount: CreditorAccount;
  /** Null for a domestic payment. */
  readonly currencyOfTransfer: Currency | null;
  /** Only for a scheduled payment. */
  readonly requestedExecutionAt: Date | null;
}

export type ConsentContent = { readonly scope: 'accounts' } | PaymentContent;

export interface ThirdPartyProviderShown {
  readonly name: string;
  readonly website: string;
  readonly applicationName: string;
  readonly applicationDescription: string;
  readonly applicationWebsite: string;
}

export interface Consent {
  readonly id: ConsentId;
  readonly status: ConsentStatus;
  readonly content: ConsentContent;
  /** Both null until approved. */
  readonly userId: UserId | null;
  readonly accountIds: readonly AccountId[] | null;
  readonly createdAt: Date;
  readonly requestExpiresAt: Date;
  /** Null until approved. */
  readonly codeExpiresAt: Date | null;
  /** Both null until the code is exchanged. */
  readonly grantedAt: Date | null;
  readonly expiresAt: Date | null;
}

export function presentConsent(consent: Consent, thirdPartyProvider: ThirdPartyProviderShown) {
  const { name, website, applicationName, applicationDescription, applicationWebsite } = thirdPartyProvider;
  return {
    id: consent.id,
    thirdPartyProvider: { name, website, applicationName, applicationDescription, applicationWebsite },
    status: consent.status,
    content: presentContent(consent.content),
    userId: consent.userId,
    accounts: consent.accountIds,
    requestCreatedDateTime: formatDateTime(consent.createdAt),
    requestExpiryDateTime: formatDateTime(consent.requestExpiresAt),
    grantedDateTime: consent.grantedAt === null ? null : formatDateTime(consent.grantedAt),
    expiryDateTime: consent.expiresAt === null ? null : formatDateTime(consent.expiresAt),
  };
}

/** In a consent to accounts, the fields of a payment are null. */
export function presentContent(content: ConsentContent) {
  const payment = content.scope === 'payments' ? content : null;
  const { creditorAccount = null, requestedExecutionAt = null } = payment ?? {};
  return {
    scope: content.scope,
    paymentScope: payment?.paymentScope ?? null,
    paymentType: payment?.paymentType ?? null,
    instructedAmount: payment === null ? null : instructedAmount(payment),
    instructedCurrency: payment?.instructedCurrency ?? null,
    creditorAccount:
      creditorAccount === null
        ? null
        : {
            schemeName: creditorAccount.schemeName,
            identification: creditorAccount.identification,
            name: creditorAccount.name,
          },
    currencyOfTransfer: payment?.currencyOfTransfer ?? null,
    requestedExecutionDateTime: requestedExecutionAt === null ? null : formatDateTime(requestedExecutionAt),
  };
}

function instructedAmount({ instructedAmountMinor, instructedCurrency }: PaymentContent): LosslessNumber {
  return amountNumber(instructedAmountMinor, instructedCurrency);
}

type Timed = Pick<Consent, 'status' | 'requestExpiresAt' | 'codeExpiresAt' | 'expiresAt'>;

/** When the consent expires in its present status; null once it is final. */
export function deadlineOf({ status, requestExpiresAt, codeExpiresAt, expiresAt }: Timed): Date | null {
  switch (status) {
    case 'awaiting-authorisation':
      return requestExpiresAt;
    case 'awaiting-exchange':
      return codeExpiresAt;
    case 'authorised':
      return expiresAt;
    default:
      return null;
  }
}

/** What an open consent waits for; null once it is final. */
export const CONSENT_WAITS = ['account-holder', 'exchange', 'grant-expiry'] as const;
export type ConsentWait = (typeof CONSENT_WAITS)[number];

export function consentWait(status: ConsentStatus): ConsentWait | null {
  switch (status) {
    case 'awaiting-authorisation':
      return 'account-holder';
    case 'awaiting-exchange':
      return 'exchange';
    case 'authorised':
      return 'grant-expiry';
    default:
      return null;
  }
}

/** The code is issued with the approval. */
export function approvedAt(codeExpiresAt: Date): Date {
  return new Date(codeExpiresAt.getTime() - CODE_LIFETIME_MS);
}

/** Since when an open consent has its status. */
export function waitingSinceOf({
  status,
  createdAt,
  codeExpiresAt,
  grantedAt,
}: Pick<Consent, 'status' | 'createdAt' | 'codeExpiresAt' | 'grantedAt'>): Date {
  if (status === 'authorised') return grantedAt ?? createdAt;
  return status === 'awaiting-exchange' && codeExpiresAt !== null ? approvedAt(codeExpiresAt) : createdAt;
}

/** When the sweep checks a consent: after its workflow should have done so. Null once it is final. */
export function nextCheckOf(consent: Timed): Date | null {
  const deadline = deadlineOf(consent);
  return deadline === null ? null : new Date(deadline.getTime() + CONSENT_CHECK_MS);
}

/** The status at this time, even if the workflow has not recorded the expiry yet. */
export function statusAt(consent: Timed, now: Date): ConsentStatus {
  const deadline = deadlineOf(consent);
  return deadline !== null && deadline.getTime() <= now.getTime() ? 'expired' : consent.status;
}

/** The next step of a consent's workflow. db/ carries out `expire` itself before it returns, unless the loop has done so. */
export type ConsentStep =
  | { readonly do: 'end' }
  | { readonly do: 'wait'; readonly for: string; readonly until: string };

export function decideConsent(consent: Timed, now: Date): ConsentStep | { readonly do: 'expire' } {
  const deadline = deadlineOf(consent);
  if (deadline === null) return { do: 'end' };
  if (statusAt(consent, now) === 'expired') return { do: 'expire' };
  return { do: 'wait', for: consent.status, until: deadline.toISOString() };
}

/** Rejects a transition that is not in the table, or for which it is too late. */
export function requireConsentTransition(
  consent: Timed & Pick<Consent, 'content'>,
  to: ConsentStatus,
  now: Date,
): void {
  const present = statusAt(consent, now);
  const isOfScope = to !== 'consumed' || consent.content.scope === 'payments';
  if (isOfScope && CONSENT_TRANSITIONS[present].includes(to)) return;
  const message = isOfScope
    ? `The consent is ${present} and cannot become ${to}.`
    : 'A consent to accounts does not allow payments.';
  throw rejection('consent.status.invalid', ['consent', 'status', present], message);
}

/** Whether the user has approved and the consent is still open, so that a change elsewhere may revoke it. */
export function isOpenGrant(consent: Timed, now: Date): boolean {
  return CONSENT_TRANSITIONS[statusAt(consent, now)].includes('revoked');
}
