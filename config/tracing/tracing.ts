import type { TracedProcess, Tracing } from './spans.ts';
import { readTracingSettings } from './tracing-settings.ts';

// Traces by OpenTelemetry. Off unless configured: nothing of it is loaded then, and `tracing()` is null. A request begins a trace; what
// follows from it continues the trace by a `traceparent` (W3C) that is kept with its wake-ups and events. Nothing else is traced.

let current: Tracing | null = null;

export function tracing(): Tracing | null {
  return current;
}

/** Begins to trace this process if the environment says where spans go. */
export async function startTracing(env: NodeJS.ProcessEnv, traced: TracedProcess): Promise<void> {
  const settings = readTracingSettings(env);
  if (settings === null) return;
  const { openTelemetry } = await import('./open-telemetry.ts');
  current = openTelemetry(settings, traced);
}

/** Sends the spans that have ended, and traces no more. */
export async function stopTracing(): Promise<void> {
  const stopped = current;
  current = null;
  await stopped?.stop();
}

/** For the log of a process that has activities: each line names the trace of the running one. */
export function tracedLines(): { readonly mixin?: () => object } {
  if (current === null) return {};
  return { mixin: () => ({ traceId: current?.activeTraceparent()?.split('-')[1] }) };
}
