import type { Logger } from 'pino';
import type { Bank } from '../../activities/bank-files/exchange/bank.ts';
import { KEY_NOTICE_MS } from '../../config/metrics/key-notice.ts';
import { bankPgpKeyEnds } from '../metrics.ts';

/** Feeds the metric of a bank's keys; returns a look that logs each key that ends soon, once in the life of the process: at its start. */
export function keyWatch({ provider, pgp }: Pick<Bank, 'provider' | 'pgp'>, logger: Logger): () => Promise<void> {
  const logged = new Set<string>();
  return async () => {
    if (pgp === undefined) return;
    const now = new Date();
    const standings = await pgp.standings(now);
    const { values } = await bankPgpKeyEnds.get();
    for (const { labels } of values) if (labels.provider === provider) bankPgpKeyEnds.remove(labels);
    for (const { owner, fingerprint, endsAt } of standings) {
      if (endsAt === null) continue;
      bankPgpKeyEnds.set({ provider, owner, fingerprint }, endsAt.getTime() / 1_000);
      if (endsAt.getTime() - now.getTime() >= KEY_NOTICE_MS || logged.has(fingerprint)) continue;
      logged.add(fingerprint);
      logger.warn({ provider, owner, fingerprint, endsAt }, 'a PGP key ends within 30 days, or has ended');
    }
  };
}
