import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { readDocument } from '../documents/printed.ts';
import { eventually, temporaryDirectory } from '../harness/servers/sandbox.ts';
import { printedBy } from '../harness/servers/started-service.ts';

// How the npm scripts start our programs, which may hold something when they are asked to stop.

const PROJECT_DIRECTORY = fileURLToPath(new URL('../..', import.meta.url));
const LIMIT_MS = 120_000;

/** As on a busy machine: the program learns of the signal late, and then ends in order. */
const LATE = `
  const held = () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000); };
  const asked = (signal: NodeJS.Signals) => { held(); console.log('ended in order after ' + signal); process.exit(0); };
  process.on('SIGINT', asked).on('SIGTERM', asked);
  setInterval(held, 10);
  console.log('ready');
`;

const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(readDocument('package.json'));
/** What stands before the program of each script that runs one of ours: a new script joins by itself. */
const STARTERS = Object.entries(scripts).flatMap(([name, command]) => {
  const [, starter] = /^(.*?)\s*\S+\.ts\b/.exec(command) ?? [];
  return starter === undefined ? [] : [{ name, starter }];
});
const DIFFERENT = [...new Set(STARTERS.map(({ starter }) => starter))].map((starter) => ({ starter }));

let directory: ReturnType<typeof temporaryDirectory>;

beforeAll(() => {
  directory = temporaryDirectory();
  writeFileSync(join(directory.path, 'late.ts'), LATE);
});

afterAll(() => directory?.remove());

test('every script with a program of ours is here', () => {
  expect(STARTERS.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'start',
      'api',
      'loops',
      'worker',
      'console',
      'sandbox',
      'demo',
      'listen',
      'operate',
      'fas',
    ]),
  );
  const others = Object.entries(scripts).filter(([name]) => STARTERS.every((one) => one.name !== name));
  for (const [name, command] of others) expect(command, name).not.toContain('tsx ');
});

test.each(DIFFERENT.flatMap((one) => (['SIGTERM', 'SIGINT'] as const).map((signal) => ({ ...one, signal }))))(
  'a program under “$starter” that learns late of a $signal ends in order',
  async ({ starter, signal }) => {
    const [command = '', ...words] = starter.split(' ');
    const installed = join(PROJECT_DIRECTORY, 'node_modules/.bin', command);
    const program = existsSync(installed) ? installed : process.execPath;
    const child = spawn(program, [...words, join(directory.path, 'late.ts')], { cwd: PROJECT_DIRECTORY });
    onTestFinished(() => void child.kill('SIGKILL'));
    const printed = printedBy(child);
    const ended = new Promise((resolve) => child.once('close', (code, by) => resolve(code ?? by)));
    await eventually('it is ready', () => (printed.output().includes('ready') ? true : undefined), LIMIT_MS);
    child.kill(signal);
    expect(await ended).toBe(0);
    expect(printed.output()).toContain(`ended in order after ${signal}`);
  },
);
