import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import { migrate, roleOf, type SchemaFiles } from '../../db/migrate.ts';
import { faultOfRole, OWNER_RUNS } from '../../db/service-role.ts';
import { startPostgres } from '../../dev/servers/postgres.ts';
import { createEmptyDatabase, createTestDatabase, executeOn, type TestDatabase } from '../harness/servers/postgres.ts';

/** The role that the service's processes run as, on the schema that they run on. */

const DENIED = '42501';

let database: TestDatabase;
let service: postgres.Sql;

interface Table {
  readonly name: string;
  readonly column: string;
  /** Columns that never change. */
  readonly fixed: readonly string[];
  readonly neverDeleted: boolean;
  /** A month of another table, which is reached through that. */
  readonly isMonth: boolean;
  readonly triggers: readonly string[];
  readonly constraints: readonly string[];
}

// By the catalogue, so that each new table joins.
const TABLES = `
  SELECT relname AS name, relispartition AS "isMonth",
    (SELECT attname FROM pg_attribute WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum LIMIT 1) AS column,
    ARRAY(SELECT attname FROM pg_attribute WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped AND (
      relname LIKE 'schema\\_%' OR EXISTS (SELECT FROM pg_trigger WHERE tgrelid = class.oid AND tgfoid = 'reject_change'::regproc
        AND tgtype & 16 > 0 AND (cardinality(tgattr::int2[]) = 0 OR attnum = ANY (tgattr))))) AS fixed,
    relname LIKE 'schema\\_%' OR EXISTS (SELECT FROM pg_trigger WHERE tgrelid = class.oid AND tgfoid = 'reject_change'::regproc
      AND tgtype & 8 > 0) AS "neverDeleted",
    ARRAY(SELECT tgname FROM pg_trigger WHERE tgrelid = class.oid AND NOT tgisinternal) AS triggers,
    ARRAY(SELECT conname FROM pg_constraint WHERE conrelid = class.oid) AS constraints
  FROM pg_class class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY relname`;

let tables: readonly Table[];

beforeAll(async () => {
  database = await createTestDatabase('service-role');
  service = postgres(database.url, { max: 1, onnotice: () => {} });
  tables = await service.unsafe<Table[]>(TABLES);
});

afterAll(async () => {
  await service.end();
  await database.drop();
});

/** The SQLSTATE by which Postgres rejects a statement, and `done` where it does not; nothing stays. */
async function attempt(statement: string): Promise<string> {
  try {
    await service.begin(async (tx) => {
      await tx.unsafe(statement);
      throw new Done();
    });
  } catch (error) {
    if (error instanceof Done) return 'done';
    if (error instanceof postgres.PostgresError) return error.code;
    throw error;
  }
  throw new Error('the transaction was not rolled back');
}

class Done extends Error {}

/** What of these Postgres does not reject for want of rights. */
async function notDenied(statements: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const statement of statements) {
    const outcome = await attempt(statement);
    if (outcome !== DENIED) found.push(`${statement}: ${outcome}`);
  }
  return found;
}

