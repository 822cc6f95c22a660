import { accountRows } from './accounts.ts';
import { beneficiaryRows } from './beneficiaries.ts';
import { clientRows } from './clients.ts';
import { machineUserRows } from './machine-users.ts';
import { moneyInRows } from './money-in.ts';
import { moneyOutRows } from './money-out.ts';
import type { RouteRow } from './row.ts';
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

const rows: readonly RouteRow[] = [
  ...clientRows,
  ...userRows,
  ...beneficiaryRows,
  ...accountRows,
  ...moneyInRows,
  ...moneyOutRows,
  ...machineUserRows,
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
