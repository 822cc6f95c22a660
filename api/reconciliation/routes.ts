import { findBreak, listBreaks, resolveBreak } from '../../db/reconciliation/breaks.ts';
import { findReconciliation, listReconciliations } from '../../db/reconciliation/days.ts';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { ReconciliationBreakId, ReconciliationId } from '../../domain/frame/ids.ts';
import { type Route, route } from '../frame/route.ts';
import { named } from '../frame/schemas/named.ts';
import { currency, date, fields, list, optional, picklist, text, uuid } from '../frame/schemas/schemas.ts';
import {
  BREAK_EXAMPLE,
  breakKind,
  breakShown,
  breakStatus,
  NOTE_LENGTH_MAX,
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
  'Each ended day (UTC) of each provider and currency, compared with our ledger: `statement` is what the provider’s statement shows for it, `ledger` what we have booked. `balanced`: the day has no open break. The sides of a day differ by exactly the sum of `difference` of its breaks, so those of a balanced day are equal, or a resolved break says by how much they are not and why.';
const BREAKS_EXPLAINED =
  'Where a provider’s word and our books differ. `expected` is what our books have, `actual` what the provider says; null: nothing, or a break found otherwise than from the statement of a day. Of a figure of a statement, `expected` is the figure and `actual` what its parts come to. `difference` is the provider’s movements of the day less ours, as far as the break accounts for them. A difference that another day or movement explains is recorded as resolved, with a `note` that says so and without `resolvedBy`; it opens once that no longer explains it. A break that disappears is resolved by itself, without `note` and `resolvedBy`, and its `difference` is zero; one that a person has resolved opens again only if its facts change.';

const getReconciliations = route(
  {
    method: 'GET',
    path: '/reconciliations',
    operationId: 'listReconciliations',
    summary: 'Compared days, in the order of their first comparison',
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
    summary: 'A compared day',
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
    summary: 'Differences between the books of providers and ours',
    description: `${BREAKS_EXPLAINED} In the order in which they were first found.`,
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
    summary: 'A difference between the books of a provider and ours',
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
      'For a person who has looked into it: `note` says what came of it. Nothing is posted. The audit log says who resolved it, and does not repeat the note.',
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
