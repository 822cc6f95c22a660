import type { Logger } from 'pino';
import type { Keyring } from '../../db/common/keyring.ts';
import { rotateSigningKeys } from '../../db/open-banking/signing-keys.ts';
import type { Database } from '../../db/query/database.ts';
import { type PollingLoop, pollingLoop } from '../polling.ts';

/** A key is due a day before it signs. */
const INTERVAL_MS = 600_000;

/** Makes the next signing key in time, and deletes keys whose tokens are no longer valid. */
export function signingKeyRotation(options: {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly logger: Logger;
}): PollingLoop {
  const { database, keyring, logger } = options;
  return pollingLoop({
    name: 'signing-keys',
    intervalMs: INTERVAL_MS,
    logger,
    poll: async () => {
      const { made, deleted } = await rotateSigningKeys(database, keyring);
      if (made || deleted > 0) logger.info({ made, deleted }, 'signing keys rotated');
      return false;
    },
  });
}
