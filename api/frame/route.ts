import type * as v from 'valibot';
import type { Transaction } from '../../db/driver/client.ts';
import type { Initiator } from '../../db/frame/audit-entries.ts';
import type { KeyOfRequest } from '../../db/frame/idempotency-keys.ts';
import type { ErrorCode, Problem } from '../../domain/frame/errors.ts';
import type { ConsentId, MachineUserId, ThirdPartyProviderId } from '../../domain/frame/ids.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import type { SecurityRefusal } from './connections/security-refusals.ts';
import type { StreamedFile } from './files/files.ts';
import type { Tag } from './openapi/tags.ts';
import type { OpenBody } from './requests/body.ts';
import type { JsonNumber } from './requests/json.ts';
import type { ErrorBodyOf } from './respond.ts';
import type { Sent } from './schemas/cross-checks.ts';
import type { Schema } from './schemas/schemas.ts';
import type { Services } from './services.ts';

/**
 * How a route is declared. The contract is complete and stated above the handler: the same schemas check the request,
 * produce the OpenAPI document, and check every answer in the tests.
 *
 *   export const getClient = route(
 *     {
 *       method: 'GET',
 *       path: '/clients/{clientId}',
 *       operationId: 'getClient',
 *       summary: 'A client',
 *       tag: 'Clients',
 *       params: { clientId: uuid<ClientId>() },
 *       response: fields({ client: clientShown }),
 *       examples: { response: { client: CLIENT_EXAMPLE } },
 *     },
 *     async ({ params, services }) => {
 *       const client = await findClient(services.database.reader, params.clientId);
 *       if (client === null) throw recordNotFound('client', 'id', params.clientId);
 *       return { data: { client: showClient(client) } };
 *     },
 *   );
 *
 * The handler is flat: check, read, one transaction, answer. A write makes its transaction with `context.write`, which
 * honours the Idempotency-Key. What reaches a handler has passed its schemas, roles and limits.
 *
 * - `workflows`: one entry per allowed `workflow.code`, each with its own `data` (and fields of `workflow`, `connect`).
 *   In the handler `body` is a union discriminated by `body.code`. On POST, null fields have been removed beforehand.
 * - `roles`: who may call it. Reads default to every role; writes name theirs. `admin` alone for administration.
 * - `query`: dotted names without `metadata.page.*`, which `paged: true` adds (`context.page`).
 * - `errors`: what the handler can refuse with, beyond validation, security, idempotency and faults.
 * - `response`: the schema of `data`. The answer's `workflow` and `connect` echo the request's; `connect` and `metadata`
 *   of the answer are merged into them.
 * - A check across fields refuses through valibot (`v.forward`, `v.rawCheck`); to give it another code than field_invalid,
 *   start the message with the code: `'common.validation.mutually_exclusive: send one of a and b'`.
 */
export function route<
  const Params extends Entries = NoEntries,
  const Query extends Entries = NoEntries,
  const Workflows extends WorkflowContracts = NoEntries,
  Data extends Schema<unknown, unknown> = Schema<unknown, unknown>,
>(
  contract: Contract<Params, Query, Workflows, Data>,
  handler: (context: RouteContext<Params, Query, Workflows, Data>) => Promise<Outcome<Shown<Data>>>,
): Route {
  // The handler's types are inferred from the schemas that validate its input.
  return { kind: 'route', contract, handler: handler as unknown as UntypedHandler };
}

/** A route outside the interface: no envelope, no token. It authenticates its caller itself (a signature, a one-time link). */
export function openRoute(contract: OpenContract, handler: (request: OpenRequest) => Promise<OpenAnswer>): OpenRoute {
  return { kind: 'open', contract, handler };
}

export type Entries = Readonly<Record<string, Schema<unknown, unknown>>>;
export type NoEntries = Readonly<Record<never, never>>;

export interface WorkflowContract {
  /** Fields of `workflow` beside `code`. */
  readonly workflow?: Entries;
  /** The schema of `data`, usually `fields({ client: fields({…}) })`. */
  readonly data: Schema<unknown, unknown>;
  /** The schema of `connect`; without one any object is accepted and echoed. */
  readonly connect?: Schema<unknown, unknown>;
  /** Contradictions between `workflow` and `data`, of which a schema sees only one. Both are as sent, valid or not. */
  readonly across?: (workflow: Sent, data: Sent) => readonly Problem[];
}

