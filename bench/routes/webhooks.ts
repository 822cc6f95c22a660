import { randomInt } from 'node:crypto';
import type { PreparedRequest } from '../load/callers.ts';
import { type RouteRow, write } from './row.ts';
import { FRESH_COUNT, inTurns, STOCK_COUNT, type Supplies, times } from './supplies.ts';

/** As many as there may be, but for a few. */
const SUBSCRIPTION_COUNT = 95;
const DELIVERY_COUNT = 1_000;
/** For Postgres: a time as the interface writes it. */
const DATE_TIME = 'YYYY-MM-DD"T"HH24:MI:SS';
/** A type that no measured request causes, so that its subscriptions get no deliveries during the measurements. */
const RARE_TYPE = 'status-changed';

/** Nobody listens there: nothing is delivered while Temporal is stopped. */
function newSubscription(): PreparedRequest {
  const webhookSubscription = { url: 'http://127.0.0.1:9443/webhooks', modules: ['clients'], types: [RARE_TYPE] };
  return write('/webhook-subscriptions', 'direct', { webhookSubscription });
}

async function subscriptions(supplies: Supplies): Promise<readonly string[]> {
  const find = () => supplies.sql<{ id: string }[]>`
    SELECT id FROM webhook_subscriptions WHERE deleted_at IS NULL AND types = ARRAY[${RARE_TYPE}] ORDER BY id`;
  const make = (missing: number) => supplies.send('POST', times(missing, newSubscription));
  return (await supplies.stock(find, make, SUBSCRIPTION_COUNT)).map(({ id }) => id);
}

/** Pings, which are deliveries without an event. */
async function deliveries(supplies: Supplies): Promise<readonly string[]> {
  await supplies.made('deliveries', async () => {
    const ids = await subscriptions(supplies);
    await supplies.send(
      'POST',
      times(DELIVERY_COUNT, (number) => action(inTurns(ids, number), 'ping')),
    );
  });
  const rows = await supplies.sql<
    { id: string }[]
  >`SELECT id FROM webhook_deliveries ORDER BY id LIMIT ${DELIVERY_COUNT}`;
  return rows.map(({ id }) => id);
}

function action(id: string, name: string, data: object = {}): PreparedRequest {
  return write(`/webhook-subscriptions/${id}/${name}`, 'direct', data);
}

/** The time of two events of the rare type. Their earlier deliveries are forgotten, or a replay would find nothing to do. */
async function replayablePeriod(supplies: Supplies): Promise<{ from: string; to: string }> {
  await supplies.made('replayable events', async () => {
    const { clientId } = inTurns(supplies.accounts, 0);
    for (const status of ['suspended', 'active']) {
      await supplies.send('PATCH', [write(`/clients/${clientId}`, 'direct', { client: { status } })]);
    }
    await supplies.settle();
  });
  await supplies.sql`DELETE FROM webhook_deliveries WHERE type = ${RARE_TYPE}`;
  const [period] = await supplies.sql<{ from: string; to: string }[]>`
    SELECT to_char(min(occurred_at) AT TIME ZONE 'UTC', ${DATE_TIME}) AS from,
      to_char(max(occurred_at) AT TIME ZONE 'UTC' + interval '1 second', ${DATE_TIME}) AS to
    FROM events WHERE entries -> 0 ->> 'type' = ${RARE_TYPE}`;
  if (period === undefined) throw new Error('nothing happened that could be replayed');
  return period;
}

export const webhookRows: readonly RouteRow[] = [
  {
    route: 'GET /webhook-subscriptions/{webhookSubscriptionId}',
    requests: async (supplies) =>
      (await subscriptions(supplies)).map((id) => ({ path: `/webhook-subscriptions/${id}` })),
  },
  {
    route: 'GET /webhook-subscriptions',
    requests: async (supplies) => {
      await subscriptions(supplies);
      return [{ path: '/webhook-subscriptions' }];
    },
  },
  {
    route: 'GET /webhook-deliveries',
    requests: async (supplies) => {
      await deliveries(supplies);
      return [{ path: '/webhook-deliveries' }];
    },
  },
  {
    route: 'GET /webhook-deliveries/{webhookDeliveryId}',
    requests: async (supplies) => (await deliveries(supplies)).map((id) => ({ path: `/webhook-deliveries/${id}` })),
  },
  {
    route: 'GET /events',
    requests: async () => [{ path: '/events' }],
  },
  {
    route: 'PATCH /webhook-subscriptions/{webhookSubscriptionId}',
    requests: async (supplies) => {
      const ids = await subscriptions(supplies);
      return times(FRESH_COUNT, (number) => {
        const webhookSubscription = { description: `Bench ${randomInt(1e9)}` };
        return write(`/webhook-subscriptions/${inTurns(ids, number)}`, 'direct', { webhookSubscription });
      });
    },
    once: true,
  },
  {
    route: 'POST /webhook-subscriptions/{webhookSubscriptionId}/rotate-secret',
    requests: async (supplies) => (await subscriptions(supplies)).map((id) => action(id, 'rotate-secret')),
  },
  {
    route: 'POST /webhook-subscriptions/{webhookSubscriptionId}/ping',
    requests: async (supplies) => (await subscriptions(supplies)).map((id) => action(id, 'ping')),
  },
  {
    route: 'POST /webhook-subscriptions/{webhookSubscriptionId}/replay',
    requests: async (supplies) => {
      const webhookSubscription = await replayablePeriod(supplies);
      return (await subscriptions(supplies)).map((id) => action(id, 'replay', { webhookSubscription }));
    },
    once: true,
  },
  {
    route: 'POST /webhook-deliveries/{webhookDeliveryId}/retry',
    requests: async (supplies) =>
      (await deliveries(supplies))
        .slice(0, STOCK_COUNT)
        .map((id) => write(`/webhook-deliveries/${id}/retry`, 'direct', {})),
  },
  {
    route: 'DELETE /webhook-subscriptions/{webhookSubscriptionId}',
    requests: async (supplies) =>
      (await subscriptions(supplies)).map((id) => ({ path: `/webhook-subscriptions/${id}` })),
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
