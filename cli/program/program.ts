import { Argument, CommanderError, Option as ParsedOption, Command as Parser } from 'commander';
import type { Command, Given, GlobalOptions, Operand, Option } from './command.ts';
import { CommandFailure } from './exit-statuses.ts';

/** What was typed, once it is known to be a command with options and values that it takes. */
export interface Typed {
  readonly command: Command;
  readonly given: Given;
  readonly globals: GlobalOptions;
  readonly isJson: boolean;
  readonly hasNoColours: boolean;
}

export interface ProgramParts {
  readonly commands: readonly Command[];
  /** A line for each noun, for the first page of the help. */
  readonly nouns: Readonly<Record<string, string>>;
  readonly version: string;
  /** Help and version, as they were asked for. */
  print(text: string): void;
}

/** Options of every command. */
export const GLOBAL_OPTIONS: readonly Option[] = [
  { name: 'profile', value: 'NAME', meaning: 'Acts as this profile, whatever the environment says' },
  { name: 'base-url', value: 'URL', meaning: 'The address of the API' },
  { name: 'json', meaning: 'Prints JSON, for programs; errors too' },
  { name: 'dry-run', meaning: 'Shows what a write would send or run, and does nothing' },
  { name: 'confirm', value: 'ID', meaning: 'Repeats the id that a dangerous command acts on, where the world is live' },
  { name: 'no-color', meaning: 'Prints no colours, not even on a terminal' },
];

/** Reads a command line; null if help or the version was asked for and is printed. */
export function readCommandLine(words: readonly string[], parts: ProgramParts): Typed | null {
  let typed: Typed | null = null;
  let shown = '';
  const root = newParser('fas', '').description('Calls the Financial Accounts Service, and operates it.');
  root.version(parts.version, '--version', 'Prints the version');
  for (const option of GLOBAL_OPTIONS) root.addOption(parsedOption(option));
  const configure = (parser: Parser) =>
    parser
      .exitOverride()
      .configureOutput({ writeOut: parts.print, writeErr: (text) => (shown += text), outputError: () => undefined });
  configure(root);
  const groups = new Map<string, Parser>();
  for (const command of parts.commands) {
    const { noun } = command;
    const known = noun === null ? root : groups.get(noun);
    const parent = known ?? configure(newParser(noun ?? '', parts.nouns[noun ?? ''] ?? ''));
    if (noun !== null && known === undefined) {
      groups.set(noun, parent);
      root.addCommand(parent);
    }
    const parser = configure(commandParser(command));
    parser.action(() => {
      const { json = false, color } = root.opts<{ json?: true; color: boolean }>();
      typed = {
        command,
        given: givenTo(command, parser),
        globals: globalsOf(root),
        isJson: json,
        hasNoColours: !color,
      };
    });
    parent.addCommand(parser, command.isHidden ? { hidden: true } : {});
  }
  try {
    root.parse([...words], { from: 'user' });
    return typed;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return null;
    throw new CommandFailure('usage', shown.trim() || sentence(error.message));
  }
}

/** "error: unknown option '--x'" as a sentence. */
function sentence(message: string): string {
  const text = message.replace(/^error: /, '').trim();
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}

function newParser(name: string, summary: string): Parser {
  return new Parser(name)
    .description(summary)
    .helpOption('-h, --help', 'Shows this help')
    .allowExcessArguments(false)
    .showSuggestionAfterError(true)
    .helpCommand('help [command]', 'Shows the help of a command')
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (parser) => [parser.name(), ...operandsOf(parser)].join(' '),
    });
}

function operandsOf({ registeredArguments }: Parser): string[] {
  return registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '…' : ''}`;
    return argument.required ? name : `[${name}]`;
  });
}

function commandParser({ name, summary, operands = [], options = [] }: Command): Parser {
  const parser = newParser(name, summary);
  for (const operand of operands) parser.addArgument(parsedOperand(operand));
  for (const option of options) parser.addOption(parsedOption(option));
  return parser;
}

function parsedOperand({ name, meaning, values, isOptional, isRepeated }: Operand): Argument {
  const dots = isRepeated ? '...' : '';
  const argument = new Argument(isOptional ? `[${name}${dots}]` : `<${name}${dots}>`, meaning);
  return values === undefined ? argument : argument.choices(values);
}

function parsedOption({ name, value, meaning, values, isRequired, isRepeated }: Option): ParsedOption {
  const option = new ParsedOption(value === undefined ? `--${name}` : `--${name} <${value}>`, meaning);
  if (isRequired) option.makeOptionMandatory();
  if (values !== undefined) option.choices(values);
  if (!isRepeated) return option;
  const { parseArg: checked } = option;
  return option.argParser<readonly string[]>((text, before) => {
    checked?.(text, '');
    return [...(before ?? []), text];
  });
}

function givenTo({ options = [] }: Command, parser: Parser): Given {
  const values = parser.opts<Record<string, string | true | readonly string[] | undefined>>();
  return {
    operands: parser.args,
    options: Object.fromEntries(options.map((option) => [option.name, values[parsedOption(option).attributeName()]])),
  };
}

function globalsOf(root: Parser): GlobalOptions {
  const { profile, baseUrl, confirm, dryRun } = root.opts<{
    profile?: string;
    baseUrl?: string;
    confirm?: string;
    dryRun?: true;
  }>();
  return {
    ...(profile === undefined ? {} : { profile }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(confirm === undefined ? {} : { confirm }),
    isDryRun: dryRun === true,
  };
}
