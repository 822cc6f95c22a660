import type { Client } from '@temporalio/client';
import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import { findStuckWork } from '../../cli/operations/workflows/stuck-work.ts';
import { readClock } from '../../db/common/clock.ts';
import { wakeOverdue } from '../../db/common/open-work.ts';
import { wakeAllWaiting } from '../../db/common/sandbox-clock.ts';
import { requestConsent } from '../../db/open-banking/consents.ts';
import { cancellation } from '../../db/outgoing-transfers/requested-changes.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import type { ConsentId, OutgoingTransferId } from '../../domain/common/ids.ts';
import { consentExpiry } from '../../loops/consents.ts';
import { workflowId } from '../../workflows/common/messages.ts';
import { TESTER } from '../harness/audit.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { type Stage, setStage, until } from '../harness/stage.ts';
import { stagedConsent } from '../harness/workflows/staged-consents.ts';

let temporal: TestTemporal;
let stage: Stage;
let clockOffset = '0';

beforeAll(async () => {
  temporal = await startTemporalDevServer();
});

afterAll(async () => {
  await temporal?.close();
});

beforeEach(async () => {
  clockOffset = '0';
  stage = await setStage({ name: 'open-work', address: temporal.address, clockOffset: () => clockOffset });
  stage.relay.start();
  await stage.startWorkers().ready;
});

afterEach(async () => {
  // Scenarios share the server: for the next one, with its own database, running workflows have no row.
  await terminateRunning(stage.client);
  await stage.close();
});

/** Lists are a moment behind, and a wake-up may be on its way: until none is left. */
async function terminateRunning(client: Client): Promise<void> {
  await stage.relay.stop();
  await until(
    async () => {
      let found = 0;
      for await (const { workflowId: id } of client.workflow.list({ query: "ExecutionStatus = 'Running'" })) {
        found += 1;
        await client.workflow
          .getHandle(id)
          .terminate('the scenario is over')
          .catch(() => {});
      }
      return found;
    },
    (found) => found === 0,
  );
}

const idOf = (id: OutgoingTransferId) => workflowId('outgoing-transfer', id);
const statusOf = async (id: OutgoingTransferId) =>
  (
    await stage.client.workflow
      .getHandle(idOf(id))
      .describe()
      .catch(() => undefined)
  )?.status.name;
const runs = (id: OutgoingTransferId) =>
  until(
    () => statusOf(id),
    (status) => status === 'RUNNING',
  );
const openTransfer = async () => stage.transfer(await stage.account(5_000n), { authorizationStatus: 'not-checked' });

/** Its workflow has read the row and sleeps: only a signal makes it read again. */
async function waitingTransfer(): Promise<OutgoingTransferId> {
  const id = await openTransfer();
  await waitsForAuthorization(stage, id);
  return id;
}

const waitsForAuthorization = (of: Stage, id: OutgoingTransferId) =>
  until(
    () => waitingForOf(of, id),
    (what) => what === 'authorization',
  );

/** What operators see of the running workflow; the server must know its search attributes. */
async function waitingForOf({ client }: Stage, id: OutgoingTransferId): Promise<unknown> {
  const description = await client.workflow
    .getHandle(idOf(id))
    .describe()
    .catch(() => undefined);
  return description?.typedSearchAttributes.getAll().find(({ key }) => key.name === 'WaitingFor')?.value;
}

async function operate(name: string, ...given: string[]): Promise<{ status: number; lines: string[] }> {
  const lines: string[] = [];
  const operation = OPERATIONS[name];
  if (operation === undefined) throw new Error(`no operation ${name}`);
  const { database, temporal: connected } = stage;
  const status = await operation.run({
    database,
    temporal: connected,
    initiator: TESTER,
    arguments: given,
    print: (line) => lines.push(line),
  });
  return { status, lines };
}

