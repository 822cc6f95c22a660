import { type Call, type PostOptions, type Send, UNKNOWN_OPERATION } from './call.ts';
import { OPERATIONS, type Routes } from './generated/contract.ts';
import { operationsOf } from './generated/operations.ts';
import { type Credentials, TokenSigner } from './http/token.ts';
import { type LogEntry, type Tokens, Transport } from './http/transport.ts';
import { listsBy } from './list.ts';
import { type OperationsWithWaits, withWaits } from './wait-for.ts';

export interface ClientOptions {
  /** Where the service is, such as `https://accounts.example.com`. */
  readonly baseUrl: string;
  /** For all attempts of a call and the waits between them: a minute unless given here or with the call. */
  readonly timeoutMs?: number;
  /** For one attempt, after which the call is sent again where that is safe: 15 seconds unless given. */
  readonly attemptTimeoutMs?: number;
  /** How often a call may be sent again, where that is safe: 3 times unless given here or with the call. */
  readonly retriesMax?: number;
  /** Called after each attempt. It never sees a body, a key, a token or a value of a path or query. */
  readonly log?: (entry: LogEntry) => void;
  /** In place of Node's own, such as one that goes through a proxy. */
  readonly fetch?: typeof fetch;
}

/** Tokens that are made elsewhere, in place of a machine user's key. */
export interface GivenTokens {
  readonly token: () => Promise<string> | string;
}

const TIMEOUT_MS = 60_000;
/** Three times what the service lets a write wait for a lock. */
const ATTEMPT_TIMEOUT_MS = 15_000;
const RETRIES_MAX = 3;

/** What a route takes and answers; unknown for one that this release does not know. */
type RouteOf<Method extends string, Path extends string> = `${Method} ${Path}` extends keyof Routes
  ? Routes[`${Method} ${Path}`]
  : { body: unknown; answer: unknown };

export interface RouteInput<Body> {
  /** The values of `{names}` in the path. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** By the names of the contract, such as `data.client.status`. */
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: Body;
}

/** The service's operations in groups, such as `accounts.create`. */
export interface FinancialAccountsClient extends OperationsWithWaits {
  /** Any route, with all four containers. */
  request<Method extends string, Path extends string>(
    method: Method,
    path: Path,
    input?: RouteInput<RouteOf<Method, Path>['body']>,
    options?: PostOptions,
  ): Call<RouteOf<Method, Path>['answer'], RouteOf<Method, Path>['answer']>;
}

/** A client of the service. Never in a browser: there a private key is not private. */
export function createClient(options: ClientOptions & (Credentials | GivenTokens)): FinancialAccountsClient {
  const transport = new Transport({
    baseUrl: checkedUrl(options.baseUrl),
    tokens: tokensOf(options),
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    attemptTimeoutMs: options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS,
    retriesMax: options.retriesMax ?? RETRIES_MAX,
    fetch: options.fetch ?? fetch,
    log: options.log ?? (() => undefined),
  });
  const send: Send = (request, sendOptions) => transport.send(request, sendOptions);
  return {
    ...withWaits(operationsOf(send, listsBy(send))),
    request: (givenMethod, path, input, callOptions) => {
      const method = givenMethod.toUpperCase();
      const operation = OPERATIONS[`${method} ${path}`] ?? UNKNOWN_OPERATION;
      return send({ operation, method, path, ...input, resource: null }, callOptions);
    },
  };
}

function tokensOf(options: Credentials | GivenTokens): Tokens {
  if (!isGiven(options)) return new TokenSigner(options);
  if (typeof options.token !== 'function') throw new TypeError('token must be a function that gives a token');
  const token = async () => {
    const given = await options.token();
    if (typeof given !== 'string' || given === '') throw new TypeError('The option token gave no text');
    return given;
  };
  return { token, forget: () => undefined };
}

/** Who spreads settings may have `token: undefined`. */
function isGiven(options: Credentials | GivenTokens): options is GivenTokens {
  return 'token' in options && options.token !== undefined;
}

function checkedUrl(baseUrl: string): string {
  const { protocol, username, password } = URL.canParse(baseUrl) ? new URL(baseUrl) : new URL('none:');
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new TypeError('baseUrl must be an http or https URL, such as https://accounts.example.com');
  }
  if (username !== '' || password !== '') throw new TypeError('baseUrl must have no user or password');
  return baseUrl.replace(/\/+$/, '');
}
