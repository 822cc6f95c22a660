import { accountRows } from './accounts.ts';
import { beneficiaryRows } from './beneficiaries.ts';
import { clientRows } from './clients.ts';
import { machineUserRows } from './machine-users.ts';
import { moneyInRows } from './money-in.ts';
import { moneyOutRows } from './money-out.ts';
import { type RouteRow, write } from './row.ts';
import type { Supplies } from './supplies.ts';
import { userRows } from './users.ts';
import { webhookRows } from './webhooks.ts';

const systemRows: readonly RouteRow[] = [
  { route: 'GET /health/live', notMeasured: 'a probe that reads nothing' },
  { route: 'GET /health/ready', notMeasured: 'a probe that asks Temporal as well' },
  { route: 'GET /openapi.json', notMeasured: 'a document made once' },
  { route: 'GET /docs', notMeasured: 'a document made once' },
  { route: 'GET /docs/scalar.js', notMeasured: 'a script read once' },
  { route: 'GET /docs/start.js', notMeasured: 'a script read once' },
];

const AUDITED_COUNT = 100;

const auditEntryRows: readonly RouteRow[] = [
  {
    route: 'GET /audit-entries',
    requests: async () => [{ path: '/audit-entries' }],
    aim: null,
    remark: 'counts the whole log, and every outgoing transfer is an entry of it',
  },
  {
    route: 'GET /audit-entries',
    variant: 'of one resource',
    requests: async ({ sql }) => {
      const rows = await sql<{ id: string }[]>`
        SELECT DISTINCT resource_id AS id FROM audit_entries WHERE resource = 'machine-user' LIMIT ${AUDITED_COUNT}`;
      return rows.map(({ id }) => ({ path: `/audit-entries?data.auditEntry.resourceId=${id}` }));
    },
  },
  { route: 'GET /audit-entries/export', notMeasured: 'a file as long as the log' },
];

const DAY_COUNT = 1_000;
const BREAK_COUNT = 2_000;

/** Days and breaks by SQL: comparisons of real days would take longer than the measurements. */
async function compared(supplies: Supplies): Promise<void> {
  await supplies.made('reconciliations', async () => {
    await supplies.sql`
      INSERT INTO reconciliations SELECT gen_random_uuid(), 'bench-bank', 'GBP', DATE '2020-01-01' + number, 9, 900, 9, 900, 9, 900, 9, 900, 0,
        service_now(), service_now() FROM generate_series(1, ${DAY_COUNT}) AS number
      ON CONFLICT DO NOTHING`;
    await supplies.sql`
      INSERT INTO reconciliation_breaks (id, provider, kind, our_reference, details, found_at, currency, day)
      SELECT gen_random_uuid(), 'bench-bank', 'statement-unknown-payment', 'bench-' || number, '{}', service_now(), 'GBP',
        DATE '2020-01-01' + number % ${DAY_COUNT} FROM generate_series(1, ${BREAK_COUNT}) AS number
      ON CONFLICT DO NOTHING`;
  });
}

const reconciliationRows: readonly RouteRow[] = [
  {
    route: 'GET /reconciliations',
    requests: async (supplies) => {
      await compared(supplies);
      return [{ path: '/reconciliations' }];
    },
  },
  {
    route: 'GET /reconciliations/{id}',
    requests: async (supplies) => {
      await compared(supplies);
      const days = await supplies.sql<{ id: string }[]>`SELECT id FROM reconciliations LIMIT ${DAY_COUNT}`;
      return days.map(({ id }) => ({ path: `/reconciliations/${id}` }));
    },
  },
  {
    route: 'GET /reconciliation-breaks',
    requests: async (supplies) => {
      await compared(supplies);
      return [{ path: '/reconciliation-breaks' }];
    },
  },
  {
    route: 'GET /reconciliation-breaks/{id}',
    requests: async (supplies) => (await breaks(supplies)).map((id) => ({ path: `/reconciliation-breaks/${id}` })),
  },
  {
    route: 'PATCH /reconciliation-breaks/{id}',
    requests: async (supplies) => {
      const reconciliationBreak = { status: 'resolved', note: 'Bench' };
      return (await breaks(supplies)).map((id) =>
        write(`/reconciliation-breaks/${id}`, 'direct', { reconciliationBreak }),
      );
    },
    once: true,
  },
];

async function breaks(supplies: Supplies): Promise<readonly string[]> {
  await compared(supplies);
  await supplies.sql`UPDATE reconciliation_breaks SET status = 'open' WHERE provider = 'bench-bank'`;
  const rows = await supplies.sql<{ id: string }[]>`SELECT id FROM reconciliation_breaks WHERE provider = 'bench-bank'`;
  return rows.map(({ id }) => id);
}

const rows: readonly RouteRow[] = [
  ...clientRows,
  ...userRows,
  ...beneficiaryRows,
  ...accountRows,
  ...moneyInRows,
  ...moneyOutRows,
  ...machineUserRows,
  ...reconciliationRows,
  ...auditEntryRows,
  ...systemRows,
];

const isRead = ({ route }: RouteRow) => route.startsWith('GET ');

/** What they read is there in every run, so that a part of the table is measured like the whole. */
export const READ_ROWS = rows.filter(isRead);

/**
 * Every route of the API, in the order of measurement. Lists are read before writes lengthen them. Webhooks come last:
 * as long as subscriptions exist, each event of the other rows is compared with them.
 */
export const ROUTE_TABLE: readonly RouteRow[] = [...READ_ROWS, ...rows.filter((row) => !isRead(row)), ...webhookRows];
