import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LOOPBACK = '127.0.0.1';

/** Below the ephemeral range, so that a restarted server finds its own still free. */
export const FREE_PORTS = { first: 20_000, last: 29_999 } as const;

/** Whether a server could listen on this loopback port now. */
export async function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** One file per port that a living process was given; a folder per user, as others could not write there. They go with the process. */
const RESERVATIONS = join(tmpdir(), `financial-accounts-ports-${process.getuid?.() ?? 'any'}`);

/** A free loopback port; never one that this or another living process was given, even while its server is down. */
export async function freePort(): Promise<number> {
  prepare();
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = FREE_PORTS.first + Math.floor(Math.random() * (FREE_PORTS.last - FREE_PORTS.first + 1));
    if (reserve(port) && (await isPortFree(port))) return port;
  }
  throw new Error(`No free port between ${FREE_PORTS.first} and ${FREE_PORTS.last} on ${LOOPBACK}.`);
}

/** The files of this process's ports. */
const reserved = new Set<string>();
let isPrepared = false;

/** Once per process: removes the files of dead processes, and its own at its end. */
function prepare(): void {
  if (isPrepared) return;
  isPrepared = true;
  mkdirSync(RESERVATIONS, { recursive: true });
  for (const name of readdirSync(RESERVATIONS)) removeIfStale(join(RESERVATIONS, name));
  process.once('exit', () => {
    for (const file of reserved) rmSync(file, { force: true });
  });
}

function reserve(port: number): boolean {
  const file = join(RESERVATIONS, String(port));
  const isOurs = claim(file) || (removeIfStale(file) && claim(file));
  if (isOurs) reserved.add(file);
  return isOurs;
}

/** An owner has written its number within milliseconds; a crash may leave an empty file. */
const WRITTEN_MS_MAX = 60_000;

/** Moved aside before removal: of several that find a stale file only one can move it, and a fresh one is put back. */
function removeIfStale(file: string): boolean {
  const owner = ownerOf(file);
  if (Number.isNaN(owner) ? isFresh(file) : isRunning(owner)) return false;
  const aside = `${file}.stale-${process.pid}`;
  try {
    renameSync(file, aside);
    if (Object.is(ownerOf(aside), owner)) rmSync(aside, { force: true });
    else renameSync(aside, file);
    return true;
  } catch {
    // Another process was faster.
    return false;
  }
}

function isFresh(file: string): boolean {
  try {
    return Date.now() - statSync(file).mtimeMs < WRITTEN_MS_MAX;
  } catch {
    return true;
  }
}

function claim(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Not a number while its owner is still writing it. */
function ownerOf(file: string): number {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10);
  } catch {
    return Number.NaN;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
