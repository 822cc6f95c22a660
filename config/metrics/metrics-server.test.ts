import { expect, onTestFinished, test } from 'vitest';
import { readMetricsAddress, startMetricsServer } from './metrics-server.ts';

test('metrics are served on the loopback address only, unless the operator says otherwise', async () => {
  const server = await startMetricsServer({ ...readMetricsAddress({}), port: 0 }, async () => ({
    text: 'volumes 1\n',
    contentType: 'text/plain',
  }));
  onTestFinished(() => server.close());
  const read = (host: string) => fetch(`http://${host}:${server.port}/metrics`).then((answer) => answer.text());
  expect(await read('127.0.0.1')).toBe('volumes 1\n');
  // Other addresses of the machine: a server that listens on all of them would answer here too.
  for (const other of ['127.0.0.2', '[::1]']) await expect(read(other)).rejects.toThrow();
  expect(readMetricsAddress({ METRICS_HOST: '0.0.0.0' }).host).toBe('0.0.0.0');
});

test('a process without another port tells there whether it runs, and whether it works', async () => {
  let isReady = false;
  const read = async () => ({ text: '', contentType: 'text/plain' });
  const server = await startMetricsServer({ ...readMetricsAddress({}), port: 0 }, read, () => isReady);
  onTestFinished(() => server.close());
  const statusOf = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`).then(({ status }) => status);
  expect([await statusOf('/health/live'), await statusOf('/health/ready')]).toEqual([200, 503]);
  isReady = true;
  expect(await statusOf('/health/ready')).toBe(200);
  expect(await statusOf('/health')).toBe(404);
});