describe('an open row whose workflow an operator terminated', () => {
  test('is found, and the sweep restarts it when its check is overdue; its money is untouched', async () => {
    const id = await waitingTransfer();
    await waitingTransfer();
    const before = await stage.find(id);
    await stage.client.workflow.getHandle(idOf(id)).terminate('by mistake');
    await until(
      () => findStuckWork(stage.database, stage.client),
      ({ rowsWithoutWorkflow }) => rowsWithoutWorkflow.length === 1 && rowsWithoutWorkflow[0] === idOf(id),
    );
    expect(await operate('stuck')).toMatchObject({
      status: 1,
      lines: expect.arrayContaining([`open row without a workflow: ${idOf(id)}`]),
    });
    const { status, reservedMinor, waitingFor } = before;
    expect(await stage.find(id)).toMatchObject({ status, reservedMinor, waitingFor });

    // Its day is over, and so is the wait.
    clockOffset = '26 hours';
    stage.sweep.start();
    await runs(id);
    expect((await stage.find(id)).status).toBe('pending');
    await until(
      () => findStuckWork(stage.database, stage.client),
      (found) => found.rowsWithoutWorkflow.length + found.workflowsWithoutRow.length === 0,
    );
  });
});

describe('the sweep', () => {
  // A workflow that reads its row also postpones the next check.
  beforeEach(() => stage.relay.stop());

  test('wakes a few at a time, oldest first, and puts their next check off', async () => {
    const ids: OutgoingTransferId[] = [];
    for (let number = 0; number < 5; number += 1) ids.push(await openTransfer());
    for (const [index, id] of ids.entries()) {
      await stage.database.reader.execute(
        sql`UPDATE outgoing_transfers SET next_check_at = service_now() - interval '1 hour' + ${`${index} minutes`}::interval
          WHERE id = ${id}`,
      );
    }
    const sweep = () => stage.database.transaction((tx) => wakeOverdue(tx, 'outgoing-transfer', 2));
    expect([await sweep(), await sweep(), await sweep(), await sweep()]).toEqual([2, 2, 1, 0]);
  });

  test('of several processes at once wakes each row once', async () => {
    for (let number = 0; number < 6; number += 1) await openTransfer();
    await stage.database.reader.execute(
      sql`UPDATE outgoing_transfers SET next_check_at = service_now() - interval '1 hour'`,
    );
    const sweeps = Array.from({ length: 4 }, () =>
      stage.database.transaction((tx) => wakeOverdue(tx, 'outgoing-transfer', 10)),
    );
    const woken = await Promise.all(sweeps);
    expect(woken.reduce((sum, number) => sum + number, 0)).toBe(6);
  });
});

describe('a workflow whose row is final', () => {
  test('is found by the operator', async () => {
    const id = await waitingTransfer();
    await stage.relay.stop();
    await stage.database.transaction((tx) =>
      changeUnderLocks(tx, cancellation({ id, initiator: TESTER, rules: stage.configuration })),
    );
    await until(
      () => operate('stuck'),
      ({ status, lines }) => status === 1 && lines.includes(`workflow without an open row: ${idOf(id)}`),
    );
  });
});

describe("when Temporal's database is lost", () => {
  test('one command restarts every open process from the rows', async () => {
    const lost = await startTemporalDevServer();
    const before = await setStage({ name: 'open-work-lost', address: lost.address });
    try {
      before.relay.start();
      await before.startWorkers().ready;
      const account = await before.account(100_000n);
      const ids: OutgoingTransferId[] = [];
      for (let number = 0; number < 12; number += 1) {
        ids.push(
          await before.transfer(account, { authorizationStatus: number % 2 === 0 ? 'not-checked' : 'not-required' }),
        );
      }
      await until(
        () => Promise.all(ids.map((id) => before.find(id))),
        (rows) => rows.filter((row) => row.status === 'completed').length === 6,
      );
      await lost.kill();
      await lost.loseDatabase();
      await lost.restart();
      await until(
        () => findStuckWork(before.database, before.client).catch(() => undefined),
        (found) => found?.rowsWithoutWorkflow.length === 6,
      );
      const lines: string[] = [];
      const context = { database: before.database, temporal: before.temporal, initiator: TESTER, arguments: [] };
      await OPERATIONS['restart-workflows']?.run({ ...context, print: (line) => lines.push(line) });
      expect(lines).toContain('outgoing-transfer: 6 to be woken');
      await until(
        () => findStuckWork(before.database, before.client).catch(() => undefined),
        (found) => found !== undefined && found.rowsWithoutWorkflow.length + found.workflowsWithoutRow.length === 0,
      );
      for (const id of ids) {
        const row = await before.find(id);
        if (row.status === 'completed') continue;
        await waitsForAuthorization(before, id);
        await before.database.transaction((tx) =>
          changeUnderLocks(tx, cancellation({ id, initiator: TESTER, rules: before.configuration })),
        );
        await before.client.workflow.getHandle(idOf(id)).result();
      }
      expect(before.provider.submissions).toHaveLength(6);
    } finally {
      await before.close();
      await lost.close();
    }
  });
});

