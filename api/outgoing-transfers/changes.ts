import * as v from 'valibot';
import type { Transaction } from '../../db/driver/client.ts';
import {
  authorizeOutgoingTransfer,
  cancelOutgoingTransfer,
  reportPluginPayment,
} from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { refusal } from '../../domain/frame/errors.ts';
import type { OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type { RouteContext } from '../frame/route.ts';
import { crossCheck, type Disagreement, type Sent } from '../frame/schemas/cross-checks.ts';
import { named } from '../frame/schemas/named.ts';
import { fields, optional, pattern, picklist, text } from '../frame/schemas/schemas.ts';

const PROVIDER_ID_LENGTH_MAX = 140;
/** A code, so that no sentence about a person ends up where programs look. */
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
  crossCheck(misplacedIn),
);

/** Failures and returns have a reason; releases and completions the provider's id and reference. */
function misplacedIn({ status, returned, ...sent }: Sent): Disagreement[] {
  const found: Disagreement[] = [];
  const refuse = (field: string, rule: string) => {
    const message = `common.validation.field_unexpected: belongs to ${rule}`;
    if (sent[field] !== undefined) found.push({ path: [field], value: sent[field], message });
  };
  if (status !== 'failed' && returned !== true) refuse('statusReason', 'status failed and to returned');
  if (status !== 'released' && status !== 'completed') {
    refuse('serviceProviderId', 'status released and completed');
    refuse('serviceProviderReference', 'status released and completed');
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

/**
 * Applies the requested change if the caller's roles allow it; throws the refusal otherwise. Returns the transfer as the answer
 * shows it.
 */
export async function changeTransfer(tx: Transaction, context: PatchContext): Promise<OutgoingTransfer> {
  const { body, caller, initiator, params, services } = context;
  const { status, requirementConfiguration } = body.data.outgoingTransfer;
  const { configuration } = services;
  if (requirementConfiguration !== undefined) {
    if (!caller.roles.includes('approver')) throw denied('approver', 'requirementConfiguration.authorizationStatus');
    return authorizeOutgoingTransfer(tx, params.id, initiator, configuration);
  }
  if (!caller.roles.includes('operator')) throw denied('operator', status === undefined ? 'returned' : 'status');
  if (status === 'cancelled') return cancelOutgoingTransfer(tx, params.id, initiator, configuration);
  const { statusReason, serviceProviderId, serviceProviderReference } = body.data.outgoingTransfer;
  const report = {
    word: status ?? ('returned' as const),
    serviceProviderId: serviceProviderId ?? null,
    serviceProviderReference: serviceProviderReference ?? null,
    code: statusReason?.code ?? null,
    message: statusReason?.message ?? null,
  };
  return reportPluginPayment(tx, params.id, report, initiator, configuration);
}

function denied(role: string, field: string): Error {
  const message = `Changing this needs the role ${role}.`;
  return refusal('common.security.access_denied', ['outgoingTransfer', field, ''], message);
}
