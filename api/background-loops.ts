import type { Client } from '@temporalio/client';
import { admissions } from './admissions.ts';
import { eventSequencer } from './event-sequencer.ts';
import type { BackgroundLoop, Services } from './frame/services.ts';
import { openWorkSweep } from './open-work.ts';
import { reEncryption } from './re-encryption.ts';
import { transferCounting } from './transfer-counts.ts';
import { workflowWakeupRelay } from './workflow-wakeups.ts';

/**
 * What the API process does beside answering, in the order in which it starts; it stops in the opposite one. Each looks for
 * its own work, so that any number of processes may run.
 */
export function backgroundLoops(
  services: Pick<Services, 'database' | 'configuration' | 'keyring' | 'logger'>,
  client: Client,
): readonly BackgroundLoop[] {
  const { database, configuration: rules, keyring, logger } = services;
  return [
    workflowWakeupRelay({ database, client, logger }),
    eventSequencer({ database, logger, now: () => new Date() }),
    admissions({ database, rules, logger }),
    openWorkSweep({ database, logger }),
    transferCounting({ database, logger }),
    reEncryption({ database, keyring, logger }),
  ];
}
