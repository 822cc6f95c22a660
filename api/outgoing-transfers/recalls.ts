import { findOutgoingTransfer } from '../../db/outgoing-transfers/reads.ts';
import { recallOutgoingTransfer } from '../../db/outgoing-transfers/recalls.ts';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { OutgoingTransferId } from '../../domain/frame/ids.ts';
import { route } from '../frame/route.ts';
import { fields, uuid } from '../frame/schemas/schemas.ts';
import { TRANSFER_WITH_BENEFICIARY_EXAMPLE } from './examples.ts';
import { shownTransferWithBeneficiary } from './schemas.ts';

/** The answer comes before the provider is asked, so it shows the transfer as it was. */
export const recallOutgoingTransferRoute = route(
  {
    method: 'POST',
    path: '/outgoing-transfers/{id}/recall',
    operationId: 'recallOutgoingTransfer',
    summary: 'Ask for a released payment back',
    description:
      'For an external transfer that is `released` or `completed`, of a built-in provider that takes recalls. A recall moves no money and is no cancellation: the beneficiary’s bank decides. What it gives back is a return (`returned`, `outgoing-transfer-returned`); if it refuses, `statusReason.code` is `recall.refused`, the status stays, and subscribers who name it get `outgoing-transfer-recall-refused`. One recall at a time; after a refusal there may be another.',
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
      response: { outgoingTransfer: { ...TRANSFER_WITH_BENEFICIARY_EXAMPLE, status: 'completed' } },
    },
  },
  async ({ params, initiator, services, writeAlone }) =>
    writeAlone(async (tx) => {
      const { configuration, providers } = services;
      const isOffered = (provider: string) => providers.get(provider)?.recallPayment !== undefined;
      await recallOutgoingTransfer(tx, params.id, configuration, { initiator, isOffered });
      const outgoingTransfer = await findOutgoingTransfer(tx, params.id);
      if (outgoingTransfer === null) throw recordNotFound('outgoingTransfer', 'id', params.id);
      return { data: { outgoingTransfer } };
    }),
);
