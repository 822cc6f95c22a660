import type { Transitions } from '../../domain/common/transitions.ts';
import type { TimelineEntry } from '../../domain/timelines/timelines.ts';
import { otherEndsOf, type Reached, stepsOf } from '../../domain/transfers/steps.ts';
import { Instant } from '../look/values.tsx';

/** The statuses that a timeline's events report. */
export function reachedIn(entries: readonly TimelineEntry[]): Reached[] {
  return entries.flatMap((entry) => (entry.kind === 'event' ? [{ status: entry.contents.status, at: entry.at }] : []));
}

const PLACES = { done: 'done', present: 'now', ahead: 'still ahead' } as const;

/** Where a transfer is on its way, with the times of what is behind it. */
export function Steps<Status extends string>({
  moves,
  events,
  present,
  zone,
}: {
  readonly moves: Transitions<Status>;
  readonly events: readonly Reached[];
  readonly present: Status;
  readonly zone: string;
}) {
  const [goal] = Object.keys(moves).filter((status): status is Status => status === 'completed');
  if (goal === undefined) throw new Error('a transfer has no status completed');
  const steps = stepsOf(moves, { events, present, goal });
  const ends = otherEndsOf(moves, present, goal);
  return (
    <section class="card">
      <h2>Its way</h2>
      <ol class="steps">
        {steps.map(({ status, place, at }) => (
          <li class={place} {...(place === 'present' ? { 'aria-current': 'step' as const } : {})}>
            <strong>{status}</strong> <span class="quiet">{PLACES[place]}</span>
            {place === 'ahead' ? null : (
              <>
                <br />
                {at === null ? <span class="quiet">time no longer kept</span> : <Instant at={at} zone={zone} />}
              </>
            )}
          </li>
        ))}
      </ol>
      {ends.length === 0 ? null : <p class="quiet">Or it ends as {ends.join(' or ')}.</p>}
    </section>
  );
}
