import { accountRows } from './accounts.ts';
import { beneficiaryRows } from './beneficiaries.ts';
import { clientRows } from './clients.ts';
import type { Fixtures } from './fixtures.ts';
import { machineUserRows } from './machine-users.ts';
import { moneyInRows } from './money-in.ts';
import { moneyOutRows } from './money-out.ts';
import { type RouteRow, write } from './row.ts';
import { userRows } from './users.ts';
import { webhookRows } from './webhooks.ts';

const systemRows: readonly RouteRow[] = [
  { route: 'GET /', notMeasured: 'a page made of constants' },
  { route: 'GET /health/live', notMeasured: 'a probe that reads nothing' },
  { route: 'GET /health/ready', notMeasured: 'a probe that asks Temporal as well' },
  { route: 'GET /openapi.json', notMeasured: 'a document made once' },
  { route: 'GET /docs', notMeasured: 'a document made once' },
  { route: 'GET /docs/guides', notMeasured: 'a document made of files and constants' },
  { route: 'GET /docs/guides/{name}', notMeasured: 'a document made of files and constants' },
  { route: 'GET /docs/errors', notMeasured: 'a document made of files and constants' },
  { route: 'GET /docs/errors/{code}', notMeasured: 'a document made of files and constants' },
  { route: 'GET /docs/collection.json', notMeasured: 'a document made of files and constants' },
  { route: 'GET /llms.txt', notMeasured: 'a document made of files and constants' },
  { route: 'GET /llms-full.txt', notMeasured: 'a document made of files and constants' },
  { route: 'GET /sitemap.xml', notMeasured: 'a document made of files and constants' },
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

/** Inserts days and breaks by SQL, because comparing real days would take longer than the measurements. */
async function compared(fixtures: Fixtures): Promise<void> {
  await fixtures.made('reconciliations', async () => {
    await fixtures.sql`
      INSERT INTO reconciliations SELECT gen_random_uuid(), 'bench-bank', 'GBP', DATE '2020-01-01' + number, 9, 900, 9, 900, 9, 900, 9, 900, 0,
        service_now(), service_now() FROM generate_series(1, ${DAY_COUNT}) AS number
      ON CONFLICT DO NOTHING`;
    await fixtures.sql`
      INSERT INTO reconciliation_breaks (id, provider, kind, our_reference, details, found_at, currency, day)
      SELECT gen_random_uuid(), 'bench-bank', 'statement-unknown-payment', 'bench-' || number, '{}', service_now(), 'GBP',
        DATE '2020-01-01' + number % ${DAY_COUNT} FROM generate_series(1, ${BREAK_COUNT}) AS number
      ON CONFLICT DO NOTHING`;
  });
}

const reconciliationRows: readonly RouteRow[] = [
  {
    route: 'GET /reconciliations',
    requests: async (fixtures) => {
      await compared(fixtures);
      return [{ path: '/reconciliations' }];
    },
  },
  {
    route: 'GET /reconciliations/{id}',
    requests: async (fixtures) => {
      await compared(fixtures);
      const days = await fixtures.sql<{ id: string }[]>`SELECT id FROM reconciliations LIMIT ${DAY_COUNT}`;
      return days.map(({ id }) => ({ path: `/reconciliations/${id}` }));
    },
  },
  {
    route: 'GET /reconciliation-breaks',
    requests: async (fixtures) => {
      await compared(fixtures);
      return [{ path: '/reconciliation-breaks' }];
    },
  },
  {
    route: 'GET /reconciliation-breaks/{id}',
    requests: async (fixtures) => (await breaks(fixtures)).map((id) => ({ path: `/reconciliation-breaks/${id}` })),
  },
  {
    route: 'PATCH /reconciliation-breaks/{id}',
    requests: async (fixtures) => {
      const reconciliationBreak = { status: 'resolved', note: 'Bench' };
      return (await breaks(fixtures)).map((id) =>
        write(`/reconciliation-breaks/${id}`, 'direct', { reconciliationBreak }),
      );
    },
    once: true,
  },
];

async function breaks(fixtures: Fixtures): Promise<readonly string[]> {
  await compared(fixtures);
  await fixtures.sql`UPDATE reconciliation_breaks SET status = 'open' WHERE provider = 'bench-bank'`;
  const rows = await fixtures.sql<{ id: string }[]>`SELECT id FROM reconciliation_breaks WHERE provider = 'bench-bank'`;
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

/** Their resources are created in every run, so that a part of the table is measured like the whole. */
export const READ_ROWS = rows.filter(isRead);

/**
 * Every route of the API, in the order of measurement. Lists are read before writes lengthen them. Webhooks come last, because
 * each event of the other rows is matched with existing subscriptions.
 */
export const ROUTE_TABLE: readonly RouteRow[] = [...READ_ROWS, ...rows.filter((row) => !isRead(row)), ...webhookRows];
