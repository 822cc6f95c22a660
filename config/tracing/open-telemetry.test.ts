import { expect, onTestFinished, test, vi } from 'vitest';
import { startSpanReceiver } from '../../test/harness/http/span-receiver.ts';
import { openTelemetry } from './open-telemetry.ts';

const OURS = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const SENT_SAMPLED = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`;
const SENT_UNSAMPLED = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00`;

async function received(sent: string) {
  const spans = await startSpanReceiver();
  for (const [name, value] of Object.entries(spans.environment)) vi.stubEnv(name, value);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await spans.close();
  });
  const tracing = openTelemetry({ protocol: 'http/json' }, 'api');
  const request = tracing.beginRequest('POST /provider-callbacks/{provider}', sent);
  tracing.beginReceipt('receive payment-completed', {}, OURS, request).end({});
  request.end({});
  await tracing.stop();
  const named = (begin: string) => spans.received().find(({ name }) => name.startsWith(begin));
  return { request: named('POST'), receipt: named('receive') };
}

test('what a message does in a trace of ours and the request that carried it point to each other', async () => {
  const { request, receipt } = await received(SENT_SAMPLED);
  const of = (span: typeof request) => ({ traceId: span?.traceId, spanId: span?.spanId });
  expect(receipt).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16) });
  expect(request).toMatchObject({ traceId: 'c'.repeat(32), parentSpanId: 'd'.repeat(16) });
  expect(receipt?.links).toEqual([expect.objectContaining(of(request))]);
  expect(request?.links).toEqual([expect.objectContaining(of(receipt))]);
});

test('a message is followed in our trace even if its own request is not', async () => {
  const { request, receipt } = await received(SENT_UNSAMPLED);
  expect(request).toBeUndefined();
  expect(receipt).toMatchObject({ traceId: 'a'.repeat(32), links: [] });
});
