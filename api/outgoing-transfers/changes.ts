import * as v from 'valibot';
import { findOutgoingTransfer, type OutgoingTransferShown } from '../../db/outgoing-transfers/reads.ts';
import {
  authorization,
  type ChangedTransfer,
  cancellation,
  type OutgoingRequest,
  pluginReport,
} from '../../db/outgoing-transfers/requested-changes.ts';
import type { Reader } from '../../db/query/database.ts';
import { rejection } from '../../domain/common/errors.ts';
import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import { presentOutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type { RouteContext } from '../http/route.ts';
import { type FieldConflict, rejectConflicts, type Sent } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import { fields, optional, pattern, picklist, text } from '../http/schemas/schemas.ts';

const PROVIDER_ID_LENGTH_MAX = 140;
/** A code, so that no personal data ends up in a field for programs. */
const REASON_CODE = /^[A-Za-z0-9._-]{1,64}$/;
const REASON_LENGTH_MAX = 140;

// Changes that a PATCH may request (decisions, Money out): one at a time.
const change = v.pipe(
  named(
    'OutgoingTransfer',
    fields({
      status: optional(picklist(['cancelled', 'released', 'completed', 'failed'])),
      requirementConfiguration: optional(
        named('RequirementConfiguration', fields({ authorizationStatus: picklist(['fulfilled']) })),
      ),
      returned: optional(v.literal(true, 'can only become true')),
      statusReason: optional(
        named(
          'StatusReason',
          fields({
            code: pattern(REASON_CODE, '1 to 64 of letters, digits, ".", "_" and "-"'),
            message: optional(text(REASON_LENGTH_MAX)),
          }),
        ),
      ),
      serviceProviderId: optional(text(PROVIDER_ID_LENGTH_MAX)),
      serviceProviderReference: optional(text(PROVIDER_ID_LENGTH_MAX)),
    }),
  ),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { status, requirementConfiguration, returned } = dataset.value;
    const asked = [status, requirementConfiguration, returned].filter((value) => value !== undefined);
    if (asked.length === 1) return;
    addIssue({
      message: 'common.validation.mutually_exclusive: must change exactly one of status, authorization, returned',
    });
  }),
  rejectConflicts(fieldsNotAllowedWith),
);

/** Failures and returns have a reason; releases and completions have the provider's id and reference. */
function fieldsNotAllowedWith({ status, returned, ...sent }: Sent): FieldConflict[] {
  const found: FieldConflict[] = [];
  const reject = (field: string, rule: string) => {
    const message = `common.validation.field_unexpected: is allowed only with ${rule}`;
    if (sent[field] !== undefined) found.push({ path: [field], value: sent[field], message });
  };
  if (status !== 'failed' && returned !== true) reject('statusReason', 'status failed or with returned');
  if (status !== 'released' && status !== 'completed') {
    reject('serviceProviderId', 'status released or completed');
    reject('serviceProviderReference', 'status released or completed');
  }
  return found;
}

export const patchTransferWorkflow = { data: fields({ outgoingTransfer: change }) };

type PatchContext = Pick<
  RouteContext<
    { readonly id: v.GenericSchema<string, OutgoingTransferId> },
    Record<never, never>,
    { 'client.direct': typeof patchTransferWorkflow }
  >,
  'body' | 'caller' | 'initiator' | 'params' | 'services'
>;

/** The requested change; throws if the caller's roles do not allow it. */
export function requestedChange({ body, caller, initiator, params, services }: PatchContext): OutgoingRequest {
  const { status, requirementConfiguration } = body.data.outgoingTransfer;
  const request = { id: params.id, initiator, rules: services.configuration };
  if (requirementConfiguration !== undefined) {
    if (!caller.roles.includes('approver')) throw denied('approver', 'requirementConfiguration.authorizationStatus');
    return authorization(request);
  }
  if (!caller.roles.includes('operator')) throw denied('operator', status === undefined ? 'returned' : 'status');
  if (status === 'cancelled') return cancellation(request);
  const { statusReason, serviceProviderId, serviceProviderReference } = body.data.outgoingTransfer;
  return pluginReport(request, {
    outcome: status ?? ('returned' as const),
    serviceProviderId: serviceProviderId ?? null,
    serviceProviderReference: serviceProviderReference ?? null,
    code: statusReason?.code ?? null,
    message: statusReason?.message ?? null,
  });
}

/** How the answer to a change shows the transfer. The other resources shown with it never change. */
export function changedTransferOf(id: OutgoingTransferId) {
  return {
    read: (reader: Reader) => findOutgoingTransfer(reader, id),
    answer: ({ transfer, returnIds }: ChangedTransfer, shown: OutgoingTransferShown) => {
      const { waitingFor } = transfer;
      const present = {
        ...presentOutgoingTransfer(transfer),
        waitingFor,
        returningIncomingTransferIds: [...returnIds],
      };
      return { data: { outgoingTransfer: { ...shown, ...present } } };
    },
  };
}

function denied(role: string, field: string): Error {
  const message = `Changing this needs the role ${role}.`;
  return rejection('common.security.access_denied', ['outgoingTransfer', field, ''], message);
}
