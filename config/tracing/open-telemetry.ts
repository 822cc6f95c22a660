import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { parseTraceParent, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { SpanAttributes, TracedProcess, TraceSpan, Tracing } from './spans.ts';
import type { TracingSettings } from './tracing-settings.ts';
import { WithoutPersonalData } from './without-personal-data.ts';

/** Traces with the SDK of OpenTelemetry. Sampling, address, headers and resource are those of its variables. */
export function openTelemetry({ protocol }: TracingSettings, traced: TracedProcess): Tracing {
  const exporter = protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
  const processor = new BatchSpanProcessor(new WithoutPersonalData(exporter));
  const resource = resourceFromAttributes({ 'service.name': `financial-accounts-${traced}` }).merge(
    detectResources({ detectors: [envDetector] }),
  );
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  // For the interceptors of Temporal, which run in the worker.
  if (traced === 'worker') {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    trace.setGlobalTracerProvider(provider);
  }
  const spans = new Spans(provider.getTracer('financial-accounts-service'));
  return {
    beginRequest: (name, sent) => spans.beginRequest(name, sent),
    beginCall: (name, attributes, traceparent = activeTraceparent()) => spans.beginCall(name, attributes, traceparent),
    beginReceipt: (name, attributes, traceparent, request) =>
      spans.beginReceipt(name, attributes, traceparent, request),
    activeTraceparent,
    exporting: { processor, resource },
    stop: async () => {
      await provider.shutdown();
      if (traced !== 'worker') return;
      context.disable();
      propagation.disable();
      trace.disable();
    },
  };
}

class Spans {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  beginRequest(name: string, sent: string | undefined): TraceSpan {
    const parent = sent === undefined ? ROOT_CONTEXT : continued(sent);
    return traceSpan(this.#tracer.startSpan(name, { kind: SpanKind.SERVER }, parent));
  }

  beginCall(name: string, attributes: SpanAttributes, traceparent: string | null | undefined): TraceSpan | null {
    if (traceparent == null) return null;
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, continued(traceparent));
    return traceSpan(span);
  }

  beginReceipt(name: string, attributes: SpanAttributes, traceparent: string, request: TraceSpan): TraceSpan {
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CONSUMER, attributes }, continued(traceparent));
    const receipt = traceSpan(span);
    if (request.traceparent !== undefined) receipt.link(request.traceparent);
    if (receipt.traceparent !== undefined) request.link(receipt.traceparent);
    return receipt;
  }
}

function traceSpan(span: Span): TraceSpan {
  const spanContext = span.spanContext();
  return {
    traceId: spanContext.traceId,
    traceparent: traceparentOf(spanContext),
    link: (traceparent) => {
      const linked = parseTraceParent(traceparent);
      if (linked !== null) span.addLink({ context: linked });
    },
    end: (attributes, how) => {
      span.setAttributes(attributes);
      if (how === 'failed') span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** A header that is none begins a trace of its own. */
function continued(traceparent: string): Context {
  const parent = parseTraceParent(traceparent);
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
}

function activeTraceparent(): string | undefined {
  const active = trace.getSpanContext(context.active());
  return active === undefined ? undefined : traceparentOf(active);
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string | undefined {
  return (traceFlags & TraceFlags.SAMPLED) === 0 ? undefined : `00-${traceId}-${spanId}-01`;
}
