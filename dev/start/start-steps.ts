import { startProgress } from '../../cli/program/progress.ts';

/** What a start says: lines, and below them on a terminal a bar of what is done and left. */
export interface StartSteps {
  say(line: string): void;
  begin(total: number): void;
  /** Waits for a step, which is done then. */
  step<Result>(work: Promise<Result>): Promise<Result>;
  /** Ends the bar, which may have ended before. */
  end(): void;
}

const CLEARED = '\r\u001b[K';

export function startSteps(output: { readonly isTTY?: boolean; write(text: string): unknown }): StartSteps {
  let done = 0;
  let bar: ReturnType<typeof startProgress> | null = null;
  return {
    // The bar is drawn again below the line.
    say: (line) => output.write(`${bar === null ? '' : CLEARED}${line}\n`),
    begin: (total) => {
      // Elsewhere the lines are enough.
      if (!output.isTTY) return;
      bar = startProgress({ what: 'Starting', total, isJson: false, errors: output, note: () => undefined });
    },
    step: async (work) => {
      const result = await work;
      done += 1;
      bar?.update(done);
      return result;
    },
    end: () => {
      bar?.end();
      bar = null;
    },
  };
}
