import { spawn } from 'node:child_process';

const PROGRESS_INTERVAL_MS = 10_000;
const OUTPUT_LINES_KEPT = 20;

export interface LongCommand {
  command: string;
  arguments: readonly string[];
  /** Start of each progress line: the step, and who needs it. */
  title: string;
  onProgress: (line: string) => void;
  environment?: NodeJS.ProcessEnv;
  cwd?: string;
  timeoutMs?: number;
}

/**
 * Runs a slow command with a progress line every ten seconds. Rejects with its last output if it fails; ends with us.
 */
export async function runLongCommand(options: LongCommand): Promise<void> {
  const child = spawn(options.command, [...options.arguments], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: options.environment ?? process.env,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const lines: string[] = [];
  const keep = (chunk: Buffer) => {
    lines.push(
      ...chunk
        .toString('utf8')
        .split('\n')
        .filter((line) => line.trim() !== ''),
    );
    lines.splice(0, Math.max(0, lines.length - OUTPUT_LINES_KEPT));
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1000);
  const progress = setInterval(
    () => options.onProgress(`${options.title} … ${seconds()} s: ${lines.at(-1) ?? 'working'}`),
    PROGRESS_INTERVAL_MS,
  );
  const endWithUs = () => child.kill('SIGTERM');
  process.once('exit', endWithUs);
  const timer =
    options.timeoutMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), options.timeoutMs);
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        if (code === 0) resolve();
        else
          reject(
            new Error(`${options.command} ended with ${signal ?? `exit code ${code}`}: ${lines.at(-1) ?? 'no output'}`),
          );
      });
    });
  } finally {
    clearInterval(progress);
    clearTimeout(timer);
    process.off('exit', endWithUs);
  }
}
