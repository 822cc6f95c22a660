import { expect, test } from 'vitest';
import { startTracing, tracing } from './tracing.ts';
import { readTracingSettings } from './tracing-settings.ts';

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:4318';

test('traces are off unless a collector is named, and where OpenTelemetry’s own switches say so', async () => {
  expect(readTracingSettings({})).toBeNull();
  expect(readTracingSettings({ OTEL_TRACES_SAMPLER: 'always_on' })).toBeNull();
  expect(readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' })).toBeNull();
  expect(readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none' })).toBeNull();
  await startTracing({}, 'api');
  expect(tracing()).toBeNull();
});

test('a collector is named for all or for traces, with a protocol for all or for traces', () => {
  expect(readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT })).toEqual({ protocol: 'http/protobuf' });
  const json = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  expect(readTracingSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:1/own', ...json })).toEqual({
    protocol: 'http/json',
  });
  const own = { ...json, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf' };
  expect(readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT, ...own })).toEqual({ protocol: 'http/protobuf' });
});

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', '127.0.0.1:4318'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'file:///spans'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc'],
  ['OTEL_TRACES_SAMPLER', 'sometimes'],
  ['OTEL_TRACES_SAMPLER_ARG', '10%'],
  ['OTEL_TRACES_EXPORTER', 'console'],
  ['OTEL_SDK_DISABLED', 'yes'],
])('%s as %s stops the start with the variable and its rule', (name, value) => {
  expect(() => readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT, [name]: value })).toThrow(
    new RegExp(`^${name} must be .*`),
  );
});
