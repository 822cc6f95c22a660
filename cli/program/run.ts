import type { Command, CommandContext } from './command.ts';
import { titleOf } from './command.ts';
import { EXIT_STATUSES, type ExitStatus } from './exit-statuses.ts';
import { failureOf, printFailure, withoutSecrets } from './failures.ts';
import { createOutput, type Streams, wantsColours } from './output.ts';
import { readCommandLine } from './program.ts';
import { enterWorld } from './worlds.ts';

export interface CommandLine {
  readonly words: readonly string[];
  readonly commands: readonly Command[];
  readonly nouns: Readonly<Record<string, string>>;
  readonly version: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly streams: Streams;
  readonly signal: AbortSignal;
}

/** Runs what was typed, and returns its exit status. */
export async function runCommandLine(line: CommandLine): Promise<ExitStatus> {
  const { words, commands, nouns, version, environment, streams, signal } = line;
  const end = words.indexOf('--');
  // Until the words are read, as errors in them are printed by it; after "--" there are no options.
  let isJson = words.slice(0, end < 0 ? words.length : end).includes('--json');
  try {
    const print = (text: string) => streams.data.write(text);
    const typed = readCommandLine(words, { commands, nouns, version, print });
    if (typed === null) return EXIT_STATUSES.succeeded.status;
    isJson = typed.isJson;
    const { command, given, globals, hasNoColours } = typed;
    const output = createOutput(streams, { isJson, hasColours: wantsColours(environment, hasNoColours) });
    return await run({ command, given, globals, commands, nouns, environment, output, signal });
  } catch (error) {
    return printFailure(failureOf(error), streams.errors, isJson);
  }
}

async function run(context: CommandContext): Promise<ExitStatus> {
  const { command, given, globals } = context;
  const effect = typeof command.effect === 'function' ? command.effect(given) : command.effect;
  if (command.reach !== 'here') {
    const { reachedWorld, rejectOptionsOfApi } = await import('./reached-world.ts');
    rejectOptionsOfApi(context);
    if (effect !== 'reads') enterWorld(context, reachedWorld(context), effect);
  }
  // A command of the API shows its request instead.
  if (effect !== 'reads' && globals.isDryRun && command.reach !== 'api') return showDryRun(context);
  return (await command.load())(context);
}

function showDryRun({ command, given, output }: CommandContext): ExitStatus {
  const { operands, options } = given;
  const shown = { command: titleOf(command), operands, options };
  const words = [titleOf(command), ...operands, ...Object.entries(options).flatMap(optionWords)];
  output.show({ dryRun: shown }, [withoutSecrets(`Not run: fas ${words.join(' ')}`)]);
  return EXIT_STATUSES.succeeded.status;
}

function optionWords([name, value]: readonly [string, string | true | readonly string[] | undefined]): string[] {
  if (value === undefined) return [];
  if (value === true) return [`--${name}`];
  return (typeof value === 'string' ? [value] : value).map((text) => `--${name} ${text}`);
}
