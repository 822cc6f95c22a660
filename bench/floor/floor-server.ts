import { serve } from '@hono/node-server';
import { Client, Connection } from '@temporalio/client';
import { Hono } from 'hono';
import postgres from 'postgres';
import { FLOOR_TASK_QUEUE } from './floor-steps.ts';

/**
 * The floor, which the service cannot beat: the same HTTP server, driver, database and Temporal with nothing in
 * between.
 */
const CONNECTIONS_MAX = Number(process.env.FLOOR_CONNECTIONS ?? '16');

const sql = postgres(process.env.DATABASE_URL ?? '', { max: CONNECTIONS_MAX, onnotice: () => {} });

// Locks first, in id order, so that opposite transfers cannot deadlock.
const TRANSFER = `
  WITH locked AS MATERIALIZED (SELECT id FROM floor_accounts WHERE id IN ($1, $2) ORDER BY id FOR UPDATE),
  moved AS (
    UPDATE floor_accounts SET balance_minor = balance_minor + CASE WHEN floor_accounts.id = $1 THEN -$3::bigint ELSE $3::bigint END
    FROM locked WHERE floor_accounts.id = locked.id RETURNING floor_accounts.id, balance_minor
  )
  INSERT INTO floor_entries (account_id, amount_minor, balance_after_minor)
  SELECT id, CASE WHEN id = $1 THEN -$3::bigint ELSE $3::bigint END, balance_minor FROM moved RETURNING id`;

const FIND = `SELECT id, account_id AS "accountId", amount_minor AS "amountMinor", balance_after_minor AS "balanceAfterMinor"
  FROM floor_entries WHERE id = $1`;

// A page of ten by an index, and the count of all rows that the index finds.
const PAGE = `SELECT id, parent_id AS "parentId", value, (SELECT count(*)::integer FROM floor_rows WHERE parent_id = $1) AS total
  FROM floor_rows WHERE parent_id = $1 ORDER BY id LIMIT 10`;

const INSERT = `INSERT INTO floor_rows (parent_id, value) SELECT $1, $2 FROM generate_series(1, $3::integer) RETURNING id`;

interface FloorRows {
  readonly parentId: string;
  readonly value: string;
  readonly rowCount: number;
}

interface FloorTransfer {
  readonly from: string;
  readonly to: string;
  readonly amountMinor: number;
}

const application = new Hono();

application.post('/transfers', async (c) => {
  const { from, to, amountMinor } = await c.req.json<FloorTransfer>();
  const rows = await sql.unsafe(TRANSFER, [from, to, amountMinor], { prepare: true });
  return c.json({ entries: rows.map(({ id }) => String(id)) }, 201);
});

application.get('/entries/:id', async (c) => {
  const [entry] = await sql.unsafe(FIND, [c.req.param('id')], { prepare: true });
  return entry === undefined ? c.json({ message: 'not found' }, 404) : c.json({ entry });
});

application.get('/pages/:parentId', async (c) => {
  const rows = await sql.unsafe(PAGE, [c.req.param('parentId')], { prepare: true });
  return c.json({ rows, total: rows[0]?.total ?? 0 });
});

application.post('/rows', async (c) => {
  const { parentId, value, rowCount } = await c.req.json<FloorRows>();
  const rows = await sql.unsafe(INSERT, [parentId, value, rowCount], { prepare: true });
  return c.json({ ids: rows.map(({ id }) => id) }, 201);
});

let temporal: Promise<Client> | undefined;

application.post('/workflows', async (c) => {
  temporal ??= Connection.connect({ address: process.env.TEMPORAL_ADDRESS ?? '' }).then(
    (connection) => new Client({ connection }),
  );
  const { id } = await c.req.json<{ id?: string }>();
  const workflowId = `floor/${id ?? crypto.randomUUID()}`;
  await (await temporal).workflow.start('floor', { taskQueue: FLOOR_TASK_QUEUE, workflowId });
  return c.json({ workflowId }, 201);
});

serve({ fetch: application.fetch, port: Number(process.env.PORT) }, () => console.log('floor ready'));
process.on('SIGTERM', () => process.exit(0));
