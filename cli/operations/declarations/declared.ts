import type { Command, Effect, Given } from '../../program/command.ts';

/** An operator's command: it acts on database and Temporal themselves, with the worker's environment. */
export interface Declared extends Pick<Command, 'noun' | 'name' | 'summary' | 'operands' | 'options' | 'confirmedBy'> {
  readonly effect: Effect | ((given: Given) => Effect);
  /** Its name under `npm run operate`, with the first words of its arguments. */
  readonly operate: readonly [name: string, ...words: readonly string[]];
  /** It prints lines even for `--json`, which `fas` then wraps. */
  readonly isText?: true;
}
