import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import {
  decideAuthorization,
  decideAuthorizationRejection,
  decideCancellation,
  decidePluginReport,
} from '../../domain/outgoing-transfers/changes.ts';
import { decideRecall } from '../../domain/outgoing-transfers/outcomes/recall-decisions.ts';
import type { PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type {
  TransferChange,
  TransferRules,
  TransferSituation,
} from '../../domain/outgoing-transfers/transfer-changes.ts';
import type { ReadRows } from '../../domain/transfers/guards.ts';
import type { AuditedFields, Initiator } from '../common/audit-entries.ts';
import { openBankingConsents } from '../open-banking/schema.ts';
import type { Reader } from '../query/database.ts';
import { childrenIn } from '../query/rows.ts';
import type { RequestedChange } from '../transfers/requested-changes.ts';
import { nameOfReturn } from './outgoing-transfers.ts';
import { lockSituation, readSituation } from './situations.ts';

// What callers and operators request of an outgoing transfer. Each is decided from its situation, and audited.

/** Whose request it is, and about which transfer. */
export interface TransferRequest {
  readonly id: OutgoingTransferId;
  readonly initiator: Initiator;
  readonly rules: TransferRules;
}

export interface ChangedTransfer {
  /** As an answer shows it. */
  readonly transfer: OutgoingTransfer;
  /** The returns of the payment, oldest first. */
  readonly returnIds: readonly string[];
}

interface OutgoingFacts extends ReadRows {
  readonly situation: TransferSituation;
  readonly otherMakers: readonly string[];
}

export type OutgoingRequest = RequestedChange<OutgoingFacts, ChangedTransfer>;

interface Rule {
  readonly action: string;
  readonly decide: (situation: TransferSituation, otherMakers: readonly string[]) => TransferChange | null;
  readonly makers?: (reader: Reader, id: OutgoingTransferId) => Promise<readonly string[]>;
  readonly audited?: (transfer: OutgoingTransfer) => AuditedFields;
  /** The transfer as the answer shows it, if not as it is after the change. */
  readonly shown?: (before: OutgoingTransfer, after: OutgoingTransfer) => OutgoingTransfer;
}

function requested({ id, initiator, rules }: TransferRequest, rule: Rule): OutgoingRequest {
  const { action, decide, makers = noMakers, audited = auditedFields, shown } = rule;
  return {
    read: async ({ reader }) => {
      const [situation, otherMakers] = await Promise.all([readSituation(reader, id, rules), makers(reader, id)]);
      return situation === null ? null : factsOf(situation, otherMakers);
    },
    lock: async (tx) => {
      const [situation, otherMakers] = await Promise.all([lockSituation(tx, id, rules), makers(tx, id)]);
      return factsOf(situation, otherMakers);
    },
    decide: ({ situation, otherMakers }) => {
      const { transfer: before } = situation;
      const change = decide(situation, otherMakers);
      const after = change?.outgoing?.after ?? before;
      const auditEntry = { initiator, resource: 'outgoing-transfer', resourceId: id, action } as const;
      return {
        change,
        auditEntry: { ...auditEntry, before: audited(before), after: audited(after) },
        result: { transfer: shown?.(before, after) ?? after, returnIds: returnIdsOf(situation, change) },
      };
    },
  };
}

async function noMakers(): Promise<readonly string[]> {
  return [];
}

function factsOf(situation: TransferSituation, otherMakers: readonly string[]): OutgoingFacts {
  const { transfer, incoming, accounts } = situation;
  const rows = { outgoing: transfer, incoming: incoming?.after ?? null, accounts: [...accounts.values()] };
  return { ...rows, situation, otherMakers };
}

function returnIdsOf({ returns }: TransferSituation, change: TransferChange | null): readonly string[] {
  const booked = change?.incoming?.after;
  const isNew = booked != null && booked.returnOf !== null && change?.incoming?.before === null;
  return [...returns.map(({ id }) => id), ...(isNew ? [booked.id] : [])];
}

function auditedFields(transfer: OutgoingTransfer): AuditedFields {
  const { status, failureCode: statusReasonCode, authorizationStatus, returned, incomingTransferId } = transfer;
  const { serviceProviderId, serviceProviderReference } = transfer;
  const provider = { serviceProviderId, serviceProviderReference };
  return { status, statusReasonCode, authorizationStatus, returned, incomingTransferId, ...provider };
}

/** Cancels a pending transfer; from `processing` on this is an illegal transition. */
export function cancellation(request: TransferRequest): OutgoingRequest {
  return requested(request, { action: 'cancelled', decide: decideCancellation });
}

/** The report of a plug-in account's caller about its payment; rejected if it contradicts the row. */
export function pluginReport(request: TransferRequest, report: PaymentReport): OutgoingRequest {
  return requested(request, {
    action: 'reported',
    decide: (situation) => decidePluginReport(situation, report, nameOfReturn(report, situation.now)),
  });
}

// A consent to a payment is approved before the payment exists, so this never changes.
const CONSENTS = childrenIn(
  openBankingConsents,
  openBankingConsents.outgoingTransferId,
  ({ outgoingTransferId }) => outgoingTransferId ?? '',
);

/** The makers of a transfer besides its creator. */
export async function readOtherMakers(reader: Reader, id: OutgoingTransferId): Promise<string[]> {
  const consents = await reader.findChildren(CONSENTS, id);
  return consents.flatMap(({ approvedBy }) => approvedBy ?? []);
}

/**
 * Authorizes a pending transfer, unless the caller is one of its makers (domain/outgoing-transfers/requests/makers.ts). The result is the
 * transfer as authorized, still pending (specification 3): the transitions that follow in the same change are separate. What it waits for
 * is what follows.
 */
export function authorization(request: TransferRequest): OutgoingRequest {
  const { actor } = request.initiator;
  return requested(request, {
    action: 'authorized',
    decide: (situation, otherMakers) => decideAuthorization(situation, actor, otherMakers),
    makers: readOtherMakers,
    shown: (before, { waitingFor }) => ({ ...before, authorizationStatus: 'fulfilled', waitingFor }),
  });
}

/** Rejects a transfer that waits for its authorization: it is cancelled. */
export function authorizationRejection(request: TransferRequest): OutgoingRequest {
  return requested(request, { action: 'rejected', decide: decideAuthorizationRejection });
}

/**
 * Requests the recall of a released payment; its workflow asks the provider. Rejected unless the transfer can be recalled. `isOffered`:
 * whether the provider of a transfer takes recalls.
 */
export function paymentRecall(request: TransferRequest, isOffered: (provider: string) => boolean): OutgoingRequest {
  return requested(request, {
    action: 'recalled',
    decide: (situation) => decideRecall(situation, isOffered(situation.transfer.provider)),
    audited: ({ recallNumber, recallStatus }) => ({ recallNumber, recallStatus }),
  });
}
