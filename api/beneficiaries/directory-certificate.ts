import type { Logger } from 'pino';
import { KEY_NOTICE_MS } from '../../config/metrics/key-notice.ts';
import { directoryCertificateEnds } from '../http/metrics.ts';

/** Shows when our certificate for a directory ends, and logs it at the start if that is soon. */
export function showCertificateEnd(endsAt: Date, logger: Pick<Logger, 'warn'>, now: Date): void {
  directoryCertificateEnds.set({ directory: 'eu-vop' }, endsAt.getTime() / 1_000);
  if (endsAt.getTime() - now.getTime() >= KEY_NOTICE_MS) return;
  logger.warn({ directory: 'eu-vop', endsAt }, 'our certificate for a directory ends within 30 days, or has ended');
}
