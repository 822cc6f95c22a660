import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as v from 'valibot';

/** A span as OTLP carries it; without a parent the id is empty. */
export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** The number of OTLP. */
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The traces to which it points. */
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** Everything that was sent about it. */
  readonly raw: unknown;
}

export interface SpanReceiver {
  /** What makes a process send its spans here. */
  readonly environment: Readonly<Record<string, string>>;
  received(): readonly ReceivedSpan[];
  ofTrace(traceId: string): readonly ReceivedSpan[];
  close(): Promise<void>;
}

const ATTRIBUTES = v.optional(v.array(v.object({ key: v.string(), value: v.record(v.string(), v.unknown()) })), []);
const SPAN = v.looseObject({
  name: v.string(),
  traceId: v.string(),
  spanId: v.string(),
  parentSpanId: v.optional(v.string(), ''),
  kind: v.number(),
  startTimeUnixNano: v.string(),
  endTimeUnixNano: v.string(),
  attributes: ATTRIBUTES,
  links: v.optional(v.array(v.object({ traceId: v.string(), spanId: v.string() })), []),
});
const EXPORT = v.object({
  resourceSpans: v.array(
    v.object({
      resource: v.object({ attributes: ATTRIBUTES }),
      scopeSpans: v.array(v.object({ spans: v.array(SPAN) })),
    }),
  ),
});

/** Receives spans by OTLP over HTTP, as a collector does. */
export async function startSpanReceiver(): Promise<SpanReceiver> {
  const spans: ReceivedSpan[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { resourceSpans } = v.parse(EXPORT, JSON.parse(Buffer.concat(chunks).toString('utf8')));
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = String(valuesOf(resource.attributes)['service.name']);
      for (const raw of scopeSpans.flatMap((scope) => scope.spans)) {
        const { attributes, ...others } = raw;
        spans.push({ ...others, service, attributes: valuesOf(attributes), raw });
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '200',
      // On a busy machine too no span is given up.
      OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
      OTEL_BSP_EXPORT_TIMEOUT: '60000',
    },
    received: () => spans,
    ofTrace: (traceId) => spans.filter((span) => span.traceId === traceId),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function valuesOf(attributes: v.InferOutput<typeof ATTRIBUTES>): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
