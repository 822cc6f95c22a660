import { createReadStream, existsSync, mkdirSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * An append-only file of lines. An append resolves once its line is on disk; lines that arrive during one sync share
 * the next. A process killed in mid-line loses only that unacknowledged line.
 */
export class Journal {
  readonly #handle: FileHandle;
  readonly #onFailure: (error: unknown) => void;
  #pending: string[] = [];
  #next: Promise<void> | null = null;
  #running: Promise<void> = Promise.resolve();

  private constructor(handle: FileHandle, onFailure: (error: unknown) => void) {
    this.#handle = handle;
    this.#onFailure = onFailure;
  }

  /** Passes all lines to `replay`, oldest first, and opens the file after the last complete one. */
  static async open(
    file: string,
    options: { replay: (line: string) => void; onFailure: (error: unknown) => void },
  ): Promise<Journal> {
    mkdirSync(dirname(file), { recursive: true });
    const length = existsSync(file) ? await readLines(file, options.replay) : 0;
    // Everything written to it is on disk.
    const handle = await open(file, 'as');
    await handle.truncate(length);
    await handle.sync();
    return new Journal(handle, options.onFailure);
  }

  /** Replaces all lines. Either the old or the new file exists at any instant. */
  static async replace(file: string, lines: Iterable<string>): Promise<void> {
    const next = `${file}.next`;
    await rm(next, { force: true });
    const handle = await open(next, 'w');
    for (const batch of batches(lines)) await handle.appendFile(batch);
    await handle.sync();
    await handle.close();
    await rename(next, file);
    const directory = await open(dirname(file), 'r');
    await directory.sync();
    await directory.close();
  }

  /** Resolves when the line is on the disk. */
  append(line: string): Promise<void> {
    this.#pending.push(`${line}\n`);
    return this.#schedule();
  }

  /** Resolves when all lines so far are on the disk. */
  settled(): Promise<void> {
    return this.#next ?? this.#running;
  }

  async close(): Promise<void> {
    await this.settled();
    await this.#handle.close();
  }

  #schedule(): Promise<void> {
    if (this.#next !== null) return this.#next;
    const next = this.#running.then(async () => {
      const batch = this.#pending.join('');
      this.#pending = [];
      this.#next = null;
      this.#running = next;
      await this.#handle.appendFile(batch);
    });
    next.catch(this.#onFailure);
    this.#next = next;
    return next;
  }
}

const BATCH_LINES = 5_000;

function* batches(lines: Iterable<string>): Generator<string> {
  let batch: string[] = [];
  for (const line of lines) {
    batch.push(`${line}\n`);
    if (batch.length < BATCH_LINES) continue;
    yield batch.join('');
    batch = [];
  }
  yield batch.join('');
}

/** The length of the complete lines; anything after them was being written when the process ended. */
async function readLines(file: string, replay: (line: string) => void): Promise<number> {
  let length = 0;
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(file)) {
    const data = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = data.indexOf(10); end !== -1; end = data.indexOf(10, start)) {
      replay(data.toString('utf8', start, end));
      start = end + 1;
    }
    length += start;
    rest = data.subarray(start);
  }
  return length;
}
