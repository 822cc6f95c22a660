import type * as v from 'valibot';
import type { TraceSpan } from '../../config/tracing/spans.ts';
import type { Initiator } from '../../db/common/audit-entries.ts';
import type { KeyOfRequest } from '../../db/common/idempotency-keys.ts';
import type { Transaction } from '../../db/query/database.ts';
import type { ApplyRequested } from '../../db/transfers/requested-changes.ts';
import type { ErrorCode, Problem } from '../../domain/common/errors.ts';
import type { ConsentId, MachineUserId, ThirdPartyProviderId } from '../../domain/common/ids.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import type { SecurityRejection } from './connections/security-rejections.ts';
import type { ErrorBodyOf } from './errors.ts';
import type { StreamedFile } from './files/files.ts';
import type { OpenBody } from './requests/body.ts';
import type { JsonNumber } from './requests/json.ts';
import type { Sent } from './schemas/cross-checks.ts';
import type { Schema } from './schemas/schemas.ts';
import type { Services } from './services.ts';
import type { Tag } from './tags.ts';

/**
 * How a route is declared. The contract is complete and stated above the handler: the same schemas check the request,
 * produce the OpenAPI document, and check every answer in the tests.
 *
 *   export const getClient = route(
 *     {
 *       method: 'GET', path: '/clients/{clientId}', operationId: 'getClient', summary: 'A client', tag: 'Clients',
 *       params: { clientId: uuid<ClientId>() },
 *       response: fields({ client: clientShown }), examples: { response: { client: CLIENT_EXAMPLE } },
 *     },
 *     async ({ params, services }) => {
 *       const client = await findClient(services.database.reader, params.clientId);
 *       if (client === null) throw recordNotFound('client', 'id', params.clientId);
 *       return { data: { client: showClient(client) } };
 *     },
 *   );
 *
 * The handler is flat: check, read, write, answer. A write goes through `context.write`, `context.change` or `context.transaction`,
 * which honour the Idempotency-Key. What reaches a handler has passed its schemas, roles and limits.
 *
 * - `workflows`: one entry per allowed `workflow.code`, each with its own `data` (and fields of `workflow`, `connect`).
 *   In the handler `body` is a union discriminated by `body.code`. On POST, null fields have been removed beforehand.
 * - `roles`: who may call it. Reads default to every role; writes name theirs. Administration is for `admin` only.
 * - `query`: dotted names without `metadata.page.*`, which `paged: true` adds (`context.page`).
 * - `errors`: what the handler can reject with, beyond validation, security, idempotency and faults.
 * - `response`: the schema of `data`. `workflow` and `connect` echo the request's; the answer's `connect` and `metadata` are merged in.
 * - A check across fields rejects through valibot (`v.forward`, `v.rawCheck`); to give it another code than field_invalid,
 *   start the message with the code: `'common.validation.mutually_exclusive: send one of a and b'`.
 */
export function route<
  const Params extends Entries = NoEntries,
  const Query extends Entries = NoEntries,
  const Workflows extends WorkflowContracts = NoEntries,
  Data extends Schema<unknown, unknown> = Schema<unknown, unknown>,
  DryRun extends Schema<unknown, unknown> = Data,
>(
  contract: Contract<Params, Query, Workflows, Data, DryRun>,
  handler: (context: RouteContext<Params, Query, Workflows, Data | DryRun>) => Promise<Outcome<Shown<Data | DryRun>>>,
): Route {
  // The handler's types are inferred from the schemas that validate its input.
  return { kind: 'route', contract, handler: handler as unknown as UntypedHandler };
}

/** A route without envelope and token. It authenticates its caller itself (a signature, a one-time link). */
export function openRoute(contract: OpenContract, handler: (request: OpenRequest) => Promise<OpenAnswer>): OpenRoute {
  return { kind: 'open', contract, handler };
}

export type Entries = Readonly<Record<string, Schema<unknown, unknown>>>;
export type NoEntries = Readonly<Record<never, never>>;

export interface WorkflowContract {
  /** Fields of `workflow` other than `code`. */
  readonly workflow?: Entries;
  /** The schema of `data`, usually `fields({ client: fields({…}) })`. Its container may be omitted if it is optional or has no fields. */
  readonly data: Schema<unknown, unknown>;
  readonly isDataOptional?: true;
  /** The schema of `connect`; without one any object is accepted and echoed. */
  readonly connect?: Schema<unknown, unknown>;
  /** Finds contradictions between `workflow` and `data`, each of which has its own schema. Both are as sent, valid or not. */
  readonly across?: (workflow: Sent, data: Sent) => readonly Problem[];
}

