import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, readFile, rm } from 'node:fs/promises';
import ssh2, { type Attributes, type FileEntry, type SFTPWrapper } from 'ssh2';
import type { FileFaultSwitch } from '../faults.ts';
import { isTemporary } from '../folders.ts';
import { type CustomerFiles, type Listed, NotPermitted } from './customer-files.ts';

const { OPEN_MODE, STATUS_CODE, flagsToString } = ssh2.utils.sftp;

const READ_BYTES_MAX = 256 * 1024;
const NAMES_AT_ONCE = 100;

interface OpenFile {
  readonly kind: 'file';
  readonly path: string;
  readonly handle: FileHandle;
  readonly isWritten: boolean;
}
interface OpenFolder {
  readonly kind: 'folder';
  readonly left: Listed[];
}

export interface SessionParts {
  readonly files: CustomerFiles;
  readonly faults: FileFaultSwitch;
  /** Real paths that are being written; their files are not whole. */
  readonly beingWritten: Set<string>;
  /** How often a file's rename has failed as its amounts say, by its digest. */
  readonly failedRenames: Map<string, number>;
  readonly cut: () => void;
  /** A file may be there to be read. */
  readonly onChange: () => void;
}

/** What one SFTP channel asks, in the third version of the protocol. */
export class SftpSession {
  readonly #sftp: SFTPWrapper;
  readonly #parts: SessionParts;
  readonly #open = new Map<number, OpenFile | OpenFolder>();
  #lastHandle = 0;

