import { isDeepStrictEqual } from 'node:util';
import { and, eq } from 'drizzle-orm';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import type { AccountId, IncomingTransferId, ProvisionedAccountCreditId } from '../../domain/common/ids.ts';
import {
  type ArrivalChange,
  type ArrivedMoney,
  checkReported,
  type MatchedReceiver,
  moneyOfPayment,
  moneyOfReport,
  type ReceivedPayment,
  type ReportedCredit,
  recordArrival,
} from '../../domain/incoming-transfers/arrivals.ts';
import type { PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import {
  type ProvisionedAccountCredit,
  presentProvisionedAccountCredit,
} from '../../domain/incoming-transfers/provisioned-account-credits.ts';
import { implicitFee, type PriceTable } from '../../domain/ledger/fees.ts';
import { isReviewedOnArrival, type RequirementRules } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { INTERNAL_SCHEME } from '../../domain/providers/schemes.ts';
import { ACCOUNT } from '../accounts/accounts.ts';
import { partyAccountOf } from '../accounts/party-accounts.ts';
import { requireClient } from '../clients/clients.ts';
import { type AuditEntry, appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { newId } from '../common/ids.ts';
import { lockAccounts } from '../ledger/ledger.ts';
import { hasEarlyRelease, lockPaymentIn } from '../providers/callbacks.ts';
import type { Transaction } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import { provisionedAccountCredits } from '../transfers/schema.ts';
import { drawTransactionNumber } from '../transfers/transaction-numbers.ts';
import { releaseHeldTransfer } from './holds.ts';
import { lockReceiver } from './payment-matching.ts';
import { moveMoney } from './work.ts';

const ENTITY = 'provisionedAccountCredit';

/** The configured rules for money that arrives. */
export interface ArrivalRules extends Pick<RequirementRules, 'compliance'> {
  readonly prices: PriceTable;
}

/**
 * Records a plug-in caller's report and creates its incoming transfer. The same provider id with the same content returns
 * the first credit (`repeated`); with other content it is rejected.
 */
export async function reportCredit(
  tx: Transaction,
  reported: ReportedCredit,
  initiator: Initiator,
  rules: ArrivalRules,
): Promise<{ credit: ProvisionedAccountCredit; repeated: boolean }> {
  const { accountId, serviceProviderId } = reported;
  if (serviceProviderId !== null) await lockReported(tx, accountId, serviceProviderId);
  const account = (await lockAccounts(tx, [accountId])).get(accountId);
  if (account === undefined) throw recordNotFound(ENTITY, 'accountId', accountId);
  if (reported.clientId !== null && reported.clientId !== account.clientId) {
    await requireClient(tx, ENTITY, reported.clientId);
  }
  checkReported(reported, account);
  const earlier = await findByProviderId(tx, account.provider, serviceProviderId);
  if (earlier !== null) {
    if (!sameContent(earlier, reported)) throw contentDiffers(reported);
    return { credit: earlier, repeated: true };
  }
  const money = moneyOfReport(reported, account, await readPartyAccount(tx, accountId));
  const credit = await storeArrival(tx, money, { account, hold: null }, rules);
  appendAuditEntry(tx, reportEntry(credit, initiator));
  return { credit, repeated: false };
}

/** A provider's id may be reported again for another account, whose lock would not serialize this report. */
async function lockReported(tx: Transaction, accountId: AccountId, serviceProviderId: string): Promise<void> {
  const account = await tx.find(ACCOUNT, accountId);
  if (account !== null) await lockPaymentIn(tx, { provider: account.provider, serviceProviderId });
}

async function readPartyAccount(tx: Transaction, id: AccountId): Promise<PartyAccount | null> {
  const row = await tx.find(ACCOUNT, id);
  return row === null ? null : partyAccountOf(row);
}

function contentDiffers({ serviceProviderId }: ReportedCredit): Error {
  const message = 'This serviceProviderId was reported before with different content.';
  return rejection('common.idempotency.key_reused', [ENTITY, 'serviceProviderId', serviceProviderId ?? ''], message);
}

/** Whether a credit has the content of its repeated report. */
function sameContent(credit: ProvisionedAccountCredit, reported: ReportedCredit): boolean {
  return (
    credit.accountId === reported.accountId &&
    credit.amountMinor === reported.amountMinor &&
    credit.currency === reported.currency &&
    credit.scope === reported.scope &&
    credit.scheme === reported.scheme &&
    credit.senderName === reported.senderName &&
    credit.senderToReceiverInformation === reported.senderToReceiverInformation &&
    isDeepStrictEqual(credit.senderBankAccount, reported.senderBankAccount) &&
    isDeepStrictEqual(credit.senderAddress, reported.senderAddress)
  );
}

/** Omits the sender, whose data is kept only by the credit itself. */
export function reportEntry(credit: ProvisionedAccountCredit, initiator: Initiator): AuditEntry {
  const { id, clientId, accountId, amount, currency, scope, scheme, serviceProvider, serviceProviderId } =
    presentProvisionedAccountCredit(credit);
  const after = { clientId, accountId, amount, currency, scope, scheme, serviceProvider, serviceProviderId };
  return { initiator, resource: 'provisioned-account-credit', resourceId: id, action: 'created', after };
}

const BY_PROVIDER_ID = prepared((db, given: Given<{ provider: string; serviceProviderId: string }>) =>
  db
    .select()
    .from(provisionedAccountCredits)
    .where(
      and(
        eq(provisionedAccountCredits.provider, given.provider),
        eq(provisionedAccountCredits.serviceProviderId, given.serviceProviderId),
      ),
    ),
);

async function findByProviderId(tx: Transaction, provider: string, serviceProviderId: string | null) {
  return serviceProviderId === null ? null : tx.first(BY_PROVIDER_ID, { provider, serviceProviderId });
}

/** Decides what happens to the money, with new ids and a new number. */
export function decideArrivalOf(
  money: ArrivedMoney,
  receiver: MatchedReceiver,
  rules: ArrivalRules,
  now: Date,
): ArrivalChange {
  const transactionNumber = drawTransactionNumber('incoming-transfer', now);
  const names = {
    creditId: newId<ProvisionedAccountCreditId>(),
    incoming: { id: newId<IncomingTransferId>(), transactionNumber },
  };
  const { amountMinor, currency, scheme } = money;
  const fee = { direction: 'incoming', scheme: scheme ?? INTERNAL_SCHEME, currency, amountMinor } as const;
  const terms = { isReviewed: isReviewedOnArrival(rules, currency), feeMinor: implicitFee(fee, rules.prices) };
  return recordArrival(names, money, receiver, terms, now);
}

async function storeArrival(
  tx: Transaction,
  money: ArrivedMoney,
  receiver: MatchedReceiver,
  rules: ArrivalRules,
): Promise<ProvisionedAccountCredit> {
  const now = await readClock(tx);
  const change = decideArrivalOf(money, receiver, rules, now);
  moveMoney(tx, now, change);
  return change.credit;
}

/**
 * Records a payment in, once per provider id, for its matching account. It is held in suspense if no account or several
 * match, or while its provider holds it. A repeated report that is no longer held releases it. `break`: the same id with
 * another amount.
 */
export async function receivePayment(
  tx: Transaction,
  payment: ReceivedPayment,
  rules: ArrivalRules,
): Promise<'applied' | 'no-effect' | 'break'> {
  await lockPaymentIn(tx, payment);
  const earlier = await findByProviderId(tx, payment.provider, payment.serviceProviderId);
  if (earlier !== null) return repeated(tx, payment, earlier);
  const held = payment.held && !(await hasEarlyRelease(tx, payment));
  const { account, hold } = await lockReceiver(tx, payment);
  const money = moneyOfPayment(payment, account === null ? null : await readPartyAccount(tx, account.id));
  await storeArrival(tx, money, { account, hold: held ? 'held-by-provider' : hold }, rules);
  return 'applied';
}

async function repeated(
  tx: Transaction,
  payment: ReceivedPayment,
  earlier: ProvisionedAccountCredit,
): Promise<'applied' | 'no-effect' | 'break'> {
  if (earlier.amountMinor !== payment.amountMinor || earlier.currency !== payment.currency) return 'break';
  if (payment.held) return 'no-effect';
  const outcome = await releaseHeldTransfer(tx, payment);
  return outcome === 'waiting' ? 'no-effect' : outcome;
}
