import type { BenchAccount } from '../accounts.ts';
import { batchOf } from '../cases/batches.ts';
import { internalTransfer, pairs } from '../cases/transfers.ts';
import type { PreparedRequest } from '../load/callers.ts';
import { activeBankAccounts } from './beneficiaries.ts';
import { type Fixtures, inTurns, STOCK_COUNT, times } from './fixtures.ts';
import { type RouteRow, write } from './row.ts';

const TRANSFER_COUNT = 1_000;
/** The least rate of a straight-through payment, relative to its floor, which is the fastest. */
const STRAIGHT_THROUGH_AIM = 0.6;
const BATCH_COUNT = 50;
const BATCH_ITEMS = 100;
const DAY_MS = 24 * 60 * 60 * 1_000;

function external(
  { clientId, accountId }: BenchAccount,
  beneficiaryBankAccountId: string,
  workflow: object = {},
): PreparedRequest {
  const outgoingTransfer = {
    clientId,
    currency: 'GBP',
    amount: 0.01,
    scope: 'external',
    scheme: 'faster-payments',
    description: 'Bench',
    source: { type: 'client-account', accountId },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId },
  };
  const body = { workflow: { code: 'client.direct', ...workflow }, data: { outgoingTransfer } };
  return { path: '/outgoing-transfers', body: JSON.stringify(body) };
}

/** Payments of the beneficiaries' clients, from their built-in accounts. */
async function externalTransfers(fixtures: Fixtures, workflow: object = {}): Promise<PreparedRequest[]> {
  const found = await activeBankAccounts(fixtures);
  return found.flatMap(({ clientId, id }) =>
    fixtures.accounts.filter((account) => account.clientId === clientId).map((from) => external(from, id, workflow)),
  );
}

async function completedTransfers(fixtures: Fixtures): Promise<readonly { id: string }[]> {
  await fixtures.made('completed transfers', () => {
    const chosen = pairs(fixtures.accounts, false).slice(0, TRANSFER_COUNT);
    return fixtures.send(
      'POST',
      chosen.map(([from, to]) => internalTransfer(from, to)),
    );
  });
  return fixtures.sql<{ id: string }[]>`SELECT id FROM outgoing_transfers ORDER BY id LIMIT ${TRANSFER_COUNT}`;
}

/** Transfers that wait for their date. */
async function waitingTransfers(fixtures: Fixtures): Promise<readonly { id: string }[]> {
  const find = () => fixtures.sql<{ id: string }[]>`
    SELECT id FROM outgoing_transfers WHERE status = 'pending' ORDER BY id LIMIT ${STOCK_COUNT}`;
  const make = (missing: number) => {
    const transferDate = new Date(Date.now() + 30 * DAY_MS).toISOString().slice(0, 10);
    const chosen = pairs(fixtures.accounts, false).slice(0, missing);
    return fixtures.send(
      'POST',
      chosen.map(([from, to]) => internalTransfer(from, to, { transferDate })),
    );
  };
  return fixtures.stock(find, make);
}

