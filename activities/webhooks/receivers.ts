import { isIP, type Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import {
  isAllowedAddress,
  isOwnAddress,
  type WebhookAddressPolicy,
  webhookUrlProblem,
} from '../../domain/webhooks/addresses.ts';
import { type AttemptError, type AttemptOutcome, parseRetryAfter } from '../../domain/webhooks/deliveries.ts';
import { startTimeLimit } from '../providers/ports/time-limits.ts';
import { dialFirst } from './dialing.ts';
import { type IdleConnections, watchIdleConnections } from './idle-connections.ts';
import { createNameResolver, type ResolvedAddress, type ResolveName } from './name-resolver.ts';

/** The longest answer that is read. */
const ANSWER_BYTES_MAX = 65_536;
const KEPT_BYTES = 1_024;
const CONNECT_TIMEOUT_MS = 10_000;
/** Connecting ends before the attempt does, so that the log distinguishes an unreachable host from a slow answer. */
const CONNECT_PART = 2 / 3;
/** Leaves half of the connection's time for connecting. */
const RESOLVE_PART = 1 / 2;
/** Shorter than most servers' keep-alive (5 s), so that hardly a connection is reused as it closes. */
const KEEP_ALIVE_MS = 4_000;
/** Requests per attempt, if it is lost with a connection that had been used before. */
const TRIES_MAX = 3;

export interface ReceiverOptions {
  readonly policy: WebhookAddressPolicy;
  /** For the whole exchange: name resolution, connection, TLS, request and answer. */
  readonly timeoutMs: number;
  /** Trusted in addition to the usual authorities, for tests. */
  readonly certificateAuthority?: string;
  /** Replaces the system's name servers, for tests. */
  readonly resolve?: ResolveName;
}

/** Posts to subscribers' addresses; trusts neither the addresses nor the answers. */
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
  // A worker that was suspended, as on a busy or paused machine, does not yet know which idle connections the receiver has closed. Each would
  // fail an attempt that never reached the receiver, and so put a resource's events out of order.
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
      const limit = startTimeLimit(timeoutMs, signal);
      const durationMs = () => Math.round(performance.now() - startedAt);
      let responseCode: number | null = null;
      try {
        signal.throwIfAborted();
        if (webhookUrlProblem(url, policy) !== null) throw new AddressRejected();
        const response = await requestAgain(url, {
          dispatcher: agent,
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'financial-accounts-webhooks/1' },
          body,
          signal: limit.signal,
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
        const name = limit.isOver() ? 'timeout' : attemptError(error);
        return { durationMs: durationMs(), responseCode, responseBody: null, error: name, retryAfterMs: null };
      } finally {
        limit.release();
      }
    },
    close: async () => {
      idle.close();
      await agent.destroy();
    },
  };
}

class ConnectTimeout extends Error {
  readonly code = 'UND_ERR_CONNECT_TIMEOUT';

  constructor() {
    super('the time for connecting is over');
    this.name = 'ConnectTimeout';
  }
}

class AddressRejected extends Error {
  readonly code = 'ADDRESS_REJECTED';

  constructor() {
    super('webhooks to this address are not allowed');
    this.name = 'AddressRejected';
  }
}

/**
 * Checks every connection, since a name may resolve differently each time: all addresses of the name before any of them is dialled, and
 * the connected peer again.
 */
function guardedConnector(options: ReceiverOptions, idle: IdleConnections): buildConnector.connector {
  const { policy, timeoutMs, certificateAuthority } = options;
  const connectTimeoutMs = Math.min(CONNECT_TIMEOUT_MS, Math.round(timeoutMs * CONNECT_PART));
  const resolve = options.resolve ?? createNameResolver({ deadlineMs: connectTimeoutMs * RESOLVE_PART });
  // Without a time limit of its own: that of the connection includes it.
  const secure = buildConnector({
    timeout: 0,
    ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
  });
  const isAllowed = (address: string | undefined, port: number) =>
    address !== undefined && isAllowedAddress(address, policy) && !isOwnAddress(address, port, policy);

  const connectTo = async (target: buildConnector.Options, signal: AbortSignal): Promise<Socket> => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80);
    const addresses = await addressesOf(host, resolve);
    if (!addresses.every(({ address }) => isAllowed(address, port))) throw new AddressRejected();
    const socket = await dialFirst(addresses, port, signal);
    if (!isAllowed(socket.remoteAddress, port)) {
      socket.destroy();
      throw new AddressRejected();
    }
    return target.protocol === 'https:' ? secured(secure, { ...target, httpSocket: socket }, socket, signal) : socket;
  };
  return (target, callback) => {
    const limit = startTimeLimit(connectTimeoutMs, undefined);
    connectTo(target, limit.signal)
      .finally(limit.release)
      .then(
        (socket) => {
          idle.watch(socket);
          callback(null, socket);
        },
        (error: Error) => callback(limit.isOver() ? new ConnectTimeout() : error, null),
      );
  };
}

/** At least one; a written address is its own. */
async function addressesOf(host: string, resolve: ResolveName): Promise<readonly ResolvedAddress[]> {
  const family = isIP(host);
  if (family === 4 || family === 6) return [{ address: host, family }];
  const addresses = await resolve(host);
  if (addresses.length === 0) throw new AddressRejected();
  return addresses;
}

function secured(
  secure: buildConnector.connector,
  target: buildConnector.Options,
  socket: Socket,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      socket.destroy();
      reject(new ConnectTimeout());
    };
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) return giveUp();
    secure(target, (...[error, overTls]) => {
      signal.removeEventListener('abort', giveUp);
      if (error === null) resolve(overTls);
      else reject(error);
    });
  });
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

/** Replaces invalid UTF-8, and the NUL that Postgres rejects, with U+FFFD. */
function asText(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8').replaceAll('\0', '\uFFFD');
}

function oneHeader(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}

const ERRORS: Readonly<Record<string, AttemptError>> = {
  ADDRESS_REJECTED: 'address_rejected',
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
// Node's codes for the other results of OpenSSL's verification; a result without a code is UNSPECIFIED.
const CERTIFICATE_CODES =
  /^(CERT_|UNABLE_TO_|ERROR_IN_CERT_|PATH_LENGTH_EXCEEDED|INVALID_CA|INVALID_PURPOSE|ERR_TLS_CERT_|UNSPECIFIED)/;
const TLS_CODES = /TLS|SSL|EPROTO/;

function attemptError(error: unknown): AttemptError {
  const { code, syscall, message } = rootOf(error);
  const known = ERRORS[code];
  if (known !== undefined) return known;
  if (CERTIFICATE_CODES.test(code)) {
    // Node has no code for these; OpenSSL's messages end with these words.
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
