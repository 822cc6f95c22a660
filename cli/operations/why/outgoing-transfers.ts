import type { Configuration } from '../../../config/configuration.ts';
import {
  listReturnedMoney,
  type ReturnedMoney,
  readWaitFacts,
  type WaitFacts,
} from '../../../db/outgoing-transfers/wait-facts.ts';
import { type Closure, readClosure } from '../../../db/providers/submissions.ts';
import type { Reader } from '../../../db/query/database.ts';
import type { OutgoingTransferId } from '../../../domain/common/ids.ts';
import { formatAmount } from '../../../domain/common/money.ts';
import { minuteInZone } from '../../../domain/common/time/zones.ts';
import { minuteInUtc } from '../../../domain/common/waits.ts';
import { type OutgoingTransfer, totalMinor } from '../../../domain/outgoing-transfers/rows.ts';
import {
  isDateWait,
  isFinalOutgoingTransferStatus,
  isRecallOpen,
  type OutgoingTransferWait,
  type RecallStatus,
} from '../../../domain/outgoing-transfers/statuses.ts';
import { standingByFile } from './bank-files.ts';
import { operate } from './commands.ts';
import { type Advised, closedSubmissions, decision, type Explanation } from './explanation.ts';

type Rules = Pick<Configuration, 'rollLimit' | 'schemes'>;

/** What an outgoing transfer waits for; null if there is no such transfer. */
export async function explainOutgoingTransfer(
  reader: Reader,
  id: OutgoingTransferId,
  rules: Rules,
): Promise<Explanation | null> {
  const found = await readWaitFacts(reader, id);
  if (found === null) return null;
  const { transfer, facts } = found;
  const { status, waitingFor, waitingSince, waitingUntil, complianceRule } = transfer;
  const resource = 'outgoing-transfer';
  const attempts = [...attemptsOf(transfer), ...(await standingByFile(reader, id))];
  const returned = transfer.returned ? await listReturnedMoney(reader, id, RETURNS_SHOWN_MAX) : [];
  const money = [...returnInWords(transfer), ...returned.map((part) => returnedInWords(part, transfer))];
  if (isFinalOutgoingTransferStatus(status) && !isRecallOpen(transfer)) {
    return { resource, id, status, wait: null, obstacles: [], releasedBy: [], attempts, money, workflowId: null };
  }
  // A transfer that was just created, or taken on, has no wait yet.
  const reason = waitingFor ?? 'provider';
  return {
    resource,
    id,
    status,
    wait: {
      for: reason,
      since: waitingSince?.toISOString() ?? null,
      until: waitingUntil?.toISOString() ?? null,
      rule: reason === 'compliance' && status === 'pending' ? (complianceRule?.name ?? null) : null,
      untilMeans: meaningOfUntil(transfer, rules),
    },
    obstacles: obstaclesOf(transfer, await readClosure(reader)),
    releasedBy: [...RELEASES[reason](transfer, facts), ...ALTERNATIVES[status](transfer)],
    attempts,
    money,
    ...(waitingSince !== null && isFirstSubmissionOpen(transfer) ? { firstSubmissionSince: waitingSince } : {}),
    workflowId: `outgoing-transfer/${id}`,
  };
}

function meaningOfUntil(transfer: OutgoingTransfer, { schemes, rollLimit }: Rules): string | null {
  const { status, waitingUntil: until, waitingFor, rollCount, transferDate } = transfer;
  if (until === null) return null;
  const zone = schemes.zone(transfer);
  const instant = `${minuteInUtc(until.toISOString())} is ${minuteInZone(until, zone)} in ${zone}`;
  if (waitingFor === 'retry') return `${instant}: then it is submitted again, on ${transferDate}.`;
  if (waitingFor === 'recall') return `${instant}: then the provider is asked what became of the recall.`;
  if (waitingFor === 'account' && status === 'processing') return `${instant}: then it moves to the next open date.`;
  if (status === 'processing') return `${instant}: then the same submission is sent again.`;
  if (status === 'released') return `${instant}: then the provider is asked how the payment went.`;
  if (isDateWait(waitingFor)) return `${instant}, the opening of its date, ${transferDate}: then it continues.`;
  const end = until.getTime() === transfer.cutOffAt?.getTime() ? 'its cut-off' : 'the end of its date';
  const follows =
    rollCount >= rollLimit
      ? `then it fails, as it has rolled ${rollCount} times, which is the limit.`
      : `then it rolls to the next open date (rolled ${rollCount} of at most ${rollLimit} times).`;
  return `${instant}, ${end}: ${follows}`;
}

