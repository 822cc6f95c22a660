import { stringify } from 'lossless-json';
import { readEventLog } from '../../../db/webhooks/event-documents.ts';
import { numberEvents } from '../../../db/webhooks/event-sequencer.ts';
import type { Json, TestApi } from '../api.ts';
import { checkWebhook } from './webhook-contract.ts';

const ALL_EVENTS = 10_000;

/** The events of a resource as its subscribers get them, oldest first. */
export async function eventsOf({ database }: TestApi, resourceId: string): Promise<Json[]> {
  await numberEvents(database, ALL_EVENTS, null);
  const { events } = await readEventLog(database.reader, { after: 0n, size: ALL_EVENTS });
  const shown = events
    .filter((event) => event.resourceId === resourceId)
    .map(({ document }) => JSON.parse(stringify(document) ?? ''));
  for (const event of shown) checkWebhook(event);
  return shown;
}
