import postgres from 'postgres';
import { COUNTED_LISTS, COUNTED_TOTALS } from '../../../db/query/counted-lists.ts';
import { startApi, type TestApi } from '../../harness/api.ts';
import { internalTransfer, transferOf } from '../../harness/faults/load/orders.ts';
import { moneyWorld } from '../../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';
import { fillMonths, makePastMonths } from '../../harness/webhooks/months-of-data.ts';
import { sequence, subscribe } from '../../harness/webhooks/webhooks.ts';

/** A service whose database has so many months of payments, up to now. */
export interface World {
  readonly months: number;
  readonly database: TestDatabase;
  readonly owner: postgres.Sql;
  readonly api: TestApi;
  /** Of the subscriber for whom deliveries are due. */
  readonly shard: number;
  close(): Promise<void>;
}

const ACCOUNTS = 20;
/** Deliveries that wait for a first attempt, the newest. */
export const DUE = 20;

export async function startWorld(months: number, payments: number): Promise<World> {
  const database = await createTestDatabase(`months-${months}`);
  const owner = postgres(database.ownerUrl, { max: 1, onnotice: () => {}, types: {} });
  await makePastMonths(owner, months);
  const api = await startApi(database, {
    maxConnections: 1,
    lists: { maxConnections: 1, deadlineMs: 60_000 },
    guardsTransactions: false,
    applicationName: `months-${months}`,
  });
  const world = moneyWorld(api);
  const client = await world.client();
  const made: string[] = [];
  for (let number = 0; number < ACCOUNTS; number += 1) made.push(await world.account(client));
  const [payer, payee] = [await world.account(client, { amount: 1_000 }), await world.account(client)];
  await world.beneficiary(client);
  const { id: subscriptionId, shard } = await subscribe(api.database, 'http://127.0.0.1:9/', { status: 'paused' });
  const outgoingTransferId = await pay(api, client, payer, payee);
  const accountIds = await ageParties(owner, made, client, months);
  await fillMonths(owner, { outgoingTransferId, accountIds, subscriptionId }, { months, payments });
  await owner.unsafe(COMPARED_DAYS, [months]);
  while ((await sequence(api.database)) > 0);
  await owner.unsafe(MAKE_DUE, [subscriptionId, DUE]);
  await countAll(owner);
  await owner`VACUUM ANALYZE`;
  const close = async () => {
    await api.stop();
    await owner.end();
    await database.drop();
  };
  return { months, database, owner, api, shard, close };
}

async function pay(api: TestApi, clientId: string, from: string, to: string): Promise<string> {
  const { path, body } = transferOf(internalTransfer({ clientId, currency: 'GBP', amount: 1, from }, to));
  const answer = await api.call('POST', path, body);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.data.outgoingTransfer.id;
}

/** Gives the accounts and their client ids of the first month, as if they had been opened before their first payment. */
async function ageParties(
  owner: postgres.Sql,
  accountIds: readonly string[],
  clientId: string,
  months: number,
): Promise<string[]> {
  return owner.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    const age = async (table: string, id: string) => {
      const [made] = await tx<{ id: string }[]>`
        SELECT (left(uuidv7_floor(date_trunc('month', clock_timestamp(), 'UTC') - make_interval(months => ${months - 1}::integer))::text, 15)
          || substr(${id}, 16)) AS id`;
      const aged = made?.id ?? '';
      const columns = await tx<{ name: string; column: string }[]>`
        SELECT conrelid::regclass::text AS name, attname AS column FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
        WHERE contype = 'f' AND confrelid = ${table}::regclass AND cardinality(conkey) = 1 AND conparentid = 0`;
      for (const { name, column } of [...columns, { name: table, column: 'id' }])
        await tx.unsafe(`UPDATE ${name} SET ${column} = $1 WHERE ${column} = $2`, [aged, id]);
      return aged;
    };
    await age('clients', clientId);
    const aged: string[] = [];
    for (const id of accountIds) aged.push(await age('accounts', id));
    return aged;
  });
}

const MAKE_DUE = `WITH active AS (UPDATE webhook_subscriptions SET status = 'active' WHERE id = $1)
  UPDATE webhook_deliveries SET status = CASE WHEN event_id = ANY (newest) THEN 'pending' ELSE 'succeeded' END, attempt_count = CASE WHEN event_id = ANY (newest) THEN 0 ELSE 1 END,
    completed_at = CASE WHEN event_id = ANY (newest) THEN NULL ELSE created_at END
  FROM (SELECT ARRAY(SELECT event_id FROM webhook_deliveries WHERE subscription_id = $1 AND attempt_count = 1 ORDER BY event_id DESC LIMIT $2)) AS of_month (newest)
  WHERE subscription_id = $1 AND (event_id = ANY (newest) OR status = 'pending')`;

/** Of each day of a provider, a comparison and a difference. */
const COMPARED_DAYS = `WITH day AS (SELECT day::date FROM generate_series(date_trunc('month', now()) - make_interval(months => $1::integer - 1), now(), interval '1 day') AS day),
  compared AS (INSERT INTO reconciliations SELECT gen_random_uuid(), 'custom-bank', 'GBP', day, 9, 900, 9, 900, 9, 900, 9, 900, 0, day, day FROM day)
  INSERT INTO reconciliation_breaks (id, provider, kind, our_reference, details, found_at, currency, day)
    SELECT gen_random_uuid(), 'custom-bank', 'statement-unknown-payment', 'payment of ' || day, '{}', day, 'GBP', day FROM day`;

/** What the loops count in the background. */
async function countAll(owner: postgres.Sql): Promise<void> {
  for (const direction of ['outgoing', 'incoming'])
    while (((await owner`SELECT count_transfers(${direction}, 10000) AS counted`)[0]?.counted ?? 0) > 0);
  for (const list of [...COUNTED_LISTS, ...COUNTED_TOTALS])
    while (((await owner`SELECT count_list(${list}, 10000) AS counted`)[0]?.counted ?? 0) > 0);
}
