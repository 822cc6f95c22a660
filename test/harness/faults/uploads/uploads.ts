import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { requestHead } from '../sockets.ts';

/** A request with a body of blanks. */
export interface Upload {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
  /** Without an announced length. */
  readonly chunked: boolean;
}

/** Null: the client got no answer, but the failure that `text` names. */
export interface Answered {
  readonly status: number | null;
  readonly text: string;
}

/** A client that sends a body in its own way. */
export type Uploader = (url: string, uploads: readonly Upload[]) => Promise<readonly Answered[]>;

const BLOCK = Buffer.alloc(64 * 1024, ' ');

async function* blocks(bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; left -= BLOCK.length) yield BLOCK.subarray(0, Math.min(left, BLOCK.length));
}

async function withFetch(url: string, { method, path, headers, bytes, chunked }: Upload): Promise<Answered> {
  try {
    const body = chunked ? ReadableStream.from(blocks(bytes)) : Buffer.alloc(bytes, ' ');
    const answer = await fetch(`${url}${path}`, { method, headers, body, duplex: 'half' } as RequestInit);
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    return { status: null, text: error instanceof Error ? `${error.message} ${String(error.cause)}` : 'unknown' };
  }
}

/** Writes its whole request, and only then reads. */
async function withSocket(url: string, { method, path, headers, bytes, chunked }: Upload): Promise<Answered> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.pause();
  const failed = new Promise<Answered>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve({ status: null, text: error.code ?? error.message }));
  });
  const answered = (async () => {
    const framing = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(bytes) };
    const write = (data: string | Uint8Array) => new Promise<void>((resolve) => socket.write(data, () => resolve()));
    await write(requestHead(method, path, { ...headers, ...framing }));
    for await (const block of blocks(bytes)) {
      if (chunked) await write(`${block.length.toString(16)}\r\n`);
      await write(block);
      if (chunked) await write('\r\n');
    }
    if (chunked) await write('0\r\n\r\n');
    let text = '';
    socket.on('data', (data) => {
      text += String(data);
    });
    const ended = new Promise<void>((resolve) => socket.once('end', () => resolve()));
    socket.resume();
    await ended;
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(text) ?? [];
    const at = text.indexOf('\r\n\r\n');
    return { status: status === undefined ? null : Number(status), text: at === -1 ? text : text.slice(at + 4) };
  })();
  try {
    return await Promise.race([answered, failed]);
  } finally {
    socket.destroy();
  }
}

function run(command: string, given: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, given, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
    child.stdin?.end(input);
  });
}

const PYTHON_CLIENT = fileURLToPath(new URL('upload.py', import.meta.url));

/** One process for all of them. */
const withPython: Uploader = async (url, uploads) =>
  JSON.parse(
    await run('python3', [PYTHON_CLIENT], JSON.stringify({ port: Number(new URL(url).port), cases: uploads })),
  );

const AT_ONCE = 8;

/** A few at once. */
const each =
  (send: (url: string, upload: Upload) => Promise<Answered>): Uploader =>
  async (url, uploads) => {
    const answers: Answered[] = [];
    for (let from = 0; from < uploads.length; from += AT_ONCE) {
      const some = uploads.slice(from, from + AT_ONCE);
      answers.push(...(await Promise.all(some.map((upload) => send(url, upload)))));
    }
    return answers;
  };

export const UPLOADERS: Readonly<Record<string, Uploader>> = {
  'the fetch of Node.js': each(withFetch),
  'the client of Python': withPython,
  'a socket that sends everything before it reads': each(withSocket),
};
