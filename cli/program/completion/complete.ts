import type { Command, CommandContext, Option, Run } from '../command.ts';
import { profilesFile, readProfiles } from '../profiles.ts';
import { GLOBAL_OPTIONS } from '../program.ts';

/** A word that may stand there, with what it means. */
export interface Candidate {
  readonly word: string;
  readonly meaning: string;
}

/** `fas complete -- WORD…`: a line for each candidate, with its meaning after a tab. The last word is the one to complete, maybe empty. */
export const printCandidates: Run = async (context) => {
  const candidates = candidatesFor(context, context.given.operands);
  context.output.show(candidates, () => candidates.map(({ word, meaning }) => `${word}\t${meaning}`));
  return 0;
};

export function candidatesFor(
  context: Pick<CommandContext, 'commands' | 'nouns' | 'environment'>,
  words: readonly string[],
): Candidate[] {
  const before = words.slice(0, -1);
  const last = words.at(-1) ?? '';
  const { command, noun, operands } = typedSoFar(context.commands, before);
  const options = [...(command?.options ?? []), ...GLOBAL_OPTIONS];
  const awaited = options.find((option) => option.value !== undefined && before.at(-1) === `--${option.name}`);
  const candidates =
    awaited !== undefined
      ? valuesOf(awaited, context.environment)
      : last.startsWith('-')
        ? options.map(({ name, meaning }) => ({ word: `--${name}`, meaning }))
        : command !== undefined
          ? operandValues(command, operands)
          : namesIn(context, noun);
  return candidates.filter(({ word }) => word.startsWith(last));
}

interface SoFar {
  readonly command: Command | undefined;
  readonly noun: string | null;
  /** How many operands of the command are complete. */
  readonly operands: number;
}

function typedSoFar(commands: readonly Command[], words: readonly string[]): SoFar {
  const takesValue = new Set(
    [...GLOBAL_OPTIONS, ...commands.flatMap(({ options = [] }) => options)]
      .filter(({ value }) => value !== undefined)
      .map(({ name }) => `--${name}`),
  );
  const plain = words.filter((word, at) => !word.startsWith('-') && !takesValue.has(words[at - 1] ?? ''));
  const [first, second] = plain;
  const single = commands.find(({ noun, name }) => noun === null && name === first);
  if (single !== undefined) return { command: single, noun: null, operands: plain.length - 1 };
  const command = commands.find(({ noun, name }) => noun === first && name === second);
  return { command, noun: first ?? null, operands: plain.length - 2 };
}

function namesIn({ commands, nouns }: Pick<CommandContext, 'commands' | 'nouns'>, noun: string | null): Candidate[] {
  const shown = commands.filter((command) => !command.isHidden && command.noun === noun);
  const names = shown.map(({ name, summary }) => ({ word: name, meaning: summary }));
  if (noun !== null) return names;
  return [...names, ...Object.entries(nouns).map(([word, meaning]) => ({ word, meaning }))];
}

function operandValues({ operands = [] }: Command, index: number): Candidate[] {
  const last = operands.at(-1);
  const operand = operands[index] ?? (last?.isRepeated ? last : undefined);
  return (operand?.values ?? []).map((word) => ({ word, meaning: operand?.meaning ?? '' }));
}

function valuesOf({ name, values = [], meaning }: Option, environment: NodeJS.ProcessEnv): Candidate[] {
  if (name !== 'profile') return values.map((word) => ({ word, meaning }));
  const { profiles } = readProfiles(profilesFile(environment));
  return Object.entries(profiles).map(([word, { mode, baseUrl }]) => ({ word, meaning: `${mode}, ${baseUrl}` }));
}
