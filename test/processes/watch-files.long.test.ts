import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findGo } from '../../dev/common/user-cache.ts';
import { filesBelow } from '../layout/files.ts';
import { amtool, promtool } from '../tools/prometheus.ts';
import { PROJECT_DIRECTORY } from '../tools/run/commands.ts';

// deploy/ by the tools of Prometheus and Alertmanager; watch.long.test.ts holds it against what our processes show.

const execute = promisify(execFile);
const say = (line: string) => console.log(line);
const PROMETHEUS = join(PROJECT_DIRECTORY, 'deploy/prometheus');
const RULE_FILES = ['alerts.yml', 'slo.yml', 'watchdog.yml'];
const TESTS = filesBelow(PROJECT_DIRECTORY, 'deploy/prometheus/tests');

/** What a program prints; its complaints are the failure. */
async function run(program: string, programArguments: readonly string[]): Promise<string> {
  const done = await execute(program, programArguments, { cwd: PROMETHEUS }).catch(({ stdout, stderr }) => {
    throw new Error(`${program} fails:\n${stdout}\n${stderr}`);
  });
  return done.stdout + done.stderr;
}

/** Both are built once into the user's cache, which takes long where other tests run as well. */
const BUILD_MS_MAX = 1_800_000;

describe.skipIf(findGo() === undefined && process.env.CI !== 'true')('by their own tools', () => {
  beforeAll(async () => {
    await promtool(say);
    await amtool(say);
  }, BUILD_MS_MAX);

  test('promtool takes the configuration with every rule file, and finds nothing to mend', async () => {
    const program = await promtool(say);
    expect(parse(readFileSync(join(PROMETHEUS, 'prometheus.yml'), 'utf8')).rule_files).toEqual(RULE_FILES);
    expect(await run(program, ['check', 'config', '--lint=all', '--lint-fatal', 'prometheus.yml'])).toContain(
      'SUCCESS',
    );
    expect(await run(program, ['check', 'rules', '--lint=all', '--lint-fatal', ...RULE_FILES])).toContain('SUCCESS');
  });

  test.each(TESTS)('promtool: %s', async (path) => {
    expect(await run(await promtool(say), ['test', 'rules', join(PROJECT_DIRECTORY, path)])).toContain('SUCCESS');
  });

  test.each([
    ['a page', ['severity=page'], 'pager,chat'],
    ['a ticket', ['severity=ticket'], 'chat'],
    ['the watchdog', ['alertname=Watchdog', 'severity=none'], 'dead-mans-switch'],
    ['what has no severity of ours', ['alertname=Disk'], 'mail'],
  ])('amtool: %s goes where it should', async (_what, labels, receivers) => {
    const program = await amtool(say);
    const file = '../alertmanager/alertmanager.yml';
    expect(await run(program, ['check-config', file])).toContain('SUCCESS');
    expect((await run(program, ['config', 'routes', 'test', `--config.file=${file}`, ...labels])).trim()).toBe(
      receivers,
    );
  });
});
