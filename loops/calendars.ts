import type { Logger } from 'pino';
import type { Configuration } from '../config/configuration.ts';
import type { Initiator } from '../db/common/audit-entries.ts';
import {
  type AwaitedSchedule,
  listAwaitedSchedules,
  listWaitingForSchedule,
  rescheduleOutgoingTransfer,
} from '../db/outgoing-transfers/schedules.ts';
import { DatabaseUnavailable } from '../db/postgres/failures.ts';
import { putCalendarInForce, readCalendarDigests } from '../db/providers/calendars.ts';
import { putTransferRulesInForce } from '../db/providers/transfer-rules.ts';
import type { Database } from '../db/query/database.ts';
import type { OutgoingTransferId } from '../domain/common/ids.ts';
import type { TransferRules } from '../domain/outgoing-transfers/transfer-changes.ts';
import { type PollingLoop, pollingLoop, reasonOf } from './polling.ts';

const LOOK_INTERVAL_MS = 15_000;
/**
 * Processes with different configurations, as during a deployment, would each move a transfer to its own cut-off, over and over:
 * so a process compares cut-offs when it starts, which is when it reads them, and then only now and then.
 */
const CUT_OFFS_INTERVAL_MS = 3_600_000;
const TRANSFERS_AT_ONCE = 100;
/** Transactions at a time; the remaining connections serve payers. */
const LANES = 4;

/** No machine user asks for these changes: an operator replaced a file. */
const INITIATOR: Initiator = { actor: 'calendars', requestId: null };

/** The rules, with the digests that identify their editions. */
export type WatchedRules = TransferRules & Pick<Configuration, 'calendars' | 'transferRuleDigests'>;

interface CalendarChanges {
  readonly database: Database;
  readonly rules: WatchedRules;
  readonly logger: Logger;
}

/**
 * Transitions waiting transfers whose date or cut-off no longer matches the calendars and the configuration, and wakes only
 * those. It compares what the transfers wait for with what is in force, so it does not matter which process saw the change, or
 * whether one saw it at all.
 */
export function calendarChanges(options: CalendarChanges & { readonly intervalMs?: number }): PollingLoop {
  const { database, logger, rules } = options;
  const announce = announcer(options);
  let stopping = false;
  const moveAll = mover(options, () => stopping);
  let behind = '';
  let cutOffsComparedAt = Number.NEGATIVE_INFINITY;
  const loop = pollingLoop({
    name: 'calendars',
    intervalMs: options.intervalMs ?? LOOK_INTERVAL_MS,
    logger,
    poll: async () => {
      const stale = (await announce()).join(', ');
      if (stale !== behind && stale !== '') logger.warn({ calendars: stale }, BEHIND);
      behind = stale;
      if (stale !== '') return false;
      const { schemes } = rules;
      const startedAt = performance.now();
      const comparesCutOffs = startedAt - cutOffsComparedAt >= CUT_OFFS_INTERVAL_MS;
      const isInForce = (schedule: AwaitedSchedule) =>
        comparesCutOffs
          ? schemes.isInForce(schedule, { transferDate: schedule.transferDate, cutOff: schedule.cutOffAt })
          : schemes.isOpen(schedule, schedule.transferDate);
      for (const schedule of await listAwaitedSchedules(database.reader)) {
        // A scheme that is no longer configured has no dates.
        if (schemes.knows(schedule.scheme) && !isInForce(schedule)) await moveAll(schedule);
      }
      if (comparesCutOffs) cutOffsComparedAt = startedAt;
      return false;
    },
  });
  return {
    ...loop,
    // A change can concern a million transfers; the process that starts next continues with them.
    stop: () => {
      stopping = true;
      return loop.stop();
    },
  };
}

const BEHIND = 'another process has read newer calendar files: this one moves no transfers';

/**
 * Puts in force the editions that this process has read and not announced yet and, at its start, the settings that operators'
 * commands must share. Returns the calendars of which another process has announced a later edition.
 */
function announcer({ database, rules }: CalendarChanges): () => Promise<readonly string[]> {
  const announced = new Map<string, string>();
  let areRulesAnnounced = false;
  return async () => {
    if (!areRulesAnnounced) await putTransferRulesInForce(database, rules.transferRuleDigests);
    areRulesAnnounced = true;
    for (const [name, edition] of rules.calendars.editions) {
      if (announced.get(name) === edition.digest) continue;
      await database.transaction((tx) => putCalendarInForce(tx, { name, ...edition }, INITIATOR));
      announced.set(name, edition.digest);
    }
    const inForce = await readCalendarDigests(database.reader);
    return [...announced].filter(([name, digest]) => inForce.get(name) !== digest).map(([name]) => name);
  };
}

/** Transitions every transfer that waits for a schedule. A failure on one is logged once, retried at a later look, and stops no other. */
function mover(
  { database, rules, logger }: CalendarChanges,
  isStopping: () => boolean,
): (schedule: AwaitedSchedule) => Promise<void> {
  const failing = new Set<OutgoingTransferId>();

  async function move(id: OutgoingTransferId): Promise<boolean> {
    try {
      const isMoved = await database.transaction((tx) => rescheduleOutgoingTransfer(tx, id, rules, INITIATOR));
      failing.delete(id);
      return isMoved;
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      if (!failing.has(id)) logger.error({ id, reason: reasonOf(error) }, 'a transfer cannot be moved to another date');
      failing.add(id);
      return false;
    }
  }

  return async (schedule) => {
    let moved = 0;
    let after: OutgoingTransferId | null = null;
    if (isStopping()) return;
    do {
      const from: OutgoingTransferId | null = after;
      const ids = await listWaitingForSchedule(database.reader, schedule, TRANSFERS_AT_ONCE, from);
      after = ids.length === TRANSFERS_AT_ONCE ? (ids.at(-1) ?? null) : null;
      const waiting = ids.values();
      const lane = async () => {
        for (const id of waiting) if (!isStopping() && (await move(id))) moved += 1;
      };
      await Promise.all(Array.from({ length: LANES }, lane));
    } while (after !== null && !isStopping());
    const { scheme, currency, transferDate } = schedule;
    if (moved > 0) logger.info({ scheme, currency, transferDate, moved }, 'transfers moved by a calendar or cut-off');
  };
}