export type WorkflowContracts = Readonly<Record<string, WorkflowContract>>;

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface Contract<
  Params extends Entries = Entries,
  Query extends Entries = Entries,
  Workflows extends WorkflowContracts = WorkflowContracts,
  Data extends Schema<unknown, unknown> = Schema<unknown, unknown>,
> {
  readonly method: Method;
  /** As in the interface specification: `/clients/{clientId}`. */
  readonly path: string;
  /** A verb and the resource, unique: clients are generated with this as the method's name. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  readonly roles?: readonly Role[];
  readonly params?: Params;
  readonly query?: Query;
  readonly paged?: boolean;
  /** Values of metadata.include for this route; unknown ones are ignored. */
  readonly include?: readonly string[];
  /** Likewise for metadata.expand. */
  readonly expand?: readonly string[];
  readonly workflows?: Workflows;
  /** The code that was the only one in an earlier release: its request keeps the names that clients generated then. */
  readonly firstWorkflow?: string;
  readonly response: Data;
  /** By media type, an example of the file that the route answers with in place of the envelope (`fileRoute`). */
  readonly files?: Readonly<Record<string, string>>;
  /** Fields of the answer's `connect` besides the echo. */
  readonly responseConnect?: Schema<unknown, unknown>;
  /** The answer contains a secret or a third party's name: it is stored encrypted under its Idempotency-Key. */
  readonly confidential?: true;
  /** Default: 201 for POST, otherwise 200. An answer may say 200 (dry run, unchanged). */
  readonly status?: 200 | 201;
  readonly errors?: readonly ErrorCode[];
  /** Answered with the headers Deprecation, Link and, if a date is decided, Sunset; the document marks the operation. */
  readonly deprecated?: DeprecatedSince;
  /** Deprecated values of metadata.include, answered with the same headers. */
  readonly deprecatedIncludes?: Readonly<Record<string, DeprecatedSince>>;
  /** For a body that may be larger than others: its bytes, and its fields and items. Such bodies take turns. */
  readonly bodyLimit?: { readonly bytes: number; readonly nodes: number };
  /** Dotted paths whose text may contain line breaks. */
  readonly multilineFields?: readonly string[];
  readonly examples: {
    /** By workflow code, the request's `data` (and what else `workflow` and `connect` need). */
    readonly requests?: { readonly [Code in keyof Workflows]?: RequestExample };
    /** Further requests, by the name of their example. */
    readonly moreRequests?: Readonly<Record<string, RequestExample & { readonly code: string }>>;
    /** The answer's `data`. */
    readonly response: unknown;
  };
}

/** Dates, `YYYY-MM-DD`, of the headers Deprecation and Sunset. */
export interface DeprecatedSince {
  readonly since: string;
  readonly sunset?: string;
}

export interface RequestExample {
  readonly workflow?: Readonly<Record<string, unknown>>;
  readonly data: unknown;
  readonly connect?: Readonly<Record<string, unknown>>;
}

type InferEntries<E extends Entries> = { readonly [Name in keyof E]: v.InferOutput<E[Name]> };
type InferOptionalEntries<E> = E extends Entries ? InferEntries<E> : NoEntries;
type InferOptional<S> = S extends Schema<unknown, unknown> ? v.InferOutput<S> : Readonly<Record<string, unknown>>;

export type Body<Workflows extends WorkflowContracts> = {
  readonly [Code in keyof Workflows & string]: {
    readonly code: Code;
    readonly workflow: { readonly code: Code } & InferOptionalEntries<Workflows[Code]['workflow']>;
    readonly data: v.InferOutput<Workflows[Code]['data']>;
    readonly connect: InferOptional<Workflows[Code]['connect']>;
  };
}[keyof Workflows & string];

/** Data of an answer; arrays and objects may be read-only. */
export type Shown<Data extends Schema<unknown, unknown>> = ReadOnly<v.InferInput<Data>>;

