import { decodeProtectedHeader } from 'jose';
import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import { DomainError, type ErrorCode } from '../../../domain/frame/errors.ts';
import { HttpRefusal } from '../errors.ts';
import { registry } from '../metrics.ts';
import type { FrameRequest } from '../respond.ts';
import type { AnyRoute } from '../third-party-route.ts';
import { shownAddress } from './addresses.ts';
import type { ConnectionRefusal } from './connections.ts';

/** Refusals that an attack would cause, by what was refused. Each has a line in the log and is counted. */
export const SECURITY_REFUSALS = [
  'token',
  'client-assertion',
  'access-token',
  'callback-signature',
  'forbidden',
  'password',
  'password-locked',
  'connections-of-address',
  'connections-of-server',
] as const;

export type SecurityRefusal = (typeof SECURITY_REFUSALS)[number];

const refusalsTotal = new Counter({
  name: 'security_refusals_total',
  help: 'Refusals that an attack would cause, by what was refused.',
  labelNames: ['reason'] as const,
  registers: [registry],
});
for (const reason of SECURITY_REFUSALS) refusalsTotal.inc({ reason }, 0);

const BY_CODE: Readonly<Partial<Record<ErrorCode, SecurityRefusal>>> = {
  'common.security.access_denied': 'forbidden',
  'user.authentication.failed': 'password',
};

/** What an answer refuses, if it is one of these. `error` is what was thrown, where the answer was not returned. */
export function securityRefusalOf(route: AnyRoute | null, status: number, error: unknown): SecurityRefusal | null {
  if (error instanceof HttpRefusal && error.security !== null) return error.security;
  if (status === 401) return route === null ? null : credentialOf(route);
  return error instanceof DomainError ? (BY_CODE[error.code] ?? null) : null;
}

/** What the callers of a route show, and it refuses with 401. */
export function credentialOf(route: AnyRoute): SecurityRefusal | null {
  if (route.kind === 'route') return 'token';
  if (route.kind === 'open') return route.contract.credential ?? null;
  return route.scope === null ? 'client-assertion' : 'access-token';
}

/** Lines a second of one reason; a flood must not fill the disk, nor hide what else is refused. */
export const LINES_PER_SECOND = 10;

type Details = Readonly<Record<string, string | number | null>>;

/** Writes refusals to the log and counts them. Of a flood it writes how many it left out. */
export class SecurityLog {
  readonly #logger: Logger;
  /** Of the present second, by reason. */
  readonly #written = new Map<SecurityRefusal, number>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Writes nothing that the caller sent but a provider's code and the `kid` of a token, if it has the form of one. */
  refused(reason: SecurityRefusal, request: FrameRequest, answer: { readonly route: string; readonly status: number }) {
    this.#add(reason, () => ({
      requestId: request.requestId,
      method: request.incoming.method ?? '',
      ...answer,
      provider: request.params.provider ?? null,
      sourceAddress: shownAddress(request.incoming.socket.remoteAddress),
      machineUserId: request.callerId,
      kid: kidOf(request.header('authorization')),
    }));
  }

  readonly connectionRefused = (reason: ConnectionRefusal, address: string | null): void => {
    this.#add(reason, () => ({ sourceAddress: shownAddress(address) }));
  };

  #add(reason: SecurityRefusal, details: () => Details): void {
    refusalsTotal.inc({ reason });
    const written = this.#written.get(reason) ?? 0;
    this.#written.set(reason, written + 1);
    if (written === 0) setTimeout(() => this.#endSecond(reason), 1_000).unref();
    if (written < LINES_PER_SECOND)
      this.#logger.warn({ event: 'security-refusal', reason, ...details() }, 'security refusal');
  }

  #endSecond(reason: SecurityRefusal): void {
    const count = (this.#written.get(reason) ?? 0) - LINES_PER_SECOND;
    this.#written.delete(reason);
    if (count > 0)
      this.#logger.warn({ event: 'security-refusals-left-out', reason, count }, 'security refusals without a line');
  }
}

const TOKEN = /^Bearer ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i;
const TOKEN_LENGTH_MAX = 4_096;
const KID = /^[A-Za-z0-9_-]{1,128}$/;

/** The key that a token names, whether it is known or not. */
function kidOf(authorization = ''): string | null {
  const [, token] = authorization.length > TOKEN_LENGTH_MAX ? [] : (TOKEN.exec(authorization) ?? []);
  if (token === undefined) return null;
  try {
    const { kid } = decodeProtectedHeader(token);
    return typeof kid === 'string' && KID.test(kid) ? kid : null;
  } catch {
    return null;
  }
}
