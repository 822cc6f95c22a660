import * as v from 'valibot';
import { readEventLog, type StoredEvent } from '../../db/webhooks/event-documents.ts';
import { rejection } from '../../domain/common/errors.ts';
import type { EventId } from '../../domain/common/ids.ts';
import { WEBHOOK_MODULES } from '../../domain/webhooks/subscriptions.ts';
import { jsonInteger } from '../http/requests/json.ts';
import { type Route, route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { dateTime, fields, hint, integer, list, optional, pattern, picklist, uuid } from '../http/schemas/schemas.ts';

const POSITION_MAX = Number.MAX_SAFE_INTEGER;
const position = integer(0, 999_999_999_999_999);
const type = pattern(/^[a-z]+(-[a-z]+)*$/, 'an event type');

/** The resource's key in specification 6, by module. */
const resource = v.pipe(
  v.custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null,
    'must be an object',
  ),
  hint<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true }),
);

export const eventMetadataShown = named(
  'EventMetadata',
  fields({ sequence: integer(1, POSITION_MAX), eventId: uuid<EventId>(), eventDateTime: dateTime() }),
);

const eventShown = named(
  'Event',
  fields({
    position,
    resourceId: uuid(),
    webhook: named('EventWebhook', fields({ module: named('WebhookModule', picklist(WEBHOOK_MODULES)), type })),
    data: resource,
    connect: resource,
    metadata: eventMetadataShown,
  }),
);

const EXAMPLE = {
  position: 41,
  resourceId: '0197b2a4-7b00-7f11-9d3e-2f4a6c8e0b13',
  webhook: { module: 'clients', type: 'created' },
  data: { client: { id: '0197b2a4-7b00-7f11-9d3e-2f4a6c8e0b13', status: 'active' } },
  connect: {},
  metadata: { sequence: 1, eventId: '0197b2a4-7b01-7c3d-8e21-4d6b0a9c7e10', eventDateTime: '2026-03-02T09:30:00' },
};

/**
 * The event log by position. Readers continue from `metadata.nextPositionAfter`: gaps are never filled later, so they
 * miss nothing.
 */
const getEvents = route(
  {
    method: 'GET',
    path: '/events',
    operationId: 'listEvents',
    summary: 'Poll the event log',
    description:
      'Events after `data.event.positionAfter` (default 0: the beginning), as webhooks show them. Continue with `metadata.nextPositionAfter`, even after a page that is not full. Page numbers count positions. A position is rejected if the events after it are no longer kept, so that no reader misses events without noticing.',
    tag: 'Webhooks',
    paged: true,
    query: {
      'data.event.positionAfter': optional(pattern(/^\d{1,15}$/, 'a position')),
      'data.event.module': optional(named('WebhookModule', picklist(WEBHOOK_MODULES))),
      'data.event.type': optional(type),
    },
    response: fields({ events: list(eventShown, 0, 100) }),
    examples: { response: { events: [EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const start = BigInt(query['data.event.positionAfter'] ?? '0');
    const { events, nextPosition, lastPosition, firstPosition } = await readEventLog(services.database.reader, {
      after: start + BigInt(page.offset),
      size: page.size,
      module: query['data.event.module'],
      type: query['data.event.type'],
    });
    if (start > 0n && start < firstPosition - 1n) throw deletedPosition(start, firstPosition);
    const totalElements = Math.max(0, Number(lastPosition - start));
    return {
      data: { events: events.map(show) },
      metadata: { nextPositionAfter: jsonInteger(nextPosition) },
      totalElements,
    };
  },
);

/** Events after the position have been deleted. */
function deletedPosition(after: bigint, firstPosition: bigint) {
  return rejection(
    'common.validation.field_invalid',
    ['event', 'data.event.positionAfter', String(after)],
    `Events up to position ${firstPosition - 1n} are no longer kept: continue from there, and read the missed changes from the resources themselves.`,
  );
}

export const eventRoutes: readonly Route[] = [getEvents];

function show({ position: at, resourceId, document }: StoredEvent) {
  return { position: Number(at), resourceId, ...document };
}
