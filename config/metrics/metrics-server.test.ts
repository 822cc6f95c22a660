import { expect, onTestFinished, test } from 'vitest';
import { readMetricsAddress, startMetricsServer } from './metrics-server.ts';

test('metrics are heard on the loopback address alone, unless the operator says otherwise', async () => {
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
