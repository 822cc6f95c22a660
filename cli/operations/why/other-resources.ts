import { accounts, incomingTransfers } from '../../../db/common/schema.ts';
import { namedReceiverOf } from '../../../db/incoming-transfers/holds.ts';
import { findNearAccounts } from '../../../db/incoming-transfers/near-accounts.ts';
import { readClosure } from '../../../db/providers/submissions.ts';
import type { Reader } from '../../../db/query/database.ts';
import { lookUpIn } from '../../../db/query/rows.ts';
import { findWebhookDelivery } from '../../../db/webhooks/deliveries.ts';
import { findWebhookSubscription } from '../../../db/webhooks/subscriptions.ts';
import type { AccountId, IncomingTransferId, WebhookDeliveryId } from '../../../domain/common/ids.ts';
import { formatAmount } from '../../../domain/common/money.ts';
import type { IncomingTransfer } from '../../../domain/incoming-transfers/incoming-transfers.ts';
import { whyNotChosen } from '../../../domain/incoming-transfers/near-accounts.ts';
import { standingByFile } from './bank-files.ts';
import { operate } from './commands.ts';
import { closedSubmissions, decision, type Explanation } from './explanation.ts';

const INCOMING = lookUpIn(incomingTransfers);
const ACCOUNT = lookUpIn(accounts);

/** Null if there is no such incoming transfer. */
export async function explainIncomingTransfer(reader: Reader, id: IncomingTransferId): Promise<Explanation | null> {
  const transfer = await reader.find(INCOMING, id);
  if (transfer === null) return null;
  const { status, waitingFor, waitingSince, waitingUntil, nextCheckAt, failureCode } = transfer;
  // Money that goes back has a workflow and no wait; the receiver's side of a transfer has a wait and no workflow.
  const reason = waitingFor ?? (nextCheckAt === null ? null : 'provider');
  const wait = {
    for: reason ?? '',
    since: waitingSince?.toISOString() ?? null,
    until: waitingUntil?.toISOString() ?? null,
    rule: reason === 'compliance' ? (transfer.complianceRule?.name ?? null) : null,
    untilMeans: null,
  };
  const closure = transfer.sendBackStatus === 'due' ? await readClosure(reader) : null;
  return {
    resource: 'incoming-transfer',
    id,
    status,
    wait: reason === null ? null : wait,
    obstacles: closure === null ? [] : [closedSubmissions(closure)],
    releasedBy: reason === null ? [] : RELEASES[reason](transfer),
    attempts: [
      ...(failureCode === null ? [] : [`reason ${failureCode}`]),
      ...(transfer.sendBackStatus === 'none'
        ? []
        : [`the return of the money to its payer: ${transfer.sendBackStatus}`]),
      ...(await standingByFile(reader, id)),
    ],
    money: [
      ...(transfer.returnOf === null
        ? []
        : [
            `it is money returned from the outgoing transfer ${transfer.returnOf}: ${operate(`why ${transfer.returnOf}`)}`,
          ]),
      ...returnsOf(transfer),
      ...(reason === 'match' ? await nearAccountsOf(reader, transfer) : []),
    ],
    workflowId: nextCheckAt === null ? null : `incoming-transfer/${id}`,
  };
}

function returnsOf({ returnIds, returningMinor, currency }: IncomingTransfer): string[] {
  if (returnIds.length === 0) return [];
  const going = `${formatAmount(returningMinor, currency)} ${currency} of it is going back to its payer, or has`;
  return [going, ...returnIds.map((id) => `a return of it: ${operate(`why ${id}`)}`)];
}

/** Whose money it might be, and why it was given to none. */
async function nearAccountsOf(reader: Reader, transfer: IncomingTransfer): Promise<string[]> {
  const { receiver, near, areMore } = await findNearAccounts(reader, namedReceiverOf(transfer));
  if (near.length === 0) return [NONE_NEAR];
  const reasons = near.map((account) => `account ${account.id} ${whyNotChosen(account, receiver, near)}`);
  return areMore ? [...reasons, MORE_NEAR] : reasons;
}

