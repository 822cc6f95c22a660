import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { BankServices } from '../activities/bank-files/exchange/bank.ts';
import { exchangeWith } from '../activities/bank-files/exchange/round.ts';
import { missingStatements } from '../activities/bank-files/missing-statements.ts';
import { unusablePgp } from '../activities/bank-files/pgp/library.ts';
import { keyWatch } from './keys/bank-keys.ts';
import { bankStatementsMissing } from './metrics.ts';
import { type PollingLoop, pollingLoop, reasonOf } from './polling.ts';

/** Exchanges files with one bank: writes and delivers ours, fetches and takes the bank's. One process at a time does this for a bank. */
export function bankFileExchange(services: BankServices & { readonly logger: Logger }): PollingLoop {
  const { bank, logger } = services;
  const exchange = exchangeWith(services, randomUUID());
  const lookAtKeys = keyWatch(bank, logger);
  const { database, configuration } = services;
  const { provider, settings } = bank;
  const configured = configuration.providers.find(({ code }) => code === provider);
  const lookAtStatements = async () => {
    if (configured === undefined) return;
    const missing = await missingStatements(database.reader, configured, settings.statementHours);
    bankStatementsMissing.set({ provider }, missing.length);
  };
  const loop = pollingLoop({
    name: `bank-files-${bank.provider}`,
    intervalMs: bank.settings.pollSeconds * 1_000,
    logger,
    poll: async () => {
      const unusable = await lookAtKeys().then(() => null, unusablePgp);
      try {
        await exchange.round();
      } finally {
        // Also while the bank's server is away; trouble with it stops no file.
        await lookAtStatements().catch((error: unknown) =>
          logger.warn({ provider, reason: reasonOf(error) }, 'no look at statements'),
        );
      }
      if (unusable !== null) throw unusable;
      return false;
    },
  });
  return {
    ...loop,
    stop: async () => {
      await loop.stop();
      await exchange.end().catch((error: unknown) => logger.warn({ error }, 'the lease of a bank was not given back'));
    },
  };
}
