import { setTimeout as sleep } from 'node:timers/promises';
import { type Route, route } from '../../../api/http/route.ts';
import {
  amount,
  boolean,
  clearable,
  currency,
  date,
  fields,
  integer,
  list,
  moneyFields,
  nullable,
  optional,
  picklist,
  text,
  uuid,
} from '../../../api/http/schemas/schemas.ts';
import { appendAuditEntry } from '../../../db/common/audit-entries.ts';
import { newId } from '../../../db/common/ids.ts';
import { rejection } from '../../../domain/common/errors.ts';
import type { Id } from '../../../domain/common/ids.ts';
import { amountNumber } from '../../../domain/common/money.ts';

type ThingId = Id<'Thing'>;

/** The audit action by which a test counts the effects of its writes. */
export const THING_ACTION = 'thing-made';

const thingShown = fields({ id: uuid(), name: nullable(text(140)), amount: amount(), dueDate: nullable(text(10)) });
const THING = { id: '0197b2a4-6f0e-7cc3-9d55-0d6b1c1f2a11', name: null, amount: 1.5, dueDate: null };

/** Holds the creation of a thing in mid-transaction until the test releases it. */
export interface Gate {
  /** Resolves once the route has reached it. */
  readonly reached: Promise<void>;
  open(): void;
}

const gates = new Map<string, { pass(): Promise<void> }>();

/** Names whose creation is rejected before anything is read. */
export const rejectedNames = new Set<string>();

/** The creation of a thing with this name stops here. */
export function gateOf(name: string): Gate {
  let reach = (): void => {};
  let open = (): void => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const pass = () => {
    reach();
    return opened;
  };
  gates.set(name, { pass });
  return { reached, open };
}

const postThing = route(
  {
    method: 'POST',
    path: '/things',
    operationId: 'createThing',
    summary: 'Make a thing',
    tag: 'System',
    roles: ['operator'],
    workflows: {
      direct: {
        workflow: { dryRun: optional(boolean()), pauseMs: optional(integer(0, 10_000)), reject: optional(boolean()) },
        data: fields({
          thing: moneyFields({
            name: optional(text(140)),
            amount: amount(),
            currency: currency(),
            dueDate: optional(date()),
            tags: optional(list(text(20), 0, 3)),
          }),
        }),
      },
      migration: { data: fields({ sourceId: text(64) }), connect: fields({ type: picklist(['explicit']) }) },
    },
    response: fields({ thing: thingShown }),
    examples: { response: { thing: THING } },
  },
  async ({ body, initiator, write, transaction }) => {
    const isSlow =
      body.code === 'direct' && (body.workflow.pauseMs !== undefined || gates.has(body.data.thing.name ?? ''));
    return (isSlow ? transaction : write)(async (tx) => {
      const id = newId<ThingId>();
      if (body.code === 'migration') {
        return { data: { thing: { id, name: body.data.sourceId, amount: amountNumber(0n, 'EUR'), dueDate: null } } };
      }
      const { name = null, amountMinor, currency: code, dueDate = null } = body.data.thing;
      if (rejectedNames.has(name ?? ''))
        throw rejection('account.balance.insufficient', ['thing', 'name', ''], 'No more.');
      appendAuditEntry(tx, { initiator, resource: 'account', resourceId: name ?? id, action: THING_ACTION, after: {} });
      await sleep(body.workflow.pauseMs ?? 0);
      await gates.get(name ?? '')?.pass();
      if (body.workflow.reject)
        throw rejection('account.balance.insufficient', ['thing', 'amount', '1'], 'Too little.');
      return { data: { thing: { id, name, amount: amountNumber(amountMinor, code), dueDate } } };
    });
  },
);

/** How often the route below called another service. */
export const outsideCalls = { count: 0 };

const askThing = route(
  {
    method: 'POST',
    path: '/asked-things',
    operationId: 'createAskedThing',
    summary: 'Ask outside, then make a thing',
    tag: 'System',
    roles: ['operator'],
    workflows: { direct: { data: fields({ thing: fields({ name: text(140) }) }) } },
    response: fields({ thing: thingShown }),
    examples: { response: { thing: THING } },
  },
  async ({ body, write, storedAnswer }) => {
    const earlier = await storedAnswer();
    if (earlier !== null) return earlier;
    outsideCalls.count += 1;
    const { name } = body.data.thing;
    return write(async () => ({
      data: { thing: { id: newId(), name, amount: amountNumber(0n, 'EUR'), dueDate: null } },
    }));
  },
);

const patchThing = route(
  {
    method: 'PATCH',
    path: '/things/{thingId}',
    operationId: 'updateThing',
    summary: 'Change a thing',
    tag: 'System',
    roles: ['operator'],
    params: { thingId: uuid<ThingId>() },
    workflows: {
      direct: { data: fields({ thing: fields({ name: optional(text(140)), note: clearable(text(20)) }) }) },
    },
    response: fields({ given: list(text(20), 0, 2) }),
    examples: { response: { given: ['note'] } },
  },
  async ({ body }) => ({ data: { given: Object.keys(body.data.thing) } }),
);

const getThings = route(
  {
    method: 'GET',
    path: '/things',
    operationId: 'listThings',
    summary: 'Things',
    tag: 'System',
    query: { 'data.thing.status': optional(picklist(['new', 'old'])), 'data.thing.from': optional(date()) },
    paged: true,
    include: ['data.thing.extra', 'connect.connection'],
    deprecatedIncludes: { 'connect.connection': { since: '2023-05-31', sunset: '2024-05-31' } },
    deprecated: { since: '2023-06-01' },
    response: fields({ things: list(thingShown, 0, 100) }),
    examples: { response: { things: [THING] } },
  },
  async ({ include }) => ({
    data: { things: [] },
    totalElements: 21,
    connect: include.has('connect.connection') ? { connection: { id: 'x' } } : {},
  }),
);

const getFault = route(
  {
    method: 'GET',
    path: '/faults',
    operationId: 'listFaults',
    summary: 'Fails',
    tag: 'System',
    response: fields({}),
    examples: { response: {} },
  },
  async () => {
    throw new Error('password=canary-in-message');
  },
);

/** Routes of dummy resources, to test the guarantees of api/http without real ones. */
export const dummyRoutes: readonly Route[] = [postThing, askThing, patchThing, getThings, getFault];