describe('the role of the service', () => {
  test('cannot switch off a trigger or a rule of any table', async () => {
    expect(tables.flatMap(({ triggers }) => triggers).length).toBeGreaterThan(10);
    expect(
      await notDenied(
        tables.flatMap(({ name, triggers, constraints }) => [
          `ALTER TABLE ${name} DISABLE TRIGGER ALL`,
          `ALTER TABLE ${name} DISABLE TRIGGER USER`,
          ...triggers.flatMap((trigger) => [
            `ALTER TABLE ${name} DISABLE TRIGGER ${trigger}`,
            `DROP TRIGGER ${trigger} ON ${name}`,
          ]),
          ...constraints.map((constraint) => `ALTER TABLE ${name} DROP CONSTRAINT "${constraint}"`),
        ]),
      ),
    ).toEqual([]);
    expect(await attempt(`SET session_replication_role = 'replica'`)).toBe(DENIED);
  });

  test('cannot alter, drop, empty, index or watch any table, nor give rights to one', async () => {
    expect(
      await notDenied(
        tables.flatMap(({ name, column }) => [
          `ALTER TABLE ${name} ADD COLUMN extra text`,
          `ALTER TABLE ${name} RENAME TO other`,
          `ALTER TABLE ${name} OWNER TO CURRENT_USER`,
          `DROP TABLE ${name}`,
          `TRUNCATE ${name} CASCADE`,
          `CREATE INDEX ON ${name} (${column})`,
          `CREATE TRIGGER own BEFORE INSERT ON ${name} FOR EACH ROW EXECUTE FUNCTION reject_change()`,
          `CREATE RULE own AS ON DELETE TO ${name} DO INSTEAD NOTHING`,
        ]),
      ),
    ).toEqual([]);
    const own = await service`SELECT relname FROM pg_class WHERE pg_has_role(relowner, 'MEMBER')`;
    expect(own).toEqual([]);
    // Without the option to pass rights on, Postgres answers GRANT with a warning and changes nothing.
    const passedOn = await service`
      SELECT relname FROM pg_class, aclexplode(relacl) WHERE is_grantable AND grantee = current_user::regrole`;
    expect(passedOn).toEqual([]);
  });

  test('cannot make anything: table, temporary table, function, view, type, schema, database, role', async () => {
    expect(
      await notDenied([
        'CREATE TABLE own (id int)',
        'CREATE TEMPORARY TABLE own (id int)',
        'CREATE FUNCTION own() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$',
        'CREATE OR REPLACE FUNCTION reject_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
        'CREATE VIEW own AS SELECT 1',
        'CREATE TYPE own AS (id int)',
        'CREATE SEQUENCE own',
        'CREATE SCHEMA own',
        'CREATE ROLE own',
        `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = own', current_database()); END $$`,
        'SET ROLE pg_database_owner',
        'SET ROLE pg_write_all_data',
      ]),
    ).toEqual([]);
  });

  test('cannot change or delete a row of what is append-only, nor what never changes of another row', async () => {
    const appendOnly = tables.filter(({ neverDeleted }) => neverDeleted).map(({ name }) => name);
    const known = [
      'audit_entries',
      'balance_adjustments',
      'fee_sweeps',
      'party_accounts',
      'postings',
      'schema_functions',
      'schema_migrations',
    ];
    expect(appendOnly).toEqual(expect.arrayContaining(known));
    for (const [name, column] of [
      ['audit_entries', 'actor'],
      ['postings', 'amount_minor'],
      ['schema_migrations', 'sha256'],
    ])
      expect(tables.find((table) => table.name === name)?.fixed, name).toContain(column);
    const events = tables.find(({ name }) => name === 'events');
    expect(events?.fixed).toEqual(
      expect.arrayContaining([
        'id',
        'entry_count',
        'module',
        'resource_id',
        'first_sequence',
        'occurred_at',
        'entries',
      ]),
    );
    expect(events?.fixed).not.toContain('first_position');
    expect(
      await notDenied(
        tables.flatMap(({ name, fixed, neverDeleted }) => [
          ...fixed.map((column) => `UPDATE ${name} SET "${column}" = DEFAULT`),
          ...(neverDeleted ? [`DELETE FROM ${name}`] : []),
        ]),
      ),
    ).toEqual([]);
    expect(await attempt(`INSERT INTO schema_migrations (name, sha256) VALUES ('0001_own.sql', '')`)).toBe(DENIED);
    // The owner has the right, and meets the trigger.
    await expect(database.asOwner(`UPDATE events SET module = 'other' WHERE false`)).resolves.toEqual([]);
  });

  test('has what the processes need, and of each table no more than that', async () => {
    const granted = await service<{ name: string; rights: string[] }[]>`
      SELECT relname AS name, array_agg(privilege_type::text ORDER BY privilege_type) AS rights
      FROM pg_class, aclexplode(relacl)
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND grantee = current_user::regrole
      GROUP BY relname`;
    const rights = new Map(granted.map((row) => [row.name, row.rights]));
    for (const { name, fixed, neverDeleted, isMonth } of tables) {
      const expected = [
        ...(neverDeleted ? [] : ['DELETE']),
        ...(name.startsWith('schema_') ? [] : ['INSERT']),
        'SELECT',
        ...(fixed.length > 0 ? [] : ['UPDATE']),
      ];
      expect(rights.get(name), name).toEqual(isMonth ? undefined : expected);
    }
    expect(await attempt('UPDATE events SET first_position = first_position')).toBe('done');
  });

  test('no function of ours lends it rights, and no other role has any', async () => {
    const lending =
      await service`SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef`;
    expect(lending).toEqual([]);
    const toAll = await service`
      SELECT relname FROM pg_class, aclexplode(relacl) WHERE relnamespace = 'public'::regnamespace AND grantee = 0`;
    expect(toAll).toEqual([]);
  });
});

