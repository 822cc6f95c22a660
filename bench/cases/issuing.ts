import { Client, Connection } from '@temporalio/client';
import { createClients } from '../accounts.ts';
import type { Bench } from '../bench.ts';
import type { Measurement } from '../load/measure.ts';
import { compareCompleted, type Runner, runners, serviceExternal } from './external-transfers.ts';

const AT_ONCE = 200;

/** 200 concurrent accounts, each of a new client, from POST to `active`, compared with as many bare workflows. */
export async function benchIssuing(bench: Bench): Promise<Measurement[]> {
  const connection = await Connection.connect({ address: bench.stage.temporal.address });
  try {
    const client = new Client({ connection });
    bench.say('issuing. accounts at once …');
    const [floor, service] = runners(bench, serviceExternal(bench, []), client);
    if (floor === undefined || service === undefined) throw new Error('there are two contenders');
    return await compareCompleted(bench, 'accounts issued', [floor, issuing(bench, service)], AT_ONCE);
  } finally {
    await connection.close();
  }
}

/** The service, with requests for accounts, which it waits for. */
function issuing({ stage }: Bench, service: Runner): Runner {
  const since = new Date();
  let rounds = 0;
  return {
    ...service,
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
  };
}
