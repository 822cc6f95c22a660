import { randomUUID } from 'node:crypto';
import {
  type BankFile,
  beginDelivery,
  beginRename,
  findFile,
  listExecutionDates,
  listOpenFiles,
  markDelivered,
  noteUnproven,
  readContent,
  setAside,
  withdrawFile,
} from '../../../db/bank-files/files.ts';
import { readClock } from '../../../db/common/clock.ts';
import { requireOpenSubmissions, SubmissionsClosed } from '../../common/submissions.ts';
import type { BankServices } from './bank.ts';
import {
  type Connections,
  isUploadOf,
  type ListedFile,
  type Transport,
  TransportFailed,
  temporaryName,
} from './transport.ts';

/** The file was given its name, and no listing shows it: the bank may have taken it. It is never sent again without a person. */
export const UNPROVEN = 'sent, and shown by no listing: it may have arrived';
export const OTHER_SIZE = 'the bank’s folder has a file of this name and of another size';

/** Delivers the files that are built, the oldest first. `renew` keeps the lease, and throws once another process has it. */
export async function deliverFiles(
  services: BankServices,
  connections: Connections,
  renew: () => Promise<void>,
): Promise<void> {
  const { database, bank } = services;
  for (const file of await listOpenFiles(database.reader, bank.provider, 'out')) {
    if (connections.isOver()) return;
    await renew();
    try {
      const failure = await connections.use((transport) => deliverFile(services, transport, file.id, renew));
      if (failure !== null) await database.transaction((tx) => noteUnproven(tx, file.id, failure.message));
    } catch (error) {
      // The bank's files are fetched all the same.
      if (!(error instanceof SubmissionsClosed)) throw error;
      services.logger.warn({ provider: bank.provider, reason: error.message }, 'no bank file is delivered');
      return;
    }
  }
}

/**
 * One name only ever carries the same bytes, and a file is delivered only when a listing shows it with its size. Before its rename it
 * cannot have arrived and is uploaded again; afterwards it is only looked for. Only the upload whose rename was stored ever gets the name.
 */
async function deliverFile(services: BankServices, transport: Transport, id: string, renew: () => Promise<void>) {
  const { database, logger, bank } = services;
  // Read under the lease: another process may have come further since the list was read.
  const file = await findFile(database.reader, id);
  if (file === null || (file.state !== 'built' && file.state !== 'delivering')) return;
  const { name, size } = file;
  const listed = await transport.list('out');
  const shown = find(listed, name);
  if (shown !== undefined) {
    if (shown.size === size) {
      await database.transaction((tx) => markDelivered(tx, id, bank.profile.silenceHours));
      return;
    }
    await database.transaction((tx) => setAside(tx, id, OTHER_SIZE));
    logger.error({ provider: bank.provider, file: name, size, shown: shown.size }, 'a bank file has another size');
    return;
  }
  if (file.temporaryName !== null && find(listed, file.temporaryName)?.size !== size) {
    await database.transaction((tx) => noteUnproven(tx, id, UNPROVEN));
    return;
  }
  if (file.temporaryName === null && (await isOverdue(services, id))) {
    await discardUploads(transport, listed, name);
    await database.transaction((tx) => withdrawFile(tx, id));
    return;
  }
  const part = file.temporaryName ?? (await uploadFile(services, transport, { file, listed, renew }));
  if (part === null) return;
  // From here on the file may arrive, so the emergency stop and the lease are read once more.
  await requireOpenSubmissions(database.reader);
  await renew();
  if (file.temporaryName === null && !(await database.transaction((tx) => beginRename(tx, id, part)))) {
    // A person has decided, or another process has come further with an upload of its own.
    await transport.discard(part);
    return;
  }
  await transport.rename(part, name);
  const arrived = find(await transport.list('out'), name);
  await database.transaction(async (tx) => {
    if (arrived?.size === size) await markDelivered(tx, id, bank.profile.silenceHours);
    else await noteUnproven(tx, id, UNPROVEN);
  });
}

interface Upload {
  readonly file: BankFile;
  readonly listed: readonly ListedFile[];
  readonly renew: () => Promise<void>;
}

/** Returns the name of the upload; null if a person has taken the file out of our hands. */
async function uploadFile(
  { database }: BankServices,
  transport: Transport,
  { file: { id, name, size }, listed, renew }: Upload,
): Promise<string | null> {
  await requireOpenSubmissions(database.reader);
  await renew();
  if (!(await database.transaction((tx) => beginDelivery(tx, id)))) return null;
  await discardUploads(transport, listed, name);
  const part = temporaryName(name, randomUUID().slice(0, 8));
  await transport.upload(part, await readContent(database.reader, id));
  if (find(await transport.list('out'), part)?.size === size) return part;
  throw new TransportFailed('upload: not shown with its size');
}

/** None of them was about to get the name. */
async function discardUploads(transport: Transport, listed: readonly ListedFile[], name: string): Promise<void> {
  for (const left of listed) if (isUploadOf(left.name, name)) await transport.discard(left.name);
}

/** Whether a date that the file asks for has been missed since it was written, as after a night without the bank's server. */
async function isOverdue({ database, configuration: { schemes } }: BankServices, id: string): Promise<boolean> {
  const now = await readClock(database.reader);
  const dates = await listExecutionDates(database.reader, id);
  return dates.some((of) => schemes.roll(of, of.date, now).transferDate !== of.date);
}

function find(files: readonly ListedFile[], name: string): ListedFile | undefined {
  return files.find((file) => file.name === name && file.unfit === undefined);
}
