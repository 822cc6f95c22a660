/** How far a command is, on standard error: one line that is rewritten on a terminal, plain lines now and then otherwise. */
export interface Progress {
  /** `total` may become known, or grow, meanwhile. */
  update(done: number, total?: number): void;
  /** Ends the line; what was done stays. */
  end(): void;
}

export interface ProgressWish {
  readonly what: string;
  readonly total: number | undefined;
  readonly isJson: boolean;
  readonly errors: { readonly isTTY?: boolean; write(text: string): unknown };
  note(text: string): void;
}

/** What ends sooner needs no progress. */
const QUIET_MS = 1_000;
const REWRITE_MS = 100;
/** A log gets a line as often. */
const LINE_MS = 10_000;
const BAR_WIDTH = 24;

export function startProgress({ what, total, isJson, errors, note }: ProgressWish): Progress {
  const isRewritten = errors.isTTY === true && !isJson;
  let state: State = { what, done: 0, total };
  let isShown = false;
  const show = () => {
    isShown = true;
    if (isRewritten) errors.write(`\r\u001b[K${progressLine(state)}`);
    else note(plainLine(state));
  };
  let timer = setTimeout(function shown() {
    show();
    timer = setTimeout(shown, isRewritten ? REWRITE_MS : LINE_MS);
  }, QUIET_MS);
  return {
    update: (done, nextTotal = state.total) => {
      state = { what, done, total: nextTotal };
    },
    end: () => {
      clearTimeout(timer);
      if (!isShown) return;
      show();
      if (isRewritten) errors.write('\n');
    },
  };
}

interface State {
  readonly what: string;
  readonly done: number;
  readonly total: number | undefined;
}

/** `Reconciling [######------------------] 25 of 100` */
export function progressLine({ what, done, total }: State): string {
  if (total === undefined || total === 0) return plainLine({ what, done, total });
  const filled = Math.min(BAR_WIDTH, Math.floor((done / total) * BAR_WIDTH));
  return `${what} [${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${done} of ${total}`;
}

function plainLine({ what, done, total }: State): string {
  return total === undefined ? (done === 0 ? `${what} …` : `${what}: ${done}`) : `${what}: ${done} of ${total}`;
}
