/** How one call is made. What is not given here is as in the options of `createClient`. */
export interface CallOptions {
  /** Ends the call early. Whether a write took effect is then unknown: repeat it under its key. */
  readonly signal?: AbortSignal | undefined;
  /** For all attempts and the waits between them. */
  readonly timeoutMs?: number | undefined;
  /** For one attempt; without it an export has all the time of its call. */
  readonly attemptTimeoutMs?: number | undefined;
  /** How often it may be sent again, where that is safe. */
  readonly retriesMax?: number | undefined;
  /** A bearer token for this call in place of the machine user's, such as a consent's access token. */
  readonly token?: string | undefined;
}

export interface PostOptions extends CallOptions {
  /** Up to 255 characters; by default one is drawn. Requests with the same key have one effect and one answer. */
  readonly idempotencyKey?: string | undefined;
}

export interface ListOptions extends CallOptions {
  /** Up to 100, which is the default. */
  readonly pageSize?: number | undefined;
}

/** An answer with everything around its resource. */
export interface Answer<Resource, Body> {
  readonly resource: Resource;
  /** All four containers. */
  readonly body: Body;
  /** Whether the request had been processed before, under the same key. */
  readonly replayed: boolean;
  readonly status: number;
  readonly requestId: string | null;
  readonly headers: Headers;
  /** The body as received. */
  readonly text: string;
}

/** The promise of a resource. The request is on its way; `withAnswer` has what surrounds the resource. */
export class Call<Resource, Body> implements Promise<Resource> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #answer: Promise<Answer<Resource, Body>>;

  constructor(answer: Promise<Answer<Resource, Body>>) {
    this.#answer = answer;
  }

  withAnswer(): Promise<Answer<Resource, Body>> {
    return this.#answer;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise.
  then<Fulfilled = Resource, Rejected = never>(
    onFulfilled?: ((resource: Resource) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#answer.then(({ resource }) => resource).then(onFulfilled, onRejected);
  }

  catch<Rejected = never>(
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Resource | Rejected> {
    return this.then(undefined, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<Resource> {
    return this.then().finally(onFinally);
  }
}

/** The name of what is not in the contract. */
export const UNKNOWN_OPERATION = 'request';

/** A request of an operation, before it is written as HTTP. */
export interface OperationRequest {
  readonly operation: string;
  readonly method: string;
  /** With `{names}`, which never show values in a log. */
  readonly path: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  /** What the query's fields are called on the way. */
  readonly names?: Readonly<Record<string, string>>;
  /** The workflow's code, with which the body is made of the containers. */
  readonly code?: string;
  /** What else the method says of the workflow. */
  readonly workflow?: object;
  /** A body that is whole already. */
  readonly body?: unknown;
  readonly data?: object;
  /** The field of `data` that is the answer; without it all of `data`, and with null all containers. */
  readonly resource?: string | null;
  /** Which page of a list it asks for, in the words of an error. */
  readonly place?: string;
}

/** The other containers of a request. */
export interface SendOptions extends PostOptions {
  readonly workflow?: object | null | undefined;
  readonly data?: object | null | undefined;
  readonly connect?: object | null | undefined;
  readonly metadata?: object | null | undefined;
}

export type Send = <Resource, Body>(request: OperationRequest, options?: SendOptions) => Call<Resource, Body>;
