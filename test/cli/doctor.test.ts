import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { COMMAND_NOUNS, COMMANDS } from '../../cli/commands.ts';
import { type Endpoints, writeEndpoints } from '../../cli/common/endpoints.ts';
import { CHECKS } from '../../cli/operations/doctor/doctor.ts';
import { isDiskFull } from '../../cli/operations/doctor/machine.ts';
import { EXIT_STATUSES } from '../../cli/program/exit-statuses.ts';
import { runCommandLine } from '../../cli/program/run.ts';
import { createKeyring } from '../../db/common/keyring.ts';
import { webhookSecretRow } from '../../db/webhooks/schema.ts';
import { ROOT } from '../documents/printed.ts';
import type { Json } from '../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { temporaryDirectory } from '../harness/servers/sandbox.ts';
import { startTemporalDevServer, type TestTemporal } from '../harness/servers/temporal.ts';
import { filesBelow } from '../layout/files.ts';

// `fas doctor` on installations that are broken for real: without a service, without Postgres, of another schema, without a worker.

const ID = '0198c2f4-7d1a-7cc3-9a55-2f3b1c0d9e80';

let directory: ReturnType<typeof temporaryDirectory>;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(() => {
  directory.remove();
});

interface Examined {
  readonly status: number;
  readonly isFine: boolean;
  /** By the check's name. */
  readonly states: Readonly<Record<string, string>>;
  /** Problems with their mends, by the check's name. */
  readonly problems: Readonly<Record<string, string>>;
}

async function examine(change: NodeJS.ProcessEnv = {}): Promise<Examined> {
  const { status, data } = await doctor(['--json'], change);
  const { isFine, checks }: Json = JSON.parse(data);
  const problems = (check: Json) => check.problems.map(({ problem, mend }: Json) => `${problem} ${mend}`).join('\n');
  return {
    status,
    isFine,
    states: Object.fromEntries(checks.map((check: Json) => [check.name, check.state])),
    problems: Object.fromEntries(checks.map((check: Json) => [check.name, problems(check)])),
  };
}

async function doctor(words: readonly string[], change: NodeJS.ProcessEnv): Promise<{ status: number; data: string }> {
  let data = '';
  const environment = { DATA_DIR: directory.path, XDG_CONFIG_HOME: directory.path, HOME: directory.path, ...change };
  const streams = {
    data: {
      write: (text: string) => {
        data += text;
      },
    },
    errors: { write: () => {} },
  };
  const signal = new AbortController().signal;
  const line = { words: ['doctor', ...words], commands: COMMANDS, nouns: COMMAND_NOUNS, version: '0' };
  const status = await runCommandLine({ ...line, environment, streams, signal });
  return { status, data };
}

test('each check has a name of its own, what it comes after, and a page that exists', () => {
  const names = CHECKS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const pages = filesBelow(ROOT, 'docs');
  for (const { name, page, after } of CHECKS) {
    expect(pages, name).toContain(page);
    for (const earlier of after) expect(names.slice(0, names.indexOf(name)), name).toContain(earlier);
  }
});

test('where no service was started it says so, and looks at nothing that needs one', async () => {
  const { status, isFine, states, problems } = await examine();
  expect([status, isFine]).toEqual([EXIT_STATUSES.rejected.status, false]);
  expect(problems.service).toMatch(/No service was started with the data directory .*npm start/);
  expect([states.postgres, states.temporal, states.webhooks]).toEqual(Array(3).fill('not-looked-at'));
  const { data } = await doctor([], {});
  expect(data).toMatch(
    /^WRONG {2}service: which installation this is\n {7}No service was started .*\n {7}Mend: Run "npm start"/m,
  );
  expect(data).toContain('More: docs/installation.md');
});

