import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startTimeLimit } from '../../activities/providers/ports/time-limits.ts';
import { signedHeaders } from '../../activities/webhooks/signatures.ts';
import { dataDirectory } from '../common/data-directory.ts';
import { listenerSecret } from '../common/local-secrets.ts';
import { parentProcesses, watchParentProcesses } from '../common/parent-processes.ts';
import { underFileLock } from '../common/processes.ts';
import { type CommandContext, optionText, type Run } from '../program/command.ts';
import { CommandFailure, EXIT_STATUSES } from '../program/exit-statuses.ts';
import { profilesFile } from '../program/profiles.ts';
import type { ReachedApi } from '../program/reached-world.ts';
import { openApi } from '../requests/calls.ts';
import { eventLog, type LoggedEvent, lastPosition, positionBefore, type ReadEvents } from './event-log.ts';
import { follow, pause, reasonOf } from './follow.ts';
import { instantOption } from './instants.ts';

/**
 * `fas listen`: forwards the event log as signed webhooks to a receiver without a public address, in order, and holds its position
 * until the receiver accepts.
 */
export const listen: Run = async (context) => {
  const forwardTo = receiverOf(context);
  const from = instantOption(context, 'from');
  const { output, signal } = context;
  const given = givenSecret(context);
  const directory = listenerDirectory((await openApi(context)).reached, context.environment);
  const { secret, file, isNew } = listenerSecret(directory, given);
  // Once is enough: the output may be kept.
  output.note(`Signing secret: ${isNew ? secret : `in ${file}`}`);
  const gone = new AbortController();
  // npm may end on a signal, or be killed, without notifying the processes that it runs.
  const watch = watchParentProcesses(parentProcesses(), () => gone.abort());
  const ended = AbortSignal.any([signal, gone.signal]);
  try {
    await underFileLock(
      join(directory, 'run', 'listener.pid'),
      () => forwardAll({ ...context, signal: ended }, { directory, secret, forwardTo, from }),
      () => output.note('Another listener is running with the same position; waiting for its end …'),
      ended,
    );
  } finally {
    clearInterval(watch);
  }
  return EXIT_STATUSES.succeeded.status;
};

function receiverOf(context: CommandContext): string {
  const url = optionText(context, 'forward-to') ?? '';
  if (/^https?:/.test(url) && URL.canParse(url)) return url;
  throw new CommandFailure('usage', '--forward-to must be an http or https URL.');
}

/** Standard Webhooks: base64 of 24 to 64 bytes. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;

/** From a file: what is typed is seen in the list of processes. */
function givenSecret(context: CommandContext): string | undefined {
  const file = optionText(context, 'secret-file');
  if (file === undefined) return undefined;
  const secret = readFileSync(file, 'utf8').trim();
  if (SECRET.test(secret)) return secret;
  throw new CommandFailure('usage', '--secret-file must have whsec_ and the base64 of 24 to 64 bytes.');
}

/** Where position and secret are kept: with the service that was started here, otherwise for each address with the profiles. */
function listenerDirectory({ started, world }: ReachedApi, environment: NodeJS.ProcessEnv): string {
  if (started !== null) return dataDirectory(environment);
  const name = createHash('sha256').update(world.target).digest('hex').slice(0, 16);
  const directory = join(dirname(profilesFile(environment)), 'listeners', name);
  mkdirSync(join(directory, 'run'), { recursive: true, mode: 0o700 });
  return directory;
}

/** After a rejection: soon at first. */
const RETRY_MS = 100;
const RETRY_MS_MAX = 2_000;
const TIMEOUT_MS = 15_000;

interface Forwarding {
  readonly directory: string;
  readonly secret: string;
  readonly forwardTo: string;
  readonly from: Date | undefined;
}

async function forwardAll(context: CommandContext, { directory, secret, forwardTo, from }: Forwarding): Promise<void> {
  const { output, signal } = context;
  // Opened each time: a restart of the service may have moved it.
  const read = eventLog(async (path) => (await (await openApi(context)).call({ method: 'GET', path })).text);
  const kept = keptPosition(directory);
  const position = await firstPosition(read, kept.read, from);
  kept.write(position);
  output.note(`Forwarding events after position ${position} to ${forwardTo}`);
  for await (const { events, nextPosition } of follow({ read, position, signal, note: output.note })) {
    for (const event of events) {
      const isAccepted = await forward(event, { forwardTo, secret, context });
      if (!isAccepted) return;
      kept.write(event.position);
    }
    kept.write(nextPosition);
  }
}

async function firstPosition(
  read: ReadEvents,
  keptPositionOf: () => number | null,
  from: Date | undefined,
): Promise<number> {
  if (from !== undefined) return positionBefore(read, from);
  return keptPositionOf() ?? lastPosition(read);
}

interface Receiver {
  readonly forwardTo: string;
  readonly secret: string;
  readonly context: CommandContext;
}

/** Sends one event until the receiver accepts it; false if the command ends before. */
async function forward(event: LoggedEvent, { forwardTo, secret, context }: Receiver): Promise<boolean> {
  const { output, signal } = context;
  const { id, name, position, resourceId, body } = event;
  let last: string | null = null;
  for (let failures = 0; !signal.aborted; failures += 1) {
    const headers = signedHeaders({ id, timestamp: new Date(), body, secrets: [secret] });
    const rejection = await post(forwardTo, { headers, body, signal });
    if (rejection === null) {
      output.line(output.isJson ? JSON.stringify({ position, id, name, resourceId }) : `${position} ${name}`);
      return true;
    }
    if (signal.aborted) return false;
    if (rejection !== last) output.note(`${position} ${name}: ${rejection}; trying until it is accepted …`);
    last = rejection;
    await pause(Math.min(RETRY_MS * 2 ** failures, RETRY_MS_MAX), signal);
  }
  return false;
}

interface Delivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

async function post(url: string, { headers: signed, body, signal }: Delivery): Promise<string | null> {
  const limit = startTimeLimit(TIMEOUT_MS, signal);
  try {
    signal.throwIfAborted();
    const headers = { ...signed, 'content-type': 'application/json', 'user-agent': 'financial-accounts-webhooks/1' };
    const response = await fetch(url, { method: 'POST', redirect: 'manual', headers, body, signal: limit.signal });
    await response.body?.cancel();
    return response.ok ? null : `answered ${response.status}`;
  } catch (error) {
    return limit.isOver() ? `no answer within ${TIMEOUT_MS / 1_000} s` : reasonOf(error);
  } finally {
    limit.release();
  }
}

/** The last position that the receiver accepted, kept at every step: a killed listener repeats one event at most. */
function keptPosition(directory: string) {
  const file = join(directory, 'listener-position');
  return {
    read: () => {
      if (!existsSync(file)) return null;
      const text = readFileSync(file, 'utf8').trim();
      // A full disk or a power failure may leave it empty, which must not mean the beginning of the log.
      if (/^\d{1,15}$/.test(text)) return Number(text);
      throw new CommandFailure(
        'usage',
        `${file} holds no position. Begin at an instant with --from, or delete the file to begin now.`,
      );
    },
    write: (position: number) => {
      writeFileSync(`${file}.new`, `${position}\n`);
      renameSync(`${file}.new`, file);
    },
  };
}
