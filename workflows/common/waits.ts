import { defineSearchAttributeKey } from '@temporalio/common';
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  log,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  TemporalFailure,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { OpenWorkReads } from '../../activities/common/open-work.ts';
import { type Wait, waitInWords } from '../../domain/common/waits.ts';
import { CHANGED_SIGNAL, resourceIdOf } from './messages.ts';
import { TRANSITION } from './policies.ts';

/** Prevents a busy loop on a deadline that has just passed, or on which two clocks disagree. */
const WAIT_MS_MIN = 1_000;

const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 60_000;

/** The pause after a provider has repeatedly failed to answer; its callback ends the pause early. */
const PROVIDER_PAUSE_MS = 60_000;

const { describeWait } = proxyLocalActivities<OpenWorkReads>({
  ...TRANSITION,
  summary: 'Show what the workflow waits for',
});

/**
 * One transition of the row: advances it as far as possible, or records an outside result, and returns the next step.
 */
type NextTransition<Next> = () => Promise<Next>;

/** How an action makes external calls. It returns the transition to run next. */
export interface ExternalCalls<Next> {
  /** Calls out; the next transition records the answer, or reloads the row if no answer came. */
  ask<Answer>(
    call: () => Promise<Answer>,
    record: (answer: Answer) => Promise<Next>,
  ): Promise<NextTransition<Next> | undefined>;
  /** For a call that records its own answer: its result is the next step. Without an answer the row is reloaded. */
  callThenReload(call: NextTransition<Next>): NextTransition<Next>;
}

/** Messages that a signal brings, in order. Each is handled by a transition; those left over go to the next run. */
export interface Inbox<Message> {
  readonly signal: string;
  /** Null for an invalid message. */
  parse(payload: unknown): Message | null;
  /** Safe to repeat. */
  handle(id: string, message: Message): Promise<void>;
  readonly unhandled: Message[];
}

/** The state of a run that its waits depend on. */
interface Run {
  changed(): boolean;
  unhandled(): readonly unknown[];
}

/**
 * The loop of a workflow that represents a row: run a transition, then act or wait as it says, until the row is
 * final.
 */
export function reconcileLoop<Action extends { readonly do: string }, Message = never>(
  type: Parameters<typeof describeWait>[0],
  advance: (id: string) => Promise<End | Wait | Action>,
  act: (
    next: Action,
    id: string,
    outside: ExternalCalls<End | Wait | Action>,
  ) => Promise<NextTransition<End | Wait | Action> | undefined> | NextTransition<End | Wait | Action>,
  inbox?: Inbox<Message>,
): Promise<void> {
  let changed = false;
  setHandler(defineSignal(CHANGED_SIGNAL), () => {
    changed = true;
  });
  if (inbox !== undefined) {
    receive(inbox, () => {
      changed = true;
    });
  }
  const run: Run = { changed: () => changed, unhandled: () => inbox?.unhandled ?? [] };
  const id = resourceIdOf(workflowInfo().workflowId);
  const reload = () => advance(id);
  const answer = <Answer>(call: () => Promise<Answer>) => answerOf(run, call, () => describeWait(type, id));
  const outside: ExternalCalls<End | Wait | Action> = {
    ask: (call, record) => answer(call).then((given) => (given === undefined ? undefined : () => record(given))),
    callThenReload: (call) => async () => (await answer(call)) ?? (await reload()),
  };
  let pending: NextTransition<End | Wait | Action> = reload;

  return evenIfCancelled(async () => {
    for (;;) {
      // Cleared before each transition and nowhere else, so that a change during or after it triggers another.
      changed = false;
      if (inbox !== undefined) await handleAll(run, inbox, id);
      const next = await transition(run, pending);
      pending = reload;
      if (isEnd(next)) {
        if (!changed) return;
      } else if (isWait(next)) {
        await changeOrDeadline(run, next);
      } else {
        pending = (await act(next, id, outside)) ?? reload;
      }
    }
  });
}

/** A signal may contain anything: an invalid message is ignored, and its content stays out of the log. */
function receive<Message>({ signal, parse, unhandled }: Inbox<Message>, onMessage: () => void): void {
  setHandler(defineSignal<[unknown]>(signal), (payload) => {
    const message = parse(payload);
    if (message === null) {
      log.warn('a signal without a valid payload is ignored', { signal });
      return;
    }
    unhandled.push(message);
    onMessage();
  });
}

async function handleAll<Message>(run: Run, { handle, unhandled }: Inbox<Message>, id: string): Promise<void> {
  for (let [message] = unhandled; message !== undefined; [message] = unhandled) {
    const oldest = message;
    await transition(run, () => handle(id, oldest));
    unhandled.shift();
  }
}

interface End {
  readonly do: 'end';
}

function isEnd(next: { readonly do: string }): next is End {
  return next.do === 'end';
}

function isWait(next: { readonly do: string }): next is Wait {
  return next.do === 'wait';
}

