import { lstat, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
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

/** A folder of this machine, or a mounted one: a bank's own client, or another program, carries the files from there. */
export function folderTransport(settings: FolderSettings): OpenTransport {
  const path = (place: Place, name: string) => join(settings[place], name);
  const transport: Transport = {
    list: (place) => attempt('list', () => listFolder(settings[place])),
    upload: (temporaryName, content) =>
      attempt('upload', async () => {
        const file = await open(path('out', temporaryName), 'w');
        try {
          await file.writeFile(content);
          await file.sync();
        } finally {
          await file.close();
        }
      }),
    rename: (temporaryName, name) =>
      attempt('rename', async () => {
        await rename(path('out', temporaryName), path('out', name));
        await syncFolder(settings.out);
      }),
    download: (name) => attempt('download', () => readFile(path('in', name))),
    discard: (temporaryName) => attempt('discard', () => rm(path('out', temporaryName))),
    archive: (name, archivedName) =>
      attempt('archive', async () => {
        const archived = join(settings.archive, archivedName);
        await rename(path('in', name), archived);
        await syncFolder(settings.archive);
        const { size, mtimeMs } = await stat(archived);
        return { name: archivedName, size, modifiedAtMs: mtimeMs };
      }),
    downloadArchived: (archivedName) =>
      attempt('download archived', () => readFile(join(settings.archive, archivedName))),
    close: () => {},
  };
  return async () => transport;
}

async function listFolder(folder: string): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  // As bytes: a name may be no UTF-8.
  for (const bytes of await readdir(folder, { encoding: 'buffer' })) {
    // The bank may take or replace a file while we look.
    const found = await lstat(Buffer.concat([Buffer.from(join(folder, '/')), bytes])).catch(nullIfGone);
    if (found === null || found.isDirectory()) continue;
    const name = bytes.toString();
    const isNamed = Buffer.from(name).equals(bytes);
    const unfit = isNamed ? NOT_ORDINARY : 'its name is not UTF-8';
    const shown = { name, size: found.size, modifiedAtMs: found.mtimeMs };
    files.push(isNamed && found.isFile() ? shown : { ...shown, unfit });
  }
  return files;
}

function nullIfGone(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
  throw error;
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

async function attempt<Result>(operation: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'failed';
    throw new TransportFailed(`${operation}: ${code}`, { cause: error });
  }
}
