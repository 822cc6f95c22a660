import type { Child } from 'hono/jsx';
import { type Actor, readActors } from '../../db/people/actors.ts';
import type { PageRequest } from '../../db/query/lists.ts';
import { readTimeline, type TimelinePage } from '../../db/timelines/timelines.ts';
import type { TimelineEntry, TimelineResource } from '../../domain/timelines/timelines.ts';
import { pageOf } from '../look/links.ts';
import { amountText, Instant } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';

/** Entries of one page of a timeline. A transfer has few dozen; an account may have millions. */
const ENTRIES_MAX = 200;

/** The query's name of the part of the timeline that is shown. */
const FROM = 'timeline-from';

/** What a picture of a whole timeline is drawn from, at most. */
const PICTURED_MAX = 1_000;

interface Asked {
  readonly resource: TimelineResource;
  readonly id: string;
}

/** The part of a resource's timeline that the address asks for; null: there is no such resource. Audit entries are for `admin`. */
export function timelineOf(context: PageContext, asked: Asked): Promise<TimelinePage | null> {
  return readPart(context, asked, { size: ENTRIES_MAX, offset: offsetIn(context.query) });
}

/** The entries of a timeline from its beginning, whichever part of it is shown. */
export async function entriesOf(
  context: PageContext,
  asked: Asked,
  { rows, totalElements }: TimelinePage,
): Promise<readonly TimelineEntry[]> {
  if (rows.length === totalElements) return rows;
  return (await readPart(context, asked, { size: PICTURED_MAX, offset: 0 }))?.rows ?? rows;
}

function readPart(
  { services, person }: PageContext,
  { resource, id }: Asked,
  page: PageRequest,
): Promise<TimelinePage | null> {
  const { retention } = services.configuration;
  const withAudit = person.roles.includes('admin');
  const asked = { resource, id, withAudit, deliveriesKeptDays: retention.webhookDeliveriesDays };
  return readTimeline(services.database.reader, asked, page);
}

function offsetIn(query: URLSearchParams): number {
  const given = query.get(FROM) ?? '';
  return /^\d{1,9}$/.test(given) ? Number(given) : 0;
}

/** What happened, from all records joined, in order of time. */
export async function Timeline({
  context,
  timeline,
  zone,
}: {
  readonly context: PageContext;
  readonly timeline: TimelinePage;
  readonly zone?: string | undefined;
}) {
  const { rows, totalElements, omitted } = timeline;
  const actors = await readActors(
    context.services.database.reader,
    rows.flatMap((entry) => (entry.kind === 'audit-entry' ? [entry.contents.actor] : [])),
  );
  return (
    <section class="card">
      <h2>What happened</h2>
      {rows.length === 0 ? <p>Nothing is recorded.</p> : null}
      <ol class="timeline">
        {rows.map((entry) => (
          <li>
            <Instant at={entry.at} zone={zone} />
            <br />
            {sentenceOf(entry, actors)}
          </li>
        ))}
      </ol>
      {omitted.map(({ kind, reason }) => (
        <p class="quiet">
          {reason === 'role'
            ? `Entries of the audit log (${kind}) are shown to the role admin.`
            : `The oldest entries of the kind ${kind} are no longer kept.`}
        </p>
      ))}
      <Parts shown={rows.length} total={totalElements} offset={offsetIn(context.query)} />
    </section>
  );
}

function Parts({ shown, total, offset }: { readonly shown: number; readonly total: number; readonly offset: number }) {
  if (shown === total) return null;
  return (
    <nav class="pager" aria-label="Parts of the timeline">
      <span class="quiet">
        {offset + 1} to {offset + shown} of {total.toLocaleString('en-GB')}
      </span>
      {offset === 0 ? null : <a href={`?${FROM}=${Math.max(0, offset - ENTRIES_MAX)}`}>Earlier</a>}
      {offset + shown >= total ? null : <a href={`?${FROM}=${offset + shown}`}>Later</a>}
    </nav>
  );
}

type Of<Kind extends TimelineEntry['kind']> = Extract<TimelineEntry, { readonly kind: Kind }>['contents'];

function sentenceOf(entry: TimelineEntry, actors: ReadonlyMap<string, Actor>): Child {
  switch (entry.kind) {
    case 'provider-callback': {
      const { provider, type, outcome, providerEventId } = entry.contents;
      return (
        <>
          {provider} reported {type}: {outcome} <span class="id">{providerEventId}</span>
        </>
      );
    }
    case 'audit-entry':
      return <Audited of={entry.contents} actors={actors} />;
    case 'requirement':
      return `Requirement ${entry.contents.requirement}: ${entry.contents.status}`;
    case 'ledger-entry':
      return postingInWords(entry.contents);
    case 'event': {
      const { type, sequence, reasonCode, holdReason } = entry.contents;
      const reason = reasonCode ?? holdReason;
      return `Event ${type}, number ${sequence}${reason === null ? '' : `, reason ${reason}`}`;
    }
    case 'webhook-delivery': {
      const { webhookDeliveryId, type, status, attemptCount } = entry.contents;
      return (
        <>
          <a href={`/webhook-deliveries/${webhookDeliveryId}`}>Webhook {type}</a>: {status}, {attemptCount} attempts
        </>
      );
    }
  }
}

function Audited({
  of: { actor, action, resource, role, reason, after, requestId },
  actors,
}: {
  readonly of: Of<'audit-entry'>;
  readonly actors: ReadonlyMap<string, Actor>;
}) {
  const found = actors.get(actor);
  const page = found === undefined ? null : pageOf(found.kind, found.id);
  const changes = Object.entries(after ?? {})
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  return (
    <>
      {page === null ? (found?.name ?? actor) : <a href={page}>{found?.name}</a>}
      {role === null ? '' : ` (${role})`}: {resource === 'workflow' ? 'workflow ' : ''}
      {action}
      {reason === null ? '' : `, because “${reason}”`}
      {changes === '' ? null : <span class="quiet">, {changes}</span>}
      {requestId === null ? null : <span class="id"> {requestId}</span>}
    </>
  );
}

export function postingInWords({ debit, credit, amountMinor, currency, entryType }: Of<'ledger-entry'>): string {
  return `${amountText(BigInt(amountMinor), currency)} from ${debit} to ${credit} (${entryType})`;
}
