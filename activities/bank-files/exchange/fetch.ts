import { markArchived, storeFetchedFile, storeUnreadFile } from '../../../db/bank-files/files.ts';
import { findBankRestore, noteArchiveRead } from '../../../db/bank-files/restores.ts';
import { newId } from '../../../db/common/ids.ts';
import { isUuid } from '../../../domain/common/ids.ts';
import type { BankServices } from './bank.ts';
import {
  type Connections,
  FILE_BYTES_MAX,
  isUnfinished,
  type ListedFile,
  type Transport,
  TransportFailed,
} from './transport.ts';

/** What the previous round has seen: a file that has grown since is still being written, and one that failed comes last. */
export interface PreviousListing {
  readonly marks: ReadonlyMap<string, string>;
  readonly failed: ReadonlySet<string>;
  /** Nothing that the bank has put there is still to be stored or left to a person. */
  readonly isAllHere: boolean;
}

export const NOTHING_SEEN: PreviousListing = { marks: new Map(), failed: new Set(), isAllHere: false };

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
  const unlisted = await connections.use(async (transport) => {
    listed = await transport.list('in');
  });
  const unmoved = listed.filter((file) => previous.marks.get(file.name) === markOf(file));
  const nowMs = Date.now();
  const whole: ListedFile[] = [];
  let settled = 0;
  for (const file of unmoved) {
    const reason = whyUnread(file, nowMs);
    if (reason === null && !isUnfinished(file.name)) whole.push(file);
    if (reason === null) continue;
    await leaveToPerson(services, file, reason);
    settled += 1;
  }
  const failedLast = [...whole].sort((one, other) => rankOf(one, previous) - rankOf(other, previous));
  const failed = new Set<string>();
  for (const file of failedLast) {
    if (connections.isOver()) break;
    await renew();
    const failure = await connections.use((transport) => fetchFile(services, transport, file));
    if (failure !== null) failed.add(file.name);
    else settled += 1;
  }
  const isAllHere = unlisted === null && settled === listed.length;
  return { marks: new Map(listed.map((file) => [file.name, markOf(file)])), failed, isAllHere };
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

/** Longer than any bank writes one file. */
const UNFINISHED_MS_MAX = 86_400_000;

/** Why a file is not fetched, but left to a person; null: it is fetched, or may be later. `nowMs`: in real time, as files' times are. */
function whyUnread({ name, size, modifiedAtMs, unfit }: ListedFile, nowMs: number): string | null {
  if (unfit !== undefined) return `not read: ${unfit}`;
  if (size > FILE_BYTES_MAX)
    return `not read: it has more than ${FILE_BYTES_MAX / 1024 / 1024} MiB, the most of a file`;
  const isLeft = isUnfinished(name) && nowMs - modifiedAtMs > UNFINISHED_MS_MAX;
  return isLeft ? 'not read: its name has said for a day that it is still being written' : null;
}

/** Gives it a row that raises the alarm of files that are set aside, once for what the listing shows. */
async function leaveToPerson(
  { database, logger, bank: { provider } }: BankServices,
  { name, size, modifiedAtMs }: ListedFile,
  reason: string,
): Promise<void> {
  const file = { provider, name: storedName(name), size, modifiedAt: new Date(modifiedAtMs), reason };
  const isNew = await database.transaction((tx) => storeUnreadFile(tx, file));
  if (isNew) logger.error({ provider, file: name, size, reason }, 'a file of the bank is set aside');
}

const NAME_BYTES_MAX = 255;

/** A name as Postgres and file systems hold it: servers may allow longer ones. */
function storedName(name: string): string {
  let kept = '';
  let bytes = 0;
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > NAME_BYTES_MAX) break;
    kept += character;
  }
  return kept;
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

interface Round {
  readonly renew: () => Promise<void>;
  /** Of the bank's own folder: what came while no one fetched is still there. */
  readonly isAllHere: boolean;
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
  return async (services: BankServices, connections: Connections, { renew, isAllHere }: Round): Promise<void> => {
    const { database, bank } = services;
    const { provider } = bank;
    const restore = await findBankRestore(database.reader, provider);
    if (restore === null || restore.archiveReadAt !== null) return;
    let archived: readonly ListedFile[] = [];
    const unlisted = await connections.use(async (transport) => {
      archived = await transport.list('archive');
    });
    if (unlisted !== null) return;
    const unread = archived.filter(({ name }) => !read.has(name) && !isUnfinished(name));
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
    if (!isAllHere || unread.some(({ name }) => !read.has(name))) return;
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
