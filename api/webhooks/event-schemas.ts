import * as v from 'valibot';
import { RECALL_REJECTED } from '../../domain/outgoing-transfers/outcomes/recalls.ts';
import { accountShown, connectionError, connectionShown } from '../accounts/schemas.ts';
import { bankAccountShown, beneficiaryShown } from '../beneficiaries/schemas.ts';
import { named } from '../http/schemas/named.ts';
import { narrowed } from '../http/schemas/narrowed.ts';
import {
  date,
  dateTime,
  deprecated,
  fields,
  list,
  map,
  nullable,
  optional,
  text,
  uuid,
} from '../http/schemas/schemas.ts';
import { incomingTransferOfEvents } from '../incoming-transfers/schemas.ts';
import { outgoingTransferOfEvents, statusReasonShown } from '../outgoing-transfers/schemas.ts';
import { subscriptionShown } from './subscription-schemas.ts';

// Resources as the events of each type show them (specification 6).

export const pendingIncoming = narrowed('PendingIncomingTransfer', incomingTransferOfEvents, {
  status: v.literal('pending'),
  transferDate: v.null(),
});
export const completedIncoming = narrowed('CompletedIncomingTransfer', incomingTransferOfEvents, {
  status: v.literal('completed'),
  transferDate: date(),
});
export const failedIncoming = narrowed('FailedIncomingTransfer', incomingTransferOfEvents, {
  status: v.literal('failed'),
});
export const heldIncoming = narrowed('HeldIncomingTransfer', incomingTransferOfEvents, {
  status: v.literal('on-hold'),
});

/** Optional only because a dry run has neither. */
const made = { id: uuid(), transactionNumber: text(15) };

export const pendingOutgoing = outgoing('Pending', { status: v.literal('pending') });
export const processingOutgoing = outgoing('Processing', { status: v.literal('processing') });
export const releasedOutgoing = outgoing('Released', { status: v.literal('released') });
export const completedOutgoing = outgoing('Completed', { status: v.literal('completed'), returned: v.literal(false) });
export const cancelledOutgoing = outgoing('Cancelled', { status: v.literal('cancelled') });
export const failedOutgoing = outgoing('Failed', { status: v.literal('failed') });
export const returnedOutgoing = outgoing('Returned', {
  status: v.literal('completed'),
  returned: v.literal(true),
  incomingTransferId: uuid(),
});
/** The beneficiary keeps the money; a part may have been returned before. */
export const recallRejectedOutgoing = outgoing('RecallRejected', {
  status: v.picklist(['released', 'completed']),
  statusReason: narrowed('RecallRejectedReason', statusReasonShown, { code: v.literal(RECALL_REJECTED) }),
});

function outgoing(state: string, entries: v.ObjectEntries) {
  return narrowed(`${state}OutgoingTransfer`, outgoingTransferOfEvents, { ...made, ...entries });
}

export const complianceCheckInReview = optional(
  named(
    'ComplianceCheckInReview',
    fields({
      status: v.literal('in-review'),
      procedureResults: map(
        /^[a-z]+(-[a-z]+)*$/,
        named('ProcedureResultInReview', fields({ result: nullable(text(40)) })),
        10,
      ),
    }),
  ),
);

export const activeAccount = account('Active', { status: v.literal('active') });
export const inactiveAccount = account('Inactive', { status: v.literal('inactive') });
export const suspendedAccount = account('Suspended', { status: v.literal('suspended') });
export const closedAccount = account('Closed', { status: v.literal('closed') });
/** It was not opened at a provider, so it has no connection. */
export const declinedAccount = account('Declined', { status: v.literal('declined'), connection: v.null() });

function account(status: string, entries: v.ObjectEntries) {
  return narrowed(`${status}Account`, accountShown, entries);
}

const failed = { error: connectionError };
const sound = { error: v.null() };

export const accountInCreation = connected('InCreation', { state: v.literal('creation-in-progress'), ...sound });
export const accountNotCreated = connected('NotCreated', {
  state: v.picklist(['creation-failed', 'dependency-failed']),
  ...failed,
});
export const accountUpToDate = connected('UpToDate', { state: v.literal('completed-up-to-date'), ...sound });
export const accountInUpdate = connected('InUpdate', { state: v.literal('update-in-progress'), ...sound });
export const accountOutdated = connected('Outdated', { state: v.literal('completed-outdated'), ...failed });

function connected(state: string, entries: v.ObjectEntries) {
  const connection = narrowed(`Connection${state}`, connectionShown, entries);
  return narrowed(`AccountConnection${state}`, accountShown, { connection });
}

/** The duplicate of `data.account.connection`. */
export const accountConnect = named(
  'AccountEventConnect',
  fields({ connection: deprecated(optional(connectionShown)) }),
);

export const clientConnect = named(
  'ClientEventConnect',
  fields({ connection: named('ClientEventConnection', fields({ id: uuid(), serviceProvider: text(64) })) }),
);

/** The beneficiary with only the bank account that the event concerns. */
export const beneficiaryWithBankAccount = narrowed('BeneficiaryWithBankAccount', beneficiaryShown, {
  bankAccounts: list(bankAccountShown, 1, 1),
});

export const pingData = { webhookSubscription: subscriptionShown };
export const pingMetadata = named(
  'PingMetadata',
  fields({ sequence: v.literal(0), eventId: uuid(), eventDateTime: dateTime() }),
);
