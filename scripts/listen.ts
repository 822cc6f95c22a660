import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isLosslessNumber, type LosslessNumber, parse, stringify } from 'lossless-json';
import * as v from 'valibot';
import { signedHeaders } from '../activities/webhooks/signatures.ts';
import { parseDateTime } from '../domain/frame/time/dates.ts';
import { readEndpoints } from './frame/endpoints.ts';
import { underFileLock } from './frame/processes.ts';
import { describeFailure, errorMessage, RemedyError } from './frame/remedy.ts';
import { developmentToken } from './start/development-users.ts';
import { guardians, watchGuardians } from './start/parentage.ts';
import { dataDirectory } from './start/start-environment.ts';
import { listenerSecret } from './start/start-secrets.ts';

/**
 * `npm run listen -- --forward-to URL [--from INSTANT] [--secret whsec_…]`: forwards the event log as signed webhooks to a
 * receiver without a public address, in order, and holds its position until the receiver accepts.
 */
async function main(): Promise<void> {
  const wanted = readWanted();
  const directory = dataDirectory(process.env);
  readEndpoints(directory);
  const secret = listenerSecret(directory, wanted.secret);
  console.log(`Signing secret: ${secret}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
  // npm ends on a signal, or is killed, without a word to what it runs.
  watchGuardians(guardians(), () => process.exit(0));
  await underFileLock(
    join(directory, 'run', 'listener.pid'),
    () => listen({ ...wanted, directory, secret }),
    () => console.log('Another listener of this data directory is running; waiting for its end …'),
  );
}

const USAGE = 'Usage: npm run listen -- --forward-to URL [--from YYYY-MM-DDThh:mm:ssZ] [--secret whsec_…]';
/** Standard Webhooks: base64 of 24 to 64 bytes. */
const SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;

interface Wanted {
  readonly forwardTo: string;
  readonly from: Date | undefined;
  readonly secret: string | undefined;
}

function readWanted(): Wanted {
  let given: { 'forward-to'?: string; from?: string; secret?: string };
  const option = { type: 'string' } as const;
  try {
    given = parseArgs({ options: { 'forward-to': option, from: option, secret: option } }).values;
  } catch (error) {
    throw new RemedyError(USAGE, { cause: error });
  }
  const { 'forward-to': forwardTo, from, secret } = given;
  if (forwardTo === undefined) throw new RemedyError(USAGE);
  if (!/^https?:/.test(forwardTo) || !URL.canParse(forwardTo)) {
    throw new RemedyError(`--forward-to must be an http or https URL. ${USAGE}`);
  }
  const instant = from === undefined ? undefined : parseDateTime(from.replace(/Z$/, ''));
  if (instant === null) throw new RemedyError(`--from must be a date-time in UTC. ${USAGE}`);
  if (secret !== undefined && !SECRET.test(secret)) {
    throw new RemedyError(`--secret must be whsec_ and the base64 of 24 to 64 bytes. ${USAGE}`);
  }
  return { forwardTo, from: instant, secret };
}

const POLL_MS = 500;
/** After a refusal, or while the service does not answer. */
const RETRY_MS = 2_000;
const TIMEOUT_MS = 15_000;
const PAGE_SIZE = 100;
/** Beyond every position: the log then answers its last one. */
const END = 999_999_999_999_999;

async function listen(
  options: Pick<Wanted, 'forwardTo' | 'from'> & { readonly directory: string; readonly secret: string },
): Promise<never> {
  const { directory, secret, forwardTo, from } = options;
  const read = eventReader(directory);
  const kept = keptPosition(directory);
  let position =
    from === undefined ? (kept.read() ?? (await read(END)).nextPosition) : await positionBefore(read, from);
  kept.write(position);
  console.log(`Forwarding events after position ${position} to ${forwardTo}`);
  for (;;) {
    const { events, nextPosition } = await read(position);
    for (const event of events) {
      await forward(event, forwardTo, secret);
      kept.write(event.position);
    }
    if (nextPosition !== position) kept.write(nextPosition);
    position = nextPosition;
    if (events.length === 0) await sleep(POLL_MS);
  }
}

/** Where the first event at or after the instant follows; the end if there is none. */
async function positionBefore(read: EventReader, from: Date): Promise<number> {
  // Events show whole seconds.
  const second = Math.floor(from.getTime() / 1_000) * 1_000;
  for (let position = 0; ; ) {
    const { events, nextPosition } = await read(position);
    const first = events.find(({ at }) => at.getTime() >= second);
    if (first !== undefined) return first.position - 1;
    if (events.length === 0) return nextPosition;
    position = nextPosition;
  }
}

/** Sends one event until the receiver accepts it. */
async function forward(event: LoggedEvent, url: string, secret: string): Promise<void> {
  for (;;) {
    const { id, name, body } = event;
    const refusal = await post(url, signedHeaders({ id, timestamp: new Date(), body, secrets: [secret] }), body);
    if (refusal === null) {
      console.log(`${event.position} ${name}`);
      return;
    }
    console.log(`${event.position} ${name}: ${refusal}; trying again in ${RETRY_MS / 1_000} s`);
    await sleep(RETRY_MS);
  }
}

async function post(url: string, signed: Readonly<Record<string, string>>, body: string): Promise<string | null> {
  try {
    const headers = { ...signed, 'content-type': 'application/json', 'user-agent': 'financial-accounts-webhooks/1' };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { method: 'POST', redirect: 'manual', headers, body, signal });
    await response.body?.cancel();
    return response.ok ? null : `answered ${response.status}`;
  } catch (error) {
    return reasonOf(error);
  }
}

/** fetch hides the reason in the cause. */
function reasonOf(error: unknown): string {
  const reason = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return errorMessage(reason) || 'no connection';
}

interface LoggedEvent {
  readonly position: number;
  readonly id: string;
  /** `<module>.<type>`. */
  readonly name: string;
  readonly at: Date;
  /** As a webhook has it. */
  readonly body: string;
}

type EventReader = (after: number) => Promise<{ events: readonly LoggedEvent[]; nextPosition: number }>;

const whole = v.pipe(
  v.custom<LosslessNumber>(isLosslessNumber),
  v.transform((number) => Number(number.value)),
);
const LogAnswer = v.object({
  data: v.object({
    events: v.array(
      v.looseObject({
        position: whole,
        webhook: v.object({ module: v.string(), type: v.string() }),
        metadata: v.looseObject({ eventId: v.string(), eventDateTime: v.string() }),
      }),
    ),
  }),
  metadata: v.looseObject({ nextPositionAfter: whole }),
});

/** Reads a page of the log, and waits while the service is away. */
function eventReader(directory: string): EventReader {
  let isAway = false;
  return async (after) => {
    for (;;) {
      try {
        const page = await readPage(directory, after);
        if (isAway) console.log('The service answers again.');
        isAway = false;
        return page;
      } catch (error) {
        if (error instanceof RemedyError) throw error;
        if (!isAway) console.log(`The service does not answer (${reasonOf(error)}); trying again …`);
        isAway = true;
        await sleep(RETRY_MS);
      }
    }
  };
}

async function readPage(directory: string, after: number): ReturnType<EventReader> {
  // Read each time: a restart of the service may have moved it.
  const endpoints = readEndpoints(directory);
  const token = await developmentToken(directory, endpoints, { role: 'viewer', now: new Date() });
  const query = `data.event.positionAfter=${after}&metadata.page.size=${PAGE_SIZE}`;
  const response = await fetch(`${endpoints.apiUrl}/events?${query}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`GET /events answered ${response.status}`);
  // Amounts keep their digits.
  const answer = parse(text);
  const { data, metadata } = v.parse(LogAnswer, answer);
  return { events: data.events.map(loggedEvent), nextPosition: metadata.nextPositionAfter };
}

