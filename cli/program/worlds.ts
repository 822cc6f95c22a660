import type { CommandContext, GlobalOptions } from './command.ts';
import { CommandFailure } from './exit-statuses.ts';

export type Mode = 'test' | 'live';

/** Where a command acts. What is not known to be a test is live. */
export interface World {
  readonly mode: Mode;
  /** What a person calls it: the profile's name, or the address. */
  readonly name: string;
  /** The API's address, or database and host; without credentials. */
  readonly target: string;
}

/** Says in which world it writes, and stops before anything dangerous that is not confirmed where that is live. */
export function enterWorld(context: CommandContext, world: World, effect: 'writes' | 'dangerous'): void {
  const { globals, output } = context;
  output.note(worldLine(world));
  if (effect === 'writes' || world.mode === 'test' || globals.isDryRun) return;
  confirm(globals, confirmationOf(context, world));
}

export function worldLine({ mode, name, target }: World): string {
  return `[${mode.toUpperCase()}] ${name === target ? target : `${name}: ${target}`}`;
}

function confirmationOf({ command, given }: CommandContext, world: World): string {
  const { confirmedBy = ({ operands }) => operands[0] } = command;
  return confirmedBy(given) ?? world.name;
}

function confirm({ confirm: given }: GlobalOptions, expected: string): void {
  if (given === expected) return;
  const found = given === undefined ? 'It is live' : `"${given}" is not what it acts on, and it is live`;
  throw new CommandFailure('unconfirmed', `${found}: give --confirm ${expected}`, { confirm: expected });
}
