import { createHmac, randomUUID } from 'node:crypto';
import type { PreparedRequest } from '../load/callers.ts';
import { credit } from './accounts.ts';
import { type Fixtures, FRESH_COUNT, inTurns, STOCK_COUNT, times } from './fixtures.ts';
import { type RouteRow, write } from './row.ts';

const TRANSFER_COUNT = 1_000;
/** No account has this number, so payments to it are held in suspense. */
const UNKNOWN_ACCOUNT = '99999999';

/** A penny from another provider. */
function adjustment(accountId: string): PreparedRequest {
  const type = 'unconnected-service-provider';
  const balanceAdjustment = {
    accountId,
    direction: 'credit',
    amount: 0.01,
    currency: 'GBP',
    unconnectedServiceProvider: 'Bench',
  };
  const body = { workflow: { code: 'synchronization', type }, data: { balanceAdjustment } };
  return { path: `/accounts/${accountId}/balance-adjustments`, body: JSON.stringify(body) };
}

/** The sandbox bank's callback for a penny that arrived, signed as the bank does. */
function callback({ bench }: Fixtures, accountNumber: string): PreparedRequest {
  const id = randomUUID();
  const body = JSON.stringify({
    type: 'payment-received',
    id,
    createdAt: new Date().toISOString(),
    data: {
      paymentId: randomUUID(),
      paymentReference: null,
      amount: 0.01,
      currency: 'GBP',
      scheme: 'faster-payments',
      senderName: 'Grace Bench',
      senderAccount: null,
      iban: null,
      accountNumber,
      routingCodes: { 'sort-code': '040075' },
      reference: 'Bench',
    },
  });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', bench.stage.bankSecret).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  return { path: '/provider-callbacks/sandbox-bank', body, headers };
}

async function accountNumbers({ sql, accounts }: Fixtures): Promise<readonly string[]> {
  const ids = accounts.map(({ accountId }) => accountId);
  const rows = await sql<{ number: string }[]>`
    SELECT account_number AS number FROM accounts WHERE id = ANY (${ids}::uuid[]) ORDER BY id`;
  return rows.map(({ number }) => number);
}

/** Credits to many accounts, which also create incoming transfers. */
async function credits(fixtures: Fixtures): Promise<void> {
  const accounts = await fixtures.plugInAccounts();
  await fixtures.made('credits', () =>
    fixtures.send(
      'POST',
      times(TRANSFER_COUNT, (number) => credit(inTurns(accounts, number).accountId)),
    ),
  );
}

async function held(fixtures: Fixtures): Promise<readonly string[]> {
  const find = async () =>
    fixtures.sql<
      { id: string }[]
    >`SELECT id FROM incoming_transfers WHERE status = 'on-hold' ORDER BY id LIMIT ${STOCK_COUNT}`;
  const make = (missing: number) =>
    fixtures.send(
      'POST',
      times(missing, () => callback(fixtures, UNKNOWN_ACCOUNT)),
    );
  return (await fixtures.stock(find, make)).map(({ id }) => id);
}

async function idsOf(fixtures: Fixtures, table: 'provisioned_account_credits' | 'incoming_transfers') {
  await credits(fixtures);
  return fixtures.sql<{ id: string }[]>`SELECT id FROM ${fixtures.sql(table)} ORDER BY id LIMIT ${TRANSFER_COUNT}`;
}

export const moneyInRows: readonly RouteRow[] = [
  {
    route: 'POST /provisioned-account-credits',
    variant: 'into 1,000 accounts',
    floor: 'transfer',
    requests: async (fixtures) => (await fixtures.plugInAccounts()).map(({ accountId }) => credit(accountId)),
  },
  {
    route: 'POST /provisioned-account-credits',
    variant: 'into one account',
    floor: 'transfer into one account',
    requests: async (fixtures) => [credit(inTurns(await fixtures.plugInAccounts(), 0).accountId)],
  },
  {
    route: 'POST /accounts/{id}/balance-adjustments',
    aim: null,
    remark: 'corrections by hand, not traffic',
    requests: async ({ accounts }) => accounts.map(({ accountId }) => adjustment(accountId)),
  },
  {
    route: 'POST /provider-callbacks/{provider}',
    variant: 'into 1,000 accounts',
    floor: 'transfer',
    requests: async (fixtures) => {
      const numbers = await accountNumbers(fixtures);
      return times(FRESH_COUNT, (number) => callback(fixtures, inTurns(numbers, number)));
    },
    once: true,
  },
  {
    route: 'POST /provider-callbacks/{provider}',
    variant: 'into one account',
    floor: 'transfer into one account',
    requests: async (fixtures) => {
      const accountNumber = inTurns(await accountNumbers(fixtures), 0);
      return times(FRESH_COUNT, () => callback(fixtures, accountNumber));
    },
    once: true,
  },
  {
    route: 'GET /provisioned-account-credits/{id}',
    requests: async (fixtures) =>
      (await idsOf(fixtures, 'provisioned_account_credits')).map(({ id }) => ({
        path: `/provisioned-account-credits/${id}`,
      })),
  },
  {
    route: 'GET /provisioned-account-credits',
    requests: async (fixtures) => {
      await credits(fixtures);
      return [{ path: '/provisioned-account-credits' }];
    },
  },
  {
    route: 'GET /incoming-transfers/{id}',
    requests: async (fixtures) =>
      (await idsOf(fixtures, 'incoming_transfers')).map(({ id }) => ({ path: `/incoming-transfers/${id}` })),
  },
  {
    route: 'GET /incoming-transfers/{id}/timeline',
    requests: async (fixtures) =>
      (await idsOf(fixtures, 'incoming_transfers')).map(({ id }) => ({ path: `/incoming-transfers/${id}/timeline` })),
  },
  {
    route: 'GET /incoming-transfers/{id}/compliance-check',
    requests: async (fixtures) =>
      (await idsOf(fixtures, 'incoming_transfers')).map(({ id }) => ({
        path: `/incoming-transfers/${id}/compliance-check`,
      })),
  },
  { route: 'PATCH /incoming-transfers/{id}/compliance-check', notMeasured: 'nothing is in review here' },
  {
    route: 'GET /incoming-transfers',
    requests: async (fixtures) => {
      await credits(fixtures);
      return [{ path: '/incoming-transfers' }];
    },
  },
  {
    route: 'POST /incoming-transfers/{id}/assign',
    requests: async (fixtures) => {
      const ids = await held(fixtures);
      return ids.map((id, number) => {
        const { accountId } = inTurns(fixtures.accounts, number);
        return write(`/incoming-transfers/${id}/assign`, 'direct', { incomingTransfer: { accountId } });
      });
    },
    once: true,
  },
  {
    route: 'POST /incoming-transfers/{id}/return',
    requests: async (fixtures) =>
      (await held(fixtures)).map((id) => write(`/incoming-transfers/${id}/return`, 'direct', {})),
    once: true,
  },
];
