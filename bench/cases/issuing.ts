import { Client, Connection } from '@temporalio/client';
import { createClients } from '../accounts.ts';
import type { Measurement } from '../load/measure.ts';
import type { Bench } from '../main.ts';
import { compareCompleted, payableRequests, type Runner, runners, serviceExternal } from './external-transfers.ts';

const AT_ONCE = 200;

/** 200 accounts at once, each of a new client, from POST to `active`, against as many bare workflows at once. */
export async function benchIssuing(bench: Bench): Promise<Measurement[]> {
  const connection = await Connection.connect({ address: bench.stage.temporal.address });
  try {
    const client = new Client({ connection });
    bench.say('issuing. accounts at once …');
    const [floor] = runners(bench, serviceExternal(bench, await payableRequests(bench)), client);
    if (floor === undefined) throw new Error('there is a floor');
    return await compareCompleted(bench, 'accounts issued', [floor, issuing(bench)], AT_ONCE);
  } finally {
    await connection.close();
  }
}

function issuing({ stage }: Bench): Runner {
  const since = new Date();
  let rounds = 0;
  const { postgres, temporal, api, worker, sandbox } = stage;
  const processIds = [postgres.process.pid, temporal.process.pid, api.process.pid, worker.pid, sandbox.pid];
  return {
    name: 'service',
    contender: {
      name: 'service',
      processIds,
      load: {
        origin: api.origin,
        method: 'POST',
        headers: { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json' },
        idempotent: true,
        requests: [],
      },
    },
    prepare: async (count) => {
      rounds += 1;
      const clientIds = await createClients(stage.sql, `issuing-${rounds}`, count);
      return clientIds.map((clientId) => ({
        path: '/accounts',
        body: JSON.stringify({
          workflow: { code: 'client.issuing' },
          data: { account: { clientId, currency: 'GBP' } },
        }),
      }));
    },
    ended: async () => {
      const [row] = await stage.sql<{ active: number }[]>`
        SELECT count(*)::integer AS active FROM accounts WHERE id >= uuidv7_floor(${since}) AND status = 'active'`;
      return row?.active ?? 0;
    },
    processIds,
  };
}
