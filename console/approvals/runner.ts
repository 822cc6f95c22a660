import { recordItem, takeItem } from '../../db/approvals/remedy-list-items.ts';
import {
  endRemedyList,
  expireRemedyList,
  listOverdueRemedyLists,
  listRunningRemedyLists,
  type RemedyList,
} from '../../db/approvals/remedy-lists.ts';
import { lockStanding } from '../../db/approvals/standings.ts';
import { DatabaseUnavailable, isRepeatable, LockTimeout } from '../../db/postgres/failures.ts';
import { movedOn } from '../../domain/approvals/remedy-lists.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { type PollingLoop, pollingLoop } from '../../loops/polling.ts';
import type { ConsoleServices } from '../http/services.ts';
import type { Outcome } from '../remedies/remedy.ts';
import { isOff } from '../remedies/remedy-pages.tsx';
import { findRemedyForMany, REMEDIES_FOR_MANY, type RemedyForMany } from './many.ts';
import { remedyListItems } from './metrics.ts';

const INTERVAL_MS = 2_000;
/** Lists that are looked at in one round. */
const LISTS_MAX = 20;
/** Items of a list before the next list has its turn. */
const ITEMS_PER_TURN = 25;
/** Another person, or a workflow, may hold a transfer for a moment. */
const LOCK_TIMEOUT_MS = 5_000;

/**
 * Does what signed lists say, one item after the other, in every console's process: an item is taken, done and noted in one
 * transaction, so consoles side by side, and one that dies, do none twice. A list whose remedy is turned off here rests,
 * until its signature is too old or a person stops it.
 */
export function remedyListRunner(
  services: Pick<ConsoleServices, 'database' | 'configuration' | 'providers' | 'settings' | 'logger'>,
  intervalMs = INTERVAL_MS,
): PollingLoop {
  return pollingLoop({
    name: 'remedy-lists',
    intervalMs,
    logger: services.logger,
    poll: async () => {
      const { reader } = services.database;
      for (const id of await listOverdueRemedyLists(reader, LISTS_MAX)) {
        await services.database.transaction((tx) => expireRemedyList(tx, id));
      }
      const lists = await listRunningRemedyLists(reader, kindsThatRun(services), LISTS_MAX);
      let more = false;
      for (const list of lists) more = (await runTurn(services, list)) || more;
      return more;
    },
  });
}

type Services = Parameters<typeof remedyListRunner>[0];

function kindsThatRun({ settings }: Services): string[] {
  return REMEDIES_FOR_MANY.map(({ kind }) => kind).filter((kind) => !isOff(kind, settings));
}

/** Some items of a list; true if more may be left. */
async function runTurn(services: Services, list: RemedyList): Promise<boolean> {
  const remedy = findRemedyForMany(list.remedy);
  if (remedy === null || isOff(remedy.kind, services.settings)) return false;
  let after = 0;
  for (let count = 0; count < ITEMS_PER_TURN; count += 1) {
    const position = await doNext(services, list, { remedy, after });
    if (position === null) {
      await services.database.transaction((tx) => endRemedyList(tx, list.id));
      return false;
    }
    after = position;
  }
  return true;
}

interface Turn {
  readonly remedy: RemedyForMany;
  readonly after: number;
}

/** Does the next item; its position, or null if there is none to be had. */
async function doNext(services: Services, list: RemedyList, { remedy, after }: Turn): Promise<number | null> {
  const { database } = services;
  const { id: listId, createdBy: actor, createdRole: role, reason } = list;
  const initiator = { actor, role, reason, requestId: listId };
  let taken: number | null = null;
  try {
    const done = await database.transaction(
      async (tx) => {
        taken = null;
        const item = await takeItem(tx, listId, after);
        if (item === null) return null;
        const { position } = item;
        taken = position;
        const { resource } = list;
        const { resourceId: id } = item;
        const moved = movedOn(item, await lockStanding(tx, { resource, id, rules: services.configuration }));
        const { state, text }: Outcome =
          moved === null ? await remedy.forEach({ tx, services }, id, initiator) : { state: 'unchanged', text: moved };
        await recordItem(tx, { listId, position, result: state, message: text });
        return { position, result: state };
      },
      { lockTimeoutMs: LOCK_TIMEOUT_MS },
    );
    if (done !== null) remedyListItems.inc({ result: done.result });
    return done?.position ?? null;
  } catch (error) {
    if (taken === null || error instanceof DatabaseUnavailable) throw error;
    // Later: another has it just now.
    if (error instanceof LockTimeout || isRepeatable(error)) return taken;
    const rejected: Outcome['text'] = error instanceof DomainError ? error.problems[0].message : FAULT;
    if (!(error instanceof DomainError)) {
      const name = error instanceof Error ? error.name : 'unknown';
      services.logger.error({ error: name, listId, position: taken }, 'an item of a remedy list failed');
    }
    await recordItem(database.reader, { listId, position: taken, result: 'rejected', message: rejected });
    remedyListItems.inc({ result: 'rejected' });
    return taken;
  }
}

const FAULT = 'The service failed at this one, and nothing was changed. The console’s log says why.';
