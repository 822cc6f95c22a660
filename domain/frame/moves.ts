/** The statuses that each status may become. A status without any is final. */
export type Moves<Status extends string> = Readonly<Record<Status, readonly Status[]>>;

/** The statuses from which a resource may become this one: what a statement that changes several rows changes. */
export function statusesBefore<Status extends string>(
  statuses: readonly Status[],
  moves: Moves<Status>,
  to: Status,
): Status[] {
  return statuses.filter((from) => moves[from].includes(to));
}

/**
 * Every transition asks its resource's table, which docs/states.md prints. What a caller may not ask for is refused before,
 * with 409; this is for the service itself: a transition outside of the table is a fault, and nothing of it is written.
 */
export function requireMove<Status extends string>(
  resource: string,
  moves: Moves<Status>,
  from: Status,
  to: Status,
): void {
  if (from === to || moves[from].includes(to)) return;
  throw new IllegalMove(`${resource}: ${from} cannot become ${to}`);
}

export class IllegalMove extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'IllegalMove';
  }
}
