import { EnvironmentError, readChoice, readHttpUrl, readText } from '../environment.ts';

export interface TracingSettings {
  readonly protocol: 'http/protobuf' | 'http/json';
}

const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const;
const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** The variables of OpenTelemetry, most of which its SDK reads itself. Null: traces are off. */
export function readTracingSettings(env: NodeJS.ProcessEnv): TracingSettings | null {
  const base = readText(env, 'OTEL_EXPORTER_OTLP_ENDPOINT', '');
  if (readText(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', base) === '') return null;
  if (readChoice(env, 'OTEL_SDK_DISABLED', ['true', 'false'], 'false') === 'true') return null;
  for (const name of ENDPOINTS) readHttpUrl(env, name, 'http://127.0.0.1');
  if (readChoice(env, 'OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp') === 'none') return null;
  readChoice(env, 'OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_always_on');
  const ratio = readText(env, 'OTEL_TRACES_SAMPLER_ARG', '1');
  if (!(Number(ratio) >= 0 && Number(ratio) <= 1)) {
    throw new EnvironmentError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "${ratio}".`);
  }
  const ofAll = readChoice(env, 'OTEL_EXPORTER_OTLP_PROTOCOL', PROTOCOLS, 'http/protobuf');
  return { protocol: readChoice(env, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', PROTOCOLS, ofAll) };
}
