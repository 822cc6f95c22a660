import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { exchangedBanks } from '../activities/bank-files/exchange/banks.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Environment } from '../config/environment.ts';
import type { Keyring } from '../db/common/keyring.ts';
import type { Database } from '../db/query/database.ts';
import { admissions } from './admissions.ts';
import { bankFileExchange } from './bank-files.ts';
import { calendarChanges } from './calendars.ts';
import { consentExpiry } from './consents.ts';
import { eventSequencer } from './event-sequencer.ts';
import { reEncryption } from './keys/re-encryption.ts';
import { signingKeyRotation } from './keys/signing-keys.ts';
import { listCounting } from './list-counts.ts';
import { openWorkSweep } from './open-work.ts';
import type { BackgroundLoop } from './polling.ts';
import { workflowWakeupRelay } from './workflow-wakeups.ts';

/**
 * Every loop, in start order; they stop in reverse. Loops find their own work, so any number of processes may run
 * them: each API process unless `API_LOOPS` is off, and each process of main.ts. See docs/architecture.md,
 * "Workflows, loops, schedules".
 */
export async function backgroundLoops({
  database,
  client,
  configuration,
  keyring,
  logger,
  environment: { consoleUrl, sftpPassphrase, pgpPassphrase },
}: {
  readonly database: Database;
  readonly client: Client;
  readonly configuration: Configuration;
  readonly keyring: Keyring;
  readonly logger: Logger;
  readonly environment: Pick<Environment, 'consoleUrl' | 'sftpPassphrase' | 'pgpPassphrase'>;
}): Promise<readonly BackgroundLoop[]> {
  const banks = await exchangedBanks({ database, configuration, logger, sftpPassphrase, pgpPassphrase });
  return [
    workflowWakeupRelay({ database, client, logger, consoleUrl }),
    eventSequencer({ database, logger, now: () => new Date() }),
    admissions({ database, rules: configuration, logger }),
    consentExpiry({ database, logger }),
    openWorkSweep({ database, logger }),
    calendarChanges({ database, rules: configuration, logger }),
    listCounting({ database, logger }),
    reEncryption({ database, keyring, logger }),
    signingKeyRotation({ database, keyring, logger }),
    ...banks.map(bankFileExchange),
  ];
}
