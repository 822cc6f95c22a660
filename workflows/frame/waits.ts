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
import type { OpenWorkReads } from '../../activities/frame/open-work.ts';
import { type Wait, waitInWords } from '../../domain/frame/waits.ts';
import { CHANGED_SIGNAL, resourceIdOf } from './messages.ts';
import { TRANSITION } from './policies.ts';

/** Keeps a deadline that has just passed, or on which two clocks disagree, from becoming a busy loop. */
const WAIT_MS_MIN = 1_000;

const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 60_000;

/** The pause after a provider has repeatedly failed to answer; its callback ends the pause early. */
const PROVIDER_PAUSE_MS = 60_000;

const { describeWait } = proxyLocalActivities<OpenWorkReads>({ ...TRANSITION, summary: 'Show what is waited for' });

/**
 * One transition of the row: advances it as far as possible, or records an outside result, and returns the next step.
 */
type Look<Next> = () => Promise<Next>;

/** How an action reaches the outside world. It returns the transition to run next. */
export interface Outside<Next> {
  /** Calls out; the next transition records the answer, or reloads the row if no answer came. */
  ask<Answer>(call: () => Promise<Answer>, record: (answer: Answer) => Promise<Next>): Promise<Look<Next> | undefined>;
  /** For a call that records its own answer: its result is the next step. Without an answer the row is reloaded. */
  callThenReload(call: Look<Next>): Look<Next>;
}

/** Messages that a signal brings, in order. Each is handled by a transition; those left over go to the next run. */
export interface Inbox<Message> {
  readonly signal: string;
  /** Null for what is no message. */
  parse(payload: unknown): Message | null;
  /** Safe to repeat. */
  handle(id: string, message: Message): Promise<void>;
  readonly unhandled: Message[];
}

/** What the waits of a run need to know of it. */
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
    outside: Outside<End | Wait | Action>,
  ) => Promise<Look<End | Wait | Action> | undefined> | Look<End | Wait | Action>,
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
  const lookAgain = () => advance(id);
  const answer = <Answer>(call: () => Promise<Answer>) => answerOf(run, call, () => describeWait(type, id));
  const outside: Outside<End | Wait | Action> = {
    ask: (call, record) => answer(call).then((given) => (given === undefined ? undefined : () => record(given))),
    callThenReload: (call) => async () => (await answer(call)) ?? (await lookAgain()),
  };
  let look: Look<End | Wait | Action> = lookAgain;

  return evenIfCancelled(async () => {
    for (;;) {
      // Cleared before each transition and nowhere else, so that a change during or after it triggers another.
      changed = false;
      if (inbox !== undefined) await handleAll(run, inbox, id);
      const next = await transition(run, look);
      look = lookAgain;
      if (isEnd(next)) {
        if (!changed) return;
      } else if (isWait(next)) {
        await changeOrDeadline(run, next);
      } else {
        look = (await act(next, id, outside)) ?? lookAgain;
      }
    }
  });
}

/** Whoever may signal may send anything: what is no message is left out, and its content stays out of the log. */
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
export function evenIfCancelled(story: () => Promise<void>): Promise<void> {
  return CancellationScope.nonCancellable(story);
}

/**
 * Retries a transition for as long as the database is away, holding nothing but a timer between attempts. The happy
 * path creates as few promises as it can: each costs the worker a stack trace.
 */
function transition<Next>(run: Run, carryOut: () => Promise<Next>, pauseMs = PAUSE_MS_MIN): Promise<Next> {
  return carryOut().catch(async (error: unknown) => {
    if (!isActivityFailure(error)) throw error;
    log.warn('a transition did not go through', { reason: reasonOf(error), pauseMs });
    setCurrentDetails(`A transition did not go through (${reasonOf(error)}). It is tried again every minute.`);
    await sleep(pauseMs, { summary: 'Pause before the transition is tried again' });
    await startAfreshWhenLong(run);
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
  await startAfreshWhenLong(run);
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
    log.warn('a call to the outside got no answer', { reason: reasonOf(error) });
    const wait = await transition(run, describe);
    await changeOrDeadline(run, { ...wait, waitMs: PROVIDER_PAUSE_MS });
    return undefined;
  });
}

/** Keeps histories short and so quick to replay. */
async function startAfreshWhenLong(run: Run): Promise<void> {
  if (workflowInfo().continueAsNewSuggested) await continueAsNew(run.unhandled());
}

/**
 * Whether an activity failed. The SDK may wrap a local activity's failure on the first run and not on replay, or the
 * reverse, so workflows must depend on nothing but the fact of the failure.
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
