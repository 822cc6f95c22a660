/** The legal transitions of each status. A status without any is final. */
export type Moves<Status extends string> = Readonly<Record<Status, readonly Status[]>>;

/** The statuses that may become this one, for statements that change several rows. */
export function statusesBefore<Status extends string>(
  statuses: readonly Status[],
  moves: Moves<Status>,
  to: Status,
): Status[] {
  return statuses.filter((from) => moves[from].includes(to));
}

/**
 * Every transition consults its resource's table, which docs/states.md prints. A caller's illegal request gets 409 earlier;
 * here an illegal transition is a bug, and nothing of it is written.
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
