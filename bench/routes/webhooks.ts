import { randomInt } from 'node:crypto';
import type { PreparedRequest } from '../load/callers.ts';
import { type Fixtures, FRESH_COUNT, inTurns, STOCK_COUNT, times } from './fixtures.ts';
import { type RouteRow, write } from './row.ts';

/** Just below the limit. */
const SUBSCRIPTION_COUNT = 95;
const DELIVERY_COUNT = 1_000;
/** The interface's date-time format, for Postgres. */
const DATE_TIME = 'YYYY-MM-DD"T"HH24:MI:SS';
/** A type that no measured request causes, so that its subscriptions get no deliveries during the measurements. */
const RARE_TYPE = 'status-changed';

/** Its address needs no receiver, because nothing is delivered while Temporal is stopped. */
function newSubscription(): PreparedRequest {
  const webhookSubscription = { url: 'http://127.0.0.1:9443/webhooks', modules: ['clients'], types: [RARE_TYPE] };
  return write('/webhook-subscriptions', 'direct', { webhookSubscription });
}

async function subscriptions(fixtures: Fixtures): Promise<readonly string[]> {
  const find = () => fixtures.sql<{ id: string }[]>`
    SELECT id FROM webhook_subscriptions WHERE deleted_at IS NULL AND types = ARRAY[${RARE_TYPE}] ORDER BY id`;
  const make = (missing: number) => fixtures.send('POST', times(missing, newSubscription));
  return (await fixtures.stock(find, make, SUBSCRIPTION_COUNT)).map(({ id }) => id);
}

/** Pings, which are deliveries without an event. */
async function deliveries(fixtures: Fixtures): Promise<readonly string[]> {
  await fixtures.made('deliveries', async () => {
    const ids = await subscriptions(fixtures);
    await fixtures.send(
      'POST',
      times(DELIVERY_COUNT, (number) => action(inTurns(ids, number), 'ping')),
    );
  });
  const rows = await fixtures.sql<
    { id: string }[]
  >`SELECT id FROM webhook_deliveries ORDER BY id LIMIT ${DELIVERY_COUNT}`;
  return rows.map(({ id }) => id);
}

function action(id: string, name: string, data: object = {}): PreparedRequest {
  return write(`/webhook-subscriptions/${id}/${name}`, 'direct', data);
}

/** The period of two events of the rare type. Their earlier deliveries are deleted, or a replay would have nothing to do. */
async function replayablePeriod(fixtures: Fixtures): Promise<{ from: string; to: string }> {
  await fixtures.made('replayable events', async () => {
    const { clientId } = inTurns(fixtures.accounts, 0);
    for (const status of ['suspended', 'active']) {
      await fixtures.send('PATCH', [write(`/clients/${clientId}`, 'direct', { client: { status } })]);
    }
    await fixtures.settle();
  });
  await fixtures.sql`DELETE FROM webhook_deliveries WHERE type = ${RARE_TYPE}`;
  const [period] = await fixtures.sql<{ from: string; to: string }[]>`
    SELECT to_char(min(occurred_at) AT TIME ZONE 'UTC', ${DATE_TIME}) AS from,
      to_char(max(occurred_at) AT TIME ZONE 'UTC' + interval '1 second', ${DATE_TIME}) AS to
    FROM events WHERE entries -> 0 ->> 'type' = ${RARE_TYPE}`;
  if (period === undefined) throw new Error('nothing happened that could be replayed');
  return period;
}

export const webhookRows: readonly RouteRow[] = [
  {
    route: 'GET /webhook-subscriptions/{webhookSubscriptionId}',
    requests: async (fixtures) =>
      (await subscriptions(fixtures)).map((id) => ({ path: `/webhook-subscriptions/${id}` })),
  },
  {
    route: 'GET /webhook-subscriptions',
    requests: async (fixtures) => {
      await subscriptions(fixtures);
      return [{ path: '/webhook-subscriptions' }];
    },
  },
  {
    route: 'GET /webhook-deliveries',
    requests: async (fixtures) => {
      await deliveries(fixtures);
      return [{ path: '/webhook-deliveries' }];
    },
  },
  {
    route: 'GET /webhook-deliveries/{webhookDeliveryId}',
    requests: async (fixtures) => (await deliveries(fixtures)).map((id) => ({ path: `/webhook-deliveries/${id}` })),
  },
  {
    route: 'GET /events',
    requests: async () => [{ path: '/events' }],
  },
  {
    route: 'PATCH /webhook-subscriptions/{webhookSubscriptionId}',
    requests: async (fixtures) => {
      const ids = await subscriptions(fixtures);
      return times(FRESH_COUNT, (number) => {
        const webhookSubscription = { description: `Bench ${randomInt(1e9)}` };
        return write(`/webhook-subscriptions/${inTurns(ids, number)}`, 'direct', { webhookSubscription });
      });
    },
    once: true,
  },
  {
    route: 'POST /webhook-subscriptions/{webhookSubscriptionId}/rotate-secret',
    requests: async (fixtures) => (await subscriptions(fixtures)).map((id) => action(id, 'rotate-secret')),
  },
  {
    route: 'POST /webhook-subscriptions/{webhookSubscriptionId}/ping',
    requests: async (fixtures) => (await subscriptions(fixtures)).map((id) => action(id, 'ping')),
  },
  {
    route: 'POST /webhook-subscriptions/{webhookSubscriptionId}/replay',
    requests: async (fixtures) => {
      const webhookSubscription = await replayablePeriod(fixtures);
      return (await subscriptions(fixtures)).map((id) => action(id, 'replay', { webhookSubscription }));
    },
    once: true,
  },
  {
    route: 'POST /webhook-deliveries/{webhookDeliveryId}/retry',
    requests: async (fixtures) =>
      (await deliveries(fixtures))
        .slice(0, STOCK_COUNT)
        .map((id) => write(`/webhook-deliveries/${id}/retry`, 'direct', {})),
  },
  {
    route: 'DELETE /webhook-subscriptions/{webhookSubscriptionId}',
    requests: async (fixtures) =>
      (await subscriptions(fixtures)).map((id) => ({ path: `/webhook-subscriptions/${id}` })),
    once: true,
  },
  {
    route: 'POST /webhook-subscriptions',
    requests: async ({ sql }) => {
      await sql`UPDATE webhook_subscriptions SET deleted_at = service_now() WHERE deleted_at IS NULL`;
      return times(SUBSCRIPTION_COUNT, newSubscription);
    },
    once: true,
  },
];
