import type { ProviderCallOutcome, ProviderCalls } from '../../../config/metrics/provider-calls.ts';
import { tracing } from '../../../config/tracing/tracing.ts';
import { NOT_UNDERSTOOD, type Provider, ProviderUnavailable } from '../port.ts';

/** Operations that make no external call. */
const INSIDE: ReadonlySet<string> = new Set<keyof Provider>(['verifyCallback']);

/** Of the request whose call begins now. Only while its operation is entered: a span begins before anything is awaited. */
let ofRequest: string | undefined;

/** Adapters as one request uses them, if it is followed: their calls belong to its trace. In an activity they belong to the activity’s. */
export function inTraceOfRequest<Port extends object>(
  ports: ReadonlyMap<string, Port>,
  traceparent: string | undefined,
): ReadonlyMap<string, Port> {
  if (traceparent === undefined) return ports;
  return new Map([...ports].map(([code, port]) => [code, inTrace(port, traceparent)]));
}

function inTrace<Port extends object>(port: Port, traceparent: string): Port {
  return new Proxy(port, {
    get(target, name) {
      const operation: unknown = Reflect.get(target, name);
      if (typeof operation !== 'function') return operation;
      return (...given: unknown[]) => {
        ofRequest = traceparent;
        try {
          return Reflect.apply(operation, target, given);
        } finally {
          ofRequest = undefined;
        }
      };
    },
  });
}

/** Wraps an adapter so that every call is reported. */
export function measured<Port extends object>(port: Port, provider: string, calls: ProviderCalls): Port {
  for (const [name, operation] of Object.entries(port)) {
    if (typeof operation === 'function' && !INSIDE.has(name)) calls.expect(provider, name);
  }
  return new Proxy(port, {
    get(target, name) {
      const operation: unknown = Reflect.get(target, name);
      if (typeof operation !== 'function' || typeof name !== 'string') return operation;
      return (...given: unknown[]) => {
        const beganAt = performance.now();
        const trace = INSIDE.has(name) ? undefined : tracing()?.beginCall(name, { provider }, ofRequest);
        const answer: unknown = Reflect.apply(operation, target, given);
        if (!(answer instanceof Promise)) return answer;
        const report = (outcome: ProviderCallOutcome, failed?: 'failed') => {
          calls.ended({ provider, operation: name, outcome, seconds: (performance.now() - beganAt) / 1_000 });
          trace?.end({ 'provider.outcome': outcome }, failed);
        };
        return answer.then(
          (value: unknown) => {
            report(outcomeOf(value));
            return value;
          },
          (error: unknown) => {
            report(given.some(isCancelled) ? 'cancelled' : failureOf(error), 'failed');
            throw error;
          },
        );
      };
    },
  });
}

function outcomeOf(answer: unknown): ProviderCallOutcome {
  if (typeof answer !== 'object' || answer === null || !('outcome' in answer)) return 'ok';
  return answer.outcome === 'rejected' || answer.outcome === 'not-found' ? answer.outcome : 'ok';
}

function failureOf(error: unknown): ProviderCallOutcome {
  if (!(error instanceof ProviderUnavailable)) return 'error';
  if (error.reason === 'timeout') return 'timeout';
  return error.reason === NOT_UNDERSTOOD ? 'not-understood' : 'unavailable';
}

/** Whether the caller has cancelled the call, which says nothing about the provider. */
function isCancelled(given: unknown): boolean {
  if (typeof given !== 'object' || given === null || !('signal' in given)) return false;
  return given.signal instanceof AbortSignal && given.signal.aborted;
}
