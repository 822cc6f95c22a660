import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runLongCommand } from '../../dev/common/long-command.ts';
import { findOnPath, userCacheDirectory } from '../../dev/common/user-cache.ts';
import { freePort } from '../../dev/servers/ports.ts';
import type { Json } from '../harness/api.ts';
import { startBrowser } from '../harness/http/pages.ts';
import { type ReceivedSpan, startSpanReceiver } from '../harness/http/span-receiver.ts';
import { ClockedService } from '../harness/servers/clocked-service.ts';
import { newServiceInstallation, removeServiceInstallation } from '../harness/servers/started-service.ts';
import { until } from '../harness/stage.ts';
import { startReceiver } from '../harness/webhooks/webhooks.ts';
import { PROJECT_DIRECTORY } from '../tools/run/commands.ts';

// `npx tsx test/proof/trace-picture.ts` makes docs/images/trace.png: the trace of an external payment that waits over a cut-off, as
// Zipkin shows it. Needs Java, Maven and Chromium.

const VERSION = '3.5.1';
const PICTURE = join(PROJECT_DIRECTORY, 'docs/images/trace.png');
/** So that the waits can be seen next to what takes milliseconds. */
const WAIT_MS = 5_000;
/** The bank reports its completion by a callback. */
const AMOUNT = 1_250.08;

async function main(): Promise<void> {
  const spans = await startSpanReceiver();
  const installation = await newServiceInstallation();
  Object.assign(installation.environment, spans.environment);
  try {
    const traceId = await payOverCutOff(await ClockedService.start(installation, {}), spans.received);
    await show(spans.ofTrace(traceId), traceId);
  } finally {
    await removeServiceInstallation(installation);
    await spans.close();
  }
}

/** A payment without money misses its cut-off, and is paid on the next day, when money has come. */
async function payOverCutOff(service: ClockedService, received: () => readonly ReceivedSpan[]): Promise<string> {
  const receiver = await startReceiver();
  await service.post('/webhook-subscriptions', 'webhookSubscription', { url: receiver.url });
  const account = await service.account('GBP');
  const { id } = await service.pay(account, AMOUNT, 'chaps');
  await sleep(WAIT_MS);
  const { status, body } = await service.moveClock({ advanceToNext: 'cut-off' });
  if (status !== 200) throw new Error(JSON.stringify(body));
  await service.transferUntil(id, ({ rollCount }) => rollCount === 1);
  await sleep(WAIT_MS);
  await service.payIn(account, AMOUNT);
  await service.moveClock({ advanceToNext: 'deadline' });
  await service.transferUntil(id, ({ status: now }) => now === 'completed');
  await until(
    async () => receiver.received.map((message) => message.body),
    (bodies) =>
      bodies.some(
        ({ webhook, data }: Json) => webhook.type === 'outgoing-transfer-completed' && data.outgoingTransfer.id === id,
      ),
  );
  const request = await until(
    async () => received().find(({ name }) => name === 'POST /outgoing-transfers'),
    (found) => found !== undefined,
  );
  await until(
    async () => received().filter(({ traceId }) => traceId === request?.traceId),
    (trace) => {
      const receipts = new Set(trace.filter(({ name }) => name.startsWith('receive ')).map(({ spanId }) => spanId));
      const isTold = trace.some(({ name, parentSpanId }) => name === 'send webhook' && receipts.has(parentSpanId));
      return isTold && trace.some(({ name }) => name === 'RunWorkflow:outgoing-transfer');
    },
  );
  await receiver.close();
  return request?.traceId ?? '';
}

async function show(spans: readonly ReceivedSpan[], traceId: string): Promise<void> {
  const port = await freePort();
  const java = findOnPath('java') ?? 'java';
  const viewer = spawn(java, ['-Xmx256m', '-jar', await zipkin()], {
    env: { ...process.env, QUERY_PORT: String(port) },
    stdio: 'ignore',
  });
  const address = `http://127.0.0.1:${port}`;
  try {
    await until(
      () =>
        fetch(`${address}/health`).then(
          ({ ok }) => ok,
          () => false,
        ),
      (isUp) => isUp,
    );
    const body = JSON.stringify(spans.map(forZipkin));
    const answer = await fetch(`${address}/api/v2/spans`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    if (!answer.ok) throw new Error(await answer.text());
    await until(
      () => fetch(`${address}/api/v2/trace/${traceId}`).then(({ ok }) => ok),
      (isStored) => isStored,
    );
    const browser = await startBrowser();
    const page = await browser.newPage({ viewport: { width: 1_600, height: 1_120 } });
    await page.goto(`${address}/zipkin/traces/${traceId}`);
    // Shows its tags, and with them the trace of the callback’s own request.
    await page.getByText('receive payment-completed').first().click();
    await page.getByText('linked to').waitFor();
    await page.screenshot({ path: PICTURE });
    await browser.close();
  } finally {
    viewer.kill();
  }
}

async function zipkin(): Promise<string> {
  const directory = userCacheDirectory(`zipkin-${VERSION}`);
  const artifact = `io.zipkin:zipkin-server:${VERSION}:jar:exec`;
  await runLongCommand({
    command: findOnPath('mvn') ?? 'mvn',
    arguments: ['-B', '-q', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${directory}`],
    title: 'Fetching Zipkin (once)',
    onProgress: (line) => console.log(line),
    cwd: directory,
  });
  return join(directory, `zipkin-server-${VERSION}-exec.jar`);
}

const KINDS: Readonly<Record<number, string>> = { 2: 'SERVER', 3: 'CLIENT', 4: 'PRODUCER', 5: 'CONSUMER' };

/** Zipkin has no links: a tag names their traces. */
function forZipkin(span: ReceivedSpan): object {
  const [begin, end] = [BigInt(span.startTimeUnixNano), BigInt(span.endTimeUnixNano)];
  const linked = span.links.map(({ traceId }) => ['linked to', traceId]);
  return {
    traceId: span.traceId,
    id: span.spanId,
    ...(span.parentSpanId === '' ? {} : { parentId: span.parentSpanId }),
    name: span.name,
    ...(KINDS[span.kind] === undefined ? {} : { kind: KINDS[span.kind] }),
    timestamp: Number(begin / 1_000n),
    duration: Math.max(1, Number((end - begin) / 1_000n)),
    localEndpoint: { serviceName: span.service.replace('financial-accounts-', '') },
    tags: Object.fromEntries([
      ...Object.entries(span.attributes).map(([key, value]) => [key, String(value)]),
      ...linked,
    ]),
  };
}

await main();
