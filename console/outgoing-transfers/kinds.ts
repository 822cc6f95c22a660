import type { Role } from '../../domain/machine-users/roles.ts';
import {
  decideAuthorization,
  decideAuthorizationRejection,
  decideCancellation,
} from '../../domain/outgoing-transfers/changes.ts';
import { decideLookUpRequest } from '../../domain/outgoing-transfers/look-ups.ts';
import { decideFailure, decideNextWindow, decideRetry } from '../../domain/outgoing-transfers/operator-commands.ts';
import { decideRecall } from '../../domain/outgoing-transfers/outcomes/recall-decisions.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type { TransferChange, TransferSituation } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { amountText } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';

/** What a decision depends on, besides the payment. */
export interface Asked extends Pick<PageContext, 'services' | 'person'> {
  /** Who caused the payment, besides its creator. */
  readonly otherMakers: readonly string[];
}

/** A remedy for one payment, before it is known how it acts. */
export interface Kind {
  readonly kind: string;
  readonly label: string;
  /** Operators unless it is said. */
  readonly roles?: readonly Role[];
  readonly movesMoney: boolean;
  readonly isDangerous?: boolean;
  /** `Fail`: with the payment's number it is the title. */
  readonly title: string;
  decide(situation: TransferSituation, asked: Asked): TransferChange | null;
  /** Said before it is done. `after` is the transfer as the decision would leave it. */
  consequences(transfer: OutgoingTransfer, after: OutgoingTransfer | null): readonly string[];
}

const money = ({ amountMinor, currency }: OutgoingTransfer) => amountText(amountMinor, currency);

export const LOOK_UP: Kind = {
  kind: 'look-up',
  label: 'Look up at the bank',
  title: 'Look up',
  movesMoney: false,
  decide: decideLookUpRequest,
  consequences: (transfer) => [
    `The service asks ${transfer.provider} what became of this payment of ${money(transfer)}, within a minute.`,
    'The bank’s answer decides what happens next. Nothing is sent again by this.',
  ],
};

export const RETRY: Kind = {
  kind: 'retry-submission',
  label: 'Submit again',
  title: 'Submit again',
  movesMoney: true,
  decide: decideRetry,
  consequences: (transfer) => [
    `${money(transfer)} is submitted to ${transfer.provider} again now, as attempt ${transfer.submissionAttempt + 1}, under the same reference: the bank pays it once.`,
  ],
};

export const NEXT_WINDOW: Kind = {
  kind: 'next-window',
  label: 'Move to the next window',
  title: 'Move to the next window',
  movesMoney: true,
  decide: decideNextWindow,
  consequences: (transfer, after) => [
    after === null
      ? `It is planned for ${transfer.transferDate}.`
      : `Its date moves from ${transfer.transferDate} to ${after.transferDate}${after.cutOffAt === null ? '' : `, cut-off ${after.cutOffAt.toISOString()}`}. That is roll ${after.rollCount}.`,
  ],
};

export const CANCEL: Kind = {
  kind: 'cancel',
  label: 'Cancel',
  title: 'Cancel',
  movesMoney: true,
  isDangerous: true,
  decide: decideCancellation,
  consequences: (transfer) => [
    `The transfer of ${money(transfer)} ends as cancelled, for good. It has not been sent to a bank.`,
    `${amountText(transfer.reservedMinor, transfer.currency)} that is reserved for it becomes available again.`,
  ],
};

export const FAIL: Kind = {
  kind: 'fail',
  label: 'Fail',
  title: 'Fail',
  movesMoney: true,
  isDangerous: true,
  // The reason does not bear on whether it can be failed.
  decide: (situation) => decideFailure(situation, 'preview'),
  consequences: (transfer) => [
    `The transfer of ${money(transfer)} ends as failed, for good, with your reason as its message, which the client sees.`,
    `${amountText(transfer.reservedMinor, transfer.currency)} that is reserved for it becomes available again.`,
  ],
};

export const RECALL: Kind = {
  kind: 'recall',
  label: 'Recall',
  title: 'Recall',
  movesMoney: true,
  isDangerous: true,
  decide: (situation, { services: { providers } }) =>
    decideRecall(situation, providers.get(situation.transfer.provider)?.recallPayment !== undefined),
  consequences: (transfer) => [
    `${transfer.provider} is asked to have ${money(transfer)} sent back. The beneficiary’s bank decides, which may take days.`,
    'No money moves by the request itself.',
  ],
};

export const AUTHORIZE: Kind = {
  kind: 'authorize',
  label: 'Sign',
  title: 'Authorize',
  roles: ['approver'],
  movesMoney: true,
  decide: (situation, { person, otherMakers }) => decideAuthorization(situation, person.id, otherMakers),
  consequences: (transfer) => [
    `You give the second signature for ${money(transfer)}, ${destinationOf(transfer)}. It then goes on by itself on ${transfer.transferDate}.`,
    'It is booked under your name. It cannot be taken back once the payment is at the bank.',
  ],
};

export const REJECT: Kind = {
  kind: 'reject-authorization',
  label: 'Reject',
  title: 'Reject',
  roles: ['approver'],
  movesMoney: false,
  isDangerous: true,
  decide: decideAuthorizationRejection,
  consequences: (transfer) => [
    `The transfer of ${money(transfer)} ends as cancelled, for good. Nothing has been reserved or sent for it.`,
  ],
};

function destinationOf({ scope, scheme }: OutgoingTransfer): string {
  return scope === 'internal' ? 'to another account of this service' : `by ${scheme}`;
}