function obstaclesOf({ status, scope, method }: OutgoingTransfer, closure: Closure | null): Advised[] {
  const submits = status === 'processing' && scope === 'external' && method === 'built-in';
  return submits && closure !== null ? [closedSubmissions(closure)] : [];
}

type Release = (transfer: OutgoingTransfer, facts: WaitFacts) => string[];

const ON_ITS_DATE = ['nothing: it continues by itself on its date'];

const RELEASES: Readonly<Record<OutgoingTransferWait, Release>> = {
  authorization: ({ id }) => [
    `PATCH /outgoing-transfers/${id} with data.outgoingTransfer.requirementConfiguration.authorizationStatus "fulfilled", by an approver that did not cause it`,
  ],
  compliance: ({ id, status, incomingTransferId }) => [
    status === 'pending' ? decision('outgoing-transfer', id) : decision('incoming-transfer', `${incomingTransferId}`),
  ],
  date: () => ON_ITS_DATE,
  'next-window': () => ON_ITS_DATE,
  balance: (transfer, { availableMinor }) => {
    const { accountId, currency } = transfer;
    const [needed, available] = [totalMinor(transfer), availableMinor];
    const missing = formatAmount(needed - available, currency);
    if (needed <= available) return ['nothing: the balance is there, and the next round of admissions takes it'];
    return [
      `a credit of ${missing} ${currency} to account ${accountId}, which has ${formatAmount(available, currency)} of ${formatAmount(needed, currency)}`,
    ];
  },
  account: (_, { notActive }) =>
    notActive.map(
      (resource) => `the status active for ${resource} (PATCH /accounts/ID or /clients/ID, or its provider)`,
    ),
  provider: ({ id, status, submissionStatus }) => [
    ...(status === 'processing' && submissionStatus === 'not-found' ? [operate(`retry-submission ${id}`)] : []),
    operate(`look-up ${id}`),
    'the provider’s answer or callback; the service repeats its own question until then',
  ],
  'provider-decision': ({ id }) => [
    'the provider’s release or rejection: it has taken the payment, and will carry it out',
    operate(`look-up ${id}`),
    `if the provider has lost it: ${operate(`retry-submission ${id}`)}, which changes nothing at a provider that has it`,
  ],
  retry: ({ id }) => [
    'nothing: it is submitted again by itself',
    operate(`retry-submission ${id}`),
    otherwise(operate(`fail-transfer ${id} --reason TEXT`)),
  ],
  recall: ({ id }) => ['the beneficiary’s bank: a return, or a rejection of the recall', operate(`look-up ${id}`)],
  caller: ({ id }) => [
    `PATCH /outgoing-transfers/${id} with data.outgoingTransfer.status "released", "completed" or "failed", by the caller that pays it`,
  ],
};

/** What else an operator may do. */
const ALTERNATIVES: Readonly<Record<OutgoingTransfer['status'], (transfer: OutgoingTransfer) => string[]>> = {
  pending: ({ id }) => [operate(`next-window ${id}`), operate(`fail-transfer ${id} --reason TEXT`)].map(otherwise),
  processing: ({ id, scope }) =>
    scope === 'internal' ? [otherwise(operate(`fail-transfer ${id} --reason TEXT`))] : [],
  released: () => [],
  completed: () => [],
  cancelled: () => [],
  failed: () => [],
};

function otherwise(command: string): string {
  return `or end the wait otherwise: ${command}`;
}

