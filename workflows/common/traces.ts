import type {
  Next,
  SignalInput,
  WorkflowExecuteInput,
  WorkflowInboundCallsInterceptor,
  WorkflowInterceptors,
  WorkflowInterceptorsFactory,
  WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import { TRACE_HEADER } from './messages.ts';

/**
 * Temporal's interceptors, for runs that are traced only. Their modules take milliseconds to evaluate, and each run evaluates its own; and
 * a run without a header would begin a trace of its own, sampled whatever the settings say.
 */
class WhereTraced {
  #own: Required<WorkflowInterceptors> | null = null;
  #isTraced = false;

  readonly inbound: WorkflowInboundCallsInterceptor = {
    execute: (input, next) => {
      this.#isTraced = isTraced(input);
      const [own] = this.#isTraced ? this.#load().inbound : [];
      return own?.execute === undefined ? next(input) : own.execute(input, next);
    },
    // Also of a run that is not traced itself.
    handleSignal: (input: SignalInput, next: Next<WorkflowInboundCallsInterceptor, 'handleSignal'>) => {
      const [own] = isTraced(input) ? this.#load().inbound : [];
      return own?.handleSignal === undefined ? next(input) : own.handleSignal(input, next);
    },
  };

  readonly outbound: WorkflowOutboundCallsInterceptor = {
    scheduleActivity: (input, next) => this.#outward()?.scheduleActivity?.(input, next) ?? next(input),
    scheduleLocalActivity: (input, next) => this.#outward()?.scheduleLocalActivity?.(input, next) ?? next(input),
    continueAsNew: (input, next) => this.#outward()?.continueAsNew?.(input, next) ?? next(input),
  };

  readonly internals = {
    dispose: (input: object, next: (input: object) => void): void => {
      const [own] = this.#own?.internals ?? [];
      if (own?.dispose === undefined) next(input);
      else own.dispose(input, next);
    },
  };

  #outward(): WorkflowOutboundCallsInterceptor | undefined {
    return this.#isTraced ? this.#load().outbound[0] : undefined;
  }

  #load(): Required<WorkflowInterceptors> {
    if (this.#own === null) {
      const loaded: {
        readonly interceptors: WorkflowInterceptorsFactory;
      } = require('@temporalio/interceptors-opentelemetry-v2/lib/workflow-interceptors');
      const { inbound = [], outbound = [], internals = [] } = loaded.interceptors();
      this.#own = { inbound, outbound, internals };
    }
    return this.#own;
  }
}

function isTraced({ headers }: Pick<WorkflowExecuteInput, 'headers'>): boolean {
  return TRACE_HEADER in headers;
}

/** The name under which the SDK looks for it. */
export const interceptors = (): WorkflowInterceptors => {
  const { inbound, outbound, internals } = new WhereTraced();
  return { inbound: [inbound], outbound: [outbound], internals: [internals] };
};