test('without Postgres it names that alone of what depends on it, and no password', async () => {
  const { states, problems, status } = await examine({
    DATABASE_URL: 'postgres://someone:a-secret-password@127.0.0.1:1/service',
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  });
  expect(status).toBe(EXIT_STATUSES.rejected.status);
  expect(problems.postgres).toMatch(/^Postgres does not answer: .*ECONNREFUSED.* Start it, or mend DATABASE_URL/);
  expect(problems.temporal).toMatch(/^Temporal does not answer: /);
  expect([states.schema, states.clock, states.workers, states.breaks ?? states.reconciliation]).toEqual(
    Array(4).fill('not-looked-at'),
  );
  expect(JSON.stringify(problems)).not.toContain('a-secret-password');
});

test('a configuration that cannot be used is named with its rule', async () => {
  const file = join(directory.path, 'configuration.json');
  writeFileSync(file, '{ "rollLimit": -1 }');
  const { states, problems } = await examine({ CONFIG_FILE: file });
  expect(problems.configuration).toContain('rollLimit');
  expect(states.calendars).toBe('not-looked-at');
});

test('a key that others can read is named, with the command that mends it', async () => {
  const file = join(directory.path, 'encryption-key');
  writeFileSync(file, 'key', { mode: 0o644 });
  chmodSync(file, 0o644);
  expect((await examine()).problems.files).toContain(`${file} can be read by others (mode 644). chmod 600 ${file}`);
  chmodSync(file, 0o600);
  expect((await examine()).states.files).toBe('fine');
});

test('a disk is full before Postgres has to stop', () => {
  const gigabyte = 1_000_000_000;
  expect(isDiskFull({ free: 20 * gigabyte, size: 100 * gigabyte })).toBe(false);
  expect(isDiskFull({ free: 0.5 * gigabyte, size: 5 * gigabyte })).toBe(true);
  expect(isDiskFull({ free: 20 * gigabyte, size: 1_000 * gigabyte })).toBe(true);
});

