/** The legal transitions of each status. A status without any is final. */
export type Transitions<Status extends string> = Readonly<Record<Status, readonly Status[]>>;

/** The statuses that may become this one, for statements that change several rows. */
export function statusesBefore<Status extends string>(
  statuses: readonly Status[],
  moves: Transitions<Status>,
  to: Status,
): Status[] {
  return statuses.filter((from) => moves[from].includes(to));
}

/**
 * Every transition is checked against its resource's table (docs/behaviour/states.md). A caller's illegal request gets 409 earlier;
 * here an illegal transition is a bug, and nothing of it is written.
 */
export function requireTransition<Status extends string>(
  resource: string,
  moves: Transitions<Status>,
  from: Status,
  to: Status,
): void {
  if (from === to || moves[from].includes(to)) return;
  throw new IllegalTransition(resource, from, to);
}

export class IllegalTransition extends Error {
  readonly from: string;
  readonly to: string;

  constructor(resource: string, from: string, to: string) {
    super(`${resource}: ${from} cannot become ${to}`);
    this.name = 'IllegalTransition';
    this.from = from;
    this.to = to;
  }
}
