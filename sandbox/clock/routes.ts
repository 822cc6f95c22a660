import type { HttpBindings } from '@hono/node-server';
import { Temporal } from '@js-temporal/polyfill';
import { Hono } from 'hono';
import * as v from 'valibot';
import { answer, invalid, readBody } from '../bank/wire.ts';
import type { Destination, SandboxClock, Timed } from './clock.ts';

const NOT_A_TEXT = 'must be a text';
const NEXT = ['cut-off', 'deadline'] as const;

const MOVE_REQUEST = v.strictObject(
  {
    advanceTo: v.optional(v.string(NOT_A_TEXT)),
    advanceBy: v.optional(v.string(NOT_A_TEXT)),
    advanceToNext: v.optional(v.picklist(NEXT, `must be one of ${NEXT.join(', ')}`)),
  },
  'takes advanceTo, advanceBy or advanceToNext',
);

/** The routes under `/clock`: only the sandbox of `npm start` with its own Postgres has them. */
export function clockRoutes(clock: SandboxClock, banks: readonly Timed[]): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get('/', (c) => answer(c, 200, clock.show()));
  app.post('/', async (c) => {
    await clock.move(destinationOf(await readBody(c, MOVE_REQUEST)), banks);
    return answer(c, 200, clock.show());
  });
  return app;
}

function destinationOf(request: v.InferOutput<typeof MOVE_REQUEST>): Destination {
  const given = Object.values(request).filter((value) => value !== undefined);
  if (given.length !== 1) throw invalid('body', 'must have exactly one of advanceTo, advanceBy and advanceToNext');
  const { advanceTo, advanceBy, advanceToNext } = request;
  if (advanceToNext !== undefined) return { to: advanceToNext };
  if (advanceTo !== undefined) {
    const instant = parsed('advanceTo', 'must be an ISO 8601 instant, such as 2027-01-04T09:00:00Z', () =>
      Temporal.Instant.from(advanceTo),
    );
    return { to: 'instant', field: 'advanceTo', instantAfter: () => new Date(instant.epochMilliseconds) };
  }
  const rule = 'must be an ISO 8601 duration, such as P1DT2H';
  const duration = parsed('advanceBy', rule, () => Temporal.Duration.from(advanceBy ?? ''));
  return {
    to: 'instant',
    field: 'advanceBy',
    // Adding even a valid duration can exceed the range of dates.
    instantAfter: (now) => parsed('advanceBy', 'is too long', () => later(now, duration)),
  };
}

function later(now: Date, duration: Temporal.Duration): Date {
  const from = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO('UTC');
  return new Date(from.add(duration).epochMilliseconds);
}

function parsed<Value>(field: string, rule: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RangeError) throw invalid(field, rule);
    throw error;
  }
}
