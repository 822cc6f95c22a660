import type { AccountStatus, ConnectionState } from '../accounts/accounts.ts';
import { formatAmount } from '../common/money.ts';
import type { IncomingTransfer, IncomingTransferWait } from '../incoming-transfers/incoming-transfers.ts';
import type { Consent, ConsentWait } from '../open-banking/consents.ts';
import { consentWait, deadlineOf, waitingSinceOf } from '../open-banking/consents.ts';
import type { SubmissionStatus } from '../outgoing-transfers/outcomes/progress.ts';
import { type RequirementRules, ruleFor } from '../outgoing-transfers/requirement-rules.ts';
import { type OutgoingTransfer, totalMinor } from '../outgoing-transfers/rows.ts';
import type { OutgoingTransferWait } from '../outgoing-transfers/statuses.ts';

/** What a resource waits for, and what would release it, in sentences that name the calls. */
export interface ResourceWait {
  readonly for: OutgoingTransferWait | IncomingTransferWait | ConsentWait;
  readonly since: Date | null;
  readonly until: Date | null;
  /** The rule that stopped a transfer in review. */
  readonly rule: string | null;
  readonly releasedBy: readonly string[];
}

/** What a transfer's wait depends on, in addition to its row: who decides reviews. */
type Reviews = Pick<RequirementRules, 'compliance'>;

export interface OutgoingWaitFacts extends Reviews {
  readonly availableMinor: bigint;
}

export function waitOfOutgoingTransfer(transfer: OutgoingTransfer, facts: OutgoingWaitFacts): ResourceWait | null {
  const { status, waitingFor, waitingSince: since, waitingUntil: until, complianceRule } = transfer;
  if (waitingFor === null) return null;
  // Later it is the receiver's side that is in review, by a rule that concerns only the receiver.
  const rule = waitingFor === 'compliance' && status === 'pending' ? (complianceRule?.name ?? null) : null;
  const releasedBy = OUTGOING[waitingFor](transfer, facts);
  return { for: waitingFor, since, until, rule, releasedBy };
}

type OutgoingRelease = (transfer: OutgoingTransfer, facts: OutgoingWaitFacts) => string[];

const OUTGOING: Readonly<Record<OutgoingTransferWait, OutgoingRelease>> = {
  authorization: ({ id }) => [
    `PATCH /outgoing-transfers/${id} with requirementConfiguration.authorizationStatus "fulfilled", by an approver who did not cause it.`,
  ],
  compliance: ({ id, status, incomingTransferId, currency }, reviews) =>
    status === 'pending'
      ? decision({ direction: 'outgoing', id, currency }, reviews)
      : decision({ direction: 'incoming', id: `${incomingTransferId}`, currency }, reviews),
  date: ownDate,
  'next-window': ownDate,
  balance: (transfer, { availableMinor }) => {
    const { accountId, currency } = transfer;
    const missing = totalMinor(transfer) - availableMinor;
    if (missing <= 0n) return ['Nothing more: the balance is there, and the next round of admissions takes it.'];
    return [`A credit of ${formatAmount(missing, currency)} ${currency} to the account ${accountId}.`];
  },
  // Not which: the payer learns nothing about the receiver's client.
  account: ({ accountId, destinationAccountId }) => {
    const receiver = destinationAccountId === null ? '' : ` and the account ${destinationAccountId}`;
    return [`The status active for the account ${accountId}${receiver}, with its client and main account.`];
  },
  provider: ({ status }) => [
    status === 'processing'
      ? 'The provider’s answer to the submission, which the service repeats under the same reference until then.'
      : 'The provider’s report of the outcome, by callback or when it is next asked.',
  ],
  'provider-decision': () => ['The provider’s release or rejection of the payment that it has taken.'],
  retry: () => ['Nothing more: it is submitted again by itself.'],
  recall: () => ['The beneficiary’s bank, which returns the money or rejects the recall.'],
  caller: ({ id }) => [
    `PATCH /outgoing-transfers/${id} with status "released", "completed" or "failed", by the caller that pays it.`,
  ],
};

function ownDate({ transferDate }: OutgoingTransfer): string[] {
  return [`Its date, ${transferDate}: it continues by itself.`];
}

interface Reviewed {
  readonly direction: 'outgoing' | 'incoming';
  readonly id: string;
  readonly currency: string;
}

/** The interface takes decisions only of reviews that are left to its callers; an operator's command takes all. */
function decision({ direction, id, currency }: Reviewed, { compliance }: Reviews): string[] {
  if (ruleFor(compliance[direction], currency) === 'external')
    return [`A decision of compliance: PATCH /${direction}-transfers/${id}/compliance-check.`];
  return [
    `A decision of compliance, by the operator’s command: fas compliance decide ${direction}-transfer ${id} RESULT.`,
  ];
}

