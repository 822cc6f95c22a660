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
import type { Wait } from '../../domain/frame/waits.ts';
import { CHANGED_SIGNAL, resourceIdOf } from './messages.ts';
import { TRANSITION } from './policies.ts';

/** A deadline that has just passed, or that two clocks read differently, must not become a busy loop. */
const WAIT_MS_MIN = 1_000;

const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 60_000;

/** A provider that did not answer several times is left alone for so long, unless its callback comes first. */
const PROVIDER_PAUSE_MS = 60_000;

const { describeWait } = proxyLocalActivities<OpenWorkReads>({ ...TRANSITION, summary: 'Show what is waited for' });

/** A look at the row: moves it as far as it goes, or records what was learned outside, and says what comes next. */
type Look<Next> = () => Promise<Next>;

/** The ways of an action to the outside. What an action returns is the next look at the row. */
export interface Outside<Next> {
  /** Asks; the next look records the answer, or, when there was none, finds the row as it was. */
  ask<Answer>(call: () => Promise<Answer>, record: (answer: Answer) => Promise<Next>): Promise<Look<Next> | undefined>;
  /** As the next look, a call that records its answer where it is received and says what comes next. */
  callThenReload(call: Look<Next>): Look<Next>;
}

/**
 * The life of a workflow that stands for a row: looks at it, does outside what comes next or waits for a change or a
 * deadline, and looks again, until the row is final.
 */
export function reconcileLoop<Action extends { readonly do: string }>(
  type: Parameters<typeof describeWait>[0],
  advance: (id: string) => Promise<End | Wait | Action>,
  act: (
    next: Action,
    id: string,
    outside: Outside<End | Wait | Action>,
  ) => Promise<Look<End | Wait | Action> | undefined> | Look<End | Wait | Action>,
): Promise<void> {
  let changed = false;
  setHandler(defineSignal(CHANGED_SIGNAL), () => {
    changed = true;
  });
  const id = resourceIdOf(workflowInfo().workflowId);
  const lookAgain = () => advance(id);
  const answer = <Answer>(call: () => Promise<Answer>) =>
    answerOf(call, { changed: () => changed, describe: () => describeWait(type, id) });
  const outside: Outside<End | Wait | Action> = {
    ask: (call, record) => answer(call).then((given) => (given === undefined ? undefined : () => record(given))),
    callThenReload: (call) => async () => (await answer(call)) ?? (await lookAgain()),
  };
  let look: Look<End | Wait | Action> = lookAgain;

  return evenIfCancelled(async () => {
    for (;;) {
      // Before each look and nowhere else: a change that comes during or after it asks for another.
      changed = false;
      const next = await transition(look);
      look = lookAgain;
      if (isEnd(next)) {
        if (!changed) return;
      } else if (isWait(next)) {
        await changeOrDeadline(() => changed, next);
      } else {
        look = (await act(next, id, outside)) ?? lookAgain;
      }
    }
  });
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

/** A cancel of Temporal's is not a cancel of the business's: the row alone says when the story ends. */
export function evenIfCancelled(story: () => Promise<void>): Promise<void> {
  return CancellationScope.nonCancellable(story);
}

/**
 * Carries out a transition however long the database is away. Between attempts nothing but a timer is held. Each promise of a
 * workflow costs its worker a stack trace: where nothing goes wrong there are as few as can be.
 */
function transition<Next>(carryOut: () => Promise<Next>, pauseMs = PAUSE_MS_MIN): Promise<Next> {
  return carryOut().catch(async (error: unknown) => {
    if (!isActivityFailure(error)) throw error;
    log.warn('a transition did not go through', { reason: reasonOf(error), pauseMs });
    setCurrentDetails(`A transition did not go through (${reasonOf(error)}). It is tried again every minute.`);
    await sleep(pauseMs, { summary: 'Pause before the transition is tried again' });
    await startAfreshWhenLong();
    return transition(carryOut, Math.min(pauseMs * 2, PAUSE_MS_MAX));
  });
}

/** Waits until something changed, or the wait's deadline has come. */
async function changeOrDeadline(changed: () => boolean, wait: Wait): Promise<void> {
  show(wait);
  if (wait.waitMs === null) {
    await condition(changed);
  } else {
    await condition(changed, Math.max(WAIT_MS_MIN, wait.waitMs), {
      summary: `Waiting for ${wait.for} until ${wait.until}`,
    });
  }
  setCurrentDetails('');
  await startAfreshWhenLong();
}

/**
 * The provider's answer, or undefined when it gave none: then, after a pause, the row is to be looked at again, and the
 * same call goes out with the same reference. That nobody answered never means that it failed.
 */
function answerOf<Answer>(
  call: () => Promise<Answer>,
  unanswered: { changed: () => boolean; describe: () => Promise<Wait> },
): Promise<Answer | undefined> {
  return call().catch(async (error: unknown) => {
    if (!isActivityFailure(error)) throw error;
    log.warn('the provider did not answer', { reason: reasonOf(error) });
    const wait = await transition(unanswered.describe);
    await changeOrDeadline(unanswered.changed, { ...wait, waitMs: PROVIDER_PAUSE_MS });
    return undefined;
  });
}

/** Histories stay short, so that replaying one never takes long. */
async function startAfreshWhenLong(): Promise<void> {
  if (workflowInfo().continueAsNewSuggested) await continueAsNew();
}

/**
 * Whether an activity failed. The SDK throws the failure of a local activity wrapped or as it is, and when it replays
 * perhaps the other way: nothing that a workflow does may depend on more than that it failed.
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

/** Tells an operator what is waited for. Search attributes are written when another wait begins, not at each look. */
function show(wait: Wait): void {
  setCurrentDetails(`Waiting for ${wait.for}${wait.until === null ? '' : ` until ${wait.until}`}.`);
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