describe('of a service on Postgres and Temporal', () => {
  let testDatabase: TestDatabase;
  let temporal: TestTemporal;

  beforeAll(async () => {
    testDatabase = await createTestDatabase('doctor');
    temporal = await startTemporalDevServer();
  });

  afterAll(async () => {
    await temporal?.close();
    await testDatabase?.drop();
  });

  beforeEach(() => {
    mkdirSync(join(directory.path, 'run'));
    writeEndpoints(directory.path, endpoints());
  });

  function endpoints(change: Partial<Endpoints> = {}): Endpoints {
    const none = 'http://127.0.0.1:1';
    return {
      apiUrl: none,
      publicUrl: none,
      sandboxUrl: none,
      apiMetricsUrl: none,
      workerMetricsUrl: none,
      databaseUrl: testDatabase.url,
      temporalAddress: temporal.address,
      temporalNamespace: temporal.namespace,
      uiUrl: null,
      audience: 'doctor',
      hasDevelopmentUsers: true,
      ...change,
    };
  }

  test('a missing API and missing workers are found, and all else is fine', async () => {
    const { states, problems } = await examine();
    expect(problems.api).toMatch(/health\/ready does not answer: /);
    expect(problems.workers).toBe(
      'No worker polls the task queues workflows, providers, webhooks. Start a worker (`npm run worker`).',
    );
    const { api: _, workers: __, calendars: ___, ...others } = states;
    expect([...new Set(Object.values(others))]).toEqual(['fine']);
  });

  test('a namespace that Temporal does not have is named', async () => {
    writeEndpoints(directory.path, endpoints({ temporalNamespace: 'elsewhere' }));
    const { states, problems } = await examine();
    expect(problems.temporal).toContain('Temporal has no namespace elsewhere.');
    expect(states.workers).toBe('not-looked-at');
  });

  test('a key that does not decrypt what is stored is found, and is never shown', async () => {
    const [kept, other] = [randomBytes(32), randomBytes(32)];
    const inBase64 = (key: Buffer) => key.toString('base64');
    const stored = createKeyring([kept]).encrypt('whsec_a-secret', webhookSecretRow(ID));
    await testDatabase.asOwner(`
      INSERT INTO webhook_subscriptions (id, url, status, shard, created_at)
        VALUES ('${ID}', 'https://hook.example/', 'active', 0, service_now());
      INSERT INTO webhook_secrets (id, subscription_id, secret, created_at)
        VALUES ('${ID}', '${ID}', '${stored}', service_now())`);
    const without = await examine();
    const wrong = await examine({ ENCRYPTION_KEY: inBase64(other) });
    const unreadable = await examine({ ENCRYPTION_KEY: 'a-password' });
    const states = [
      await examine({ ENCRYPTION_KEY: inBase64(kept) }),
      await examine({ ENCRYPTION_KEY: `${inBase64(other)},${inBase64(kept)}` }),
    ].map((found) => found.states.encryption);
    writeFileSync(join(directory.path, 'encryption-key'), `${inBase64(kept)}\n`, { mode: 0o600 });
    states.push((await examine()).states.encryption);
    await testDatabase.asOwner(`DELETE FROM webhook_secrets; DELETE FROM webhook_subscriptions`);
    expect(without.problems.encryption).toMatch(
      /^1 of 1 values of webhook_secrets\.secret .*no ENCRYPTION_KEY is known/,
    );
    expect(wrong.problems.encryption).toMatch(/^1 of 1 values .* ENCRYPTION_KEY does not have their key\. Put the key/);
    expect(unreadable.problems.encryption).toContain('ENCRYPTION_KEY must be 32 bytes in base64');
    expect(states).toEqual(['fine', 'fine', 'fine']);
    const shown = JSON.stringify([without, wrong, unreadable]);
    for (const secret of [inBase64(kept), inBase64(other), stored, 'whsec_a-secret', 'a-password']) {
      expect(shown).not.toContain(secret);
    }
  });

  test('where nothing is stored it makes no key', async () => {
    expect((await examine()).states.encryption).toBe('fine');
    expect(existsSync(join(directory.path, 'encryption-key'))).toBe(false);
  });

  /** What is broken, how it is mended again, and what the doctor says of it. */
  const BROKEN: readonly [what: string, check: string, breaks: string, mends: string, said: RegExp][] = [
    [
      'a migration that is not applied',
      'schema',
      `UPDATE schema_migrations SET name = '9999_newer.sql' WHERE name = '0004_look_ups.sql'`,
      `UPDATE schema_migrations SET name = '0004_look_ups.sql' WHERE name = '9999_newer.sql'`,
      /Migrations are not applied: 0004_look_ups\.sql\. Run `npx tsx db\/migrate\.ts`/,
    ],
    [
      'the schema of another history',
      'schema',
      `UPDATE schema_migrations SET name = '0000_older.sql' WHERE name = '0001_baseline.sql'`,
      `UPDATE schema_migrations SET name = '0001_baseline.sql' WHERE name = '0000_older.sql'`,
      /0000_older\.sql/,
    ],
    [
      'functions of another release',
      'schema',
      `UPDATE schema_functions SET sha256 = 'other' || sha256 WHERE name = 'ledger.sql'`,
      `UPDATE schema_functions SET sha256 = substr(sha256, 6) WHERE name = 'ledger.sql'`,
      /Functions are not this release’s: ledger\.sql\. Run `npx tsx db\/migrate\.ts`/,
    ],
    [
      'a parked wake-up',
      'wake-ups',
      `INSERT INTO workflow_wakeups (workflow_id, workflow_type, created_at, next_attempt_at, parked_at, attempt_count, last_error)
       VALUES ('consent/1', 'consent', service_now(), service_now(), service_now(), 1, '3 invalid')`,
      `DELETE FROM workflow_wakeups`,
      /1 wake-ups are parked\. See why: fas workflows parked/,
    ],
    [
      'a wake-up that does not reach Temporal',
      'wake-ups',
      `INSERT INTO workflow_wakeups (workflow_id, workflow_type, created_at, next_attempt_at)
       VALUES ('consent/1', 'consent', service_now() - interval '3 hours', service_now())`,
      `DELETE FROM workflow_wakeups`,
      /Temporal has not received a wake-up for 3 hours\./,
    ],
    [
      'an event without a position',
      'events',
      `INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
       VALUES ('0198c2f4-7d1a-7cc3-9a55-2f3b1c0d9e80', 1, 'clients', uuidv7(), 1, service_now() - interval '5 minutes', '[{}]')`,
      `DELETE FROM events`,
      /Events wait for .* for their position/,
    ],
    [
      'a disabled subscription',
      'webhooks',
      `INSERT INTO webhook_subscriptions (id, url, status, status_reason, shard, created_at)
       VALUES (uuidv7(), 'https://hook.example/', 'disabled', 'gone', 0, service_now())`,
      `DELETE FROM webhook_subscriptions`,
      /1 webhook subscriptions were disabled/,
    ],
    [
      'an open break',
      'reconciliation',
      `INSERT INTO reconciliation_breaks (id, provider, kind, details, found_at)
       VALUES (uuidv7(), 'sandbox-bank', 'callback-contradicts', '{}', service_now())`,
      `DELETE FROM reconciliation_breaks`,
      /1 differences to providers’ statements are open\. See fas reconciliations breaks/,
    ],
    [
      'a file of a bank that is set aside',
      'bank-files',
      `INSERT INTO bank_files (id, provider, direction, name, digest, size, content, state, reason, created_at)
       VALUES (uuidv7(), 'files-bank', 'in', 'a.xml', sha256('a'), 1, 'a', 'set-aside', 'no message', service_now())`,
      `DELETE FROM bank_files`,
      /1 bank files are set aside\. See fas bank-files list/,
    ],
    [
      'a file of ours that is not delivered',
      'bank-files',
      `INSERT INTO bank_files (id, provider, direction, message, name, message_id, digest, size, content, state, created_at)
       VALUES (uuidv7(), 'files-bank', 'out', 'pain.001', 'b.xml', 'B', sha256('b'), 1, 'b', 'built', service_now() - interval '3 hours')`,
      `DELETE FROM bank_files`,
      /A file of payments has not been at its bank for 3 hours/,
    ],
    [
      'a table without months ahead',
      'months',
      `CREATE TABLE kept AS SELECT month, from_id, to_id FROM table_months() WHERE name = 'webhook_attempts' ORDER BY to_id OFFSET 1;
       DO $$ DECLARE v text; BEGIN FOR v IN SELECT month FROM kept LOOP
         EXECUTE 'ALTER TABLE webhook_attempts DETACH PARTITION ' || v; END LOOP; END $$`,
      `DO $$ DECLARE v record; BEGIN FOR v IN SELECT * FROM kept LOOP
         EXECUTE format('ALTER TABLE webhook_attempts ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', v.month, v.from_id, v.to_id); END LOOP; END $$;
       DROP TABLE kept`,
      /In \d+ days nothing can be written to webhook_attempts: it has no month then\. Run `npx tsx db\/migrate\.ts`/,
    ],
    [
      'a month that is kept beyond its time',
      'months',
      `INSERT INTO months_over SELECT month, from_id, to_id, now() - interval '9 days' FROM table_months() LIMIT 1`,
      `DELETE FROM months_over`,
      /1 months of tables were kept for their time and are not removed/,
    ],
    [
      'closed submissions',
      'submissions',
      `UPDATE provider_submissions SET operator_closed_at = service_now(), operator_reason = 'a test'`,
      `UPDATE provider_submissions SET operator_closed_at = NULL, operator_reason = NULL`,
      /submissions are closed\. Once the cause is gone: fas submissions open/,
    ],
  ];

  test.each(BROKEN)('%s is found, and is gone once it is mended', async (_, check, breaks, mends, said) => {
    await testDatabase.asOwner(breaks);
    const { states, problems } = await examine();
    await testDatabase.asOwner(mends);
    expect(states[check]).toBe('wrong');
    expect(problems[check]).toMatch(said);
    expect((await examine()).states[check]).toBe('fine');
  });
});