/** Payments that the caller carries out and reports. */
async function processingTransfers(fixtures: Fixtures): Promise<readonly { id: string }[]> {
  const find = () => fixtures.sql<{ id: string }[]>`
    SELECT id FROM outgoing_transfers WHERE status = 'processing' AND method = 'plug-in' ORDER BY id LIMIT ${STOCK_COUNT}`;
  const make = async (missing: number) => {
    const accounts = await fixtures.plugInAccounts();
    await fixtures.made('beneficiaries of plug-in accounts', () =>
      fixtures.send(
        'POST',
        accounts.slice(0, STOCK_COUNT).map(({ clientId }) => {
          const bankAccount = {
            country: 'GB',
            currency: 'GBP',
            accountNumber: '31926819',
            routingCodes: { 'sort-code': '601613' },
          };
          const identity = { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' };
          return write('/beneficiaries', 'direct', {
            beneficiary: { clientId, identity, bankAccounts: [bankAccount] },
          });
        }),
      ),
    );
    const payable = await fixtures.sql<(BenchAccount & { bankAccountId: string })[]>`
      SELECT account.client_id AS "clientId", account.id AS "accountId", bank_account.id AS "bankAccountId"
      FROM accounts account JOIN beneficiaries USING (client_id)
        JOIN beneficiary_bank_accounts bank_account ON bank_account.beneficiary_id = beneficiaries.id
      WHERE account.method = 'plug-in' AND account.status = 'active'`;
    await fixtures.send(
      'POST',
      times(missing, (number) => {
        const from = inTurns(payable, number);
        return external(from, from.bankAccountId);
      }),
    );
  };
  return fixtures.stock(find, make);
}

function patch(id: string, outgoingTransfer: object): PreparedRequest {
  return write(`/outgoing-transfers/${id}`, 'client.direct', { outgoingTransfer });
}

export const moneyOutRows: readonly RouteRow[] = [
  {
    route: 'POST /outgoing-transfers',
    variant: 'straight through, 1,000 accounts',
    floor: 'transfer',
    aim: STRAIGHT_THROUGH_AIM,
    requests: async ({ accounts }) => pairs(accounts, false).map(([from, to]) => internalTransfer(from, to)),
  },
  {
    route: 'POST /outgoing-transfers',
    variant: 'straight through, into one account',
    floor: 'transfer into one account',
    aim: STRAIGHT_THROUGH_AIM,
    requests: async ({ accounts }) => pairs(accounts, true).map(([from, to]) => internalTransfer(from, to)),
  },
  {
    route: 'POST /outgoing-transfers',
    variant: 'external',
    requests: (fixtures) => externalTransfers(fixtures),
  },
  {
    route: 'POST /outgoing-transfers',
    variant: 'external, dry run',
    requests: (fixtures) => externalTransfers(fixtures, { dryRun: true }),
  },
  {
    route: 'POST /outgoing-transfers/batch',
    variant: '100 items',
    requests: async (fixtures) => Array.from({ length: BATCH_COUNT }, () => batchOf(fixtures, BATCH_ITEMS)),
    once: true,
    aim: null,
    remark: 'one request makes a hundred transfers; `--only batches` compares the rates',
  },
  {
    route: 'PATCH /outgoing-transfers/{id}',
    variant: 'cancelled',
    requests: async (fixtures) =>
      (await waitingTransfers(fixtures)).map(({ id }) => patch(id, { status: 'cancelled' })),
    once: true,
  },
  {
    route: 'PATCH /outgoing-transfers/{id}',
    variant: 'completed, as reported by the caller',
    requests: async (fixtures) =>
      (await processingTransfers(fixtures)).map(({ id }) => patch(id, { status: 'completed' })),
    once: true,
  },
  { route: 'POST /outgoing-transfers/{id}/recall', notMeasured: 'no bank has released a payment here' },
  {
    route: 'GET /outgoing-transfers/{id}',
    requests: async (fixtures) =>
      (await completedTransfers(fixtures)).map(({ id }) => ({ path: `/outgoing-transfers/${id}` })),
  },
  {
    route: 'GET /outgoing-transfers/{id}/timeline',
    requests: async (fixtures) =>
      (await completedTransfers(fixtures)).map(({ id }) => ({ path: `/outgoing-transfers/${id}/timeline` })),
  },
  {
    route: 'GET /outgoing-transfers/{id}/compliance-check',
    requests: async (fixtures) =>
      (await completedTransfers(fixtures)).map(({ id }) => ({ path: `/outgoing-transfers/${id}/compliance-check` })),
  },
  { route: 'PATCH /outgoing-transfers/{id}/compliance-check', notMeasured: 'nothing is in review here' },
  {
    route: 'GET /outgoing-transfers',
    requests: async (fixtures) => {
      await completedTransfers(fixtures);
      return [{ path: '/outgoing-transfers' }];
    },
  },
  {
    route: 'GET /outgoing-transfers',
    variant: 'by what they wait for',
    requests: async (fixtures) => {
      await waitingTransfers(fixtures);
      return [{ path: '/outgoing-transfers?data.outgoingTransfer.waitingFor=date' }];
    },
  },
];
