import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { sourceOf } from './connections/addresses.ts';
import { type ErrorBodyOf, HttpRejection } from './errors.ts';
import { type Gate, handleRoute, servicesOf } from './handle.ts';
import { readOpenBody } from './requests/body.ts';
import { type HttpRequest, type HttpResponse, requestIdOf, respond, type StreamedResponse } from './respond.ts';
import type { Services } from './services.ts';
import type { AnyRoute } from './third-party-route.ts';

type HonoContext = Context<{ Bindings: HttpBindings }>;

export type Application = Hono<{ Bindings: HttpBindings }>;

/** Serves the routes over HTTP. Anything else gets 404 or 405 in the common error format. */
export function createApplication(routes: readonly AnyRoute[], services: Services, gate: Gate): Application {
  const application: Application = new Hono<{ Bindings: HttpBindings }>({ getPath: (request) => pathOf(request.url) });
  for (const [path, ofPath] of routesByPath(routes)) {
    const errorBodyOf = errorBodyOfPath(ofPath);
    for (const route of ofPath) {
      application.on(route.contract.method, honoPath(path), (c) => {
        const request = httpRequestOf(c);
        return respond(services, path, request, () => answer(route, request, services, gate), { route, errorBodyOf });
      });
    }
    const methods = ofPath.map(({ contract }) => contract.method);
    application.all(honoPath(path), (c) => {
      const request = httpRequestOf(c);
      const reject = async () => {
        throw methodNotAllowed(request, methods);
      };
      return respond(services, path, request, reject, { errorBodyOf });
    });
  }
  application.notFound((c) => {
    const request = httpRequestOf(c);
    return respond(services, 'unknown', request, async () => {
      throw pathNotFound(request);
    });
  });
  return application;
}

function errorBodyOfPath(routes: readonly AnyRoute[]): ErrorBodyOf | undefined {
  for (const route of routes)
    if (route.kind === 'open' && route.contract.errorBodyOf) return route.contract.errorBodyOf;
  return undefined;
}

async function answer(
  route: AnyRoute,
  request: HttpRequest,
  services: Services,
  gate: Gate,
): Promise<HttpResponse | StreamedResponse> {
  if (route.kind !== 'open') return handleRoute(route, request, services, gate);
  const { body } = route.contract;
  const { incoming } = request;
  return route.handler({
    services: servicesOf(services, request),
    requestId: request.requestId,
    trace: request.trace,
    params: request.params,
    query: request.query,
    headers: Object.fromEntries(Object.keys(incoming.headers).map((name) => [name, request.header(name)])),
    readBody: async () => {
      if (body === undefined) return Buffer.alloc(0);
      const hasShares = services.configuration.connections.withoutTokenPerAddress !== null;
      return readOpenBody(incoming, body, hasShares ? sourceOf(incoming.socket.remoteAddress ?? '') : null);
    },
  });
}

/** `/v1/…` is an alias (decisions, Deprecations). */
function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const end = url.slice(start).search(/[?#]/);
  const path = end === -1 ? url.slice(start) : url.slice(start, start + end);
  return path.startsWith('/v1/') ? path.slice(3) : path;
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** Sorted, which puts a fixed segment before a parameter: `/outgoing-transfers/batch` is no `/outgoing-transfers/{id}`. */
function routesByPath(routes: readonly AnyRoute[]): [path: string, routes: AnyRoute[]][] {
  const byPath = new Map<string, AnyRoute[]>();
  for (const route of routes) {
    const { path } = route.contract;
    byPath.set(path, [...(byPath.get(path) ?? []), route]);
  }
  return [...byPath].sort(([one], [other]) => (one < other ? -1 : 1));
}

const NO_QUERY = new URLSearchParams();

function httpRequestOf(c: HonoContext): HttpRequest {
  const { incoming } = c.env;
  const header = (name: string): string | undefined => {
    const value = incoming.headers[name];
    return typeof value === 'string' ? value : value?.join(',');
  };
  const url = incoming.url ?? '/';
  const queryStart = url.indexOf('?');
  return {
    incoming,
    requestId: requestIdOf(header('request-id')),
    path: c.req.path,
    params: c.req.param(),
    query: queryStart === -1 ? NO_QUERY : new URLSearchParams(url.slice(queryStart)),
    header,
    callerId: null,
    trace: null,
  };
}

function pathNotFound(request: HttpRequest): HttpRejection {
  return new HttpRejection(404, {
    code: 'common.coding.internal.record_not_found',
    message: 'This path does not exist.',
    messageParameters: ['path', 'path', request.path.slice(0, 100)],
  });
}

function methodNotAllowed(request: HttpRequest, methods: readonly string[]): HttpRejection {
  const problem = {
    code: 'common.validation.field_invalid',
    message: `This path supports only ${methods.join(', ')}.`,
    messageParameters: ['request', 'method', request.incoming.method ?? ''],
  } as const;
  return new HttpRejection(405, problem, { allow: methods.join(', ') });
}