describe('the migration', () => {
  /** As in real use: the owner is no superuser, and the service's role another. */
  async function twoRoles() {
    const empty = await createEmptyDatabase('service-role');
    const suffix = new URL(empty.url).pathname.slice(-10);
    const [owner, role] = [`owner_${suffix}`, `service_${suffix}`];
    const name = new URL(empty.url).pathname.slice(1);
    for (const made of [owner, role]) await empty.asOwner(`CREATE ROLE ${made} LOGIN PASSWORD 'test'`);
    await empty.asOwner(`ALTER DATABASE ${name} OWNER TO ${owner}`);
    const addressOf = (username: string) => Object.assign(new URL(empty.url), { username, password: 'test' }).href;
    const asOwningRole = postgres(addressOf(owner), { max: 1, onnotice: () => {} });
    onTestFinished(async () => {
      await asOwningRole.end();
      await empty.drop();
      const sql = postgres(Object.assign(new URL(empty.url), { pathname: '/postgres' }).href, { max: 1 });
      for (const made of [owner, role]) await sql.unsafe(`DROP ROLE ${made}`);
      await sql.end();
    });
    return { empty, owner: asOwningRole, role, ownerUrl: addressOf(owner), serviceUrl: addressOf(role) };
  }

  function filesOf(files: Readonly<Record<string, string>>): SchemaFiles {
    const directory = mkdtempSync(join(tmpdir(), 'service-role-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    return { migrations: pathToFileURL(`${directory}/`), release: '1.0.0' };
  }

  const ONE = {
    '0001_one.sql': `CREATE FUNCTION reject_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
      CREATE TABLE one (id int, said text, place int);
      CREATE TRIGGER one_unchanged BEFORE UPDATE OF id, said ON one FOR EACH ROW EXECUTE FUNCTION reject_change();`,
  };
  const TWO = { ...ONE, '0002_two.sql': 'CREATE TABLE two (id int, said text);' };

  const rightsTo = (role: string, table: string) => `
    SELECT array_agg(privilege_type::text || coalesce(' ' || attname, '') ORDER BY privilege_type, attname) AS rights FROM (
      SELECT privilege_type, NULL AS attname, grantee FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = '${table}'::regclass
      UNION ALL SELECT privilege_type, attname, grantee FROM pg_attribute, aclexplode(attacl) WHERE attrelid = '${table}'::regclass
    ) AS acl WHERE grantee = '${role}'::regrole`;

  test('grants with each migration, takes back what is too much, and gives what is missing although nothing is pending', async () => {
    const { owner, role, ownerUrl } = await twoRoles();
    const rights = async (table: string) => (await owner.unsafe(rightsTo(role, table)))[0]?.rights;
    await migrate(ownerUrl, filesOf(ONE), { serviceRole: role });
    const ofOne = ['DELETE', 'INSERT', 'SELECT', 'UPDATE place'];
    expect(await rights('one')).toEqual(ofOne);
    const two = filesOf(TWO);
    await migrate(ownerUrl, two, { serviceRole: role });
    expect(await rights('two')).toEqual(['DELETE', 'INSERT', 'SELECT', 'UPDATE']);
    await owner.unsafe(`GRANT ALL ON one TO ${role}; REVOKE ALL ON two FROM ${role}; GRANT UPDATE (said) ON one TO ${role};
      GRANT TEMPORARY ON DATABASE ${new URL(ownerUrl).pathname.slice(1)} TO PUBLIC; GRANT CREATE ON SCHEMA public TO ${role}`);
    expect(await migrate(ownerUrl, two, { serviceRole: role })).toEqual([]);
    expect(await rights('one')).toEqual(ofOne);
    expect(await rights('two')).toEqual(['DELETE', 'INSERT', 'SELECT', 'UPDATE']);
    const [made] = await owner`SELECT has_schema_privilege(${role}, 'public', 'CREATE') AS tables,
      has_database_privilege(${role}, current_database(), 'TEMPORARY') AS temporary`;
    expect(made).toEqual({ tables: false, temporary: false });
    // What becomes append-only later is no longer to be changed from then on.
    const later = {
      ...TWO,
      '0003_kept.sql':
        'CREATE TRIGGER kept BEFORE UPDATE OR DELETE ON two FOR EACH ROW EXECUTE FUNCTION reject_change();',
    };
    await migrate(ownerUrl, filesOf(later), { serviceRole: role });
    expect(await rights('two')).toEqual(['INSERT', 'SELECT']);
  });

  test('says so where one role does both, and where the service still owns tables', async () => {
    const { owner, role, ownerUrl, serviceUrl, empty } = await twoRoles();
    const lines: string[] = [];
    const options = { onProgress: (line: string) => lines.push(line) };
    await migrate(ownerUrl, filesOf(ONE), { ...options, serviceRole: roleOf(ownerUrl) });
    expect(lines).toEqual([OWNER_RUNS]);
    await empty.asOwner(`ALTER TABLE one OWNER TO ${role}`);
    await empty.asOwner(`GRANT ${role} TO ${roleOf(ownerUrl)}`);
    await migrate(ownerUrl, filesOf(TWO), { ...options, serviceRole: role });
    expect(lines).toEqual([OWNER_RUNS, OWNER_RUNS]);
    expect((await owner.unsafe(rightsTo(role, 'two')))[0]?.rights).toContain('INSERT');
    await expect(migrate(serviceUrl, filesOf(TWO), { serviceRole: role })).rejects.toThrow(
      `The role ${role} does not own this database: set MIGRATION_DATABASE_URL`,
    );
    await expect(migrate(ownerUrl, filesOf(TWO), { serviceRole: 'absent_role' })).rejects.toThrow(
      'The role absent_role of DATABASE_URL does not exist',
    );
  });

  test('names the right that only another role can take back', async () => {
    const { empty, owner, role, ownerUrl } = await twoRoles();
    await migrate(ownerUrl, filesOf(ONE), { serviceRole: role });
    const third = role.replace('service', 'third');
    await empty.asOwner(`CREATE ROLE ${third}`);
    await owner.unsafe(`GRANT TRUNCATE ON one TO ${third} WITH GRANT OPTION`);
    await empty.asOwner(`SET ROLE ${third}; GRANT TRUNCATE ON one TO ${role}`);
    const lines: string[] = [];
    await migrate(ownerUrl, filesOf(ONE), { serviceRole: role, onProgress: (line) => lines.push(line) });
    expect(lines).toEqual([expect.stringContaining(`REVOKE TRUNCATE ON TABLE one FROM ${role}`)]);
    await owner.unsafe(`REVOKE TRUNCATE ON one FROM ${third} CASCADE`);
    await empty.asOwner(`DROP ROLE ${third}`);
  });

  test('a process finds out what is wrong with its role', async () => {
    const { owner, role, ownerUrl, serviceUrl } = await twoRoles();
    const faultOf = async (url: string) => {
      const checked = createDatabase({ url, maxConnections: 1, applicationName: 'checked' });
      try {
        return await faultOfRole(checked.reader);
      } finally {
        await checked.close();
      }
    };
    await migrate(ownerUrl);
    expect(await faultOf(ownerUrl)).toBe(OWNER_RUNS);
    await owner.unsafe(`GRANT CONNECT ON DATABASE ${new URL(ownerUrl).pathname.slice(1)} TO ${role}`);
    expect(await faultOf(serviceUrl)).toContain('lacks rights');
    await migrate(ownerUrl, undefined, { serviceRole: role });
    expect(await faultOf(serviceUrl)).toBeNull();
    await owner.unsafe(`GRANT DELETE ON postings TO ${role}`);
    expect(await faultOf(serviceUrl)).toBe(OWNER_RUNS);
  });

  test('a database of one role becomes one of two', async () => {
    const { owner, role, ownerUrl, serviceUrl, empty } = await twoRoles();
    const name = new URL(ownerUrl).pathname.slice(1);
    await empty.asOwner(`ALTER DATABASE ${name} OWNER TO ${role}`);
    await migrate(serviceUrl, undefined, { serviceRole: role });
    await empty.asOwner(`REASSIGN OWNED BY ${role} TO ${roleOf(ownerUrl)}`);
    expect(await migrate(ownerUrl, undefined, { serviceRole: role })).toEqual([]);
    const [owned] =
      await owner`SELECT count(*)::integer AS count FROM pg_class WHERE pg_has_role(${role}, relowner, 'MEMBER')`;
    expect(owned).toEqual({ count: 0 });
    const changed = postgres(serviceUrl, { max: 1, onnotice: () => {} });
    await expect(changed`ALTER TABLE postings DISABLE TRIGGER ALL`).rejects.toMatchObject({ code: DENIED });
    await changed`UPDATE accounts SET version = version`;
    await changed.end();
  });

  test('npm start’s Postgres of before there were two roles gets the second', async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'one-role-'));
    let server = await startPostgres({ dataDirectory });
    onTestFinished(async () => {
      await server.stop();
      rmSync(dataDirectory, { recursive: true, force: true });
    });
    await migrate(server.ownerUrl);
    await executeOn(server.ownerUrl, `DROP ROLE ${roleOf(server.url)}`);
    await server.stop();
    rmSync(join(dataDirectory, 'service-password'));
    server = await startPostgres({ dataDirectory });
    expect(await migrate(server.ownerUrl, undefined, { serviceRole: roleOf(server.url) })).toEqual([]);
    await expect(executeOn(server.url, 'ALTER TABLE postings DISABLE TRIGGER ALL')).rejects.toMatchObject({
      code: DENIED,
    });
    expect(await executeOn(server.url, 'UPDATE accounts SET version = version')).toEqual([]);
  });
});