  constructor(sftp: SFTPWrapper, parts: SessionParts) {
    this.#sftp = sftp;
    this.#parts = parts;
    const { files } = parts;
    sftp.on('OPEN', (id, path, flags) => this.#answer(id, () => this.#openFile(id, path, flags)));
    sftp.on('READ', (id, handle, offset, length) => this.#answer(id, () => this.#read(id, handle, offset, length)));
    sftp.on('WRITE', (id, handle, offset, data) => this.#answer(id, () => this.#write(id, handle, offset, data)));
    sftp.on('CLOSE', (id, handle) => this.#answer(id, () => this.#close(id, handle)));
    sftp.on('FSTAT', (id, handle) =>
      this.#answer(id, async () => sftp.attrs(id, shown(await this.#file(handle).handle.stat()))),
    );
    const stat = (id: number, path: string) =>
      this.#answer(id, async () => sftp.attrs(id, shown(await files.stat(path))));
    sftp.on('STAT', stat);
    sftp.on('LSTAT', stat);
    sftp.on('OPENDIR', (id, path) => this.#answer(id, async () => this.#openFolder(id, await files.list(path))));
    sftp.on('READDIR', (id, handle) => this.#answer(id, async () => this.#readFolder(id, handle)));
    sftp.on('REALPATH', (id, path) =>
      this.#answer(id, async () =>
        sftp.name(id, [{ filename: files.normalized(path), longname: '', attrs: NO_ATTRIBUTES }]),
      ),
    );
    sftp.on('RENAME', (id, from, to) => this.#answer(id, () => this.#rename(id, from, to)));
    sftp.on('REMOVE', (id, path) => this.#done(id, () => files.remove(path)));
    sftp.on('MKDIR', (id, path) => this.#done(id, () => files.makeFolder(path)));
    sftp.on('RMDIR', (id, path) => this.#done(id, () => files.removeFolder(path)));
    // Times and modes are the server's own.
    sftp.on('SETSTAT', (id) => this.#done(id, async () => {}));
    sftp.on('FSETSTAT', (id) => this.#done(id, async () => {}));
    sftp.on('close', () => void this.closeAll());
    // OpenSSH's client waits until the server closes what the client has ended.
    sftp.on('end', () => sftp.end());
  }

  /** The connection is gone: what was being written stays as it is. */
  async closeAll(): Promise<void> {
    const left = [...this.#open.values()];
    this.#open.clear();
    for (const one of left) if (one.kind === 'file') await this.#closeFile(one);
  }

  #done(id: number, act: () => Promise<unknown>): void {
    this.#answer(id, async () => {
      await act();
      this.#sftp.status(id, STATUS_CODE.OK);
    });
  }

  #answer(id: number, act: () => Promise<unknown>): void {
    act().catch((error: unknown) => this.#sftp.status(id, statusOf(error)));
  }

  async #openFile(id: number, path: string, flags: number): Promise<void> {
    const { files, faults, beingWritten } = this.#parts;
    const isWritten = (flags & OPEN_MODE.WRITE) !== 0;
    if (isWritten && faults.now.uploads === 'disk-full') throw new Error('the disk is full');
    const handle = await files.open(path, flagsToString(flags) ?? 'r');
    if (isWritten) beingWritten.add(files.real(path));
    this.#sftp.handle(id, this.#keep({ kind: 'file', path, handle, isWritten }));
  }

  async #read(id: number, handle: Buffer, offset: number, length: number): Promise<void> {
    if (this.#parts.faults.strikes('cut-in-read')) return this.#parts.cut();
    const buffer = Buffer.alloc(Math.min(length, READ_BYTES_MAX));
    const { bytesRead } = await this.#file(handle).handle.read(buffer, 0, buffer.length, offset);
    if (bytesRead === 0) this.#sftp.status(id, STATUS_CODE.EOF);
    else this.#sftp.data(id, buffer.subarray(0, bytesRead));
  }

  async #write(id: number, handle: Buffer, offset: number, data: Buffer): Promise<void> {
    const { faults, cut } = this.#parts;
    if (faults.now.uploads === 'disk-full') throw new Error('the disk is full');
    const file = this.#file(handle).handle;
    if (faults.strikes('cut-in-write')) {
      await file.write(data, 0, Math.ceil(data.length / 2), offset);
      return cut();
    }
    await file.write(data, 0, data.length, offset);
    this.#sftp.status(id, STATUS_CODE.OK);
  }

  async #close(id: number, handle: Buffer): Promise<void> {
    const number = handle.readUInt32BE();
    const one = this.#open.get(number);
    if (one === undefined) throw new Error('no such handle');
    this.#open.delete(number);
    if (one.kind === 'file') await this.#closeFile(one);
    if (one.kind === 'file' && one.isWritten && this.#parts.faults.strikes('cut-after-write')) return this.#parts.cut();
    this.#sftp.status(id, STATUS_CODE.OK);
  }

  async #closeFile({ handle, path, isWritten }: OpenFile): Promise<void> {
    await handle.close().catch(() => {});
    if (!isWritten) return;
    this.#parts.beingWritten.delete(this.#parts.files.real(path));
    this.#parts.onChange();
  }

  #openFolder(id: number, listed: readonly Listed[]): void {
    this.#sftp.handle(id, this.#keep({ kind: 'folder', left: [...listed] }));
  }

  #readFolder(id: number, handle: Buffer): void {
    const folder = this.#open.get(handle.readUInt32BE());
    if (folder?.kind !== 'folder') throw new Error('no such handle');
    const next = folder.left.splice(0, NAMES_AT_ONCE);
    if (next.length === 0) this.#sftp.status(id, STATUS_CODE.EOF);
    else this.#sftp.name(id, next.map(entryOf));
  }

  async #rename(id: number, from: string, to: string): Promise<void> {
    const { files, faults, cut, onChange } = this.#parts;
    const isFinal = /^\/in\//.test(files.normalized(to)) && !isTemporary(to.split('/').at(-1) ?? '');
    const outcome = isFinal ? await files.renameOutcome(from) : null;
    if (outcome === 'fails-twice' && (await this.#hasFailedLessThanTwice(from))) throw new Error('try again');
    if (isFinal && faults.now.uploads === 'lost') await rm(files.real(from));
    else await files.rename(from, to);
    onChange();
    if (outcome === 'cut' || (isFinal && faults.strikes('cut-at-rename'))) return cut();
    this.#sftp.status(id, STATUS_CODE.OK);
  }

  async #hasFailedLessThanTwice(path: string): Promise<boolean> {
    const { files, failedRenames } = this.#parts;
    const digest = createHash('sha256')
      .update(await readFile(files.real(path)))
      .digest('hex');
    const times = failedRenames.get(digest) ?? 0;
    failedRenames.set(digest, times + 1);
    return times < 2;
  }

  #keep(one: OpenFile | OpenFolder): Buffer {
    this.#lastHandle += 1;
    this.#open.set(this.#lastHandle, one);
    const handle = Buffer.alloc(4);
    handle.writeUInt32BE(this.#lastHandle);
    return handle;
  }

  #file(handle: Buffer): OpenFile {
    const one = handle.length === 4 ? this.#open.get(handle.readUInt32BE()) : undefined;
    if (one?.kind !== 'file') throw new Error('no such handle');
    return one;
  }
}

const NO_ATTRIBUTES: Attributes = { mode: 0, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 };

function shown({ mode, size, atimeMs, mtimeMs }: Stats): Attributes {
  return { mode, uid: 0, gid: 0, size, atime: Math.floor(atimeMs / 1000), mtime: Math.floor(mtimeMs / 1000) };
}

/** The line is what `ls -l` would show, by which some clients tell folders from files. */
function entryOf({ name, stats }: Listed): FileEntry {
  const kind = stats.isDirectory() ? 'drwxr-xr-x' : '-rw-r--r--';
  const date = stats.mtime.toISOString().slice(0, 10);
  return { filename: name, longname: `${kind} 1 bank bank ${stats.size} ${date} ${name}`, attrs: shown(stats) };
}

function statusOf(error: unknown): number {
  if (error instanceof NotPermitted) return STATUS_CODE.PERMISSION_DENIED;
  const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  return isAbsent ? STATUS_CODE.NO_SUCH_FILE : STATUS_CODE.FAILURE;
}
