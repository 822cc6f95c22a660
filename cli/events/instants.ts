import { parseDateTime } from '../../domain/common/time/dates.ts';
import { type CommandContext, optionText } from '../program/command.ts';
import { CommandFailure } from '../program/exit-statuses.ts';

/** An option that is an instant in UTC; undefined if it was not given. */
export function instantOption(context: CommandContext, name: string): Date | undefined {
  const text = optionText(context, name);
  const instant = text === undefined ? undefined : parseDateTime(text.replace(/Z$/, ''));
  if (instant === null) throw new CommandFailure('usage', `--${name} must be a date-time in UTC.`);
  return instant;
}
