import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import {
  isAddress,
  isAllowedAddress,
  isOwnAddress,
  type WebhookAddressPolicy,
  webhookUrlProblem,
} from '../../domain/webhooks/addresses.ts';
import { type AttemptError, type AttemptOutcome, parseRetryAfter } from '../../domain/webhooks/deliveries.ts';
import { createNameResolver, type ResolveName } from './name-resolver.ts';

/** Longest answer that is read; receivers have nothing longer to say. */
const ANSWER_BYTES_MAX = 65_536;
const KEPT_BYTES = 1_024;
const CONNECT_TIMEOUT_MS = 10_000;
/** Leaves half of the connection's time for connecting. */
const RESOLVE_TIMEOUT_MS = 5_000;
/** Shorter than most servers' keep-alive (5 s), so that no connection is reused as it closes. */
const KEEP_ALIVE_MS = 4_000;

export interface ReceiverOptions {
  readonly policy: WebhookAddressPolicy;
  /** For the whole exchange: name, connection, TLS, request and answer. */
  readonly timeoutMs: number;
  /** Trusted besides the usual authorities, for tests. */
  readonly certificateAuthority?: string;
  /** Replaces the system's name servers, for tests. */
  readonly resolve?: ResolveName;
}

/** Posts to subscribers' addresses; trusts neither where they lead nor what they answer. */
export interface Receivers {
  /** One attempt. Rejects only if `signal` aborts: then it is unknown whether the receiver has it. */
  post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<AttemptOutcome>;
  close(): Promise<void>;
}

export function createReceivers(options: ReceiverOptions): Receivers {
  const { policy, timeoutMs } = options;
  const agent = new Agent({
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: guardedConnector(options),
  });
  return {
    post: async (url, headers, body, signal) => {
      const startedAt = performance.now();
      // Not AbortSignal.any: its signals would live as long as the worker's `signal`.
      const attempt = new AbortController();
      const cutOff = () => attempt.abort();
      let late = false;
      const deadline = setTimeout(() => {
        late = true;
        attempt.abort();
      }, timeoutMs);
      signal.addEventListener('abort', cutOff);
      const durationMs = () => Math.round(performance.now() - startedAt);
      let responseCode: number | null = null;
      try {
        signal.throwIfAborted();
        if (webhookUrlProblem(url, policy) !== null) throw new AddressRefused();
        const response = await request(url, {
          dispatcher: agent,
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'financial-accounts-webhooks/1' },
          body,
          signal: attempt.signal,
          headersTimeout: timeoutMs,
          bodyTimeout: timeoutMs,
        });
        responseCode = response.statusCode;
        const retryAfterMs = parseRetryAfter(oneHeader(response.headers['retry-after']), new Date());
        const { text, whole } = await readAnswer(response.body);
        const error = whole ? null : ('answer_too_large' as const);
        return { durationMs: durationMs(), responseCode, responseBody: text, error, retryAfterMs };
      } catch (error) {
        if (signal.aborted) throw error;
        const name = late ? 'timeout' : attemptError(error);
        return { durationMs: durationMs(), responseCode, responseBody: null, error: name, retryAfterMs: null };
      } finally {
        clearTimeout(deadline);
        signal.removeEventListener('abort', cutOff);
      }
    },
    close: () => agent.destroy(),
  };
}

class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED';

  constructor() {
    super('webhooks are not sent to this address');
    this.name = 'AddressRefused';
  }
}

/**
 * Checks every connection, since a name may resolve differently by now. Literal addresses never reach a lookup
 * function, so they are checked here; the connected peer is checked again.
 */
function guardedConnector({ policy, resolve, certificateAuthority }: ReceiverOptions): buildConnector.connector {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    lookup: guardedLookup(policy, resolve ?? createNameResolver({ deadlineMs: RESOLVE_TIMEOUT_MS })),
    ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
  });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    if (isAddress(host) && !isAllowedAddress(host, policy)) return callback(new AddressRefused(), null);
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      const { remoteAddress, remotePort } = socket;
      const known = remoteAddress !== undefined && remotePort !== undefined;
      if (known && isAllowedAddress(remoteAddress, policy) && !isOwnAddress(remoteAddress, remotePort, policy)) {
        return callback(null, socket);
      }
      socket.destroy();
      callback(new AddressRefused(), null);
    });
  };
}

/** Refuses a name if any of its addresses is refused: the system chooses which one to dial. */
function guardedLookup(policy: WebhookAddressPolicy, resolve: ResolveName): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined || !addresses.every(({ address }) => isAllowedAddress(address, policy))) {
          return callback(new AddressRefused(), '');
        }
        if (options.all === true) return callback(null, [...addresses]);
        callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ''),
    );
  };
}

async function readAnswer(body: Dispatcher.ResponseData['body']): Promise<{ text: string; whole: boolean }> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let bytes = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('an answer that is not bytes');
    bytes += chunk.length;
    if (keptBytes < KEPT_BYTES) {
      kept.push(chunk.subarray(0, KEPT_BYTES - keptBytes));
      keptBytes += kept.at(-1)?.length ?? 0;
    }
    // Leaving the loop destroys the body and its socket.
    if (bytes > ANSWER_BYTES_MAX) return { text: asText(kept), whole: false };
  }
  return { text: asText(kept), whole: true };
}

/** Replaces invalid UTF-8, and the NUL that Postgres refuses, with U+FFFD. */
function asText(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\uFFFD');
}

function oneHeader(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}

const TLS_CODES = /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY|EPROTO/;
const DNS_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA', 'ESERVFAIL']);
const UNREACHABLE_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
]);

function attemptError(error: unknown): AttemptError {
  const code = codeOf(error);
  if (code === 'ADDRESS_REFUSED') return 'address_refused';
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return 'timeout';
  }
  if (code === 'ETIMEDOUT') return 'timeout';
  if (DNS_CODES.has(code)) return 'dns_failed';
  if (UNREACHABLE_CODES.has(code)) return 'connection_failed';
  if (TLS_CODES.test(code)) return 'tls_failed';
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_ABORTED') {
    return 'connection_lost';
  }
  return 'answer_invalid';
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  if (typeof error !== 'object' || error === null) return '';
  const own = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return own === '' && 'cause' in error ? codeOf(error.cause) : own;
}
