import type { Attributes } from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';

/** The attributes that leave this process. */
const SHOWN: ReadonlySet<string> = new Set([
  'http.request.method',
  'http.route',
  'http.response.status_code',
  'provider',
  'provider.outcome',
  'webhook.event_id',
  'webhook.subscription_id',
  'webhook.attempt',
  // Of Temporal's interceptors.
  'temporalWorkflowId',
  'workflowId',
  'workflowType',
  'runId',
  'run_id',
  'taskQueue',
]);

/** The id of such a workflow has the id of a person. */
const OF_A_PERSON = /^user-invitation\//;

/** Exports spans with known attributes only, and without the messages of errors, which may quote anything. */
export class WithoutPersonalData implements SpanExporter {
  readonly #exporter: SpanExporter;

  constructor(exporter: SpanExporter) {
    this.#exporter = exporter;
  }

  export(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): void {
    this.#exporter.export(spans.map(shown), done);
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

function shown(span: ReadableSpan): ReadableSpan {
  const { name, kind, parentSpanContext, startTime, endTime, duration, ended, resource, instrumentationScope } = span;
  return {
    name,
    kind,
    spanContext: () => span.spanContext(),
    ...(parentSpanContext === undefined ? {} : { parentSpanContext }),
    startTime,
    endTime,
    duration,
    ended,
    resource,
    instrumentationScope,
    attributes: shownAttributes(span.attributes),
    status: { code: span.status.code },
    links: span.links.map((link) => ({ context: link.context })),
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function shownAttributes(attributes: Attributes): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).filter(
      ([name, value]) => SHOWN.has(name) && !(typeof value === 'string' && OF_A_PERSON.test(value)),
    ),
  );
}
