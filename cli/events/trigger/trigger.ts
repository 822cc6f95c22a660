import { object } from '../../common/answers.ts';
import { type CommandContext, operand, optionText, type Run } from '../../program/command.ts';
import { CommandFailure, EXIT_STATUSES } from '../../program/exit-statuses.ts';
import { openApi } from '../../requests/calls.ts';
import { eventLog, type LoggedEvent, lastPosition, type ReadEvents } from '../event-log.ts';
import { httpWorld } from './http-world.ts';
import { TRIGGERS, type Trigger } from './triggers.ts';
import { GIVEN_KINDS, type GivenResource, type TriggerWorld, until } from './world.ts';

/** `fas trigger EVENT`: causes it by what callers and the outside world do, and shows it as the event log has it. */
export const trigger: Run = async (context) => {
  const { output, globals } = context;
  const name = operand(context, 0);
  const entry = TRIGGERS[name];
  if (entry === undefined) throw new Error(`${name} has no trigger`);
  if (globals.isDryRun) {
    const shown = { event: name, for: optionText(context, 'for') ?? null, takes: entry.takes };
    output.show({ dryRun: shown }, [`Not done: it would cause ${name}.`]);
    return EXIT_STATUSES.succeeded.status;
  }
  const world = await httpWorld(context);
  const api = await openApi(context);
  const read = eventLog(async (path) => (await api.call({ method: 'GET', path })).text);
  const position = await lastPosition(read);
  const given = await givenResource(context, world, entry);
  const progress = output.progress(`Causing ${name}`);
  try {
    const resourceId = await entry.cause({ world, given });
    if (entry.isDelivery) {
      output.show({ event: name, webhookDeliveryId: resourceId }, [`${name}: webhook delivery ${resourceId}`]);
    } else show(output, await logged(read, { name, position, resourceId }));
  } finally {
    progress.end();
  }
  return EXIT_STATUSES.succeeded.status;
};

function show(output: CommandContext['output'], { name, position, id, resourceId }: LoggedEvent): void {
  const shown = { event: name, position, eventId: id, resourceId };
  output.show(shown, [`${name} at position ${position}, of ${resourceId}`]);
}

/** What `--for` names, among the kinds that the event takes. */
async function givenResource(
  context: CommandContext,
  world: TriggerWorld,
  { takes }: Trigger,
): Promise<GivenResource | null> {
  const id = optionText(context, 'for');
  if (id === undefined) return null;
  for (const kind of takes) {
    const { path, name } = GIVEN_KINDS[kind];
    const found = await world.find(`${path}${encodeURIComponent(id)}`);
    if (found !== null) return { kind, resource: object(object(found, 'data'), name) };
  }
  const kinds = takes.length === 0 ? 'nothing: it is of a new resource' : takes.join(', ');
  throw new CommandFailure('usage', `--for ${id} is none of what this event takes (${kinds}).`);
}

interface Wanted {
  readonly name: string;
  readonly position: number;
  readonly resourceId: string;
}

/** The event itself, once the log has it. */
async function logged(read: ReadEvents, { name, position, resourceId }: Wanted): Promise<LoggedEvent> {
  const [module, type] = name.split('.');
  let at = position;
  return until(`${name} of ${resourceId}`, async () => {
    const { events, nextPosition } = await read(at, { module, type });
    at = nextPosition;
    return events.find((event) => event.resourceId === resourceId) ?? null;
  });
}
