import { presentOnly } from '../common/events.ts';
import type {
  AccountId,
  BeneficiaryBankAccountId,
  BeneficiaryId,
  ClientId,
  IncomingTransferId,
  OutgoingTransferId,
} from '../common/ids.ts';
import { amountNumber } from '../common/money.ts';
import { paymentReferenceOf } from '../common/payment-references.ts';
import { statusReason } from '../common/texts/status-reasons.ts';
import { formatDateTime } from '../common/time/dates.ts';
import { type CheckedTransfer, UNDECIDED } from '../compliance/checks.ts';
import { NO_PROGRESS, type PaymentProgress } from './outcomes/progress.ts';
import type { BeneficiaryShown } from './outgoing-transfers.ts';
import { NO_RETURN, type ReturnTerms } from './requests/return-terms.ts';
import { SENT_TEXTS, type SentTexts, sentTextsOf } from './requests/sent-texts.ts';
import type { OutgoingTransferStatus, OutgoingTransferWait, Requirements } from './statuses.ts';

/**
 * All columns of a transfer. What is stored, shown and repeated in events is listed in this file only: a new field needs a
 * migration, `db/common/schema.ts`, this file, `api/outgoing-transfers/schemas.ts`, `db/functions/straight-through.sql` if callers
 * send it, and whatever decides it.
 */
