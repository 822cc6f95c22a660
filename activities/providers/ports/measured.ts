import type { ProviderCallOutcome, ProviderCalls } from '../../../config/metrics/provider-calls.ts';
import { type Provider, ProviderUnavailable } from '../port.ts';

/** What asks nothing outside. */
const INSIDE: ReadonlySet<string> = new Set<keyof Provider>(['verifyCallback']);

/** The same adapter, with every call of every operation reported. */
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
        const answer: unknown = Reflect.apply(operation, target, given);
        if (!(answer instanceof Promise)) return answer;
        const report = (outcome: ProviderCallOutcome) =>
          calls.ended({ provider, operation: name, outcome, seconds: (performance.now() - beganAt) / 1_000 });
        return answer.then(
          (value: unknown) => {
            report(outcomeOf(value));
            return value;
          },
          (error: unknown) => {
            report(given.some(isCancelled) ? 'cancelled' : failureOf(error));
            throw error;
          },
        );
      };
    },
  });
}

function outcomeOf(answer: unknown): ProviderCallOutcome {
  if (typeof answer !== 'object' || answer === null || !('outcome' in answer)) return 'ok';
  return answer.outcome === 'refused' || answer.outcome === 'not-found' ? answer.outcome : 'ok';
}

function failureOf(error: unknown): ProviderCallOutcome {
  if (!(error instanceof ProviderUnavailable)) return 'error';
  if (error.reason === 'timeout') return 'timeout';
  return error.reason === 'answer not understood' ? 'not-understood' : 'unavailable';
}

/** Of a call's options: the caller has cancelled it, which says nothing about the provider. */
function isCancelled(given: unknown): boolean {
  if (typeof given !== 'object' || given === null || !('signal' in given)) return false;
  return given.signal instanceof AbortSignal && given.signal.aborted;
}