type Logged = v.InferOutput<typeof LogAnswer>['data']['events'][number];

function loggedEvent({ position, resourceId: _, ...event }: Logged): LoggedEvent {
  const { module, type } = event.webhook;
  const { eventId, eventDateTime, ...metadata } = event.metadata;
  const at = parseDateTime(eventDateTime);
  if (at === null) throw new Error(`event ${eventId} has no date-time`);
  const { data, connect } = event;
  const document = { webhook: { module, type }, data, connect, metadata: { ...metadata, eventId, eventDateTime } };
  return { position, id: eventId, name: `${module}.${type}`, at, body: stringify(document) ?? '' };
}

/** The last position that the receiver accepted, kept at every step: a killed listener repeats one event at most. */
function keptPosition(directory: string) {
  const file = join(directory, 'listener-position');
  return {
    read: () => {
      if (!existsSync(file)) return null;
      const text = readFileSync(file, 'utf8').trim();
      // A disk that was full or lost power may leave it empty, which must not mean the beginning of the log.
      if (/^\d{1,15}$/.test(text)) return Number(text);
      throw new RemedyError(
        `${file} holds no position. Begin at an instant with --from, or delete the file to begin now.`,
      );
    },
    write: (position: number) => {
      writeFileSync(`${file}.new`, `${position}\n`);
      renameSync(`${file}.new`, file);
    },
  };
}

main().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
});
