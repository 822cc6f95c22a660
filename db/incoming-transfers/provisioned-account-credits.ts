import { isDeepStrictEqual } from 'node:util';
import { and, eq } from 'drizzle-orm';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import type { AccountId, ClientId, ProvisionedAccountCreditId } from '../../domain/frame/ids.ts';
import type { Address } from '../../domain/frame/parties/addresses.ts';
import type { HoldReason, PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { presentProvisionedAccountCredit } from '../../domain/incoming-transfers/provisioned-account-credits.ts';
import { implicitFee, type PriceTable } from '../../domain/ledger/fees.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import { isReviewedOnArrival, type RequirementRules } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { INTERNAL_SCHEME } from '../../domain/providers/schemes.ts';
import { ACCOUNT } from '../accounts/accounts.ts';
import { partyAccountOf } from '../accounts/party-accounts.ts';
import { requireClient } from '../clients/clients.ts';
import { type Transaction, uniqueViolation } from '../driver/client.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { insertRow } from '../driver/queries/rows.ts';
import { appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { readClock } from '../frame/clock.ts';
import { newId } from '../frame/ids.ts';
import { lockAccounts } from '../ledger/ledger.ts';
import { hasEarlyRelease, lockPaymentIn } from '../providers/callbacks.ts';
import { releaseHeldTransfer } from './holds.ts';
import { lockReceiver, type NamedReceiver } from './payment-matching.ts';
import { provisionedAccountCredits } from './provisioned-account-credits-schema.ts';
import { createIncomingTransfer } from './work.ts';

type Row = typeof provisionedAccountCredits.$inferSelect;

const ENTITY = 'provisionedAccountCredit';

/** The configured rules for money that arrives. */
export interface ArrivalRules extends Pick<RequirementRules, 'compliance'> {
  readonly prices: PriceTable;
}

/** Money reported by a plug-in caller (specification 2.6). Amounts in minor units. */
export interface ReportedCredit {
  readonly clientId: ClientId | null;
  readonly accountId: AccountId;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly scope: 'internal' | 'external';
  readonly scheme: string | null;
  readonly senderBankAccount: PartyAccount | null;
  readonly senderName: string | null;
  readonly senderAddress: Address | null;
  readonly senderToReceiverInformation: string | null;
  readonly serviceProviderId: string | null;
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
): Promise<{ credit: ReturnType<typeof presentProvisionedAccountCredit>; repeated: boolean }> {
  const locked = await lockAccounts(tx, [reported.accountId]);
  const account = locked.get(reported.accountId);
  if (account === undefined) throw recordNotFound(ENTITY, 'accountId', reported.accountId);
  if (reported.clientId !== null && reported.clientId !== account.clientId) {
    await requireClient(tx, ENTITY, reported.clientId);
  }
  checkReported(reported, account);
  const earlier = await findByProviderId(tx, account.provider, reported.serviceProviderId);
  if (earlier !== null) {
    if (!sameContent(earlier, reported)) throw otherContent(reported);
    return { credit: presentProvisionedAccountCredit(earlier), repeated: true };
  }
  const receiverAccount = await readPartyAccount(tx, account.id);
  const credit = { ...reported, clientId: account.clientId, provider: account.provider, receiverAccount };
  try {
    const shown = presentProvisionedAccountCredit(await storeCredit(tx, credit, { account, hold: null }, rules));
    audit(tx, shown, initiator);
    return { credit: shown, repeated: false };
  } catch (error) {
    // The account's lock serializes repetitions for one account, so another account has just taken this id.
    if (uniqueViolation(error) === 'provisioned_account_credits_by_provider_id') throw otherContent(reported);
    throw error;
  }
}

/** Omits the sender, whose data only the credit itself keeps. */
function audit(
  tx: Transaction,
  credit: ReturnType<typeof presentProvisionedAccountCredit>,
  initiator: Initiator,
): void {
  const { id, clientId, accountId, amount, currency, scope, scheme, serviceProvider, serviceProviderId } = credit;
  appendAuditEntry(tx, {
    initiator,
    resource: 'provisioned-account-credit',
    resourceId: id,
    action: 'created',
    after: { clientId, accountId, amount, currency, scope, scheme, serviceProvider, serviceProviderId },
  });
}

function otherContent({ serviceProviderId }: ReportedCredit): Error {
  const message = 'This serviceProviderId was reported before with other content.';
  return refusal('common.idempotency.key_reused', [ENTITY, 'serviceProviderId', serviceProviderId ?? ''], message);
}

function checkReported(reported: ReportedCredit, account: LockedAccount): void {
  if (reported.clientId !== null && reported.clientId !== account.clientId) {
    const message = 'The account belongs to another client.';
    throw refusal('account.client.mismatch', [ENTITY, 'clientId', reported.clientId], message);
  }
  if (account.method !== 'plug-in') {
    const message = 'Money on a built-in account is reported by its provider.';
    throw refusal('account.method.mismatch', [ENTITY, 'accountId', account.id], message);
  }
  if (account.currency !== reported.currency) {
    const message = `The account holds ${account.currency}.`;
    throw refusal('account.currency.mismatch', [ENTITY, 'currency', reported.currency], message);
  }
}

function sameContent(row: Row, reported: ReportedCredit): boolean {
  return (
    row.accountId === reported.accountId &&
    row.amountMinor === reported.amountMinor &&
    row.currency === reported.currency &&
    row.scope === reported.scope &&
    row.scheme === reported.scheme &&
    row.senderName === reported.senderName &&
    row.senderToReceiverInformation === reported.senderToReceiverInformation &&
    isDeepStrictEqual(row.senderBankAccount, reported.senderBankAccount) &&
    isDeepStrictEqual(row.senderAddress, reported.senderAddress)
  );
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

async function readPartyAccount(tx: Transaction, id: AccountId): Promise<PartyAccount | null> {
  const row = await tx.find(ACCOUNT, id);
  return row === null ? null : partyAccountOf(row);
}

type NewCredit = Omit<ReportedCredit, 'accountId' | 'clientId'> & {
  readonly clientId: ClientId | null;
  readonly provider: string;
  readonly receiverAccount: PartyAccount | null;
  readonly serviceProviderReference?: string | null;
};

async function storeCredit(
  tx: Transaction,
  { serviceProviderReference, ...credit }: NewCredit,
  receiver: { readonly account: LockedAccount | null; readonly hold: HoldReason | null },
  rules: ArrivalRules,
): Promise<Row> {
  const { account, hold } = receiver;
  const now = await readClock(tx);
  const id = newId<ProvisionedAccountCreditId>();
  const own = { ...credit, id, accountId: account?.id ?? null, createdAt: now };
  const row = await insertRow(tx, provisionedAccountCredits, own);
  const { amountMinor, currency, scheme } = row;
  const fee = { direction: 'incoming', scheme: scheme ?? INTERNAL_SCHEME, currency, amountMinor } as const;
  const arrival = {
    provider: row.provider,
    method: account?.method ?? ('built-in' as const),
    account,
    hold,
    isReviewed: isReviewedOnArrival(rules, currency),
    amountMinor,
    feeMinor: implicitFee(fee, rules.prices),
    currency,
    scope: row.scope,
    scheme,
    provisionedAccountCreditId: row.id,
    serviceProviderId: row.serviceProviderId,
    serviceProviderReference: serviceProviderReference ?? null,
    senderInformation: row.senderToReceiverInformation,
    senderName: row.senderName,
    senderAccount: row.senderBankAccount,
    receiverAccount: row.receiverAccount,
  };
  createIncomingTransfer(tx, arrival, now);
  return row;
}

/** A payment reported by a built-in provider. The receiver's details may be missing or unknown. */
export interface ReceivedPayment extends NamedReceiver {
  readonly amountMinor: bigint;
  readonly scheme: string;
  readonly senderName: string | null;
  readonly senderAccount: PartyAccount | null;
  readonly serviceProviderId: string;
  readonly serviceProviderReference: string | null;
  /** The provider has received the money and is still holding it. */
  readonly held: boolean;
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
  const named = { accountHolderName: null, alias: null, ledgerNumber: null, country: null, ...payment.receiver };
  const { receiver, remittanceText, senderAccount, held: _, ...own } = payment;
  await storeCredit(
    tx,
    {
      ...own,
      clientId: account?.clientId ?? null,
      scope: 'external',
      senderBankAccount: senderAccount,
      senderAddress: null,
      senderToReceiverInformation: remittanceText,
      receiverAccount:
        account === null ? { ...named, currency: payment.currency } : await readPartyAccount(tx, account.id),
    },
    { account, hold: held ? 'held-by-provider' : hold },
    rules,
  );
  return 'applied';
}

async function repeated(
  tx: Transaction,
  payment: ReceivedPayment,
  earlier: Row,
): Promise<'applied' | 'no-effect' | 'break'> {
  if (earlier.amountMinor !== payment.amountMinor || earlier.currency !== payment.currency) return 'break';
  if (payment.held) return 'no-effect';
  const outcome = await releaseHeldTransfer(tx, payment);
  return outcome === 'waiting' ? 'no-effect' : outcome;
}
