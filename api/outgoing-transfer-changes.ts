import * as v from 'valibot';
import type { Transaction } from '../db/client.ts';
import { authorizeOutgoingTransfer, cancelOutgoingTransfer, reportPluginPayment } from '../db/outgoing-transfers.ts';
import { refusal } from '../domain/errors.ts';
import type { OutgoingTransferId } from '../domain/ids.ts';
import type { RouteContext } from './frame/route.ts';
import { fields, optional, picklist } from './frame/schemas.ts';

// What a PATCH may ask of a transfer (decisions, Money out): one thing at a time.
const change = v.pipe(
  fields({
    status: optional(picklist(['cancelled', 'released', 'completed', 'failed'])),
    requirementConfiguration: optional(fields({ authorizationStatus: picklist(['fulfilled']) })),
    returned: optional(v.literal(true, 'can only become true')),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const asked = Object.values(dataset.value).filter((value) => value !== undefined).length;
    if (asked === 1) return;
    addIssue({
      message: 'common.validation.mutually_exclusive: must change exactly one of status, authorization, returned',
    });
  }),
);

export const patchTransferWorkflow = { data: fields({ outgoingTransfer: change }) };

type PatchContext = Pick<
  RouteContext<
    { readonly id: v.GenericSchema<string, OutgoingTransferId> },
    Record<never, never>,
    { 'client.direct': typeof patchTransferWorkflow }
  >,
  'body' | 'caller' | 'params' | 'services'
>;

/** Carries out the one change asked for, if the caller's roles allow it; else throws the refusal. */
export async function changeTransfer(tx: Transaction, { body, caller, params, services }: PatchContext): Promise<void> {
  const { status, requirementConfiguration } = body.data.outgoingTransfer;
  const { configuration } = services;
  if (requirementConfiguration !== undefined) {
    if (!caller.roles.includes('approver')) throw denied('approver', 'requirementConfiguration.authorizationStatus');
    return authorizeOutgoingTransfer(tx, params.id, caller.id, configuration);
  }
  if (!caller.roles.includes('operator')) throw denied('operator', status === undefined ? 'returned' : 'status');
  if (status === 'cancelled') return cancelOutgoingTransfer(tx, params.id, configuration);
  return reportPluginPayment(tx, params.id, status ?? 'returned', configuration);
}

function denied(role: string, field: string): Error {
  const message = `Changing this needs the role ${role}.`;
  return refusal('common.security.access_denied', ['outgoingTransfer', field, ''], message);
}
