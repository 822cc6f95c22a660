import type { Stats } from 'node:fs';
import { lstat, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { FolderSettings } from '../../../config/schema/file-exchange.ts';
import {
  type ListedFile,
  NOT_ORDINARY,
  type OpenTransport,
  type Place,
  type Transport,
  TransportFailed,
} from './transport.ts';

/** A file that lies in each folder. Without it the folder is that of a file system that is not mounted: the bank's server is away. */
export const MOUNTED = '.mounted';

/** A folder of this machine, or a mounted one: a bank's own client, or another program, carries the files from there. */
export function folderTransport(settings: FolderSettings): OpenTransport {
  const path = (place: Place, name: string) => join(settings[place], name);
  const attempt = async <Result>(operation: string, place: Place, work: () => Promise<Result>): Promise<Result> => {
    try {
      await requireMounted(settings[place]);
      return await work();
    } catch (error) {
      if (error instanceof TransportFailed) throw error;
      const code = codeOf(error) ?? 'failed';
      throw new TransportFailed(`${operation}: ${code}`, { cause: error });
    }
  };
  const transport: Transport = {
    list: (place) => attempt('list', place, () => listFolder(settings[place])),
    upload: (temporaryName, content) => attempt('upload', 'out', () => write(path('out', temporaryName), content)),
    rename: (temporaryName, name) =>
      attempt('rename', 'out', async () => {
        await rename(path('out', temporaryName), path('out', name));
        await syncFolder(settings.out);
      }),
    download: (name) => attempt('download', 'in', () => readFile(path('in', name))),
    discard: (temporaryName) => attempt('discard', 'out', () => rm(path('out', temporaryName))),
    archive: (name, archivedName) => attempt('archive', 'archive', () => archive(settings, name, archivedName)),
    downloadArchived: (archivedName) =>
      attempt('download archived', 'archive', () => readFile(path('archive', archivedName))),
    close: () => {},
  };
  return async () => transport;
}

async function requireMounted(folder: string): Promise<void> {
  const marker = await stat(join(folder, MOUNTED)).catch(nullIfGone);
  if (marker === null) throw new TransportFailed(`${MOUNTED} is missing: the folder is not mounted`);
}

async function write(path: string, content: Uint8Array): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function archive(folders: FolderSettings, name: string, archivedName: string): Promise<ListedFile> {
  const from = join(folders.in, name);
  const to = join(folders.archive, archivedName);
  try {
    await rename(from, to);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    // First out of the bank's reach, under a name by which it is fetched again if this ends half-way.
    const moved = join(folders.in, archivedName);
    await rename(from, moved);
    const found = await stat(moved);
    await copyAcross(moved, to, found);
    await syncFolder(folders.archive);
    await rm(moved);
    return listed(archivedName, found);
  }
  await syncFolder(folders.archive);
  return listed(archivedName, await stat(to));
}

function listed(name: string, { size, mtimeMs }: Stats): ListedFile {
  return { name, size, modifiedAtMs: mtimeMs };
}

/** Copies a file to another device, where it gets its name once it is whole. */
async function copyAcross(from: string, to: string, { atime, mtime }: Stats): Promise<void> {
  const part = `${to.slice(0, -PART.length)}${PART}`;
  await write(part, await readFile(from));
  await utimes(part, atime, mtime);
  await rename(part, to);
}

/** In place of the name's end, which may have the greatest length. */
const PART = '.part';

async function listFolder(folder: string): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  // As bytes: a name may be no UTF-8.
  for (const bytes of await readdir(folder, { encoding: 'buffer' })) {
    const name = bytes.toString();
    // The bank may take or replace a file while we look.
    const found = await lstat(Buffer.concat([Buffer.from(join(folder, '/')), bytes])).catch(nullIfGone);
    if (found === null || found.isDirectory() || name === MOUNTED) continue;
    const isNamed = Buffer.from(name).equals(bytes);
    const unfit = isNamed ? NOT_ORDINARY : 'its name is not UTF-8';
    const shown = listed(name, found);
    files.push(isNamed && found.isFile() ? shown : { ...shown, unfit });
  }
  await requireMounted(folder);
  return files;
}

function nullIfGone(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

/** A listing that shows a name proves nothing after a power cut unless the folder itself is written. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