export interface OutgoingTransfer extends Requirements, CheckedTransfer, PaymentProgress, ReturnTerms, SentTexts {
  readonly id: OutgoingTransferId;
  readonly transactionNumber: string;
  readonly clientId: ClientId;
  readonly accountId: AccountId;
  readonly status: OutgoingTransferStatus;
  readonly scope: 'internal' | 'external';
  readonly scheme: string | null;
  readonly currency: string;
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
  /** The amount reserved in the account for this transfer, in minor units. */
  readonly reservedMinor: bigint;
  readonly transferDate: string;
  readonly originalTransferDate: string;
  readonly rollCount: number;
  readonly cutOffAt: Date | null;
  readonly schemeAttributes: unknown;
  readonly destinationAccountId: AccountId | null;
  /** The row by which it shows the receiving account. */
  readonly destinationPartyAccountId: bigint | null;
  readonly beneficiaryId: BeneficiaryId | null;
  readonly beneficiaryBankAccountId: BeneficiaryBankAccountId | null;
  readonly beneficiary: BeneficiaryShown | null;
  readonly returned: boolean;
  /** The receiver's side of an internal transfer; of an external one, the latest return. */
  readonly incomingTransferId: IncomingTransferId | null;
  readonly method: 'built-in' | 'plug-in';
  readonly provider: string;
  readonly serviceProviderId: string | null;
  readonly serviceProviderReference: string | null;
  /** Why it failed or came back; the message is set only if the caller or an operator gave one. */
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
  readonly waitingFor: OutgoingTransferWait | null;
  readonly waitingSince: Date | null;
  readonly waitingUntil: Date | null;
  readonly nextCheckAt: Date | null;
  readonly createdBy: string | null;
  /** The request that created it; null where one statement does the whole transfer. */
  readonly requestId: string | null;
  readonly revision: bigint;
  readonly eventSequence: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const SHOWN_OUTGOING_FIELDS = [
  'id',
  'transactionNumber',
  'clientId',
  'accountId',
  'status',
  'scope',
  'scheme',
  'currency',
  'amountMinor',
  'feeMinor',
  'transferDate',
  'originalTransferDate',
  'rollCount',
  'cutOffAt',
  ...SENT_TEXTS,
  'destinationAccountId',
  'beneficiaryId',
  'beneficiaryBankAccountId',
  'returned',
  'incomingTransferId',
  'authorizationStatus',
  'complianceCheckStatus',
  'transferDateStatus',
  'balanceCheckStatus',
  'serviceProviderId',
  'serviceProviderReference',
  'failureCode',
  'failureMessage',
] as const satisfies readonly (keyof OutgoingTransfer)[];

export type OutgoingTransferRecord = Pick<OutgoingTransfer, (typeof SHOWN_OUTGOING_FIELDS)[number]>;

/** The defaults of a new transfer. */
const UNTOUCHED = {
  scheme: null,
  feeMinor: 0n,
  reservedMinor: 0n,
  rollCount: 0,
  cutOffAt: null,
  ...sentTextsOf({}),
  schemeAttributes: null,
  destinationAccountId: null,
  destinationPartyAccountId: null,
  beneficiaryId: null,
  beneficiaryBankAccountId: null,
  beneficiary: null,
  returned: false,
  incomingTransferId: null,
  serviceProviderId: null,
  serviceProviderReference: null,
  failureCode: null,
  failureMessage: null,
  ...NO_PROGRESS,
  ...NO_RETURN,
  ...UNDECIDED,
  waitingFor: null,
  waitingSince: null,
  waitingUntil: null,
  nextCheckAt: null,
  createdBy: null,
  requestId: null,
  revision: 1n,
  eventSequence: 0n,
} as const satisfies Partial<OutgoingTransfer>;

type Untouched = keyof typeof UNTOUCHED;

export type NewOutgoingTransfer = Omit<OutgoingTransfer, Untouched> & Partial<Pick<OutgoingTransfer, Untouched>>;

// All fields from the start: V8 takes 100 us to add this many to an object after a spread.
const TEMPLATE: Readonly<Record<keyof OutgoingTransfer, unknown>> = {
  ...UNTOUCHED,
  id: null,
  transactionNumber: null,
  clientId: null,
  accountId: null,
  status: null,
  scope: null,
  currency: null,
  amountMinor: null,
  transferDate: null,
  originalTransferDate: null,
  authorizationStatus: null,
  complianceCheckStatus: null,
  transferDateStatus: null,
  balanceCheckStatus: null,
  method: null,
  provider: null,
  createdAt: null,
  updatedAt: null,
};

export function newOutgoingTransfer(transfer: NewOutgoingTransfer): OutgoingTransfer {
  return Object.assign({ ...TEMPLATE }, UNTOUCHED, transfer);
}

type NewRecord = Omit<OutgoingTransferRecord, Untouched> &
  Partial<Pick<OutgoingTransferRecord, Untouched & keyof OutgoingTransferRecord>>;

/** The shown fields of a new transfer, for an answer that is rendered before the row exists. */
export function newOutgoingTransferRecord<Given extends NewRecord>(record: Given): OutgoingTransferRecord & Given {
  return Object.assign({ ...TEMPLATE }, UNTOUCHED, record);
}

export function totalMinor({ amountMinor, feeMinor }: Pick<OutgoingTransfer, 'amountMinor' | 'feeMinor'>): bigint {
  return amountMinor + feeMinor;
}

/** Fields that never change. Events show them as the row has them. */
export const UNCHANGING_OUTGOING_FIELDS = [
  'id',
  'transactionNumber',
  'clientId',
  'accountId',
  'scope',
  'scheme',
  'currency',
  'amountMinor',
  'feeMinor',
  'originalTransferDate',
  ...SENT_TEXTS,
  'schemeAttributes',
  'destinationAccountId',
  'destinationPartyAccountId',
  'beneficiaryId',
  'beneficiaryBankAccountId',
  'beneficiary',
  'returnOf',
  'returnCode',
  'method',
  'provider',
  'createdBy',
  'requestId',
  'createdAt',
] as const satisfies readonly (keyof OutgoingTransfer)[];

/** The shown fields that may change. Each event repeats them as they were. */
export type ChangingOutgoingField = Exclude<keyof OutgoingTransferRecord, (typeof UNCHANGING_OUTGOING_FIELDS)[number]>;

/** Of these, the texts that a new transfer does not have; an event leaves out those that are still null. */
export const LATER_OUTGOING_FIELDS = [
  'serviceProviderId',
  'serviceProviderReference',
  'failureCode',
  'failureMessage',
] as const satisfies readonly ChangingOutgoingField[];
type LaterOutgoingField = (typeof LATER_OUTGOING_FIELDS)[number];

export function outgoingTransferEventData(transfer: OutgoingTransfer): Readonly<Record<string, unknown>> {
  const shown = {
    status: transfer.status,
    transferDate: transfer.transferDate,
    rollCount: transfer.rollCount,
    cutOffAt: transfer.cutOffAt?.toISOString() ?? null,
    returned: transfer.returned,
    incomingTransferId: transfer.incomingTransferId,
    authorizationStatus: transfer.authorizationStatus,
    complianceCheckStatus: transfer.complianceCheckStatus,
    transferDateStatus: transfer.transferDateStatus,
    balanceCheckStatus: transfer.balanceCheckStatus,
  } satisfies Record<Exclude<ChangingOutgoingField, LaterOutgoingField>, unknown>;
  const later = LATER_OUTGOING_FIELDS.map((field) => [field, transfer[field]] as const);
  return { ...shown, ...presentOnly(Object.fromEntries(later)) };
}

type PlannedTransfer = Omit<OutgoingTransferRecord, 'id' | 'status' | 'transactionNumber' | LaterOutgoingField>;

/** The fields of a transfer before it exists, as a dry run shows them with the requirements (specification 4.9). */
export function presentPlannedTransfer(transfer: PlannedTransfer) {
  const { currency, amountMinor, feeMinor } = transfer;
  return {
    clientId: transfer.clientId,
    transferDate: transfer.transferDate,
    originalTransferDate: transfer.originalTransferDate,
    rollCount: transfer.rollCount,
    cutOffDateTime: transfer.cutOffAt === null ? null : formatDateTime(transfer.cutOffAt),
    currency,
    amount: amountNumber(amountMinor, currency),
    feeCurrency: currency,
    feeAmount: amountNumber(feeMinor, currency),
    totalAmount: amountNumber(amountMinor + feeMinor, currency),
    ...sentTextsOf(transfer),
    scope: transfer.scope,
    scheme: transfer.scheme,
    ownerType: 'client' as const,
    source: { type: 'client-account' as const, accountId: transfer.accountId },
    destination:
      transfer.destinationAccountId === null
        ? {
            type: 'beneficiary-bank-account' as const,
            beneficiaryBankAccountId: transfer.beneficiaryBankAccountId,
            beneficiaryId: transfer.beneficiaryId,
          }
        : { type: 'client-account' as const, accountId: transfer.destinationAccountId },
  };
}

/** As answers and events show it (specification 2.8); some callers add `beneficiary`. */
export function presentOutgoingTransfer(transfer: OutgoingTransferRecord) {
  return {
    id: transfer.id,
    transactionNumber: transfer.transactionNumber,
    paymentReference: paymentReferenceOf(transfer.id),
    status: transfer.status,
    statusReason: statusReason(transfer.failureCode, transfer.failureMessage),
    ...presentPlannedTransfer(transfer),
    returned: transfer.returned,
    incomingTransferId: transfer.incomingTransferId,
    serviceProviderId: transfer.serviceProviderId,
    serviceProviderReference: transfer.serviceProviderReference,
    requirementConfiguration: presentRequirements(transfer),
  };
}

export function presentRequirements(of: Requirements) {
  const { transferDateStatus, complianceCheckStatus, balanceCheckStatus, authorizationStatus } = of;
  return { transferDateStatus, complianceCheckStatus, balanceCheckStatus, authorizationStatus };
}