export type WorkflowContracts = Readonly<Record<string, WorkflowContract>>;

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface Contract<
  Params extends Entries = Entries,
  Query extends Entries = Entries,
  Workflows extends WorkflowContracts = WorkflowContracts,
  Data extends Schema<unknown, unknown> = Schema<unknown, unknown>,
  DryRun extends Schema<unknown, unknown> = Schema<unknown, unknown>,
> {
  readonly method: Method;
  /** As in the interface specification: `/clients/{clientId}`. */
  readonly path: string;
  /** Verb and resource, unique: the method name in generated clients. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  readonly roles?: readonly Role[];
  readonly params?: Params;
  readonly query?: Query;
  readonly paged?: boolean;
  /** Values of metadata.include and metadata.expand for this route; unknown ones are ignored. */
  readonly include?: readonly string[];
  readonly expand?: readonly string[];
  readonly workflows?: Workflows;
  readonly response: Data;
  /** Of a dry run, which alone is answered with 200. It stores only this, under an Idempotency-Key: every role may make it. */
  readonly dryRun?: DryRun;
  /** Examples, by media type, of the file that the route returns in place of the envelope (`fileRoute`). */
  readonly files?: Readonly<Record<string, string>>;
  /** Fields of the answer's `connect` in addition to the echo. */
  readonly responseConnect?: Schema<unknown, unknown>;
  /** The answer contains a secret or a third party's name: under its Idempotency-Key it is stored encrypted. */
  readonly confidential?: true;
  /** Default: 201 for POST, otherwise 200. An answer may say 200 (dry run, unchanged). */
  readonly status?: 200 | 201;
  readonly errors?: readonly ErrorCode[];
  /** Adds the headers Deprecation, Link and, if a date is decided, Sunset; the document marks the operation. */
  readonly deprecated?: DeprecatedSince;
  /** Deprecated values of metadata.include, answered with the same headers. */
  readonly deprecatedIncludes?: Readonly<Record<string, DeprecatedSince>>;
  /** For a body that may be larger than others: its bytes, and its fields and items. Such bodies take turns. */
  readonly bodyLimit?: { readonly bytes: number; readonly nodes: number };
  /** Dotted paths whose text may contain line breaks. */
  readonly multilineFields?: readonly string[];
  readonly examples: {
    /** By workflow code: the request's `data`, and further fields of `workflow` and `connect` if needed. */
    readonly requests?: { readonly [Code in keyof Workflows]?: RequestExample };
    /** Further requests, by the name of their example. */
    readonly moreRequests?: Readonly<Record<string, RequestExample & { readonly code: string }>>;
    readonly response: unknown;
    readonly dryRun?: unknown;
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

/** An Idempotency-Key in the scope of its caller or consent. */
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

/** A rendered answer, from the idempotency row or rendered before the statement that stores it. */
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
   * Writes what `work` hands over with the key and the answer by one statement, or replays the stored answer. `work` first
   * reads, then hands over, and waits only for `tx`; a rejection (DomainError) writes nothing, so the key stays free. If what it
   * has read changes meanwhile, or it does what only a transaction can, it runs again in a transaction.
   */
  write(work: Work<Data>): Promise<Outcome<Shown<Data>>>;
  /** The same in a transaction, for work that locks several rows, moves money or sends statements of its own. */
  transaction(work: Work<Data>): Promise<Outcome<Shown<Data>>>;
  /** Applies a change that the caller requests of a transfer: without locks, or in a transaction where that cannot be. */
  readonly change: ApplyRequested<Answer<Shown<Data>>, Outcome<Shown<Data>>>;
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
  /** Part of a page, not of the interface: the OpenAPI document omits it. */
  readonly undocumented?: true;
  /** Path parameters, only for the document: the handler gets text. */
  readonly params?: Entries;
  /** Without it the route takes no body. */
  readonly body?: OpenBody;
  /** The format of all errors of the path, if it is not the common one. */
  readonly errorBodyOf?: ErrorBodyOf;
  /** What it rejects with 401. */
  readonly credential?: SecurityRejection;
  readonly responses: Readonly<Record<number, string>>;
}

export interface OpenRequest {
  readonly services: Services;
  readonly requestId: string;
  readonly trace: TraceSpan | null;
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
