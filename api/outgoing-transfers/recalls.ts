import { paymentRecall } from '../../db/outgoing-transfers/requested-changes.ts';
import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import { route } from '../http/route.ts';
import { fields, uuid } from '../http/schemas/schemas.ts';
import { changedTransferOf } from './changes.ts';
import { TRANSFER_WITH_BENEFICIARY_EXAMPLE } from './examples.ts';
import { shownTransferWithBeneficiary } from './schemas.ts';

/** The provider is asked after the answer, which therefore shows the transfer unchanged. */
export const recallOutgoingTransferRoute = route(
  {
    method: 'POST',
    path: '/outgoing-transfers/{id}/recall',
    operationId: 'recallOutgoingTransfer',
    summary: 'Recall a released payment',
    description:
      'For an external transfer that is `released` or `completed`, of a built-in provider that supports recalls. A recall moves no money and is not a cancellation: the beneficiary’s bank decides. Money that it sends back is a return (`returned`, `outgoing-transfer-returned`). If it rejects the recall, `statusReason.code` is `recall.rejected`, the status does not change, and subscribers that name the type receive `outgoing-transfer-recall-rejected`. Only one recall can be open at a time; after a rejection another one is possible.',
    tag: 'Outgoing transfers',
    roles: ['operator'],
    params: { id: uuid<OutgoingTransferId>() },
    workflows: { direct: { data: fields({}) } },
    status: 200,
    response: fields({ outgoingTransfer: shownTransferWithBeneficiary }),
    errors: [
      'common.coding.internal.record_not_found',
      'common.state.illegal_transition',
      'transfer.recall.unavailable',
    ],
    examples: {
      requests: { direct: { data: {} } },
      response: {
        outgoingTransfer: { ...TRANSFER_WITH_BENEFICIARY_EXAMPLE, status: 'completed', waitingFor: 'recall' },
      },
    },
  },
  async ({ params: { id }, initiator, services: { configuration, providers }, change }) => {
    const isOffered = (provider: string) => providers.get(provider)?.recallPayment !== undefined;
    return change(paymentRecall({ id, initiator, rules: configuration }, isOffered), changedTransferOf(id));
  },
);
