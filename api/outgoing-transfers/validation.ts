import { newId } from '../../db/common/ids.ts';
import type { DestinationBankAccount, TransferFacts } from '../../db/outgoing-transfers/transfer-facts.ts';
import { type DrawNumber, drawTransactionNumber } from '../../db/transfers/transaction-numbers.ts';
import { problemOfOrder } from '../../domain/bank-files/exchange/orders.ts';
import { DomainError } from '../../domain/common/errors.ts';
import type {
  AccountId,
  IncomingTransferId,
  MachineUserId,
  OutgoingTransferId,
  ThirdPartyProviderId,
} from '../../domain/common/ids.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import type { TransferOrigin } from '../../domain/outgoing-transfers/requests/makers.ts';
import { sentTextsOf } from '../../domain/outgoing-transfers/requests/sent-texts.ts';
import { transferReasons } from '../../domain/outgoing-transfers/requests/transfer-reasons.ts';
import { startingRequirements } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { planOutgoingTransfer, type TransferPlan } from '../../domain/outgoing-transfers/validation.ts';
import { offerOf } from '../../domain/providers/providers.ts';
import type { Services } from '../http/services.ts';
import type { PostedTransfer } from './schemas.ts';

/** A valid request for a transfer. */
export interface TransferOrder {
  readonly request: PostedTransfer;
  readonly feeMinor: bigint;
  readonly origin: TransferOrigin;
  /** A machine user, or a third party by the consent of the account's holder. */
  readonly createdBy: MachineUserId | ThirdPartyProviderId;
  readonly requestId: string;
  readonly configuration: Services['configuration'];
}

export interface DecidedTransfer {
  readonly accounts: ReadonlyMap<AccountId, LockedAccount>;
  readonly source: LockedAccount;
  readonly receiver: LockedAccount | null;
  readonly to: DestinationBankAccount | null;
  readonly plan: TransferPlan;
  readonly now: Date;
}

/** The accounts that a transfer names; null if its scope has none. */
export function idsOf({ source, destination }: PostedTransfer) {
  const isInternal = destination.type === 'client-account';
  return {
    source: source.accountId,
    destination: isInternal ? destination.accountId : null,
    bankAccount: isInternal ? null : destination.beneficiaryBankAccountId,
  };
}

/** Decides the transfer; throws the rejection. `clientExists`: whether the request's client exists. */
export function decideTransfer(
  { request, feeMinor, configuration }: TransferOrder,
  { accounts, bankAccount: to, now }: TransferFacts,
  clientExists: boolean,
): DecidedTransfer {
  const ids = idsOf(request);
  const source = accounts.get(ids.source) ?? null;
  const receiver = ids.destination === null ? null : (accounts.get(ids.destination) ?? null);
  const plan = planOutgoingTransfer(
    {
      ...request,
      scheme: request.scheme ?? null,
      transferDate: request.transferDate ?? null,
      ...sentTextsOf(request),
      schemeAttributes: request.schemeAttributes ?? null,
      sourceAccountId: ids.source,
      destinationId: ids.destination ?? ids.bankAccount ?? '',
    },
    {
      clientExists,
      source,
      destination: receiver,
      bankAccount: to?.account ?? null,
      offeredSchemes: source === null ? [] : (offerOf(source, configuration.providers)?.schemes ?? []),
      reasons: to === null ? [] : transferReasons(to.account.country),
      tradeNames: configuration.tradeNames,
      schemes: configuration.schemes,
      feeMinor,
      transferDateYearsMax: configuration.transferDateYearsMax,
      now,
    },
  );
  if (source === null) throw new Error('a plan without a source account');
  if (to !== null) checkBankFile(request, configuration, { source, to, plan });
  return { accounts, source, receiver, to, plan, now };
}

/** What a bank would not take by file is rejected now, and not by the bank at night. */
function checkBankFile(
  request: PostedTransfer,
  { bankProfiles, fileExchanges }: TransferOrder['configuration'],
  { source, to, plan }: Pick<DecidedTransfer, 'source' | 'plan'> & { readonly to: DestinationBankAccount },
): void {
  const profile = bankProfiles.get(fileExchanges.get(source.provider)?.profile ?? '');
  if (profile === undefined) return;
  const { account, fullName } = to.beneficiary;
  const { id, country, iban, accountNumber, routingCodes } = to.account;
  const creditor = { name: account?.accountHolderName ?? fullName, country, iban, accountNumber, routingCodes };
  const problem = problemOfOrder(
    {
      amountMinor: request.amountMinor,
      currency: request.currency,
      scheme: request.scheme ?? null,
      description: request.description ?? null,
      schemeAttributes: request.schemeAttributes ?? null,
      bankAccountId: id,
      creditor,
      transferDate: plan.transferDate,
      source,
    },
    profile,
  );
  if (problem !== null) throw new DomainError([problem]);
}

/** The row to create. */
export function requestedTransfer(order: TransferOrder, decided: DecidedTransfer, draw?: DrawNumber) {
  const { source, receiver, to, now } = decided;
  return {
    ...plannedTransfer(order, decided, draw),
    schemeAttributes: order.request.schemeAttributes ?? null,
    destinationPartyAccountId: receiver?.partyAccountId ?? null,
    beneficiary: to?.beneficiary ?? null,
    method: source.method,
    provider: source.provider,
    createdBy: order.createdBy,
    requestId: order.requestId,
    createdAt: now,
    updatedAt: now,
  };
}

/** The part of the row that a dry run shows. */
export function plannedTransfer(
  { request, feeMinor, configuration }: TransferOrder,
  { source, receiver, to, plan, now }: DecidedTransfer,
  draw: DrawNumber = drawTransactionNumber,
) {
  return {
    id: newId<OutgoingTransferId>(),
    transactionNumber: draw('outgoing-transfer', now),
    clientId: request.clientId,
    accountId: source.id,
    status: 'pending' as const,
    scope: request.scope,
    scheme: request.scheme ?? null,
    currency: request.currency,
    amountMinor: request.amountMinor,
    feeMinor,
    transferDate: plan.transferDate,
    originalTransferDate: plan.originalTransferDate,
    rollCount: plan.rollCount,
    cutOffAt: plan.cutOffAt,
    ...sentTextsOf(request),
    destinationAccountId: receiver?.id ?? null,
    beneficiaryId: to?.account.beneficiaryId ?? null,
    beneficiaryBankAccountId: to?.account.id ?? null,
    returned: false,
    incomingTransferId: receiver === null ? null : newId<IncomingTransferId>(),
    ...startingRequirements(configuration, request),
  };
}
