import { markArchived, storeFetchedFile } from '../../../db/bank-files/files.ts';
import { findBankRestore, noteArchiveRead } from '../../../db/bank-files/restores.ts';
import { newId } from '../../../db/common/ids.ts';
import { isUuid } from '../../../domain/common/ids.ts';
import type { BankServices } from './bank.ts';
import type { Connections } from './connections.ts';
import { isUnfinished, type ListedFile, type Transport, TransportFailed } from './transport.ts';
import { leaveToPerson, storedName, whyUnread } from './unread.ts';

/** What the previous round has seen: a file that has grown since is still being written, and one that failed comes last. */
export interface PreviousListing {
  readonly marks: ReadonlyMap<string, string>;
  readonly failed: ReadonlySet<string>;
}

export const NOTHING_SEEN: PreviousListing = { marks: new Map(), failed: new Set() };

/**
 * Stores the bank's files, and moves each away at the bank's only afterwards. A file is fetched once two listings in a row show it with
 * the same size and time. Returns what this round has seen.
 */
export async function fetchFiles(
  services: BankServices,
  connections: Connections,
  previous: PreviousListing,
  renew: () => Promise<void>,
): Promise<PreviousListing> {
  let listed: readonly ListedFile[] = [];
  await connections.use(async (transport) => {
    listed = await transport.list('in');
  });
  const unmoved = listed.filter((file) => previous.marks.get(file.name) === markOf(file));
  const nowMs = Date.now();
  const whole: ListedFile[] = [];
  for (const file of unmoved) {
    const reason = whyUnread(file, nowMs);
    if (reason !== null) await leaveToPerson(services, file, reason);
    else if (!isUnfinished(file.name)) whole.push(file);
  }
  const failedLast = [...whole].sort((one, other) => rankOf(one, previous) - rankOf(other, previous));
  const failed = new Set<string>();
  for (const file of failedLast) {
    if (connections.isOver()) break;
    await renew();
    const failure = await connections.use((transport) => fetchFile(services, transport, file));
    if (failure !== null) failed.add(file.name);
  }
  return { marks: new Map(listed.map((file) => [file.name, markOf(file)])), failed };
}

function rankOf({ name }: ListedFile, { failed }: PreviousListing): number {
  return failed.has(name) ? 1 : 0;
}

async function fetchFile(
  { database, bank: { provider } }: BankServices,
  transport: Transport,
  listed: ListedFile,
): Promise<void> {
  const content = await transport.download(listed.name);
  // Written to since it was listed, or a server that lists other sizes than it sends.
  if (content.length !== listed.size) throw new TransportFailed('download: another size than it was listed with');
  const name = storedName(listed.name);
  const id = await database.transaction((tx) => storeFetchedFile(tx, { provider, name, content }));
  const archived = await transport.archive(listed.name, archivedName(newId(), name));
  await database.transaction((tx) => markArchived(tx, id));
  if (markOf(archived) === markOf(listed)) return;
  // The bank has used the name again since: that file is now in the archive.
  const other = await transport.downloadArchived(archived.name);
  await database.transaction(async (tx) => {
    await markArchived(tx, await storeFetchedFile(tx, { provider, name, content: other }));
  });
}

function markOf({ size, modifiedAtMs }: ListedFile): string {
  return `${size} ${modifiedAtMs}`;
}

/** In a round, which has other things to do as well. */
const FILES_AT_ONCE = 200;
const UUID_LENGTH = 36;

/** Ids are in order of time. Banks use names again, and the archive must not lose a file to the next of its name. */
export function archivedName(id: string, name: string): string {
  return storedName(`${id}-${name}`);
}

function nameBefore(archived: string): string {
  return isUuid(archived.slice(0, UUID_LENGTH)) ? archived.slice(UUID_LENGTH + 1) : archived;
}

/** Then a person sees to it. */
const TRIES_MAX = 20;

/**
 * After a restore, files that the bank has sent since the backup may be in the archive only, so all of it is read again, the latest first: what is
 * stored already is stored once. Returns the step of a round, which goes on where the one before has ended.
 *
 * None is left out by its time or name: a file's time is when the bank wrote it, long before it came perhaps; banks use names and sizes again;
 * and after two restores a gap may be older than the later backup.
 */
export function archiveReader() {
  const read = new Set<string>();
  const tries = new Map<string, number>();
  const triesOf = ({ name }: ListedFile) => tries.get(name) ?? 0;
  /** Why it is left to a person; null: it is stored, or tried again in the next round. */
  async function tried(services: BankServices, connections: Connections, file: ListedFile): Promise<string | null> {
    const { name } = file;
    const failure = await connections.use((transport) => storeArchived(services, transport, name));
    if (failure === null) read.add(name);
    else tries.set(name, triesOf(file) + 1);
    return triesOf(file) < TRIES_MAX ? null : `not read: ${failure?.message}`;
  }
  return async (services: BankServices, connections: Connections, renew: () => Promise<void>): Promise<void> => {
    const { database, bank } = services;
    const { provider } = bank;
    const restore = await findBankRestore(database.reader, provider);
    if (restore === null || restore.archiveReadAt !== null) return;
    let archived: readonly ListedFile[] = [];
    const unlisted = await connections.use(async (transport) => {
      archived = await transport.list('archive');
    });
    if (unlisted !== null) return;
    const unread = archived.filter(({ name, unfit }) => !read.has(name) && unfit === undefined && !isUnfinished(name));
    // One that failed holds up no other.
    const inOrder = [...unread].sort((one, other) => triesOf(one) - triesOf(other) || (one.name < other.name ? 1 : -1));
    for (const file of inOrder.slice(0, FILES_AT_ONCE)) {
      if (connections.isOver()) return;
      await renew();
      const reason = whyUnread(file, 0) ?? (await tried(services, connections, file));
      if (reason === null) continue;
      await leaveToPerson(services, file, `in the archive, ${reason}`);
      read.add(file.name);
    }
    if (unread.some(({ name }) => !read.has(name))) return;
    await database.transaction((tx) => noteArchiveRead(tx, restore));
    read.clear();
    tries.clear();
  };
}

async function storeArchived({ database, bank }: BankServices, transport: Transport, archived: string): Promise<void> {
  const fetched = {
    provider: bank.provider,
    name: nameBefore(archived),
    content: await transport.downloadArchived(archived),
  };
  await database.transaction(async (tx) => markArchived(tx, await storeFetchedFile(tx, fetched)));
}
