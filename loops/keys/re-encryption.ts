import type { Logger } from 'pino';
import type { Keyring } from '../../db/common/keyring.ts';
import type { Database } from '../../db/query/database.ts';
import { CONFIDENTIAL_PATHS, encryptedColumns, reEncryptBatch } from '../../db/re-encryption.ts';
import { type PollingLoop, pollingLoop } from '../polling.ts';

/** The first pass after a start covers everything; later passes cover what processes that began with an older key wrote. */
const INTERVAL_MS = 6 * 3_600_000;
const VALUES_AT_ONCE = 500;

/** Encrypts values under older keys with the newest key. */
export function reEncryption(options: {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly logger: Logger;
}): PollingLoop {
  const { database, keyring, logger } = options;
  const columns = encryptedColumns(CONFIDENTIAL_PATHS);
  let index = 0;
  let after: readonly string[] | null = null;
  let unreadableInPass = 0;
  return pollingLoop({
    name: 're-encryption',
    intervalMs: INTERVAL_MS,
    logger,
    poll: async () => {
      const column = columns[index];
      if (column === undefined) {
        // What an operator waits for before removing an old key.
        if (unreadableInPass === 0)
          logger.info({ key: keyring.prefix }, 're-encryption complete: every value is under the newest key');
        index = 0;
        unreadableInPass = 0;
        return false;
      }
      const { next, unreadable } = await reEncryptBatch(database.reader, keyring, column, after, VALUES_AT_ONCE);
      if (unreadable > 0)
        logger.error({ place: column.name, unreadable }, 'values cannot be decrypted: ENCRYPTION_KEY lacks a key');
      unreadableInPass += unreadable;
      after = next;
      if (next === null) index += 1;
      return true;
    },
  });
}
