import type { ExitStatus } from './exit-statuses.ts';
import type { Output } from './output.ts';

/**
 * How a command of `fas` is declared. Help, completion, docs/reference/commands.md and the suites read these entries, so that a new
 * command needs nothing but its entry in `COMMANDS` (cli/commands.ts).
 *
 *   { noun: 'calendars', name: 'check', summary: 'Checks a calendar file.', operands: [{ name: 'FILE', meaning: 'Its path' }],
 *     reach: 'here', effect: 'reads', load: async () => (await import('./check-calendar.ts')).checkCalendar }
 *
 * An entry imports only types and what is as small as itself: `fas` loads all entries at each start.
 */
export interface Command {
  /** Its group, such as `outgoing-transfers`; null for a command of its own, such as `whoami`. */
  readonly noun: string | null;
  readonly name: string;
  /** A sentence or two. */
  readonly summary: string;
  readonly operands?: readonly Operand[];
  readonly options?: readonly Option[];
  /** Where it acts: at the API as the profile says; on database and Temporal, as the environment or DATA_DIR says; on this machine. */
  readonly reach: 'api' | 'installation' | 'here';
  /** Known before it runs: `writes` names its world on standard error, and `dangerous` wants `--confirm` where that is live. */
  readonly effect: Effect | ((given: Given) => Effect);
  /** What `--confirm` must repeat: by default its first operand, or the world's name if it has none. */
  readonly confirmedBy?: (given: Given) => string | undefined;
  /** Not for people: left out of help, completion and documents. */
  readonly isHidden?: true;
  /** Prints lines of JSON as they come under `--json`, not one value. */
  readonly streams?: true;
  readonly load: () => Promise<Run>;
}

export type Effect = 'reads' | 'writes' | 'dangerous';

export interface Operand {
  /** In capitals: `ID`. */
  readonly name: string;
  readonly meaning: string;
  /** All that it may be. */
  readonly values?: readonly string[];
  readonly isOptional?: true;
  /** The last operand may be given several times. */
  readonly isRepeated?: true;
}

export interface Option {
  /** Without its hyphens: `forward-to`. */
  readonly name: string;
  /** The name of its value, in capitals; without one it is a switch. */
  readonly value?: string;
  readonly meaning: string;
  readonly values?: readonly string[];
  readonly isRequired?: true;
  readonly isRepeated?: true;
}

/** What was given to a command, after the frame has rejected unknown options and values. */
export interface Given {
  /** In the order of the declaration; fewer if optional ones are missing, more if the last is repeated. */
  readonly operands: readonly string[];
  /** By the option's name. A repeated option is a list, a switch `true`. */
  readonly options: Readonly<Record<string, string | true | readonly string[] | undefined>>;
}

/** Options that every command takes. */
export interface GlobalOptions {
  readonly profile?: string;
  readonly baseUrl?: string;
  readonly confirm?: string;
  readonly isDryRun: boolean;
}

export interface CommandContext {
  /** All commands, and a line for each of their nouns. */
  readonly commands: readonly Command[];
  readonly nouns: Readonly<Record<string, string>>;
  readonly command: Command;
  readonly given: Given;
  readonly globals: GlobalOptions;
  readonly environment: NodeJS.ProcessEnv;
  readonly output: Output;
  /** Aborted by Ctrl-C: end what was begun, and return. */
  readonly signal: AbortSignal;
}

export type Run = (context: CommandContext) => Promise<ExitStatus>;

/** The operand at a position, which the frame has checked to be there if it is not optional. */
export function operand({ given }: CommandContext, index: number): string {
  return given.operands[index] ?? '';
}

export function optionText({ given }: CommandContext, name: string): string | undefined {
  const value = given.options[name];
  return typeof value === 'string' ? value : undefined;
}

export function optionTexts({ given }: CommandContext, name: string): readonly string[] {
  const value = given.options[name];
  return value === undefined || value === true ? [] : typeof value === 'string' ? [value] : value;
}

export function isSwitchedOn({ given }: CommandContext, name: string): boolean {
  return given.options[name] === true;
}

/** `outgoing-transfers fail`, as it is typed. */
export function titleOf({ noun, name }: Pick<Command, 'noun' | 'name'>): string {
  return noun === null ? name : `${noun} ${name}`;
}

/** `ID [--reason TEXT]`, as usage and documents show it. */
export function usageOf({ operands = [], options = [] }: Command): string {
  const words = [
    ...operands.map(({ name, values, isOptional, isRepeated }) => {
      const text = `${values === undefined || values.length > 3 ? name : values.join('|')}${isRepeated ? '…' : ''}`;
      return isOptional ? `[${text}]` : text;
    }),
    ...options.map(({ name, value, isRequired, isRepeated }) => {
      const text = value === undefined ? `--${name}` : `--${name} ${value}`;
      return `${isRequired ? text : `[${text}]`}${isRepeated ? '…' : ''}`;
    }),
  ];
  return words.join(' ');
}