export const OUTCOMES: Readonly<Record<OutgoingTransfer['submissionStatus'], string>> = {
  none: 'not sent',
  unresolved: 'outcome unknown; the same submission is repeated under the same reference',
  'not-found': 'the provider, looked up, does not know it',
  queued: 'taken by the provider, which has neither released nor rejected it yet',
  rejected: 'rejected for a passing reason',
  resolved: 'answered',
};

/** Its row cannot show whether anything was sent: a transfer starts to be processed with this attempt. */
function isFirstSubmissionOpen({
  status,
  submissionAttempt,
  submissionStatus,
  lookUpCount,
  waitingSince,
}: Pick<
  OutgoingTransfer,
  'status' | 'submissionAttempt' | 'submissionStatus' | 'lookUpCount' | 'waitingSince'
>): boolean {
  const isFirst = submissionAttempt === 1 && lookUpCount === 0 && waitingSince !== null;
  return status === 'processing' && submissionStatus === 'unresolved' && isFirst;
}

const RETURNS_SHOWN_MAX = 20;

function returnInWords({ returnOf, returnCode }: OutgoingTransfer): string[] {
  if (returnOf === null) return [];
  return [
    `it returns money of the incoming transfer ${returnOf} to its payer, for ${returnCode}: ${operate(`why ${returnOf}`)}`,
  ];
}

function returnedInWords(part: ReturnedMoney, { amountMinor, currency }: OutgoingTransfer): string {
  const amount = `${formatAmount(part.amountMinor, currency)} of ${formatAmount(amountMinor, currency)} ${currency}`;
  return `${amount} came back: incoming transfer ${part.id}, ${part.status}, ${placeOf(part)}`;
}

/** Where returned money is. */
function placeOf({ id, status, accountId, waitingFor, sendBackStatus }: ReturnedMoney): string {
  if (sendBackStatus === 'done') return 'sent back to the bank that returned it';
  if (sendBackStatus === 'due') return 'on its way back to the bank that returned it';
  if (status === 'completed') return `credited to account ${accountId}`;
  if (status === 'failed') return 'not credited';
  return `not credited yet${waitingFor === null ? '' : `, waits for ${waitingFor}`}: ${operate(`why ${id}`)}`;
}

const RECALLS: Readonly<Record<RecallStatus, string>> = {
  due: 'the provider is asked for it',
  asked: 'the provider has taken it; no answer yet',
  rejected: 'rejected',
  ended: 'ended, by a return or because the payment failed',
};

function attemptsOf({
  submissionAttempt,
  submissionStatus,
  lookUpCount,
  serviceProviderId,
  ...transfer
}: OutgoingTransfer): string[] {
  const { rollCount, failureCode, nextLookUpAt, retryCount, rejectionCode, recallNumber, recallStatus } = transfer;
  return [
    ...(rollCount === 0
      ? []
      : [`rolled ${rollCount} times, from ${transfer.originalTransferDate} to ${transfer.transferDate}`]),
    ...(submissionAttempt === 0 ||
    isFirstSubmissionOpen({ ...transfer, submissionAttempt, submissionStatus, lookUpCount })
      ? []
      : [`submission, attempt ${submissionAttempt}: ${OUTCOMES[submissionStatus]}`]),
    ...(retryCount === 0
      ? []
      : [`rejected ${retryCount} times for a passing reason, the last time with ${rejectionCode}`]),
    ...(recallStatus === null ? [] : [`recall ${recallNumber}: ${RECALLS[recallStatus]}`]),
    ...(serviceProviderId === null ? [] : [`the provider’s id of the payment is ${serviceProviderId}`]),
    ...(lookUpCount === 0 ? [] : [`looked up ${lookUpCount} times`]),
    ...(nextLookUpAt === null || transfer.status !== 'released'
      ? []
      : [`next look-up ${minuteInUtc(nextLookUpAt.toISOString())}`]),
    ...(failureCode === null ? [] : [`reason ${failureCode}`]),
  ];
}
