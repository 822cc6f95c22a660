import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ActionableError, errorMessage } from '../../cli/common/actionable-error.ts';
import { underFileLock } from '../../cli/common/processes.ts';
import { runLongCommand } from '../common/long-command.ts';
import { findGo, findOnPath, outputOf, userCacheDirectory } from '../common/user-cache.ts';

/** Server 1.29 with UI; `go install` cannot build later CLI versions, whose go.mod contains replace directives. */
const CLI_VERSION = 'v1.5.1';

/** A download unfinished by now is slower than a build, or hangs behind a firewall. */
const DOWNLOAD_TIMEOUT_MS = 30_000;
/** Without a compiler the download is the only option, so a slow line gets more time. */
const DOWNLOAD_TIMEOUT_WITHOUT_GO_MS = 600_000;

/**
 * Path of a working Temporal CLI: on PATH, cached, downloaded by the SDK, or built with Go. A fetched one stays in
 * the cache.
 */
export async function temporalBinary(onProgress: (line: string) => void = () => {}): Promise<string> {
  const given = process.env.TEMPORAL_CLI_PATH;
  if (given !== undefined && given !== '') {
    if (works(given)) return given;
    throw new ActionableError(
      `TEMPORAL_CLI_PATH is "${given}", which does not run. Set it to a Temporal CLI, or unset it.`,
    );
  }
  const onPath = findOnPath('temporal');
  if (onPath !== undefined && works(onPath)) return onPath;
  const cached = join(userCacheDirectory('bin'), 'temporal');
  if (existsSync(cached) && works(cached)) return cached;
  return underFileLock(
    join(userCacheDirectory(), 'temporal.lock'),
    async () => {
      // The previous lock holder may have fetched it.
      if (existsSync(cached) && works(cached)) return cached;
      await obtain(cached, onProgress);
      return cached;
    },
    () => onProgress('Another process is getting the Temporal CLI; waiting for it …'),
  );
}

function works(path: string): boolean {
  return outputOf(path, ['--version'])?.includes('Server') ?? false;
}

async function obtain(target: string, onProgress: (line: string) => void): Promise<void> {
  const staging = mkdtempSync(join(userCacheDirectory(), 'staging-'));
  const go = findGo();
  try {
    const failures: string[] = [];
    for (const way of [() => download(staging, go !== undefined, onProgress), () => build(staging, go, onProgress)]) {
      try {
        const found = await way();
        if (!works(found)) throw new Error('the result does not run on this machine');
        renameSync(found, target);
        return;
      } catch (error) {
        const [reason] = errorMessage(error).split('\n');
        failures.push(reason ?? 'failed');
        onProgress(`Did not get the Temporal CLI this way: ${reason}`);
      }
    }
    throw new ActionableError(
      `No Temporal CLI: not on PATH, and it could be neither downloaded nor built (${failures.at(-1)}). Install it (docs.temporal.io/cli) or Go 1.25 or later, or set TEMPORAL_ADDRESS to a Temporal server of yours.`,
    );
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Downloads with the SDK in a separate process that can be aborted. */
async function download(staging: string, haveGo: boolean, onProgress: (line: string) => void): Promise<string> {
  onProgress('Downloading the Temporal CLI (about 50 MB, once) …');
  const script = fileURLToPath(new URL('./download-temporal.mjs', import.meta.url));
  await runLongCommand({
    command: process.execPath,
    arguments: [script, staging],
    title: 'Downloading the Temporal CLI',
    onProgress,
    timeoutMs: haveGo ? DOWNLOAD_TIMEOUT_MS : DOWNLOAD_TIMEOUT_WITHOUT_GO_MS,
  });
  const file = readdirSync(staging).find(
    (name) => name.startsWith('temporal') && statSync(join(staging, name)).isFile(),
  );
  if (file === undefined) throw new Error('the download left no file');
  return join(staging, file);
}

async function build(staging: string, go: string | undefined, onProgress: (line: string) => void): Promise<string> {
  if (go === undefined) throw new Error('Go is not installed');
  onProgress('Building the Temporal CLI with Go; this takes about five minutes, and only the first time …');
  await runLongCommand({
    command: go,
    arguments: ['install', '-v', '-ldflags', '-s -w', `github.com/temporalio/cli/cmd/temporal@${CLI_VERSION}`],
    title: 'Building the Temporal CLI',
    onProgress,
    environment: { ...process.env, GOBIN: staging },
  });
  return join(staging, 'temporal');
}
