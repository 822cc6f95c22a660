import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isAlive, signalProcess, spawnRecorded, waitForEnd } from '../../cli/common/processes.ts';
import { killWhenStuck } from './temporal-watch.ts';

// This state cannot be produced at will, so the answers are scripted; the process is a real one.

const STUCK = '14 UNAVAILABLE: GetNamespace operation failed. Error interrupted (9)';
const BUSY = '4 DEADLINE_EXCEEDED: Deadline exceeded';

async function idleProcess() {
  const directory = mkdtempSync(join(tmpdir(), 'temporal-watch-'));
  const running = await spawnRecorded({
    command: process.execPath,
    arguments: ['-e', 'setInterval(() => {}, 1000)'],
    environment: {},
    logFile: join(directory, 'log'),
    pidFile: join(directory, 'pid'),
  });
  const kill = async () => {
    signalProcess(running, 'SIGKILL');
    await waitForEnd(running, 5_000);
  };
  onTestFinished(async () => {
    if (isAlive(running)) await kill();
    rmSync(directory, { recursive: true, force: true });
  });
  return { process: running, kill };
}

test('a server whose database fails three calls in a row is killed, with a line that says so', async () => {
  const server = await idleProcess();
  const lines: string[] = [];
  let calls = 0;
  const ask = async () => {
    calls += 1;
    throw new Error(STUCK);
  };
  await killWhenStuck(server, ask, (line) => lines.push(line), 5);
  expect(calls).toBe(3);
  expect(lines).toEqual(['temporal runs, but its database fails every call; ending it.']);
  expect(isAlive(server.process)).toBe(false);
});

test('a busy server, and one whose database failed twice, stay; the watch ends with the process', async () => {
  const server = await idleProcess();
  const answers = [BUSY, BUSY, BUSY, BUSY, STUCK, STUCK, null, STUCK, STUCK, BUSY];
  let asked = 0;
  const ask = async () => {
    const answer = answers[asked];
    asked += 1;
    if (asked === answers.length) {
      expect(isAlive(server.process)).toBe(true);
      await server.kill();
    }
    if (answer != null) throw new Error(answer);
  };
  await killWhenStuck(server, ask, () => expect.unreachable('it was not stuck'), 5);
  expect(asked).toBe(answers.length);
});
