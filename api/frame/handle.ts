import type { IncomingMessage } from 'node:http';
import { findIdempotencyKey } from '../../db/frame/idempotency-keys.ts';
import type { Keyring } from '../../db/frame/keyring.ts';
import { refusal } from '../../domain/frame/errors.ts';
import type { MachineUserId, ThirdPartyProviderId } from '../../domain/frame/ids.ts';
import { ROLES } from '../../domain/machine-users/roles.ts';
import { markKnown } from './connections/connections.ts';
import { renderAnswer } from './envelope.ts';
import type { StreamedFile } from './files/files.ts';
import { type Authenticate, requireRole } from './requests/authentication.ts';
import { decodeBody, readBody, requireJson } from './requests/body.ts';
import { idempotencyClaim, readIdempotencyKey, replay, writeIdempotently } from './requests/idempotency.ts';
import { largeBodies } from './requests/large-bodies.ts';
import type { CountRequest } from './requests/rate-limit.ts';
import { type ParsedBody, type ParsedQuery, parseBody, parseParams, parseQuery } from './requests/request.ts';
import { accessOf, requireScope } from './requests/third-parties/access-tokens.ts';
import { thirdPartyOf } from './requests/third-parties/assertions.ts';
import type { FrameRequest, FrameResponse, StreamedResponse } from './respond.ts';
import type { IdempotencyClaim, Outcome, RenderedAnswer, Route, RouteContext, UntypedHandler } from './route.ts';
import type { Services } from './services.ts';
import type { GrantContext, ThirdPartyContext, ThirdPartyRoute } from './third-party-route.ts';

/** The steps common to every route of the interface. */
export interface Gate {
  readonly authenticate: Authenticate;
  readonly countRequest: CountRequest;
}

/** Who calls: `own` is what only routes of this kind know of it. */
interface Admitted {
  readonly callerId: MachineUserId | ThirdPartyProviderId;
  /** Where the caller's Idempotency-Keys are its own. */
  readonly keySpace: IdempotencyClaim['machineUserId'];
  readonly own: Pick<RouteContext, 'caller'> | Pick<ThirdPartyContext, 'thirdParty'> | Pick<GrantContext, 'grant'>;
  /** Uses up what opens the door once. Only a request within the caller's rate comes to be stored. */
  readonly useProof?: () => Promise<void>;
}

async function admit(
  route: Route | ThirdPartyRoute,
  request: FrameRequest,
  given: Services,
  { authenticate }: Gate,
): Promise<Admitted> {
  const authorization = request.header('authorization');
  if (route.kind === 'route') {
    const caller = await authenticate(authorization);
    request.callerId = caller.id;
    requireRole(caller, route.contract.roles ?? ROLES);
    return { callerId: caller.id, keySpace: caller.id, own: { caller } };
  }
  const services = servicesOf(given, request.incoming);
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
  request: FrameRequest,
  given: Services,
  gate: Gate,
): Promise<FrameResponse | StreamedResponse> {
  const { contract } = route;
  const admitted = await admit(route, request, given, gate);
  markKnown(request.incoming.socket);
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
    ? { bytes: bodyLimit.bytes, deadlineMs, room: largeBodies.roomOf(admitted.callerId) }
    : { bytes: bodyLimitBytes, deadlineMs };
  const bytes = isWrite ? await readBody(request.incoming, limit) : null;
  const reads = contract.paged === true || contract.files !== undefined ? 'lists' : undefined;
  const services = servicesOf(given, request.incoming, reads);
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
  request: FrameRequest,
  services: Services,
  { admitted, key, params, query, bytes }: Received,
): Promise<FrameResponse | StreamedResponse> {
  const { contract } = route;
  const body = bytes === null ? null : parseBody(contract, decodeBody(bytes), services.serviceNow());
  const idempotency =
    key === null || body === null
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
  const write = (work: Work, shares: boolean) =>
    writeIdempotently(services.database, idempotency, async (tx) => render(await work(tx)), { keyring, shares });
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
    write: (work) => write(work, true),
    writeAlone: (work) => write(work, false),
    storedAnswer: () => findStoredAnswer(services, idempotency, keyring),
    render,
  };
  const outcome = await route.handler(context);
  if ('chunks' in outcome) return fileResponse(outcome);
  const answer = render(outcome);
  return { status: answer.status, body: answer.body, headers: headersOf(route, answer, idempotency, query.include) };
}

/** The path as it was read: an id in capital letters is the same. */
function pathOf({ path }: Route['contract'], params: Record<string, unknown>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
}

/**
 * The services of one request whose body has arrived: the answer's deadline bounds its database calls, a write does
 * not begin once its caller hangs up, and lists use their own connections.
 */
export function servicesOf(services: Services, incoming: IncomingMessage, reads?: 'lists'): Services {
  const { endsAt } = services.database.limits();
  const isGone = () => !incoming.socket.writable;
  return { ...services, database: services.database.forCaller({ endsAt, isGone }, reads) };
}

/** Without chunks (HTTP/1.0) the end of the connection ends a file, and one that was cut off would look whole. */
function requireChunks({ httpVersion }: IncomingMessage): void {
  if (httpVersion !== '1.0') return;
  const message = 'A file is sent by HTTP/1.1 alone; behind a proxy, let that speak HTTP/1.1 to the service.';
  throw refusal('common.validation.field_invalid', ['request', 'httpVersion', httpVersion], message);
}

function fileResponse({ mediaType, name, chunks }: StreamedFile): StreamedResponse {
  return { chunks, contentType: mediaType, headers: { 'content-disposition': `attachment; filename="${name}"` } };
}

// A route without workflows (GET, DELETE) has no body, nor does its handler's type.
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

/** Where a deprecated route or include says what to use instead (RFC 9745). */
const DEPRECATION_LINK = '</docs>; rel="deprecation"; type="text/html"';

function headersOf(
  route: Route | ThirdPartyRoute,
  answer: RenderedAnswer,
  idempotency: IdempotencyClaim | null,
  include: ReadonlySet<string>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (idempotency !== null) headers['x-idempotency-status'] = answer.replayed ? 'replayed' : 'processed';
  const { deprecated, deprecatedIncludes = {} } = route.contract;
  const used = Object.entries(deprecatedIncludes).find(([name]) => include.has(name))?.[1] ?? deprecated;
  if (used !== undefined) {
    headers.link = DEPRECATION_LINK;
    headers.deprecation = `@${Date.parse(`${used.since}T00:00:00Z`) / 1000}`;
    if (used.sunset !== undefined) headers.sunset = new Date(`${used.sunset}T00:00:00Z`).toUTCString();
  }
  return headers;
}
