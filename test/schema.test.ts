import { readdirSync, readFileSync } from 'node:fs';
import { is } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../db/client.ts';
import type { Database } from '../db/query/database.ts';
import { ACCOUNT_STATUSES, CONNECTION_STATUSES } from '../domain/accounts/accounts.ts';
import { CLIENT_RELATIONS, CLIENT_STATUSES } from '../domain/clients/clients.ts';
import { HOLD_REASONS, INCOMING_TRANSFER_STATUSES } from '../domain/incoming-transfers/incoming-transfers.ts';
import { MACHINE_USER_STATUSES, TOKEN_ALGORITHMS } from '../domain/machine-users/machine-users.ts';
import { ROLES } from '../domain/machine-users/roles.ts';
import { CONSENT_STATUSES } from '../domain/open-banking/consents.ts';
import { USER_CLIENT_RELATION_STATUSES } from '../domain/users/client-relations.ts';
import { USER_INVITATION_STATUSES, USER_SIGN_UP_STATUSES } from '../domain/users/invitations.ts';
import { USER_STATUSES } from '../domain/users/users.ts';
import { createTestDatabase, type TestDatabase } from './harness/servers/postgres.ts';

interface Column {
  readonly type: string;
  readonly notNull?: boolean;
  readonly hasDefault?: boolean;
}

type Tables = Record<string, Record<string, Column>>;

let testDatabase: TestDatabase;
let database: Database;
let drizzleTables: ReturnType<typeof getTableConfig>[];
/** What the code calls them. */
let declaredNames: string[];

