import type { Resource } from '@opentelemetry/resources';
import type { SpanProcessor } from '@opentelemetry/sdk-trace-base';

export type SpanAttributes = Readonly<Record<string, string | number>>;

export interface TraceSpan {
  readonly traceId: string;
  /** What follows from it continues the trace with this; undefined if the trace is not sampled. */
  readonly traceparent: string | undefined;
  /** Points to a span of another trace. */
  link(traceparent: string): void;
  end(attributes: SpanAttributes, how?: 'failed'): void;
}

export interface Tracing {
  /** Begins a request; `sent` is the caller's header. */
  beginRequest(name: string, sent: string | undefined): TraceSpan;
  /** Begins a call to outside that belongs to a trace, by default to that of the running activity; null: there is none. */
  beginCall(name: string, attributes: SpanAttributes, traceparent?: string | null): TraceSpan | null;
  /** Begins what a message from outside does in a trace of ours, which it does not know. The request that carried it and this span link to each other. */
  beginReceipt(name: string, attributes: SpanAttributes, traceparent: string, request: TraceSpan): TraceSpan;
  /** The trace of the running activity; undefined outside of one, and if it is not sampled. */
  activeTraceparent(): string | undefined;
  /** What exports the spans of workflows. */
  readonly exporting: { readonly processor: SpanProcessor; readonly resource: Resource };
  stop(): Promise<void>;
}

/** The process that is traced. Only the worker knows which activity runs: elsewhere that would slow down every promise. */
export type TracedProcess = 'api' | 'loops' | 'worker' | 'console';
