import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { WithoutPersonalData } from './without-personal-data.ts';

test('only listed attributes leave the process: no id of a person, and nothing that an error says', () => {
  const exported = new InMemorySpanExporter();
  const processor = new SimpleSpanProcessor(new WithoutPersonalData(exported));
  const tracer = new BasicTracerProvider({ spanProcessors: [processor] }).getTracer('test');
  const span = tracer.startSpan('POST /users');
  span.setAttributes({ 'http.route': '/users', email: 'a@example.org', workflowId: 'user-invitation/a-person' });
  span.recordException(new Error('a@example.org is taken'));
  span.setStatus({ code: 2, message: 'a@example.org is taken' });
  span.end();
  const [sent] = exported.getFinishedSpans();
  expect(sent).toMatchObject({ attributes: { 'http.route': '/users' }, events: [], status: { code: 2 } });
  expect(Object.keys(sent?.attributes ?? {})).toEqual(['http.route']);
  expect(sent?.status).toEqual({ code: 2 });
});
