import type { IncomingMessage } from 'node:http';
import { decodeProtectedHeader } from 'jose';
import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import { registry } from '../metrics.ts';
import { shownAddress } from './addresses.ts';
import type { ConnectionRejection } from './connections.ts';

/** Rejections that an attack would cause. Each is logged and counted. */
export const SECURITY_REJECTIONS = [
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

export type SecurityRejection = (typeof SECURITY_REJECTIONS)[number];

const rejectionsTotal = new Counter({
  name: 'security_rejections_total',
  help: 'Rejections that an attack would cause. Each has a line in the log.',
  labelNames: ['reason'] as const,
  registers: [registry],
});
for (const reason of SECURITY_REJECTIONS) rejectionsTotal.inc({ reason }, 0);

/** Log lines per second and reason: a flood must not fill the disk or hide other rejections. */
export const LINES_PER_SECOND = 10;

type Details = Readonly<Record<string, string | number | null>>;

/** The parts of a rejected request that are logged. */
interface RejectedRequest {
  readonly incoming: IncomingMessage;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly header: (name: string) => string | undefined;
  readonly callerId: string | null;
}

/** Logs and counts rejections. In a flood it logs how many lines it left out. */
export class SecurityLog {
  readonly #logger: Logger;
  /** Lines of the current second, by reason. */
  readonly #written = new Map<SecurityRejection, number>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Logs nothing that the caller sent except a provider's code and the `kid` of a well-formed token. */
  rejected(
    reason: SecurityRejection,
    request: RejectedRequest,
    answer: { readonly route: string; readonly status: number },
  ) {
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

  readonly connectionRejected = (reason: ConnectionRejection, address: string | null): void => {
    this.#add(reason, () => ({ sourceAddress: shownAddress(address) }));
  };

  #add(reason: SecurityRejection, details: () => Details): void {
    rejectionsTotal.inc({ reason });
    const written = this.#written.get(reason) ?? 0;
    this.#written.set(reason, written + 1);
    if (written === 0) setTimeout(() => this.#endSecond(reason), 1_000).unref();
    if (written < LINES_PER_SECOND)
      this.#logger.warn({ event: 'security-rejection', reason, ...details() }, 'security rejection');
  }

  #endSecond(reason: SecurityRejection): void {
    const count = (this.#written.get(reason) ?? 0) - LINES_PER_SECOND;
    this.#written.delete(reason);
    if (count > 0)
      this.#logger.warn({ event: 'security-rejections-left-out', reason, count }, 'security rejections without a line');
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
