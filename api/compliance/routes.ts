import { type CheckedType, decideComplianceCheck, readComplianceCheck } from '../../db/compliance/checks.ts';
import type { Reader } from '../../db/query/database.ts';
import { rejection } from '../../domain/common/errors.ts';
import type { IncomingTransferId, OutgoingTransferId } from '../../domain/common/ids.ts';
import { COMPLIANCE_CHECK_STATUSES } from '../../domain/compliance/checks.ts';
import { PROCEDURE_RESULTS, PROCEDURES } from '../../domain/compliance/procedures.ts';
import { RULE_KINDS } from '../../domain/compliance/rules.ts';
import { ruleFor } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { dateTime, fields, nullable, optional, picklist, text, uuid } from '../http/schemas/schemas.ts';
import type { Services } from '../http/services.ts';
import type { Tag } from '../http/tags.ts';

/** Far longer than any id or operating system's user name. */
const ACTOR_LENGTH_MAX = 100;

const result = named('ComplianceResult', picklist(PROCEDURE_RESULTS));

/** A rule's name has at most 40 characters. */
const RULE_NAME_LENGTH_MAX = 40;

const ruleShown = named('ComplianceRule', fields({ name: text(RULE_NAME_LENGTH_MAX), kind: picklist(RULE_KINDS) }));

const checkShown = named(
  'ComplianceCheck',
  fields({
    status: named('ComplianceCheckStatus', picklist(COMPLIANCE_CHECK_STATUSES)),
    procedureResults: named(
      'ProcedureResults',
      fields({
        'transaction-monitoring': optional(
          named('TransactionMonitoring', fields({ result: nullable(result), rule: optional(ruleShown) })),
        ),
      }),
    ),
    decidedAt: optional(dateTime()),
    decidedBy: optional(text(ACTOR_LENGTH_MAX)),
  }),
);

const patchCheck = {
  data: fields({
    complianceCheck: named(
      'ComplianceDecision',
      fields({ procedureResult: named('ProcedureResult', fields({ procedure: picklist(PROCEDURES), result })) }),
    ),
  }),
};

const DECISION_EXAMPLE = {
  complianceCheck: { procedureResult: { procedure: 'transaction-monitoring', result: 'all-passed' } },
};
const IN_REVIEW_EXAMPLE = {
  complianceCheck: { status: 'in-review', procedureResults: { 'transaction-monitoring': { result: null } } },
};
const APPROVED_EXAMPLE = {
  complianceCheck: {
    status: 'approved',
    procedureResults: { 'transaction-monitoring': { result: 'all-passed' } },
    decidedAt: '2026-11-21T10:15:00',
    decidedBy: '0197b2a4-6f0e-7cc3-9d55-0d6b1c1f2a11',
  },
};

const GET_TEXTS = {
  summary: 'Get the compliance check of a transfer',
  description:
    'A check is created with its transfer. `skipped`: no review is configured for its direction and currency. `decidedAt` and `decidedBy` are present once the check is `approved` or `rejected`.',
} as const;
const PATCH_TEXTS = {
  summary: 'Record a result of the compliance check',
  description:
    'Only if reviews are configured as `external`. `all-passed` and `hard-stop-accepted` approve the transfer, `hard-stop-rejected` fails it; `soft-stop` and `hard-stop` are recorded and leave it in review. A decision can be recorded at any time after creation, whatever else the transfer waits for. A final decision cannot be changed. Who made, authorized or assigned the payment does not decide about it (403).',
} as const;

const READ_ERRORS = ['common.coding.internal.record_not_found'] as const;
const WRITE_ERRORS = [
  'common.coding.internal.record_not_found',
  'compliance.external.not_enabled',
  'common.state.illegal_transition',
] as const;

async function readCheck(reader: Reader, type: CheckedType, id: string) {
  const { complianceCheck } = await readComplianceCheck(reader, { type, id });
  return { data: { complianceCheck } };
}

/** Callers may decide only if the operator's configuration leaves reviews to them. */
async function requireExternalReviews(reader: Reader, services: Services, type: CheckedType, id: string) {
  const { currency } = await readComplianceCheck(reader, { type, id });
  const { incoming, outgoing } = services.configuration.compliance;
  if (ruleFor(type === 'incoming-transfer' ? incoming : outgoing, currency) === 'external') return;
  const message = 'Compliance checks of this direction and currency are not decided through the API.';
  throw rejection('compliance.external.not_enabled', ['complianceCheck', 'id', id], message);
}

/** The two routes of one direction's checks. */
function checkRoutes(type: CheckedType, named: { readonly path: string; readonly entity: string; readonly tag: Tag }) {
  const contract = {
    path: `/${named.path}/{id}/compliance-check`,
    tag: named.tag,
    params: { id: uuid<IncomingTransferId | OutgoingTransferId>() },
    response: fields({ complianceCheck: checkShown }),
  } as const;
  const get = route(
    {
      ...contract,
      method: 'GET',
      operationId: `get${named.entity}ComplianceCheck`,
      ...GET_TEXTS,
      errors: READ_ERRORS,
      examples: { response: IN_REVIEW_EXAMPLE },
    },
    ({ params, services }) => readCheck(services.database.reader, type, params.id),
  );
  const patch = route(
    {
      ...contract,
      method: 'PATCH',
      operationId: `update${named.entity}ComplianceCheck`,
      ...PATCH_TEXTS,
      roles: ['compliance'],
      workflows: { direct: patchCheck },
      errors: WRITE_ERRORS,
      examples: { requests: { direct: { data: DECISION_EXAMPLE } }, response: APPROVED_EXAMPLE },
    },
    async ({ params: { id }, body, services, initiator, transaction }) =>
      transaction(async (tx) => {
        await requireExternalReviews(tx, services, type, id);
        const decision = body.data.complianceCheck.procedureResult;
        await decideComplianceCheck(tx, { type, id }, decision.result, initiator, services.configuration);
        return readCheck(tx, type, id);
      }),
  );
  return [get, patch];
}

export const complianceCheckRoutes = [
  ...checkRoutes('incoming-transfer', {
    path: 'incoming-transfers',
    entity: 'IncomingTransfer',
    tag: 'Incoming transfers',
  }),
  ...checkRoutes('outgoing-transfer', {
    path: 'outgoing-transfers',
    entity: 'OutgoingTransfer',
    tag: 'Outgoing transfers',
  }),
];
