import { directoriesInTrace } from '../../activities/providers/directories/directories.ts';
import { inTraceOfRequest } from '../../activities/providers/ports/measured.ts';
import { findIdempotencyKey } from '../../db/common/idempotency-keys.ts';
import type { Keyring } from '../../db/common/keyring.ts';
import type { Transaction } from '../../db/query/database.ts';
import { rejection } from '../../domain/common/errors.ts';
import type { MachineUserId, ThirdPartyProviderId } from '../../domain/common/ids.ts';
import { ROLES } from '../../domain/machine-users/roles.ts';
import { markAuthenticated } from './connections/connections.ts';
import { renderAnswer } from './envelope.ts';
import type { StreamedFile } from './files/files.ts';
import { type Authenticate, requireRole } from './requests/authentication.ts';
import { decodeBody, readBody, requireJson } from './requests/body.ts';
import {
  idempotencyClaim,
  readIdempotencyKey,
  replay,
  writeIdempotently,
  writeInTransaction,
} from './requests/idempotency.ts';
import { largeBodies } from './requests/large-bodies.ts';
import type { CountRequest } from './requests/rate-limit.ts';
import { type ParsedBody, type ParsedQuery, parseBody, parseParams, parseQuery } from './requests/request.ts';
import { changeIdempotently } from './requests/requested-changes.ts';
import { accessOf, requireScope } from './requests/third-parties/access-tokens.ts';
import { thirdPartyOf } from './requests/third-parties/assertions.ts';
import type { HttpRequest, HttpResponse, StreamedResponse } from './respond.ts';
import type { IdempotencyClaim, Outcome, RenderedAnswer, Route, RouteContext, UntypedHandler } from './route.ts';
import type { Services } from './services.ts';
import type { GrantContext, ThirdPartyContext, ThirdPartyRoute } from './third-party-route.ts';

/** The steps common to every route of the interface. */
export interface Gate {
  readonly authenticate: Authenticate;
  readonly countRequest: CountRequest;
}

/** The caller. `own` is the part that depends on the kind of route. */
interface Admitted {
  readonly callerId: MachineUserId | ThirdPartyProviderId;
  /** The scope in which Idempotency-Keys are unique. */
  readonly keySpace: IdempotencyClaim['machineUserId'];
  readonly own: Pick<RouteContext, 'caller'> | Pick<ThirdPartyContext, 'thirdParty'> | Pick<GrantContext, 'grant'>;
  /** Records the use of a one-time proof, after the rate limit, so that rejected requests store nothing. */
  readonly useProof?: () => Promise<void>;
}

async function admit(
  route: Route | ThirdPartyRoute,
  request: HttpRequest,
  given: Services,
  { authenticate }: Gate,
): Promise<Admitted> {
  const authorization = request.header('authorization');
  if (route.kind === 'route') {
    const caller = await authenticate(authorization);
    request.callerId = caller.id;
    const { roles, dryRun } = route.contract;
    // Whether it is a dry run is known when the body has been read.
    requireRole(caller, dryRun === undefined ? (roles ?? ROLES) : ROLES);
    return { callerId: caller.id, keySpace: caller.id, own: { caller } };
  }
  const services = servicesOf(given, request);
  if (route.scope === null) {
    const thirdParty = await thirdPartyOf(services, authorization);
    request.callerId = thirdParty.id;
    return { callerId: thirdParty.id, keySpace: thirdParty.id, own: { thirdParty } };
  }
  const { path, header, incoming } = request;
  const { grant, useProof } = await accessOf(services, { method: incoming.method ?? '', path, header });
  request.callerId = grant.thirdPartyProviderId;
  requireScope(grant, route.scope);
  return { callerId: grant.thirdPartyProviderId, keySpace: grant.id, own: { grant }, useProof };
}

/** Handles one request in a fixed order: authentication, authorization, rate limit, validation, handler. */
export async function handleRoute(
  route: Route | ThirdPartyRoute,
  request: HttpRequest,
  given: Services,
  gate: Gate,
): Promise<HttpResponse | StreamedResponse> {
  const { contract } = route;
  const admitted = await admit(route, request, given, gate);
  markAuthenticated(request.incoming.socket);
  gate.countRequest(admitted.callerId);
  await admitted.useProof?.();
  const isWrite = contract.method === 'POST' || contract.method === 'PATCH';
  if (isWrite) requireJson(request.incoming);
  const key = contract.method === 'POST' ? readIdempotencyKey(request.header) : null;
  const params = parseParams(contract, request.params);
  const query = parseQuery(contract, request.query);
  const { bodyLimit } = contract;
  const { bodyLimitBytes, connections } = given.configuration;
  const deadlineMs = connections.bodySeconds * 1000;
  const limit = bodyLimit
    ? { bytes: bodyLimit.bytes, deadlineMs, budget: largeBodies.budgetOf(admitted.callerId) }
    : { bytes: bodyLimitBytes, deadlineMs };
  const bytes = isWrite ? await readBody(request.incoming, limit) : null;
  const reads = contract.paged === true || contract.files !== undefined ? 'lists' : undefined;
  const services = servicesOf(given, request, reads);
  const handle = () => handleBody(route, request, services, { admitted, key, params, query, bytes });
  return bodyLimit && bytes ? largeBodies.inTurn(admitted.callerId, bytes.length, handle) : handle();
}

type Work = Parameters<RouteContext['write']>[0];

interface Received {
  readonly admitted: Admitted;
  readonly key: string | null;
  readonly params: Record<string, unknown>;
  readonly query: ParsedQuery;
  readonly bytes: Buffer | null;
}

