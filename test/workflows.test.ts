import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { workflowId } from '../workflows/messages.ts';
import { type Stage, setStage, until } from './harness/stage.ts';
import { startTemporalDevServer, type TestTemporal } from './harness/temporal.ts';

let temporal: TestTemporal;
let stage: Stage;

beforeAll(async () => {
  temporal = await startTemporalDevServer();
  stage = await setStage({ name: 'workflows', address: temporal.address });
  stage.relay.start();
  stage.admissions.start();
  await stage.startWorkers().ready;
});

afterAll(async () => {
  await stage?.close();
  await temporal?.close();
});

describe('an external transfer', () => {
  test('is submitted once and completed', async () => {
    const account = await stage.account(10_000n);
    const id = await stage.transfer(account);
    await until(
      () => stage.find(id),
      (row) => row.status === 'completed',
    );
    const handle = stage.client.workflow.getHandle(workflowId('outgoing-transfer', id));
    await handle.result();
    expect(stage.provider.submissions.filter((reference) => reference === id)).toHaveLength(1);
    const history = await handle.fetchHistory();
    console.log(
      history.events
        ?.map((e) => [e.eventType, Object.keys(e).find((k) => k.endsWith('Attributes'))].join(' '))
        .join('\n'),
    );
  });
});