type ReadOnly<Value> = unknown extends Value
  ? Value
  : Value extends string | number | boolean | null | undefined | JsonNumber
    ? Value
    : Value extends readonly (infer Item)[]
      ? readonly ReadOnly<Item>[]
      : { readonly [Name in keyof Value]: ReadOnly<Value[Name]> };

export interface Page {
  readonly number: number;
  readonly size: number;
  /** number × size, for OFFSET. */
  readonly offset: number;
}

export interface Caller {
  readonly id: MachineUserId;
  readonly roles: readonly Role[];
}

/** The caller's Idempotency-Key, among those of that caller or consent. */
export interface IdempotencyClaim extends KeyOfRequest {
  readonly machineUserId: MachineUserId | ThirdPartyProviderId | ConsentId;
}

export interface Answer<Data> {
  readonly data: Data;
  readonly connect?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** On paged lists. */
  readonly totalElements?: number;
  readonly status?: 200 | 201;
}

/** A rendered answer: from the idempotency row, or rendered before the statement that stored it. */
export interface RenderedAnswer {
  readonly rendered: true;
  readonly status: number;
  readonly body: string;
  readonly replayed: boolean;
}

export type Outcome<Data> = Answer<Data> | RenderedAnswer;

type Work<Data extends Schema<unknown, unknown>> = (tx: Transaction) => Promise<Answer<Shown<Data>>>;

export interface RouteContext<
  Params extends Entries = Entries,
  Query extends Entries = Entries,
  Workflows extends WorkflowContracts = WorkflowContracts,
  Data extends Schema<unknown, unknown> = Schema<unknown, unknown>,
> {
  readonly services: Services;
  readonly caller: Caller;
  readonly requestId: string;
  /** The caller and its request, for the audit log. */
  readonly initiator: Initiator;
  readonly params: InferEntries<Params>;
  readonly query: InferEntries<Query>;
  readonly body: Body<Workflows>;
  readonly page: Page;
  readonly include: ReadonlySet<string>;
  readonly expand: ReadonlySet<string>;
  /** Null without an Idempotency-Key. Only for writes whose own statement stores the answer. */
  readonly idempotency: IdempotencyClaim | null;
  /**
   * Runs the write's one transaction: claims the key, works, stores the answer and commits, or replays the stored answer. A
   * refusal (DomainError) rolls everything back, so the key stays free. Others of the same moment share the transaction: `work`
   * reads first, then writes, and waits for `tx` alone. Any other work is `writeAlone`'s.
   */
  write(work: Work<Data>): Promise<Outcome<Shown<Data>>>;
  writeAlone(work: Work<Data>): Promise<Outcome<Shown<Data>>>;
  /** The stored answer to the same request, for handlers that call out before their transaction. */
  storedAnswer(): Promise<RenderedAnswer | null>;
  /** Renders an answer, for writes whose own statement stores it. */
  render(answer: Answer<Shown<Data>>): RenderedAnswer;
}

export type UntypedHandler = (context: Omit<RouteContext, 'caller'>) => Promise<Outcome<unknown> | StreamedFile>;

export interface Route {
  readonly kind: 'route';
  readonly contract: Contract<Entries, Entries, WorkflowContracts, Schema<unknown, unknown>>;
  readonly handler: UntypedHandler;
}

export interface OpenContract {
  readonly method: Method;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  /** A part of a page rather than of the interface: the OpenAPI document leaves it out. */
  readonly undocumented?: true;
  /** Of the path, for the document alone: the handler gets text. */
  readonly params?: Entries;
  /** Without it the route takes no body. */
  readonly body?: OpenBody;
  /** The shape of all errors of the path, where it is not the common one. */
  readonly errorBodyOf?: ErrorBodyOf;
  /** What it refuses with 401. */
  readonly credential?: SecurityRefusal;
  readonly responses: Readonly<Record<number, string>>;
}

export interface OpenRequest {
  readonly services: Services;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Reads the raw bytes, for signatures; empty if the contract has no body. Authenticate first where possible. */
  readBody(): Promise<Buffer>;
}

export interface OpenAnswer {
  readonly status: number;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OpenRoute {
  readonly kind: 'open';
  readonly contract: OpenContract;
  readonly handler: (request: OpenRequest) => Promise<OpenAnswer>;
}
