import { findIncomingTransfer, type IncomingTransferShown } from '../../db/incoming-transfers/reads.ts';
import { assignment, type MovedTransfer, moneyReturn } from '../../db/incoming-transfers/requested-changes.ts';
import type { Reader } from '../../db/query/database.ts';
import type { AccountId, IncomingTransferId } from '../../domain/common/ids.ts';
import { presentIncomingTransfer } from '../../domain/incoming-transfers/presentation.ts';
import { presentReturn, RETURN_CODES } from '../../domain/outgoing-transfers/requests/return-terms.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { amount, fields, optional, picklist, uuid } from '../http/schemas/schemas.ts';
import { INCOMING_TRANSFER_EXAMPLE, incomingTransferShown } from './schemas.ts';

const TAG = 'Incoming transfers';

/** The amount is in the transfer's own currency, so its decimals are checked with the transfer. */
const askedReturn = named(
  'IncomingTransferReturn',
  fields({
    amount: optional(amount()),
    statusReason: named('ReturnReason', fields({ code: picklist(RETURN_CODES) })),
  }),
);

export const assignTransfer = route(
  {
    method: 'POST',
    path: '/incoming-transfers/{id}/assign',
    operationId: 'assignIncomingTransfer',
    summary: 'Assign held money to an account',
    description:
      'For a transfer that is `on-hold` because its payer named no account or more than one. The account must be active and have the same provider and currency. Money that the provider holds is credited once the provider releases it. Who decided its review does not assign it (403).',
    tag: TAG,
    roles: ['operator'],
    params: { id: uuid<IncomingTransferId>() },
    workflows: {
      direct: {
        data: fields({
          incomingTransfer: named('IncomingTransferAssignment', fields({ accountId: uuid<AccountId>() })),
        }),
      },
    },
    status: 200,
    response: fields({ incomingTransfer: incomingTransferShown }),
    errors: [
      'common.coding.internal.record_not_found',
      'common.state.illegal_transition',
      'account.method.mismatch',
      'account.currency.mismatch',
      'account.status.not_active',
    ],
    examples: {
      requests: { direct: { data: { incomingTransfer: { accountId: INCOMING_TRANSFER_EXAMPLE.accountId } } } },
      response: { incomingTransfer: INCOMING_TRANSFER_EXAMPLE },
    },
  },
  async ({ params: { id }, body, initiator, change }) => {
    const { accountId } = body.data.incomingTransfer;
    return change(assignment({ id, accountId, initiator }), changedTransferOf(id));
  },
);

/** The reason is what tells the return of completed money from that of money on hold, so that a request for one never does the other. */
export const returnTransfer = route(
  {
    method: 'POST',
    path: '/incoming-transfers/{id}/return',
    operationId: 'returnIncomingTransfer',
    summary: 'Return money to its payer',
    description:
      'Money that is `on-hold` goes back in full, without `incomingTransfer`: for built-in accounts the provider returns it, for plug-in accounts the caller does. Completed money is the client’s: with `statusReason` all that is left of it, or `amount`, goes back by an outgoing transfer, which reserves it and is authorized, reviewed, cancelled and reported as any other. `returns` names it; returns that are cancelled or fail leave their amounts to be returned. Money from another account of the service goes back by an internal transfer.',
    tag: TAG,
    roles: ['operator'],
    params: { id: uuid<IncomingTransferId>() },
    workflows: { direct: { data: fields({ incomingTransfer: optional(askedReturn) }), isDataOptional: true } },
    status: 200,
    response: fields({ incomingTransfer: incomingTransferShown }),
    errors: [
      'common.coding.internal.record_not_found',
      'common.state.illegal_transition',
      'client.status.not_active',
      'account.status.not_active',
      'transfer.scheme.unavailable',
      'transfer.amount.limit_exceeded',
    ],
    examples: {
      requests: { direct: { data: {} } },
      moreRequests: {
        'a part of completed money': {
          code: 'direct',
          data: { incomingTransfer: { amount: 40, statusReason: { code: 'CUST' } } },
        },
      },
      response: { incomingTransfer: { ...INCOMING_TRANSFER_EXAMPLE, status: 'failed', transferDate: null } },
    },
  },
  async ({ params: { id }, body, initiator, services: { configuration }, change }) => {
    const sent = body.data.incomingTransfer;
    const asked = sent === undefined ? null : { amount: sent.amount ?? null, code: sent.statusReason.code };
    const completed = asked === null ? null : { asked, rules: configuration };
    return change(moneyReturn({ id, initiator }, completed), changedTransferOf(id));
  },
);

/** How the answer to a change shows the transfer. Its sender and the payee that the payer named never change; the receiving account may. */
function changedTransferOf(id: IncomingTransferId) {
  return {
    read: (reader: Reader) => findIncomingTransfer(reader, id),
    answer: ({ transfer, receiver, returns }: MovedTransfer, before: IncomingTransferShown) => {
      const { senderName, senderAccount, receiverAccount } = before;
      const moved = presentIncomingTransfer(transfer, null, receiver);
      const parties = { senderName, senderAccount, receiverAccount: receiverAccount ?? moved.receiverAccount };
      const present = {
        waitingFor: transfer.waitingFor,
        returns: returns.map((one) => presentReturn(one, transfer.currency)),
      };
      return { data: { incomingTransfer: { ...moved, ...parties, ...present } } };
    },
  };
}
