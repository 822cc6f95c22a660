import { type CommandContext, optionText, type Run } from '../program/command.ts';
import { CommandFailure, EXIT_STATUSES } from '../program/exit-statuses.ts';
import { printable } from '../program/output.ts';
import { openApi } from '../requests/calls.ts';
import { eventLog, type LoggedEvent, lastPosition, positionBefore, type ReadEvents } from './event-log.ts';
import { follow } from './follow.ts';
import { instantOption } from './instants.ts';

/** `fas tail`: a line for each event; under `--json` its position and the event as a webhook has it. */
export const tail: Run = async (context) => {
  const { output, signal } = context;
  const api = await openApi(context);
  const read = eventLog(async (path) => (await api.call({ method: 'GET', path })).text);
  const filter = { module: optionText(context, 'module'), type: optionText(context, 'type') };
  const position = await firstPosition(context, read);
  output.note(`Events after position ${position}; Ctrl-C ends.`);
  for await (const { events } of follow({ read, position, filter, signal, note: output.note })) {
    for (const event of events) output.line(output.isJson ? inJson(event) : inWords(event));
  }
  return EXIT_STATUSES.succeeded.status;
};

async function firstPosition(context: CommandContext, read: ReadEvents): Promise<number> {
  const after = optionText(context, 'after');
  const from = instantOption(context, 'from');
  if (after !== undefined && from !== undefined) throw new CommandFailure('usage', 'Give --after or --from, not both.');
  if (after !== undefined) {
    if (/^\d{1,15}$/.test(after)) return Number(after);
    throw new CommandFailure('usage', '--after must be a position: a whole number.');
  }
  return from === undefined ? lastPosition(read) : positionBefore(read, from);
}

/** Amounts keep their digits, as the body is a text already. */
function inJson({ position, resourceId, body }: LoggedEvent): string {
  return `{"position":${position},"resourceId":${JSON.stringify(resourceId)},"event":${body}}`;
}

function inWords({ position, at, name, resourceId }: LoggedEvent): string {
  return printable(`${position}  ${at.toISOString().slice(0, 19)}Z  ${name}  ${resourceId}`);
}