export function waitOfIncomingTransfer(transfer: IncomingTransfer, reviews: Reviews): ResourceWait | null {
  const { waitingFor, waitingSince: since, waitingUntil: until, complianceRule } = transfer;
  if (waitingFor === null) return null;
  const rule = waitingFor === 'compliance' ? (complianceRule?.name ?? null) : null;
  return { for: waitingFor, since, until, rule, releasedBy: INCOMING[waitingFor](transfer, reviews) };
}

type IncomingRelease = (transfer: IncomingTransfer, reviews: Reviews) => string[];

const INCOMING: Readonly<Record<IncomingTransferWait, IncomingRelease>> = {
  compliance: ({ id, currency }, reviews) => decision({ direction: 'incoming', id, currency }, reviews),
  account: ({ id, accountId }) => [
    `The status active for the account ${accountId}, with its client and main account.`,
    `Or its return to the payer: POST /incoming-transfers/${id}/return.`,
  ],
  match: ({ id }) => [
    `POST /incoming-transfers/${id}/assign with the account that it is for.`,
    `Or its return to the payer: POST /incoming-transfers/${id}/return.`,
  ],
  'outgoing-transfer': ({ outgoingTransferId }) => [
    `What releases the sender’s side: GET /outgoing-transfers/${outgoingTransferId}/timeline.`,
  ],
  provider: ({ sendBackStatus }) => [
    sendBackStatus === 'due'
      ? 'The provider’s answer to the return of the money, which the service repeats until then.'
      : 'The provider, which holds the money and reports its release by callback.',
  ],
};

export function waitOfConsent(consent: Consent): ResourceWait | null {
  const reason = consentWait(consent.status);
  if (reason === null) return null;
  const { id, content } = consent;
  const patch = `PATCH /open-banking/GB/consents/${id}`;
  const releases: Readonly<Record<ConsentWait, string>> = {
    'account-holder': `${patch} with the action "approve" or "reject", once the account holder has answered.`,
    exchange: 'The third party, which exchanges its code: POST /open-banking/GB/token.',
    'grant-expiry':
      content.scope === 'payments'
        ? 'The third party’s payment: POST /open-banking/GB/payments.'
        : `Nothing more: the third party has its access until then. ${patch} with the action "revoke" ends it.`,
  };
  const [since, until] = [waitingSinceOf(consent), deadlineOf(consent)];
  return { for: reason, since, until, rule: null, releasedBy: [releases[reason]] };
}

/** An account, as its wait depends on it. */
export interface WaitingAccount {
  readonly id: string;
  readonly status: AccountStatus;
  readonly method: 'built-in' | 'plug-in';
  readonly mainAccountId: string | null;
  readonly nextCheckAt: Date | null;
  readonly connectionState: ConnectionState | null;
  readonly changeAttempt: number;
  readonly changeSubmittedAt: Date | null;
  readonly nextLookUpAt: Date | null;
}

/** A pending account waits to be opened; a built-in one may also wait to be closed at its provider. */
export function waitOfAccount(account: WaitingAccount): ResourceWait | null {
  const { id, status, method, mainAccountId, nextCheckAt, changeSubmittedAt } = account;
  const wait = (reason: 'account' | 'caller' | 'provider', since: Date | null, release: string) => ({
    for: reason,
    since,
    until: null,
    rule: null,
    releasedBy: [release],
  });
  if (status === 'pending' && mainAccountId !== null)
    return wait('account', null, `The status active for its main account ${mainAccountId}.`);
  if (status === 'pending' && method === 'plug-in')
    return wait('caller', null, `PATCH /accounts/${id} with its status, by the caller that holds it.`);
  if (nextCheckAt === null) return null;
  const answer = 'The provider’s answer or callback: the service repeats its own question until then.';
  return wait('provider', changeSubmittedAt, answer);
}

/** The latest attempt at the provider, of a payment or of the change of an account. Earlier ones have their callbacks. */
export interface ProviderAttempt {
  readonly number: number;
  readonly state: SubmissionStatus | ConnectionState;
  readonly submittedAt: Date | null;
  readonly nextLookUpAt: Date | null;
  readonly retryAt: Date | null;
  readonly rejectionCode: string | null;
}

export function attemptOfPayment(transfer: OutgoingTransfer): ProviderAttempt | null {
  const { submissionAttempt: number, submissionStatus: state, nextLookUpAt, retryAt, rejectionCode } = transfer;
  return number === 0 ? null : { number, state, submittedAt: null, nextLookUpAt, retryAt, rejectionCode };
}

export function attemptOfAccount(account: WaitingAccount): ProviderAttempt | null {
  const { changeAttempt: number, connectionState: state, changeSubmittedAt: submittedAt, nextLookUpAt } = account;
  if (number === 0 || state === null) return null;
  return { number, state, submittedAt, nextLookUpAt, retryAt: null, rejectionCode: null };
}
