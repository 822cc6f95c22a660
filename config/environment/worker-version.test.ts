import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { workerVersion } from '../temporal.ts';

test('workers have a version if their deployment has a name, by default the release’s number', () => {
  expect(workerVersion({ TEMPORAL_DEPLOYMENT_NAME: ' ' })).toBeNull();
  const TEMPORAL_DEPLOYMENT_NAME = 'accounts-live';
  expect(workerVersion({ TEMPORAL_DEPLOYMENT_NAME })).toEqual({
    deploymentName: 'accounts-live',
    buildId: manifest.version,
  });
  expect(workerVersion({ TEMPORAL_DEPLOYMENT_NAME, TEMPORAL_WORKER_BUILD_ID: '2026.11.24' })).toEqual({
    deploymentName: 'accounts-live',
    buildId: '2026.11.24',
  });
});

test('a version that Temporal would not take, or that would be without effect, is rejected in one line', () => {
  for (const name of ['one.two', 'one:two', 'one two', '__one'])
    expect(() => workerVersion({ TEMPORAL_DEPLOYMENT_NAME: name })).toThrow(/^TEMPORAL_DEPLOYMENT_NAME must be/);
  for (const TEMPORAL_WORKER_BUILD_ID of ['a b', '__a'])
    expect(() => workerVersion({ TEMPORAL_DEPLOYMENT_NAME: 'one', TEMPORAL_WORKER_BUILD_ID })).toThrow(
      /^TEMPORAL_WORKER_BUILD_ID must be/,
    );
  expect(() => workerVersion({ TEMPORAL_WORKER_BUILD_ID: '1' })).toThrow(/needs TEMPORAL_DEPLOYMENT_NAME/);
});
