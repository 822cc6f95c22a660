import type { Context } from 'hono';
import { inTraceOfRequest } from '../../activities/providers/ports/measured.ts';
import { tracing } from '../../config/tracing/tracing.ts';
import type { ConsoleServices } from './services.ts';

/** A trace for each page and remedy; the calls to banks that it makes belong to it. */
export async function inTraceOfPage(
  c: Context,
  services: ConsoleServices,
  answer: (services: ConsoleServices) => Promise<Response>,
): Promise<Response> {
  const { method, routePath } = c.req;
  // A browser’s word is not asked.
  const trace = tracing()?.beginRequest(`${method} ${routePath}`, undefined);
  if (trace === undefined) return answer(services);
  const response = await answer({ ...services, providers: inTraceOfRequest(services.providers, trace.traceparent) });
  const { status } = response;
  trace.end(
    { 'http.request.method': method, 'http.route': routePath, 'http.response.status_code': status },
    status >= 500 ? 'failed' : undefined,
  );
  return response;
}
