import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './printed.ts';

/** A fenced block of a guide. A `text` block after another is what that one prints. */
export interface Block {
  readonly language: string;
  readonly text: string;
}

export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text }));
}

/** Whether the output is what the guide shows: each `…` stands for any characters. */
export function isOutput(shown: string, printed: string): boolean {
  const pattern = shown
    .trim()
    .split('…')
    .map((part) => part.replace(/[.*+?^$()|[\]\\{}]/g, '\\$&'))
    .join('.*');
  return new RegExp(`^${pattern}$`, 's').test(printed.trim());
}

const BLOCK_MS_MAX = 300_000;

/** One shell that runs blocks one after another, as a reader would paste them: variables and functions stay. */
export class GuideShell {
  readonly #shell: ChildProcess;
  readonly #folder = mkdtempSync(join(tmpdir(), 'guides-'));
  #output = '';
  #errors = '';

  constructor(environment: NodeJS.ProcessEnv) {
    // A group of its own, so that what a block leaves running in the background ends with it.
    this.#shell = spawn('bash', ['--noprofile', '--norc'], { cwd: ROOT, env: environment, detached: true });
    this.#shell.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#output += chunk;
    });
    this.#shell.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#errors += chunk;
    });
    // A command that fails anywhere in a block, also in a pipe or a function, fails the block.
    this.#shell.stdin?.write(`set -E -o pipefail; trap 'failed=1; echo "failed: $BASH_COMMAND" >&2' ERR\n`);
  }

  /** What the block prints. Throws if a command of it fails, or if it does not end. */
  async run(block: string): Promise<string> {
    const end = randomUUID();
    const file = join(this.#folder, 'block.sh');
    writeFileSync(file, block);
    this.#output = '';
    this.#errors = '';
    this.#shell.stdin?.write(`failed=0; source ${file}; printf '\\n${end} %s\\n' "$failed"\n`);
    const pattern = new RegExp(`\\n${end} (\\d)\\n`);
    const deadlineMs = performance.now() + BLOCK_MS_MAX;
    for (;;) {
      const found = pattern.exec(this.#output);
      if (found?.[1] === '0') return this.#output.slice(0, found.index);
      if (found !== null || this.#shell.exitCode !== null || performance.now() > deadlineMs)
        throw new Error(
          `This block ${found === null ? 'does not end' : 'fails'}:\n${block}\n${this.#output}${this.#errors}`,
        );
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  close(): void {
    const { pid } = this.#shell;
    if (pid !== undefined && this.#shell.exitCode === null) process.kill(-pid, 'SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