const MORE_NEAR = 'more accounts share its bank details; these come nearest.';

const NONE_NEAR = 'no account has its IBAN or its account number, and its reference has no ledger number.';

const RELEASES: Readonly<
  Record<NonNullable<IncomingTransfer['waitingFor']>, (transfer: IncomingTransfer) => string[]>
> = {
  compliance: ({ id }) => [decision('incoming-transfer', id)],
  account: ({ id, accountId }) => [
    `the status active for account ${accountId} and its client`,
    operate(`return-incoming ${id}`),
  ],
  match: ({ id }) => [operate(`assign-incoming ${id} ACCOUNT`), operate(`return-incoming ${id}`)],
  'outgoing-transfer': ({ outgoingTransferId }) => [
    `what releases the sender’s side: ${operate(`why ${outgoingTransferId}`)}`,
  ],
  provider: ({ sendBackStatus }) =>
    sendBackStatus === 'due'
      ? ['nothing: the service repeats the return until the provider answers']
      : ['the provider, which holds the money and reports its release by callback'],
};

/** An account and its connection; null if there is no such account. */
export async function explainAccount(reader: Reader, id: AccountId): Promise<Explanation | null> {
  const account = await reader.find(ACCOUNT, id);
  if (account === null) return null;
  const { status, requestedChange, changeAttempt, connectionState, nextCheckAt, mainAccountId, method } = account;
  const isPlugIn = method === 'plug-in' && status === 'pending';
  const waitsForMain = mainAccountId !== null && status === 'pending';
  const reason = isPlugIn ? 'caller' : 'provider';
  const wait = { for: waitsForMain ? 'account' : reason, since: null, until: null, rule: null, untilMeans: null };
  return {
    resource: 'account',
    id,
    status,
    wait: nextCheckAt !== null || isPlugIn || waitsForMain ? wait : null,
    obstacles: [],
    releasedBy: [
      ...(waitsForMain ? [`the status active for its main account: ${operate(`why ${mainAccountId}`)}`] : []),
      ...(isPlugIn && !waitsForMain ? [`PATCH /accounts/${id} with its status, by the caller that holds it`] : []),
      ...(nextCheckAt === null
        ? []
        : ['the provider’s answer or callback; the service repeats its own question until then']),
    ],
    attempts: [
      ...(connectionState === null ? [] : [`its connection is ${connectionState}`]),
      ...(requestedChange === null ? [] : [`to ${requestedChange} it: attempt ${changeAttempt}`]),
    ],
    workflowId: nextCheckAt === null ? null : `account-connection/${id}`,
  };
}

/** Null if there is no such delivery. */
export async function explainWebhookDelivery(reader: Reader, id: WebhookDeliveryId): Promise<Explanation | null> {
  const delivery = await findWebhookDelivery(reader, id);
  if (delivery === null) return null;
  const { status, subscriptionId, attempts, nextAttemptAt, createdAt } = delivery;
  const subscription = await findWebhookSubscription(reader, subscriptionId);
  const until = nextAttemptAt.toISOString();
  const wait = {
    for: 'its receiver',
    since: createdAt.toISOString(),
    until,
    rule: null,
    untilMeans: 'Then it is tried again.',
  };
  const again = `POST /webhook-deliveries/${id}/retry`;
  const isStopped = subscription !== null && subscription.status !== 'active';
  return {
    resource: 'webhook-delivery',
    id,
    status,
    wait: status === 'pending' ? wait : null,
    obstacles: isStopped ? [`its subscription ${subscriptionId} is ${subscription.status}.`] : [],
    releasedBy: status === 'succeeded' ? [] : [again],
    attempts: attempts
      .slice(-ATTEMPTS_SHOWN)
      .map(
        ({ number, attemptedAt, responseCode, error }) =>
          `attempt ${number}, ${attemptedAt.toISOString()}: ${responseCode ?? error}`,
      ),
    workflowId: status === 'pending' && subscription !== null ? `webhook-delivery/${subscription.shard}` : null,
  };
}

const ATTEMPTS_SHOWN = 5;