async function handleBody(
  route: Route | ThirdPartyRoute,
  request: HttpRequest,
  services: Services,
  { admitted, key, params, query, bytes }: Received,
): Promise<HttpResponse | StreamedResponse> {
  const { contract } = route;
  const body = bytes === null ? null : parseBody(contract, decodeBody(bytes), services.serviceNow());
  const isDryRun = contract.dryRun !== undefined && body?.workflow.dryRun === true;
  if (contract.dryRun !== undefined && 'caller' in admitted.own && !isDryRun)
    requireRole(admitted.own.caller, contract.roles ?? ROLES);
  // A dry run writes nothing, so it takes no key: the same key may still make what was planned.
  const idempotency =
    key === null || body === null || isDryRun
      ? null
      : idempotencyClaim(
          admitted.keySpace,
          { method: contract.method, path: pathOf(contract, params), query: request.query, body: body.sent },
          key,
        );

  if (contract.files !== undefined) requireChunks(request.incoming);
  const keyring = contract.confidential === true ? services.keyring : null;
  const render = (answer: Outcome<unknown>): RenderedAnswer =>
    'rendered' in answer ? answer : renderAnswer(contract, answer, { body, query });
  const rendering = (work: Work) => async (tx: Transaction) => render(await work(tx));
  const context: Parameters<UntypedHandler>[0] = {
    services,
    ...admitted.own,
    requestId: request.requestId,
    initiator: { actor: admitted.callerId, requestId: request.requestId },
    params,
    query: query.query,
    body: bodyOf(body),
    page: query.page,
    include: query.include,
    expand: query.expand,
    idempotency,
    write: (work) => writeIdempotently(services.database, idempotency, rendering(work), keyring),
    change: (requested, { read, answer }) => {
      if (keyring !== null) throw new Error('a change of a transfer stores its answer as it is');
      return changeIdempotently(services.database, idempotency, requested, {
        read,
        answer: (result, shown) => render(answer(result, shown)),
      });
    },
    transaction: (work) => writeInTransaction(services.database, idempotency, rendering(work), keyring),
    storedAnswer: () => findStoredAnswer(services, idempotency, keyring),
    render,
  };
  const outcome = await route.handler(context);
  if ('chunks' in outcome) return fileResponse(outcome);
  const answer = render(outcome);
  return { status: answer.status, body: answer.body, headers: headersOf(route, answer, key !== null, query.include) };
}

/** The path with parsed parameters, so that an id in capital letters is the same. */
function pathOf({ path }: Route['contract'], params: Record<string, unknown>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
}

/**
 * The services for one request whose body has arrived: the deadline of the answer bounds its database calls, a write does
 * not begin after its caller has disconnected, and lists use their own connections.
 */
export function servicesOf(services: Services, { incoming, trace }: HttpRequest, reads?: 'lists'): Services {
  const { endsAt } = services.database.limits();
  const isGone = () => !incoming.socket.writable;
  const traceparent = trace?.traceparent;
  const database = services.database.forCaller({ endsAt, isGone, traceparent }, reads);
  if (traceparent === undefined) return { ...services, database };
  const { providers, directories } = services;
  return {
    ...services,
    database,
    providers: inTraceOfRequest(providers, traceparent),
    directories: directoriesInTrace(directories, traceparent),
  };
}

/** Without chunks (HTTP/1.0) a file ends with its connection, so a truncated file would look complete. */
function requireChunks({ httpVersion }: HttpRequest['incoming']): void {
  if (httpVersion !== '1.0') return;
  const message = 'Files are sent only over HTTP/1.1: a proxy must use HTTP/1.1 to the service.';
  throw rejection('common.validation.field_invalid', ['request', 'httpVersion', httpVersion], message);
}

function fileResponse({ mediaType, name, chunks }: StreamedFile): StreamedResponse {
  return { chunks, contentType: mediaType, headers: { 'content-disposition': `attachment; filename="${name}"` } };
}

// A route without workflows (GET, DELETE) has no body, and neither has the type of its handler.
function bodyOf(body: ParsedBody | null): RouteContext['body'] {
  return (body?.body ?? null) as RouteContext['body'];
}

async function findStoredAnswer(
  services: Services,
  claim: IdempotencyClaim | null,
  keyring: Keyring | null,
): Promise<RenderedAnswer | null> {
  if (claim === null) return null;
  const row = await findIdempotencyKey(services.database.reader, claim);
  return row === null ? null : replay(row, claim, keyring);
}

/** Links to the documentation, which says what to use instead of a deprecated route or include (RFC 9745). */
const DEPRECATION_LINK = '</docs>; rel="deprecation"; type="text/html"';

function headersOf(
  route: Route | ThirdPartyRoute,
  answer: RenderedAnswer,
  isKeyed: boolean,
  include: ReadonlySet<string>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (isKeyed) headers['x-idempotency-status'] = answer.replayed ? 'replayed' : 'processed';
  const { deprecated, deprecatedIncludes = {} } = route.contract;
  const used = Object.entries(deprecatedIncludes).find(([name]) => include.has(name))?.[1] ?? deprecated;
  if (used !== undefined) {
    headers.link = DEPRECATION_LINK;
    headers.deprecation = `@${Date.parse(`${used.since}T00:00:00Z`) / 1000}`;
    if (used.sunset !== undefined) headers.sunset = new Date(`${used.sunset}T00:00:00Z`).toUTCString();
  }
  return headers;
}
