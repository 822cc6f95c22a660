import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { createDirectories } from '../../activities/providers/directories/directories.ts';
import { ProviderUnavailable } from '../../activities/providers/port.ts';
import type { CallOptions } from '../../activities/providers/ports/common.ts';
import { measured } from '../../activities/providers/ports/measured.ts';
import { createProviders } from '../../activities/providers/providers.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { readDirectoryTls } from '../../config/environment/directory-tls.ts';
import { type ProviderCall, providerCallMetrics } from '../../config/metrics/provider-calls.ts';
import { SANDBOX_SECRET } from '../harness/servers/sandbox.ts';

// Calls to providers are measured at the port: by createProviders and createDirectories, for every adapter and operation.

/** A bank that answers everything in one way. */
async function bank(answer: 'silence' | number): Promise<string> {
  const server = createServer((_request, response) => {
    if (answer !== 'silence') response.writeHead(answer, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Every adapter of the configuration, and the recorded outcomes of its calls. */
function adapters(sandboxUrl: string) {
  const calls: ProviderCall[] = [];
  const configuration = loadConfiguration({});
  const settings = { sandboxUrl, sandboxBankSecret: SANDBOX_SECRET };
  const hears = { expect: () => {}, ended: (call: ProviderCall) => void calls.push(call) };
  const providers = [...createProviders(configuration, settings, hears)];
  const directories = Object.values(
    createDirectories(configuration, { ...settings, directoryTls: readDirectoryTls({}) }, hears),
  ).flatMap((of) => [...of]);
  return { calls, all: [...providers, ...directories] };
}

/** What each operation needs to get as far as its request; the others take any object. */
const FIRST: Readonly<Record<string, unknown>> = {
  lookUpPayment: 'reference',
  lookUpAccount: 'id',
  verifyName: {
    reference: 'r',
    identification: null,
    secondaryIdentification: null,
    bankAccount: { routingCodes: {} },
  },
};
/** The bank answers at once; a busy machine may not. */
const PATIENT: CallOptions = { deadlineMs: 60_000 };
/** For a bank that never answers. */
const QUICK: CallOptions = { deadlineMs: 100 };

test('every operation of an adapter or directory that calls outside is measured once, however many calls it makes', async () => {
  const { calls, all } = adapters(await bank(503));
  expect(all.length).toBeGreaterThan(1);
  for (const [code, adapter] of all) {
    const operations = Object.entries(adapter).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []));
    expect(operations.length).toBeGreaterThan(0);
    for (const operation of operations.filter((name) => name !== 'verifyCallback')) {
      calls.splice(0);
      const ask: unknown = Reflect.get(adapter, operation);
      if (typeof ask !== 'function') throw new Error(`${operation} is no operation`);
      await expect(ask(FIRST[operation] ?? {}, PATIENT), operation).rejects.toThrow();
      expect(calls, operation).toEqual([
        {
          provider: code,
          operation,
          outcome: expect.stringMatching(/^(unavailable|error)$/),
          seconds: expect.any(Number),
        },
      ]);
    }
  }
});

test.each([
  ['silent', 'silence', 'timeout'],
  ['failing', 503, 'unavailable'],
  ['babbling', 200, 'not-understood'],
] as const)('the outcome of its calls shows a %s bank', async (_, answer, outcome) => {
  const { calls, all } = adapters(await bank(answer));
  const [provider] = all.map(([, adapter]) => adapter);
  if (provider === undefined || !('lookUpPayment' in provider)) throw new Error('no provider');
  const call = answer === 'silence' ? QUICK : PATIENT;
  await expect(provider.lookUpPayment('reference', call)).rejects.toThrow(ProviderUnavailable);
  expect(calls.map((call) => call.outcome)).toEqual([outcome]);
});

test('answers, defects and aborted calls have outcomes of their own, and change nothing for the caller', async () => {
  const outcomes: string[] = [];
  const port = measured(
    {
      name: 'bank',
      answer: async (value: unknown, _call: CallOptions) => value,
      fail: async (error: Error, _call: CallOptions): Promise<never> => {
        throw error;
      },
      now: () => 'at once',
    },
    'bank',
    { expect: () => {}, ended: ({ operation, outcome }) => void outcomes.push(`${operation}: ${outcome}`) },
  );
  for (const value of [{ outcome: 'rejected' }, { outcome: 'not-found' }, { outcome: 'accepted' }, 'text', null])
    expect(await port.answer(value, {})).toBe(value);
  const defect = new TypeError('a defect');
  await expect(port.fail(defect, {})).rejects.toBe(defect);
  await expect(port.fail(defect, { signal: AbortSignal.abort() })).rejects.toBe(defect);
  expect([port.now(), port.name]).toEqual(['at once', 'bank']);
  expect(outcomes).toEqual([
    'answer: rejected',
    'answer: not-found',
    'answer: ok',
    'answer: ok',
    'answer: ok',
    'fail: error',
    'fail: cancelled',
  ]);
});

test('the first failure of a night counts in an increase: its series began at 0', async () => {
  const registry = new Registry();
  const settings = { sandboxUrl: await bank(503), sandboxBankSecret: SANDBOX_SECRET };
  const providers = createProviders(loadConfiguration({}), settings, providerCallMetrics(registry));
  const labels = 'provider="sandbox-bank",operation="lookUpPayment"';
  const before = await registry.metrics();
  expect(before).toContain(`provider_requests_total{${labels},outcome="unavailable"} 0`);
  expect(before).not.toContain('verifyCallback');
  await expect(providers.get('sandbox-bank')?.lookUpPayment('reference', PATIENT)).rejects.toThrow(ProviderUnavailable);
  const text = await registry.metrics();
  expect(text).toContain(`provider_requests_total{${labels},outcome="unavailable"} 1`);
  expect(text).toContain(`provider_requests_total{${labels},outcome="timeout"} 0`);
  expect(text).toContain(`provider_request_duration_seconds_count{${labels}} 1`);
});