/** Cancelling in Temporal does not cancel the business process: only the row decides when it ends. */
function evenIfCancelled(work: () => Promise<void>): Promise<void> {
  return CancellationScope.nonCancellable(work);
}

/** Work of a schedule, done again if a sandbox's clock was moved during it: what had read the clock before may be due now. */
export function untilClockStands(work: () => Promise<void>): Promise<void> {
  let isClockMoved = false;
  setHandler(defineSignal(CHANGED_SIGNAL), () => {
    isClockMoved = true;
  });
  return evenIfCancelled(async () => {
    do {
      isClockMoved = false;
      await work();
    } while (isClockMoved);
  });
}

/**
 * Retries a transition for as long as the database is away, holding nothing but a timer between attempts. The happy
 * path creates as few promises as it can: each costs the worker a stack trace.
 */
function transition<Next>(run: Run, carryOut: () => Promise<Next>, pauseMs = PAUSE_MS_MIN): Promise<Next> {
  return carryOut().catch(async (error: unknown) => {
    if (!isActivityFailure(error)) throw error;
    log.warn('a transition failed', { reason: reasonOf(error), pauseMs });
    setCurrentDetails(`A transition failed (${reasonOf(error)}). It is retried at least once a minute.`);
    await sleep(pauseMs, { summary: 'Pause before the transition is retried' });
    await continueAsNewWhenLong(run);
    return transition(run, carryOut, Math.min(pauseMs * 2, PAUSE_MS_MAX));
  });
}

async function changeOrDeadline(run: Run, wait: Wait): Promise<void> {
  show(wait);
  const changed = () => run.changed();
  if (wait.waitMs === null) {
    await condition(changed);
  } else {
    await condition(changed, Math.max(WAIT_MS_MIN, wait.waitMs), {
      summary: waitSummary(wait),
    });
  }
  setCurrentDetails('');
  await continueAsNewWhenLong(run);
}

/**
 * Returns the provider's answer, or undefined after a pause if there was none. The caller then reloads the row and
 * sends the same call with the same reference: no answer never means failure.
 */
function answerOf<Answer>(
  run: Run,
  call: () => Promise<Answer>,
  describe: () => Promise<Wait>,
): Promise<Answer | undefined> {
  return call().catch(async (error: unknown) => {
    if (!isActivityFailure(error)) throw error;
    log.warn('an external call got no answer', { reason: reasonOf(error) });
    const wait = await transition(run, describe);
    await changeOrDeadline(run, { ...wait, waitMs: PROVIDER_PAUSE_MS });
    return undefined;
  });
}

/** Keeps histories short, and therefore quick to replay. */
async function continueAsNewWhenLong(run: Run): Promise<void> {
  if (workflowInfo().continueAsNewSuggested) await continueAsNew(run.unhandled());
}

/**
 * Whether an activity failed. The SDK may wrap a local activity's failure on the first run but not on replay, or the
 * reverse, so workflows must depend only on the fact of the failure.
 */
function isActivityFailure(error: unknown): error is TemporalFailure {
  return error instanceof TemporalFailure;
}

function reasonOf(failure: TemporalFailure): string {
  const cause = failure instanceof ActivityFailure ? failure.cause : failure;
  if (cause instanceof ApplicationFailure) return cause.type ?? 'unknown';
  return cause instanceof Error ? cause.name : 'unknown';
}

const KEYS = {
  clientId: defineSearchAttributeKey('ClientId', 'KEYWORD'),
  accountId: defineSearchAttributeKey('AccountId', 'KEYWORD'),
  status: defineSearchAttributeKey('TransferStatus', 'KEYWORD'),
  scheme: defineSearchAttributeKey('Scheme', 'KEYWORD'),
  currency: defineSearchAttributeKey('Currency', 'KEYWORD'),
  provider: defineSearchAttributeKey('Provider', 'KEYWORD'),
  waitingFor: defineSearchAttributeKey('WaitingFor', 'KEYWORD'),
} as const;

function waitSummary({ work, since, until, review }: Wait): string {
  return `Waits for ${waitInWords({
    for: work.waitingFor,
    since: since ?? review?.since ?? null,
    until,
    rule: review?.rule ?? null,
  })}`;
}

/** Shows operators what the workflow waits for. Search attributes are written only when that changes. */
function show(wait: Wait): void {
  setCurrentDetails(`${waitSummary(wait)}.`);
  const known = workflowInfo().typedSearchAttributes;
  const { work } = wait;
  if (known.get(KEYS.waitingFor) === work.waitingFor && known.get(KEYS.status) === work.status) return;
  upsertSearchAttributes([
    { key: KEYS.clientId, value: work.clientId },
    { key: KEYS.accountId, value: work.accountId },
    { key: KEYS.status, value: work.status },
    { key: KEYS.scheme, value: work.scheme },
    { key: KEYS.currency, value: work.currency },
    { key: KEYS.provider, value: work.provider },
    { key: KEYS.waitingFor, value: work.waitingFor },
  ]);
}
