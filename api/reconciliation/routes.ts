import { findBreak, listBreaks, resolveBreak } from '../../db/reconciliation/breaks.ts';
import { findReconciliation, listReconciliations } from '../../db/reconciliation/days.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { ReconciliationBreakId, ReconciliationId } from '../../domain/common/ids.ts';
import { NOTE_LENGTH_MAX } from '../../domain/reconciliation/break-resolutions.ts';
import { type Route, route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { currency, date, fields, list, optional, picklist, text, uuid } from '../http/schemas/schemas.ts';
import {
  BREAK_EXAMPLE,
  breakKind,
  breakShown,
  breakStatus,
  PROVIDER_LENGTH_MAX,
  presentBreak,
  presentReconciliation,
  RECONCILIATION_EXAMPLE,
  REFERENCE_LENGTH_MAX,
  reconciliationShown,
  reconciliationStatus,
} from './schemas.ts';

const TAG = 'Reconciliation';

const DAYS_EXPLAINED =
  'Each completed day (UTC) of each provider and currency, compared with our ledger: `statement` is what the provider’s statement shows for the day, `ledger` is what we have booked. `balanced`: the day has no open break. The two sides of a day differ by exactly the sum of `difference` over its breaks: on a balanced day they are equal, or resolved breaks state and explain the difference.';
const BREAKS_EXPLAINED =
  'A difference between a provider’s data and our ledger. `expected` is what our ledger has, `actual` what the provider reports; null means nothing, or that the break was not found in the statement of a day. For a figure of a statement, `expected` is the figure and `actual` the sum of its parts. `difference` is the provider’s movements of the day minus ours, as far as the break accounts for them. A difference that another day or movement explains is recorded as resolved, with a `note` that says so and without `resolvedBy`; it opens if that no longer explains it. A break that disappears is resolved automatically, without `note` and `resolvedBy`, and its `difference` is zero; a break that a person has resolved reopens only if its facts change.';

const getReconciliations = route(
  {
    method: 'GET',
    path: '/reconciliations',
    operationId: 'listReconciliations',
    summary: 'List compared days in order of first comparison',
    description: DAYS_EXPLAINED,
    tag: TAG,
    paged: true,
    query: {
      'data.reconciliation.serviceProvider': optional(text(PROVIDER_LENGTH_MAX)),
      'data.reconciliation.currency': optional(currency()),
      'data.reconciliation.status': optional(reconciliationStatus),
      'data.reconciliation.date': optional(date()),
      'data.reconciliation.dateFrom': optional(date()),
      'data.reconciliation.dateTo': optional(date()),
    },
    response: fields({ reconciliations: list(reconciliationShown, 0, 100) }),
    examples: { response: { reconciliations: [RECONCILIATION_EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const filter = {
      provider: query['data.reconciliation.serviceProvider'],
      currency: query['data.reconciliation.currency'],
      status: query['data.reconciliation.status'],
      day: query['data.reconciliation.date'],
      dayFrom: query['data.reconciliation.dateFrom'],
      dayTo: query['data.reconciliation.dateTo'],
    };
    const { rows, totalElements } = await listReconciliations(services.database.reader, filter, page);
    return { data: { reconciliations: rows.map(presentReconciliation) }, totalElements };
  },
);

const getReconciliation = route(
  {
    method: 'GET',
    path: '/reconciliations/{id}',
    operationId: 'getReconciliation',
    summary: 'Get a compared day',
    description: DAYS_EXPLAINED,
    tag: TAG,
    params: { id: uuid<ReconciliationId>() },
    response: fields({ reconciliation: reconciliationShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { reconciliation: RECONCILIATION_EXAMPLE } },
  },
  async ({ params, services }) => {
    const found = await findReconciliation(services.database.reader, params.id);
    if (found === null) throw recordNotFound('reconciliation', 'id', params.id);
    return { data: { reconciliation: presentReconciliation(found) } };
  },
);

const getBreaks = route(
  {
    method: 'GET',
    path: '/reconciliation-breaks',
    operationId: 'listReconciliationBreaks',
    summary: 'List reconciliation breaks',
    description: `${BREAKS_EXPLAINED} Listed in the order in which they were first found.`,
    tag: TAG,
    paged: true,
    query: {
      'data.reconciliationBreak.kind': optional(breakKind),
      'data.reconciliationBreak.serviceProvider': optional(text(PROVIDER_LENGTH_MAX)),
      'data.reconciliationBreak.currency': optional(currency()),
      'data.reconciliationBreak.date': optional(date()),
      'data.reconciliationBreak.reference': optional(text(REFERENCE_LENGTH_MAX)),
      'data.reconciliationBreak.resourceId': optional(uuid()),
      'data.reconciliationBreak.status': optional(breakStatus),
    },
    response: fields({ reconciliationBreaks: list(breakShown, 0, 100) }),
    examples: { response: { reconciliationBreaks: [BREAK_EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const filter = {
      kind: query['data.reconciliationBreak.kind'],
      provider: query['data.reconciliationBreak.serviceProvider'],
      currency: query['data.reconciliationBreak.currency'],
      day: query['data.reconciliationBreak.date'],
      reference: query['data.reconciliationBreak.reference'],
      resourceId: query['data.reconciliationBreak.resourceId'],
      status: query['data.reconciliationBreak.status'],
    };
    const { rows, totalElements } = await listBreaks(services.database.reader, filter, page);
    return { data: { reconciliationBreaks: rows.map(presentBreak) }, totalElements };
  },
);

const getBreak = route(
  {
    method: 'GET',
    path: '/reconciliation-breaks/{id}',
    operationId: 'getReconciliationBreak',
    summary: 'Get a reconciliation break',
    description: BREAKS_EXPLAINED,
    tag: TAG,
    params: { id: uuid<ReconciliationBreakId>() },
    response: fields({ reconciliationBreak: breakShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { reconciliationBreak: BREAK_EXAMPLE } },
  },
  async ({ params, services }) => {
    const found = await findBreak(services.database.reader, params.id);
    if (found === null) throw recordNotFound('reconciliationBreak', 'id', params.id);
    return { data: { reconciliationBreak: presentBreak(found) } };
  },
);

const RESOLUTION = { status: 'resolved', note: 'The bank has confirmed its error and books the payment tomorrow.' };

const resolve = route(
  {
    method: 'PATCH',
    path: '/reconciliation-breaks/{id}',
    operationId: 'resolveReconciliationBreak',
    summary: 'Resolve a break',
    description:
      'For a break that a person has investigated; `note` states the result. Nothing is posted. The audit log shows who resolved it, without the note.',
    tag: TAG,
    roles: ['operator'],
    params: { id: uuid<ReconciliationBreakId>() },
    workflows: {
      direct: {
        data: fields({
          reconciliationBreak: named(
            'ReconciliationBreakResolution',
            fields({ status: picklist(['resolved']), note: text(NOTE_LENGTH_MAX) }),
          ),
        }),
      },
    },
    multilineFields: ['data.reconciliationBreak.note'],
    response: fields({ reconciliationBreak: breakShown }),
    errors: ['common.coding.internal.record_not_found', 'common.state.illegal_transition'],
    examples: {
      requests: { direct: { data: { reconciliationBreak: RESOLUTION } } },
      response: {
        reconciliationBreak: {
          ...BREAK_EXAMPLE,
          ...RESOLUTION,
          resolvedDateTime: '2026-11-23T09:12:41',
          resolvedBy: '0197b2a4-6f0e-7cc3-9d55-0d6b1c1f2a11',
        },
      },
    },
  },
  async ({ params, body, initiator, write }) =>
    write(async (tx) => {
      const { note } = body.data.reconciliationBreak;
      return { data: { reconciliationBreak: presentBreak(await resolveBreak(tx, params.id, note, initiator)) } };
    }),
);

export const reconciliationRoutes: readonly Route[] = [
  getReconciliations,
  getReconciliation,
  getBreaks,
  getBreak,
  resolve,
];
