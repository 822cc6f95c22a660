import type { Client } from '@temporalio/client';
import { admissions } from './admissions.ts';
import { eventSequencer } from './event-sequencer.ts';
import type { BackgroundLoop, Services } from './frame/services.ts';
import { openWorkSweep } from './open-work.ts';
import type { PollingLoop } from './polling.ts';
import { transferCounting } from './transfer-counts.ts';
import { workflowWakeupRelay } from './workflow-wakeups.ts';

export interface BackgroundLoops {
  readonly relay: PollingLoop;
  /** In the order in which they start; they stop in the opposite one. */
  readonly all: readonly BackgroundLoop[];
}

/** What the API process does beside answering. Each looks for its own work, so that any number of processes may run. */
export function backgroundLoops(
  services: Pick<Services, 'database' | 'configuration' | 'logger'>,
  client: Client,
): BackgroundLoops {
  const { database, configuration: rules, logger } = services;
  const relay = workflowWakeupRelay({ database, client, logger });
  const onWake = relay.hurry;
  const all = [
    relay,
    eventSequencer({ database, logger, now: () => new Date(), onWake }),
    admissions({ database, rules, logger, onWake }),
    openWorkSweep({ database, logger, onWake }),
    transferCounting({ database, logger }),
  ];
  return { relay, all };
}
