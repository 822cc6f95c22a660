import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMAND_NOUNS, COMMANDS } from '../../cli/commands.ts';
import { runCommandLine } from '../../cli/program/run.ts';
import { printedBy } from '../harness/servers/started-service.ts';
import { fasArguments } from '../tools/run/entries.ts';

export interface Ran {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

export interface FasOptions {
  readonly input?: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** Ctrl-C is pressed once this is there. */
  readonly interruptedBy?: Promise<unknown>;
}

/** A user's folder with its own configuration, and nothing of the tests' environment. */
export interface FasUser {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Writes a file of the user, and returns its path. */
  file(name: string, content: string): string;
  /** Runs the bundle as a process. */
  fas(words: readonly string[], given?: FasOptions): Promise<Ran>;
  /** Runs the same command line in this process, as it takes a hundredth of the time. */
  run(words: readonly string[], environment?: NodeJS.ProcessEnv): Promise<Ran>;
  remove(): void;
}

export function fasUser(): FasUser {
  const folder = mkdtempSync(join(tmpdir(), 'fas-'));
  const own = { PATH: process.env.PATH, HOME: folder, DATA_DIR: join(folder, 'data') };
  return {
    folder,
    environment: own,
    file: (name, content) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
    fas: (words, { input = '', environment = {}, interruptedBy } = {}) =>
      new Promise((resolve) => {
        const child = spawn(process.execPath, [...fasArguments(), ...words], { env: { ...own, ...environment } });
        const printed = printedBy(child);
        child.once('close', (status) => resolve({ status, output: printed.output(), errors: printed.errors() }));
        child.stdin.end(input);
        void interruptedBy?.then(() => child.kill('SIGINT'));
      }),
    run: async (words, environment = {}) => {
      let output = '';
      let errors = '';
      const status = await runCommandLine({
        words,
        commands: COMMANDS,
        nouns: COMMAND_NOUNS,
        version: '0.0.0',
        environment: { ...own, ...environment },
        streams: {
          data: { write: (text) => (output += text) },
          errors: { write: (text) => (errors += text) },
        },
        signal: new AbortController().signal,
      });
      return { status, output, errors };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Every line is JSON of its own; without the progress that a slow machine gets to see. */
export function jsonLines(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !/"note":".* kB received/.test(line))
    .map((line) => JSON.parse(line));
}
