import { setTimeout as sleep } from 'node:timers/promises';
import type { Call, CallOptions } from './call.ts';
import { ApiError } from './errors.ts';
import type { operationsOf } from './generated/operations.ts';
import type { Account, IncomingTransfer, OutgoingTransfer, WebhookModule } from './generated/types.ts';
import { abortCodeOf } from './http/answers.ts';
import { isObject } from './http/json.ts';
import { waitBeforeRetry } from './http/retries.ts';
import { startTimeLimit, TIMER_MS_MAX } from './http/time-limits.ts';
import { nextPositionOf } from './list.ts';

type Operations = ReturnType<typeof operationsOf>;

export type OperationsWithWaits = Operations & {
  readonly accounts: WaitFor<Account>;
  readonly incomingTransfers: WaitFor<IncomingTransfer>;
  readonly outgoingTransfers: WaitFor<OutgoingTransfer>;
};

export interface WaitOptions extends Omit<CallOptions, 'retriesMax'> {}

/** Waits until the resource has had the status, by the event log; answers it as it is then. Rejects as soon as it no longer can, and at the deadline; until then no lost connection, fault or limit ends it. */
export interface WaitFor<Resource extends { readonly status?: string }> {
  waitFor(
    resource: { readonly id: string },
    status: NonNullable<Resource['status']>,
    options?: WaitOptions,
  ): Promise<Resource>;
}

interface Waited<Resource> {
  readonly operation: string;
  readonly module: WebhookModule;
  readonly read: (id: string, options: CallOptions) => Call<Resource, unknown>;
  /** Statuses that never change. */
  readonly final: readonly string[];
}

const TIMEOUT_MS = 60_000;
const POLL_MS = 500;
/** Beyond every position: the log answers its last one. */
const END = '999999999999999';

/** The operations, with `waitFor` where a resource has statuses that others bring about. */
export function withWaits(operations: Operations): OperationsWithWaits {
  const { accounts, incomingTransfers, outgoingTransfers } = operations;
  return {
    ...operations,
    accounts: {
      ...accounts,
      ...waitsFor<Account>(operations, {
        operation: 'getAccount',
        module: 'accounts',
        read: (id, options) => accounts.get(id, {}, options),
        final: ['closed', 'declined'],
      }),
    },
    incomingTransfers: {
      ...incomingTransfers,
      ...waitsFor<IncomingTransfer>(operations, {
        operation: 'getIncomingTransfer',
        module: 'incoming-transfers',
        read: incomingTransfers.get,
        final: ['completed', 'failed'],
      }),
    },
    outgoingTransfers: {
      ...outgoingTransfers,
      ...waitsFor<OutgoingTransfer>(operations, {
        operation: 'getOutgoingTransfer',
        module: 'outgoing-transfers',
        read: outgoingTransfers.get,
        final: ['completed', 'cancelled', 'failed'],
      }),
    },
  };
}

function waitsFor<Resource extends { readonly status?: string }>(
  operations: Operations,
  waited: Waited<Resource>,
): WaitFor<Resource> {
  const { operation } = waited;
  return {
    waitFor: async ({ id }, status, { timeoutMs = TIMEOUT_MS, signal: ended, token } = {}) => {
      const { signal, release } = startTimeLimit(timeoutMs, ended);
      let last: string | undefined;
      try {
        for await (const { resource, statuses } of states(operations, waited, id, { signal, timeoutMs, token })) {
          last = resource.status;
          // It may have passed between two looks.
          if (last === status || statuses.includes(status)) return resource;
          if (last !== undefined && waited.final.includes(last)) break;
        }
      } catch (cause) {
        const code = abortCodeOf(signal);
        if (code === null) throw cause;
        throw new ApiError({ code, message: `It is not ${status}, but ${last ?? 'unknown'}.`, operation, cause });
      } finally {
        release();
      }
      throw new ApiError({
        code: 'client.wait.failed',
        message: `It will not be ${status}: it is ${last}.`,
        operation,
      });
    },
  };
}

/** The resource as it is, and again after each of its events; with the statuses that it has had meanwhile, by its events. */
async function* states<Resource>(
  { events }: Operations,
  { module, read }: Waited<Resource>,
  id: string,
  options: CallOptions & { readonly signal: AbortSignal },
): AsyncGenerator<{ readonly resource: Resource; readonly statuses: readonly unknown[] }, never, undefined> {
  // The end of the log before the look at the resource: no event falls between the two.
  const { signal } = options;
  const once = { ...options, retriesMax: 0 };
  const look = () => read(id, once);
  const eventsAfter = (query: { readonly positionAfter: string; readonly module?: WebhookModule }) =>
    answered(() => events.list(query, once).answer(), signal);
  let position = nextPositionOf((await eventsAfter({ positionAfter: END })).body);
  yield { resource: await answered(look, signal), statuses: [] };
  for (;;) {
    const { resource: found, body } = await eventsAfter({ positionAfter: position, module });
    const next = nextPositionOf(body);
    const statuses = found.filter(({ resourceId }) => resourceId === id).flatMap(({ data }) => statusesIn(data));
    if (statuses.length > 0) yield { resource: await answered(look, signal), statuses };
    if (next === position) await sleep(POLL_MS, undefined, { signal });
    position = next;
  }
}

/** Asks until there is an answer; more and more seldom, which spares a service in trouble more than a budget of retries. */
async function answered<Found>(ask: () => PromiseLike<Found>, signal: AbortSignal): Promise<Found> {
  let last: ApiError | null = null;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) throw last ?? error;
      if (!(error instanceof ApiError) || !isPassing(error)) throw error;
      last = error;
    }
    await pause(attempt, last, signal);
  }
}

/** As long as the service asks for, but never at once; ended by the signal, it fails with the error before it. */
async function pause(attempt: number, error: ApiError, signal: AbortSignal): Promise<void> {
  const ownMs = waitBeforeRetry(attempt, null, Math.random);
  const askedMs = waitBeforeRetry(attempt, error.retryAfterMs, Math.random);
  const waitMs = Math.min(Math.max(ownMs, askedMs), TIMER_MS_MAX);
  await sleep(waitMs, undefined, { signal }).catch(() => {
    throw error;
  });
}

/** Whether a later look may find an answer. */
function isPassing({ code, status }: ApiError): boolean {
  if (status === null) return code === 'client.connection.failed';
  return status === 408 || status === 429 || status >= 500;
}

function statusesIn(data: Readonly<Record<string, unknown>>): unknown[] {
  return Object.values(data).map((resource) => (isObject(resource) ? resource.status : undefined));
}
