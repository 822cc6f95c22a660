import { expect, test } from 'vitest';
import { readWorkerSettings, WORKER_DEFAULTS } from './worker-settings.ts';

test('a worker polls every task queue, or those that it is given, each once', () => {
  expect(readWorkerSettings({})).toEqual(WORKER_DEFAULTS);
  expect(readWorkerSettings({ WORKER_TASK_QUEUES: 'webhooks, providers,webhooks' }).taskQueues).toEqual([
    'providers',
    'webhooks',
  ]);
  for (const names of ['payments', 'providers,', 'providers;webhooks'])
    expect(() => readWorkerSettings({ WORKER_TASK_QUEUES: names })).toThrow(
      /^WORKER_TASK_QUEUES must list some of workflows, providers, webhooks, not "/,
    );
});

test('a drain is a whole number of seconds', () => {
  expect(readWorkerSettings({ WORKER_DRAIN_SECONDS: '65' }).drainSeconds).toBe(65);
  expect(() => readWorkerSettings({ WORKER_DRAIN_SECONDS: '1m' })).toThrow(
    'WORKER_DRAIN_SECONDS must be a whole number',
  );
});
