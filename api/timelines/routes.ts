import { readTimeline } from '../../db/timelines/timelines.ts';
import { readTimelineEnd } from '../../db/timelines/waits.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { TimelineResource } from '../../domain/timelines/timelines.ts';
import { type Page, type RouteContext, route } from '../http/route.ts';
import { country, uuid } from '../http/schemas/schemas.ts';
import { requireOpenBankingCountry } from '../open-banking/consents.ts';
import { presentTimeline, TIMELINE_EXAMPLE, timelineShown } from './schemas.ts';

const DESCRIPTION =
  'What happened, in order of time, joined from its records; audit entries only for the role `admin`. `wait` is what it waits for now and what would release it. `omittedTimelineEntries` names the kinds of entries that the caller’s roles do not read, or of which the oldest may no longer be kept.';

const shared = {
  method: 'GET',
  description: DESCRIPTION,
  paged: true,
  response: timelineShown,
  examples: { response: TIMELINE_EXAMPLE },
} as const;

type Context = Pick<RouteContext, 'caller' | 'services'> & { readonly page: Page };

async function answer({ caller, page, services }: Context, resource: TimelineResource, entity: string, id: string) {
  const { configuration, database } = services;
  const withAudit = caller.roles.includes('admin');
  const asked = { resource, id, withAudit, deliveriesKeptDays: configuration.retention.webhookDeliveriesDays };
  // What it waits for is what follows from the last entry, and from nothing later.
  const [found, end] = await database.snapshot((reader) =>
    Promise.all([readTimeline(reader, asked, page), readTimelineEnd(reader, asked, configuration)]),
  );
  if (found === null) throw recordNotFound(entity, 'id', id);
  return { data: presentTimeline(found, end), totalElements: found.totalElements };
}

const getOutgoingTransferTimeline = route(
  {
    ...shared,
    path: '/outgoing-transfers/{id}/timeline',
    operationId: 'getOutgoingTransferTimeline',
    summary: 'Get the timeline of an outgoing transfer',
    tag: 'Outgoing transfers',
    params: { id: uuid() },
    errors: ['common.coding.internal.record_not_found'],
  },
  (context) => answer(context, 'outgoing-transfer', 'outgoingTransfer', context.params.id),
);

const getIncomingTransferTimeline = route(
  {
    ...shared,
    path: '/incoming-transfers/{id}/timeline',
    operationId: 'getIncomingTransferTimeline',
    summary: 'Get the timeline of an incoming transfer',
    tag: 'Incoming transfers',
    params: { id: uuid() },
    errors: ['common.coding.internal.record_not_found'],
  },
  (context) => answer(context, 'incoming-transfer', 'incomingTransfer', context.params.id),
);

const getAccountTimeline = route(
  {
    ...shared,
    path: '/accounts/{accountId}/timeline',
    operationId: 'getAccountTimeline',
    summary: 'Get the timeline of an account',
    tag: 'Accounts',
    params: { accountId: uuid() },
    errors: ['common.coding.internal.record_not_found'],
  },
  (context) => answer(context, 'account', 'account', context.params.accountId),
);

const getConsentTimeline = route(
  {
    ...shared,
    path: '/open-banking/{countryCode}/consents/{id}/timeline',
    operationId: 'getConsentTimeline',
    summary: 'Get the timeline of a consent',
    tag: 'Open banking consents',
    params: { countryCode: country(), id: uuid() },
    errors: ['common.coding.internal.record_not_found', 'consent.country.not_supported'],
  },
  async (context) => {
    requireOpenBankingCountry(context.params.countryCode);
    return answer(context, 'consent', 'consent', context.params.id);
  },
);

const getClientTimeline = route(
  {
    ...shared,
    path: '/clients/{clientId}/timeline',
    operationId: 'getClientTimeline',
    summary: 'Get the timeline of a client',
    tag: 'Clients',
    params: { clientId: uuid() },
    errors: ['common.coding.internal.record_not_found'],
  },
  (context) => answer(context, 'client', 'client', context.params.clientId),
);

export const timelineRoutes = [
  getClientTimeline,
  getAccountTimeline,
  getIncomingTransferTimeline,
  getOutgoingTransferTimeline,
  getConsentTimeline,
];
