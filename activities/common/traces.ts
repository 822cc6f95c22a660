import { fileURLToPath } from 'node:url';
import type { ActivityInboundCallsInterceptor, WorkerOptions } from '@temporalio/worker';
import type { Tracing } from '../../config/tracing/spans.ts';

/**
 * What a traced worker has besides: interceptors that continue a trace in activities that have this header, and a sink for the spans of
 * workflows.
 */
export async function tracedWorker(
  { exporting }: Tracing,
  header: string,
): Promise<Required<Pick<WorkerOptions, 'interceptors' | 'sinks'>>> {
  const { makeWorkflowExporter, OpenTelemetryActivityInboundInterceptor } = await import(
    '@temporalio/interceptors-opentelemetry-v2'
  );
  // An activity without a header would begin a trace of its own.
  const inbound = (own: ActivityInboundCallsInterceptor): ActivityInboundCallsInterceptor => ({
    execute: (input, next) =>
      own.execute !== undefined && header in input.headers ? own.execute(input, next) : next(input),
  });
  return {
    interceptors: {
      activity: [(context) => ({ inbound: inbound(new OpenTelemetryActivityInboundInterceptor(context)) })],
    },
    sinks: { exporter: makeWorkflowExporter(exporting.processor, exporting.resource) },
  };
}

/** The modules of a traced bundle. */
export function traceModules(): string[] {
  return [fileURLToPath(new URL('../../workflows/common/traces.ts', import.meta.url))];
}
