import type { Transitions } from '../common/transitions.ts';

/** A status on a transfer's way: reached, present, or still ahead on the way to its goal. */
export interface Step<Status extends string> {
  readonly status: Status;
  readonly place: 'done' | 'present' | 'ahead';
  /** When it was reached; null if it is ahead, or its event is no longer kept. */
  readonly at: Date | null;
}

/** A status that an event has reported. */
export interface Reached {
  readonly status: string | null;
  readonly at: Date;
}

/** The way of a transfer: what its events say it has passed, where it is, and the shortest way on to `goal` by its transitions. */
export function stepsOf<Status extends string>(
  moves: Transitions<Status>,
  { events, present, goal }: { readonly events: readonly Reached[]; readonly present: Status; readonly goal: Status },
): Step<Status>[] {
  const passed: { readonly status: Status; readonly at: Date }[] = [];
  for (const { status, at } of events) {
    const known = statusIn(moves, status);
    if (known !== null && passed.at(-1)?.status !== known) passed.push({ status: known, at });
  }
  const last = passed.at(-1);
  const isTold = last?.status === present;
  return [
    ...(isTold ? passed.slice(0, -1) : passed).map((step): Step<Status> => ({ ...step, place: 'done' })),
    { status: present, place: 'present', at: isTold ? last.at : null },
    ...shortestWay(moves, present, goal).map((status): Step<Status> => ({ status, place: 'ahead', at: null })),
  ];
}

/** The other ends that the present status may still lead to. */
export function otherEndsOf<Status extends string>(
  moves: Transitions<Status>,
  present: Status,
  goal: Status,
): Status[] {
  return moves[present].filter((status) => status !== goal && moves[status].length === 0);
}

function statusIn<Status extends string>(moves: Transitions<Status>, text: string | null): Status | null {
  const known = Object.keys(moves).filter((status): status is Status => Object.hasOwn(moves, status));
  return known.find((status) => status === text) ?? null;
}

/** The statuses after `from` up to `goal`; none if it cannot be reached. */
function shortestWay<Status extends string>(moves: Transitions<Status>, from: Status, goal: Status): Status[] {
  const ways: Status[][] = [[from]];
  const seen = new Set<Status>([from]);
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    const last = way.at(-1) ?? from;
    if (last === goal) return way.slice(1);
    for (const next of moves[last]) {
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return [];
}