beforeAll(async () => {
  testDatabase = await createTestDatabase('schema');
  database = createDatabase({
    url: testDatabase.url,
    maxConnections: 2,
    applicationName: 'schema-test',
    deadlineMs: 60_000,
  });
  const directory = new URL('../db/', import.meta.url);
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(^|\/)schema\.ts$/.test(name),
  );
  const modules: object[] = await Promise.all(files.map((name) => import(new URL(name, directory).href)));
  const exported = modules.flatMap((module) => Object.entries<unknown>({ ...module }));
  declaredNames = exported.filter(([, value]) => is(value, PgTable)).map(([name]) => name);
  drizzleTables = exported.flatMap(([, value]) => (is(value, PgTable) ? [getTableConfig(value)] : []));
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

/** Tables and views; a view's columns may all be null, and have no default. */
async function migratedTables(): Promise<Tables> {
  const rows = await database.statement<Required<Column> & { table: string; column: string; isOfView: boolean }>(
    `select c.relname as "table", a.attname as "column",
       case t.typtype when 'd' then format_type(t.typbasetype, t.typtypmod) else format_type(a.atttypid, a.atttypmod) end as type,
       a.attnotnull as "notNull", a.atthasdef or a.attidentity <> '' as "hasDefault", c.relkind = 'v' as "isOfView"
     from pg_class c join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v') and a.attnum > 0 and not a.attisdropped`,
    [],
  );
  const tables: Tables = {};
  for (const { table, column, isOfView, ...definition } of rows) {
    tables[table] ??= {};
    tables[table][column] = isOfView ? { type: definition.type } : definition;
  }
  return tables;
}

function mirroredTables(): Tables {
  return Object.fromEntries(
    drizzleTables.map((table) => [
      table.name,
      Object.fromEntries(
        table.columns.map((column) => [
          column.name,
          {
            type: column.getSQLType(),
            notNull: column.notNull,
            hasDefault: column.hasDefault || column.generatedIdentity !== undefined,
          },
        ]),
      ),
    ]),
  );
}

test('drizzle and the migrations agree on every column, type, nullability and default of the tables that queries name', async () => {
  const migrated = await migratedTables();
  expect(drizzleTables.length).toBeGreaterThan(20);
  for (const [name, columns] of Object.entries(mirroredTables())) {
    const present = Object.entries(migrated[name] ?? {});
    // A view may show more than we read.
    const isView = isViewOf(present);
    const compared = isView ? present.filter(([column]) => Object.hasOwn(columns, column)) : present;
    const declared = Object.entries(columns).map(([column, of]) => [column, isView ? { type: of.type } : of]);
    expect([name, Object.fromEntries(declared)]).toEqual([name, Object.fromEntries(compared)]);
  }
});

test('every declared table is named by a query', () => {
  const product = ['activities', 'api', 'cli', 'db', 'loops'];
  const texts = product.flatMap((folder) =>
    readdirSync(new URL(`../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => readFileSync(new URL(`../${folder}/${name}`, import.meta.url), 'utf8')),
  );
  const imported = new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/import \{([^}]*)\} from '[^']*\/schema\.ts'/g)].flatMap(([, names = '']) =>
        names.split(',').map((name) => name.trim()),
      ),
    ),
  );
  expect(declaredNames.filter((name) => !imported.has(name))).toEqual([]);
});

function isViewOf(columns: readonly (readonly [string, Column])[]): boolean {
  return columns.some(([, { notNull }]) => notNull === undefined);
}

/** The words that a CHECK, of the table or of the column's domain, allows in a column, by `table.column`. */
async function checkedWords(): Promise<Map<string, string[]>> {
  const rows = await database.statement<{ name: string; definition: string }>(
    `select c.relname || '.' || a.attname as name, pg_get_constraintdef(k.oid) as definition
     from pg_constraint k join pg_class c on c.oid = k.conrelid
       join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
     where k.contype = 'c' and cardinality(k.conkey) = 1 and c.relnamespace = 'public'::regnamespace
     union all
     select c.relname || '.' || a.attname, pg_get_constraintdef(k.oid)
     from pg_constraint k join pg_attribute a on a.atttypid = k.contypid join pg_class c on c.oid = a.attrelid
     where k.contype = 'c' and c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace`,
    [],
  );
  const words = new Map<string, string[]>();
  for (const { name, definition } of rows) {
    const list = [...definition.matchAll(/'([^']*)'::text/g)].map((match) => match[1] ?? '');
    if (list.length > 0) words.set(name, list.sort());
  }
  return words;
}

test('drizzle and the CHECKs agree on the words that a column may hold', async () => {
  const checked = await checkedWords();
  const migrated = await migratedTables();
  const tables = drizzleTables.filter(({ name }) => !isViewOf(Object.entries(migrated[name] ?? {})));
  const isDeclared = (name: string) => tables.some((table) => name.startsWith(`${table.name}.`));
  const mirrored = new Map<string, string[]>();
  for (const table of tables) {
    for (const column of table.columns) {
      const { enumValues } = column;
      if (enumValues !== undefined && enumValues.length > 0 && column.getSQLType() === 'text') {
        mirrored.set(`${table.name}.${column.name}`, [...enumValues].sort());
      }
    }
  }
  // An array column has its own CHECK, which drizzle's enum cannot say.
  for (const column of ['machine_users.roles', 'people.roles', 'console_sessions.roles']) {
    expect(checked.get(column), column).toEqual([...ROLES].sort());
    checked.delete(column);
  }
  expect(Object.fromEntries(mirrored)).toEqual(Object.fromEntries([...checked].filter(([name]) => isDeclared(name))));
});

test('the domain and the CHECKs agree on statuses, roles and algorithms', async () => {
  const checked = await checkedWords();
  const domain: Record<string, readonly string[]> = {
    'accounts.status': ACCOUNT_STATUSES,
    'accounts.connection_status': CONNECTION_STATUSES,
    'clients.status': CLIENT_STATUSES,
    'client_relations.relation': CLIENT_RELATIONS,
    'incoming_transfers.status': INCOMING_TRANSFER_STATUSES,
    'incoming_transfers.hold_reason': HOLD_REASONS,
    'open_banking_consents.status': CONSENT_STATUSES,
    'users.status': USER_STATUSES,
    'user_client_relations.status': USER_CLIENT_RELATION_STATUSES,
    'user_invitations.status': USER_INVITATION_STATUSES,
    'user_invitations.user_client_relation': CLIENT_RELATIONS,
    'user_sign_ups.status': USER_SIGN_UP_STATUSES,
    'machine_users.status': MACHINE_USER_STATUSES,
    'machine_users.roles': ROLES,
    'machine_user_keys.algorithm': TOKEN_ALGORITHMS,
  };
  for (const [name, words] of Object.entries(domain))
    expect([name, checked.get(name)]).toEqual([name, [...words].sort()]);
});
