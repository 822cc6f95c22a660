import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rename, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import ssh2, { type Connection, type FileEntry, type SFTPWrapper } from 'ssh2';
import { newKey } from '../../../sandbox/file-bank/sftp/keys.ts';

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;

/** A real SFTP server over a folder, for one user with one key. */
export interface SftpServer {
  readonly port: number;
  /** As `ssh-keygen -l` prints it. */
  readonly hostKey: Buffer;
  /** Called before each request is carried out: a test may cut the connection, or never answer. */
  onRequest: (name: string) => 'answer' | 'silent' | 'cut' | 'cut-after';
  /** How many connections have been accepted. */
  connections(): number;
  close(): Promise<void>;
}

export async function startSftpServer(root: string, allowedKey: string): Promise<SftpServer> {
  const host = newKey(join(root, 'host-key'));
  const parsed = ssh2.utils.parseKey(host.public);
  const allowed = ssh2.utils.parseKey(allowedKey);
  if (parsed instanceof Error || allowed instanceof Error) throw new Error('a key of the test is not valid');
  const open = new Set<Connection>();
  let accepted = 0;
  const server = new ssh2.Server({ hostKeys: [host.private] }, (connection) => {
    accepted += 1;
    open.add(connection);
    connection.on('close', () => open.delete(connection));
    connection.on('error', () => {});
    connection.on('authentication', (context) => {
      const isKnown = context.method === 'publickey' && context.key.data.equals(allowed.getPublicSSH());
      if (!isKnown) context.reject(['publickey']);
      else if (context.signature === undefined || context.blob === undefined) context.accept();
      else if (allowed.verify(context.blob, context.signature, context.hashAlgo) === true) context.accept();
      else context.reject();
    });
    connection.on('ready', () =>
      connection.on('session', (accept) =>
        accept().on('sftp', (acceptSftp) =>
          serve(
            acceptSftp(),
            root,
            (name) => self.onRequest(name),
            () => connection.end(),
          ),
        ),
      ),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  const self: SftpServer = {
    port: address.port,
    hostKey: parsed.getPublicSSH(),
    onRequest: () => 'answer',
    connections: () => accepted,
    close: async () => {
      for (const connection of open) connection.end();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return self;
}

type Ask = (name: string) => 'answer' | 'silent' | 'cut' | 'cut-after';

function serve(sftp: SFTPWrapper, root: string, ask: Ask, cut: () => void): void {
  const handles = new Map<number, { file?: FileHandle; entries?: FileEntry[] }>();
  let last = 0;
  const path = (name: string) => join(root, name);
  const handleOf = (handle: Buffer) => handles.get(handle.readUInt32BE(0));
  const newHandle = (content: { file?: FileHandle; entries?: FileEntry[] }) => {
    last += 1;
    handles.set(last, content);
    const buffer = Buffer.alloc(4);
    buffer.writeUInt32BE(last, 0);
    return buffer;
  };
  /** Carries out a request as the test says, and answers its failure. */
  const on = (name: string, id: number, work: () => Promise<void>) => {
    const answer = ask(name);
    if (answer === 'silent') return;
    if (answer === 'cut') return cut();
    work().then(
      () => undefined,
      () => sftp.status(id, STATUS_CODE.FAILURE),
    );
    if (answer === 'cut-after') setTimeout(cut, 0);
  };
  sftp.on('close', () => {
    for (const { file } of handles.values()) file?.close().catch(() => {});
    handles.clear();
  });
  sftp.on('REALPATH', (id, given) => sftp.name(id, [{ filename: given, longname: given, attrs: attributes(0, 0, 0) }]));
  sftp.on('OPENDIR', (id, given) =>
    on('list', id, async () => {
      const entries: FileEntry[] = [];
      for (const filename of await readdir(path(given))) {
        const { size, mtimeMs, mode } = await stat(path(join(given, filename)));
        const type = (mode & constants.S_IFMT) === constants.S_IFDIR ? 'd' : '-';
        const longname = `${type}rw-r--r-- 1 bank bank ${size} Jun 16 12:00 ${filename}`;
        entries.push({ filename, longname, attrs: attributes(mode, size, Math.floor(mtimeMs / 1_000)) });
      }
      sftp.handle(id, newHandle({ entries }));
    }),
  );
  sftp.on('READDIR', (id, handle) => {
    const found = handleOf(handle);
    const entries = found?.entries ?? [];
    if (found !== undefined) found.entries = [];
    if (entries.length === 0) sftp.status(id, STATUS_CODE.EOF);
    else sftp.name(id, entries);
  });
  sftp.on('OPEN', (id, given, flags) => {
    const isWrite = (flags & OPEN_MODE.WRITE) !== 0;
    on(isWrite ? 'upload' : 'download', id, async () => {
      sftp.handle(id, newHandle({ file: await open(path(given), isWrite ? 'w' : 'r') }));
    });
  });
  sftp.on('WRITE', (id, handle, offset, data) =>
    on('write', id, async () => {
      await handleOf(handle)?.file?.write(data, 0, data.length, offset);
      sftp.status(id, STATUS_CODE.OK);
    }),
  );
  sftp.on('READ', (id, handle, offset, length) =>
    on('read', id, async () => {
      const content = Buffer.alloc(length);
      const read = (await handleOf(handle)?.file?.read(content, 0, length, offset))?.bytesRead ?? 0;
      if (read === 0) sftp.status(id, STATUS_CODE.EOF);
      else sftp.data(id, content.subarray(0, read));
    }),
  );
  sftp.on('CLOSE', (id, handle) =>
    on('close', id, async () => {
      await handleOf(handle)?.file?.close();
      handles.delete(handle.readUInt32BE(0));
      sftp.status(id, STATUS_CODE.OK);
    }),
  );
  const stats = (id: number, given: string) =>
    on('stat', id, async () => {
      const { mode, size, mtimeMs } = await stat(path(given));
      sftp.attrs(id, attributes(mode, size, Math.floor(mtimeMs / 1_000)));
    });
  sftp.on('STAT', stats);
  sftp.on('LSTAT', stats);
  sftp.on('FSTAT', (id, handle) =>
    on('stat', id, async () => {
      const found = await handleOf(handle)?.file?.stat();
      sftp.attrs(id, attributes(found?.mode ?? 0, found?.size ?? 0, 0));
    }),
  );
  sftp.on('FSETSTAT', (id) => sftp.status(id, STATUS_CODE.OK));
  sftp.on('RENAME', (id, from, to) =>
    on('rename', id, async () => {
      const isTaken = await stat(path(to)).then(
        () => true,
        () => false,
      );
      if (isTaken) throw new Error('the name is taken');
      await rename(path(from), path(to));
      sftp.status(id, STATUS_CODE.OK);
    }),
  );
}

function attributes(mode: number, size: number, mtime: number) {
  return { mode, uid: 0, gid: 0, size, atime: mtime, mtime };
}