describe('consents that expire at one instant', () => {
  /** All requested by one third party, with one deadline, and their workflows waiting. */
  async function requested(wanted: number): Promise<{ ids: ConsentId[]; deadline: Date }> {
    const { thirdPartyProviderId } = (await (await stagedConsent(stage)).find()) ?? {};
    if (thirdPartyProviderId === undefined) throw new Error('no third party');
    const texts = { redirectUri: '', state: '', nonce: '' };
    const request = { thirdPartyProviderId, content: { scope: 'accounts' }, ...texts } as const;
    const made = await stage.database.transaction(async (tx) => {
      const ids: ConsentId[] = [];
      const now = await readClock(tx);
      for (let count = 0; count < wanted; count += 1) ids.push((await requestConsent(tx, request, TESTER, now)).id);
      const [row] = await tx.statement<{ deadline: Date }>(
        `WITH latest AS (SELECT max(request_expires_at) AS at FROM open_banking_consents WHERE id = ANY ($1::uuid[]))
         UPDATE open_banking_consents SET request_expires_at = at, next_check_at = at + interval '1 minute' FROM latest
         WHERE id = ANY ($1::uuid[]) RETURNING at AS deadline`,
        [ids],
      );
      if (row === undefined) throw new Error('no consents');
      return { ids, deadline: row.deadline };
    });
    const waiting = "WorkflowType = 'consent' AND WaitingFor = 'account-holder' AND ExecutionStatus = 'Running'";
    await until(
      async () => (await stage.client.workflow.count(waiting)).count,
      (count) => count === wanted + 1,
    );
    return made;
  }

  const EXPIRED = `
    SELECT consent.status, count(*) FILTER (WHERE entries::text LIKE '%"consent-expired"%')::integer AS events,
      bool_and(entries::text NOT LIKE '%"consent-expired"%' OR occurred_at >= $2) AS "inTime"
    FROM open_banking_consents AS consent JOIN events ON resource_id = consent.id
    WHERE consent.id = ANY ($1::uuid[]) GROUP BY consent.id`;

  test.each([
    ['fifty, by their workflows only', 50, 0],
    ['two hundred, by their workflows and two loops at the same time', 200, 2],
  ])('expire once each, with one event: %s', async (_, wanted, loopCount) => {
    const { ids, deadline } = await requested(wanted);
    const loops = Array.from({ length: loopCount }, () =>
      consentExpiry({ database: stage.database, logger: pino({ level: 'silent' }), intervalMs: 20 }),
    );
    try {
      clockOffset = '11 minutes';
      // As after a move of the test clock: every workflow looks at once. The loops begin then: what they expire first, nothing wakes.
      await wakeAllWaiting(stage.database);
      for (const loop of loops) loop.start();
      const rows = await until(
        () => stage.database.reader.statement<{ status: string }>(EXPIRED, [ids, deadline]),
        (found) => found.every(({ status }) => status === 'expired'),
      );
      expect(rows).toEqual(ids.map(() => ({ status: 'expired', events: 1, inTime: true })));
      await until(
        async () =>
          (await stage.client.workflow.count("WorkflowType = 'consent' AND ExecutionStatus = 'Running'")).count,
        (count) => count === 0,
      );
      expect(await stage.database.reader.statement(EXPIRED, [ids, deadline])).toEqual(rows);
    } finally {
      for (const loop of loops) await loop.stop();
    }
  });
});
