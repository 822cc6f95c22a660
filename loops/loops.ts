import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Database } from '../db/driver/client.ts';
import type { Keyring } from '../db/frame/keyring.ts';
import { admissions } from './admissions.ts';
import { calendarChanges, type WatchedRules } from './calendars.ts';
import { consentExpiry } from './consents.ts';
import { eventSequencer } from './event-sequencer.ts';
import { listCounting } from './list-counts.ts';
import { openWorkSweep } from './open-work.ts';
import type { BackgroundLoop } from './polling.ts';
import { reEncryption } from './re-encryption.ts';
import { signingKeyRotation } from './signing-keys.ts';
import { workflowWakeupRelay } from './workflow-wakeups.ts';

/**
 * Every loop, in start order; they stop in reverse. Loops find their own work, so any number of processes may run
 * them: each API process unless `API_LOOPS` is off, and each process of main.ts. See docs/architecture.md, "What runs
 * where".
 */
export function backgroundLoops({
  database,
  client,
  configuration: rules,
  keyring,
  logger,
}: {
  readonly database: Database;
  readonly client: Client;
  readonly configuration: WatchedRules;
  readonly keyring: Keyring;
  readonly logger: Logger;
}): readonly BackgroundLoop[] {
  return [
    workflowWakeupRelay({ database, client, logger }),
    eventSequencer({ database, logger, now: () => new Date() }),
    admissions({ database, rules, logger }),
    consentExpiry({ database, logger }),
    openWorkSweep({ database, logger }),
    calendarChanges({ database, rules, logger }),
    listCounting({ database, logger }),
    reEncryption({ database, keyring, logger }),
    signingKeyRotation({ database, keyring, logger }),
  ];
}
