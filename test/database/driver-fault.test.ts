import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

const SCRIPT = fileURLToPath(new URL('../harness/faults/driver-fault-process.ts', import.meta.url));

let testDatabase: TestDatabase;

beforeAll(async () => {
  testDatabase = await createEmptyDatabase('driver_fault');
});

afterAll(() => testDatabase?.drop());

function run(mode: string): Promise<{ code: number | null; output: string; errors: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', SCRIPT, mode, testDatabase.url], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    let errors = '';
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString();
    });
    child.stderr.on('data', (data: Buffer) => {
      errors += data.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output, errors }));
  });
}

test("the driver's own fault is real: without a guard, a transaction whose session ends takes the process along", async () => {
  const { code, output, errors } = await run('unguarded');
  expect(code).not.toBe(0);
  expect(output).not.toContain('lived');
  expect(errors).toMatch(/TypeError[\s\S]*nextWrite/);
});

test('with the guard the process lives on and the clients are renewed', async () => {
  const { code, output } = await run('guarded');
  expect(output).toContain('renewed: ');
  expect(output).toContain('lived');
  expect(code).toBe(0);
});

test('every other uncaught error still ends the process, with one logged line', async () => {
  const { code, output, errors } = await run('other-error');
  expect(code).toBe(1);
  expect(output).not.toContain('lived');
  const lines = errors.trim().split('\n');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 60, msg: 'uncaught error' });
});
