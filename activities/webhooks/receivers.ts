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
import { type IdleConnections, watchIdleConnections } from './idle-connections.ts';
import { createNameResolver, type ResolveName } from './name-resolver.ts';

/** Longest answer that is read; receivers have nothing longer to say. */
const ANSWER_BYTES_MAX = 65_536;
const KEPT_BYTES = 1_024;
const CONNECT_TIMEOUT_MS = 10_000;
/** Connecting ends before the attempt does, so that the log tells a silent host from a slow answer. */
const CONNECT_PART = 2 / 3;
/** Leaves half of the connection's time for connecting. */
const RESOLVE_PART = 1 / 2;
/** Shorter than most servers' keep-alive (5 s), so that hardly a connection is reused as it closes. */
const KEEP_ALIVE_MS = 4_000;
/** Of one attempt, if it was lost with a connection that had been used before. */
const TRIES_MAX = 3;

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
  const idle = watchIdleConnections();
  const agent = new Agent({
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: guardedConnector(options, idle),
  });
  // A worker that stood still, as in a busy or paused machine, does not yet know which idle connections the receiver has closed. Each would
  // fail an attempt that never arrived, and so put a resource's events out of order.
  const requestAgain = async (url: string, given: Parameters<typeof request>[1]) => {
    const startedAt = performance.now();
    for (let tries = 1; ; tries += 1) {
      try {
        return await request(url, given);
      } catch (error) {
        // A new connection must still end before the attempt does.
        const hasTime = performance.now() - startedAt < timeoutMs * (1 - CONNECT_PART);
        if (tries === TRIES_MAX || !hasTime || !idle.hasClosedBefore(error)) throw error;
      }
    }
  };
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
        const response = await requestAgain(url, {
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
    close: async () => {
      idle.close();
      await agent.destroy();
    },
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
function guardedConnector(options: ReceiverOptions, idle: IdleConnections): buildConnector.connector {
  const { policy, timeoutMs, certificateAuthority } = options;
  const connectTimeoutMs = Math.min(CONNECT_TIMEOUT_MS, Math.round(timeoutMs * CONNECT_PART));
  const resolve = options.resolve ?? createNameResolver({ deadlineMs: connectTimeoutMs * RESOLVE_PART });
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    lookup: guardedLookup(policy, resolve),
    ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
  });
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    if (isAddress(host) && !isAllowedAddress(host, policy)) return callback(new AddressRefused(), null);
    connect(target, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      const { remoteAddress, remotePort } = socket;
      const known = remoteAddress !== undefined && remotePort !== undefined;
      if (known && isAllowedAddress(remoteAddress, policy) && !isOwnAddress(remoteAddress, remotePort, policy)) {
        idle.watch(socket);
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

const ERRORS: Readonly<Record<string, AttemptError>> = {
  ADDRESS_REFUSED: 'address_refused',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  ENOTFOUND: 'name_not_found',
  EAI_AGAIN: 'dns_failed',
  ECONNREFUSED: 'connection_refused',
  UND_ERR_SOCKET: 'connection_lost',
  UND_ERR_ABORTED: 'connection_lost',
  ECONNRESET: 'connection_lost',
  EPIPE: 'connection_lost',
  UND_ERR_HEADERS_OVERFLOW: 'answer_too_large',
  HPE_HEADER_OVERFLOW: 'answer_too_large',
  CERT_HAS_EXPIRED: 'certificate_expired',
  CERT_NOT_YET_VALID: 'certificate_not_yet_valid',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate_self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate_authority_unknown',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate_authority_unknown',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate_authority_unknown',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate_authority_unknown',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate_name_mismatch',
};
// Node's names for the other results of OpenSSL's verification; those that it has no name for are UNSPECIFIED.
const CERTIFICATE_CODES =
  /^(CERT_|UNABLE_TO_|ERROR_IN_CERT_|PATH_LENGTH_EXCEEDED|INVALID_CA|INVALID_PURPOSE|ERR_TLS_CERT_|UNSPECIFIED)/;
const TLS_CODES = /TLS|SSL|EPROTO/;

function attemptError(error: unknown): AttemptError {
  const { code, syscall, message } = rootOf(error);
  const known = ERRORS[code];
  if (known !== undefined) return known;
  if (CERTIFICATE_CODES.test(code)) {
    // Node has no code for these, and OpenSSL's messages end so.
    return message.endsWith('too weak') ? 'certificate_too_weak' : 'certificate_invalid';
  }
  if (code === 'ETIMEDOUT') return syscall === 'connect' ? 'connect_timeout' : 'timeout';
  if (syscall === 'connect') return 'connection_failed';
  return TLS_CODES.test(code) ? 'tls_failed' : 'answer_invalid';
}

/** The first error of several addresses, or the innermost one that has a code. */
function rootOf(error: unknown): { code: string; syscall: string; message: string } {
  if (error instanceof AggregateError) return rootOf(error.errors[0]);
  if (!(error instanceof Error)) return { code: '', syscall: '', message: '' };
  if ('code' in error && typeof error.code === 'string') {
    const syscall = 'syscall' in error && typeof error.syscall === 'string' ? error.syscall : '';
    return { code: error.code, syscall, message: error.message };
  }
  return rootOf(error.cause);
}
