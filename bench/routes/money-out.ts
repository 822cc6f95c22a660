import type { BenchAccount } from '../accounts.ts';
import { batchOf } from '../cases/batches.ts';
import { internalTransfer, pairs } from '../cases/transfers.ts';
import type { PreparedRequest } from '../load/callers.ts';
import { activeBankAccounts } from './beneficiaries.ts';
import { type RouteRow, write } from './row.ts';
import { inTurns, STOCK_COUNT, type Supplies, times } from './supplies.ts';

const TRANSFER_COUNT = 1_000;
/** Of the fastest floor that a payment settled at once is held against. */
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
async function externalTransfers(supplies: Supplies, workflow: object = {}): Promise<PreparedRequest[]> {
  const found = await activeBankAccounts(supplies);
  return found.flatMap(({ clientId, id }) =>
    supplies.accounts.filter((account) => account.clientId === clientId).map((from) => external(from, id, workflow)),
  );
}

async function completedTransfers(supplies: Supplies): Promise<readonly { id: string }[]> {
  await supplies.made('completed transfers', () => {
    const chosen = pairs(supplies.accounts, false).slice(0, TRANSFER_COUNT);
    return supplies.send(
      'POST',
      chosen.map(([from, to]) => internalTransfer(from, to)),
    );
  });
  return supplies.sql<{ id: string }[]>`SELECT id FROM outgoing_transfers ORDER BY id LIMIT ${TRANSFER_COUNT}`;
}

/** Transfers that wait for their date. */
async function waitingTransfers(supplies: Supplies): Promise<readonly { id: string }[]> {
  const find = () => supplies.sql<{ id: string }[]>`
    SELECT id FROM outgoing_transfers WHERE status = 'pending' ORDER BY id LIMIT ${STOCK_COUNT}`;
  const make = (missing: number) => {
    const transferDate = new Date(Date.now() + 30 * DAY_MS).toISOString().slice(0, 10);
    const chosen = pairs(supplies.accounts, false).slice(0, missing);
    return supplies.send(
      'POST',
      chosen.map(([from, to]) => internalTransfer(from, to, { transferDate })),
    );
  };
  return supplies.stock(find, make);
}

/** Payments that their caller carries out and reports. */
async function processingTransfers(supplies: Supplies): Promise<readonly { id: string }[]> {
  const find = () => supplies.sql<{ id: string }[]>`
    SELECT id FROM outgoing_transfers WHERE status = 'processing' AND method = 'plug-in' ORDER BY id LIMIT ${STOCK_COUNT}`;
  const make = async (missing: number) => {
    const accounts = await supplies.plugInAccounts();
    await supplies.made('beneficiaries of plug-in accounts', () =>
      supplies.send(
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
    const payable = await supplies.sql<(BenchAccount & { bankAccountId: string })[]>`
      SELECT account.client_id AS "clientId", account.id AS "accountId", bank_account.id AS "bankAccountId"
      FROM accounts account JOIN beneficiaries USING (client_id)
        JOIN beneficiary_bank_accounts bank_account ON bank_account.beneficiary_id = beneficiaries.id
      WHERE account.method = 'plug-in' AND account.status = 'active'`;
    await supplies.send(
      'POST',
      times(missing, (number) => {
        const from = inTurns(payable, number);
        return external(from, from.bankAccountId);
      }),
    );
  };
  return supplies.stock(find, make);
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
    requests: (supplies) => externalTransfers(supplies),
  },
  {
    route: 'POST /outgoing-transfers',
    variant: 'external, dry run',
    requests: (supplies) => externalTransfers(supplies, { dryRun: true }),
  },
  {
    route: 'POST /outgoing-transfers/batch',
    variant: '100 items',
    requests: async (supplies) => Array.from({ length: BATCH_COUNT }, () => batchOf(supplies, BATCH_ITEMS)),
    once: true,
    aim: null,
    remark: 'one request makes a hundred transfers; `--only batches` compares the rates',
  },
  {
    route: 'PATCH /outgoing-transfers/{id}',
    variant: 'cancelled',
    requests: async (supplies) =>
      (await waitingTransfers(supplies)).map(({ id }) => patch(id, { status: 'cancelled' })),
    once: true,
  },
  {
    route: 'PATCH /outgoing-transfers/{id}',
    variant: 'completed, as its caller reports',
    requests: async (supplies) =>
      (await processingTransfers(supplies)).map(({ id }) => patch(id, { status: 'completed' })),
    once: true,
  },
  { route: 'POST /outgoing-transfers/{id}/recall', notMeasured: 'no bank has released a payment here' },
  {
    route: 'GET /outgoing-transfers/{id}',
    requests: async (supplies) =>
      (await completedTransfers(supplies)).map(({ id }) => ({ path: `/outgoing-transfers/${id}` })),
  },
  {
    route: 'GET /outgoing-transfers/{id}/compliance-check',
    requests: async (supplies) =>
      (await completedTransfers(supplies)).map(({ id }) => ({ path: `/outgoing-transfers/${id}/compliance-check` })),
  },
  { route: 'PATCH /outgoing-transfers/{id}/compliance-check', notMeasured: 'nothing is in review here' },
  {
    route: 'GET /outgoing-transfers',
    requests: async (supplies) => {
      await completedTransfers(supplies);
      return [{ path: '/outgoing-transfers' }];
    },
  },
];
