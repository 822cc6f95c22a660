import { Counter, Histogram, type Registry } from 'prom-client';

/**
 * How a call to a provider or a name directory ended. `rejected` and `not-found` are answers. `unavailable`: no connection, or a
 * status without a meaning; `cancelled`: we stopped asking, as at shutdown; `error`: our own code failed.
 */
export const PROVIDER_CALL_OUTCOMES = [
  'ok',
  'rejected',
  'not-found',
  'timeout',
  'unavailable',
  'not-understood',
  'cancelled',
  'error',
] as const;
export type ProviderCallOutcome = (typeof PROVIDER_CALL_OUTCOMES)[number];

export interface ProviderCall {
  readonly provider: string;
  /** The operation's name in the port, such as `submitPayment`. */
  readonly operation: string;
  readonly outcome: ProviderCallOutcome;
  readonly seconds: number;
}

export interface ProviderCalls {
  /** Calls of this operation may follow. */
  expect(provider: string, operation: string): void;
  ended(call: ProviderCall): void;
}

export const UNMEASURED: ProviderCalls = { expect: () => {}, ended: () => {} };

/** Counts and times calls to providers in this process's metrics. */
export function providerCallMetrics(registry: Registry): ProviderCalls {
  const requests = new Counter({
    name: 'provider_requests_total',
    help: 'Calls to providers and name directories, by outcome: ok, rejected and not-found are answers; timeout, unavailable and not-understood are none; cancelled is ours; error is a defect of ours.',
    labelNames: ['provider', 'operation', 'outcome'] as const,
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'provider_request_duration_seconds',
    help: 'How long calls to providers and name directories took.',
    labelNames: ['provider', 'operation'] as const,
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return {
    expect: (provider, operation) => {
      // An increase begins at a sample of 0: without it the first failures of a night would not count.
      for (const outcome of PROVIDER_CALL_OUTCOMES) requests.inc({ provider, operation, outcome }, 0);
    },
    ended: ({ provider, operation, outcome, seconds }) => {
      requests.inc({ provider, operation, outcome });
      durations.observe({ provider, operation }, seconds);
    },
  };
}
