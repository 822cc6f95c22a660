import { spawn } from 'node:child_process';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { freePort } from '../../dev/servers/ports.ts';
import { until } from '../harness/stage.ts';
import { prometheusServer } from '../tools/prometheus.ts';
import { PROJECT_DIRECTORY } from '../tools/run/commands.ts';

export interface RunningPrometheus {
  /** The values that a query gives now; none that is no number, as of a quantile of nothing. */
  query(expression: string): Promise<readonly number[]>;
  close(): Promise<void>;
}

const ANSWER = v.object({
  status: v.literal('success'),
  data: v.object({ result: v.array(v.object({ value: v.tuple([v.number(), v.string()]) })) }),
});

/** A Prometheus that scrapes these addresses each second, by job, with the rules of deploy/prometheus. */
export async function startPrometheus(
  directory: string,
  jobs: Readonly<Record<string, readonly string[]>>,
  labels: Readonly<Record<string, string>>,
): Promise<RunningPrometheus> {
  const program = await prometheusServer((line) => console.log(line));
  const port = await freePort();
  const rules = ['alerts.yml', 'slo.yml'].map((name) => join(PROJECT_DIRECTORY, 'deploy/prometheus', name));
  const configuration = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '2s' },
    rule_files: rules,
    scrape_configs: Object.entries(jobs).map(([job, urls]) => ({
      job_name: job,
      static_configs: [{ targets: urls.map((url) => new URL(url).host), labels }],
    })),
  };
  // YAML takes JSON.
  const file = join(directory, 'prometheus.yml');
  writeFileSync(file, JSON.stringify(configuration));
  const logFile = join(directory, 'prometheus.log');
  const log = openSync(logFile, 'a');
  const child = spawn(
    program,
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(directory, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', log, log] },
  );
  const ended = new Promise((resolve) => child.once('close', resolve));
  process.once('exit', () => child.kill('SIGKILL'));
  const origin = `http://127.0.0.1:${port}`;
  await until(
    async () => {
      if (child.exitCode !== null) throw new Error(readFileSync(logFile, 'utf8').slice(-2_000));
      return fetch(`${origin}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    },
    (isReady) => isReady,
  );
  return {
    query: async (expression) => {
      const answer = await fetch(`${origin}/api/v1/query`, {
        method: 'POST',
        body: new URLSearchParams({ query: expression }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${expression}: ${text}`);
      const { result } = v.parse(ANSWER, JSON.parse(text)).data;
      return result
        .map(({ value: [, shown] }) => Number(shown.replace('Inf', 'Infinity')))
        .filter((one) => !Number.isNaN(one));
    },
    close: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
