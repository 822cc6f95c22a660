import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { filesBelow } from '../layout/files.ts';
import { expectPrinted, list, ROOT } from './printed.ts';
import {
  ADVISORY_LOCKS,
  FUNCTION_SCOPES,
  FUNCTIONS,
  type FunctionScope,
  KEY_SCOPES,
  type KeyScope,
  UNIQUE_KEYS,
} from './scopes.ts';

// What a database divided by client would make of each unique key, trigger, function and lock: by the catalogue of a real one.

interface UniqueKey {
  /** `table.index`. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly isPartial: boolean;
}

interface Trigger {
  readonly name: string;
  readonly table: string;
  readonly functionName: string;
  readonly isOfRows: boolean;
}

interface DatabaseFunction {
  readonly name: string;
  readonly language: string;
  readonly locksRows: boolean;
}

let database: TestDatabase;
let keys: readonly UniqueKey[];
let triggers: readonly Trigger[];
let functions: readonly DatabaseFunction[];

beforeAll(async () => {
  database = await createTestDatabase('scopes');
  // A month's keys are those of its table, or each month's own.
  keys = await database.asOwner<UniqueKey & Record<string, unknown>>(
    `SELECT DISTINCT regexp_replace(owner.relname || '.' || key.relname, '_[0-9]{4}_[0-9]{2}', '', 'g') AS name, indpred IS NOT NULL AS "isPartial",
       ARRAY(SELECT pg_get_indexdef(indexrelid, position, true) FROM generate_series(1, indnkeyatts) AS position) AS columns
     FROM pg_index JOIN pg_class AS key ON key.oid = indexrelid JOIN pg_class AS owner ON owner.oid = indrelid
     WHERE indisunique AND owner.relnamespace = 'public'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = indexrelid)
       AND owner.relname NOT LIKE 'schema\\_%' ORDER BY 1`,
  );
  triggers = await database.asOwner<Trigger & Record<string, unknown>>(
    `SELECT tgname AS name, relname AS table, proname AS "functionName", tgtype & 1 > 0 AS "isOfRows"
     FROM pg_trigger JOIN pg_class AS owner ON owner.oid = tgrelid JOIN pg_proc AS called ON called.oid = tgfoid
     WHERE NOT tgisinternal AND relnamespace = 'public'::regnamespace AND NOT relispartition ORDER BY relname, tgname`,
  );
  functions = await database.asOwner<DatabaseFunction & Record<string, unknown>>(
    `SELECT proname AS name, min(lanname) AS language, bool_or(prosrc ~ 'FOR (NO KEY )?(UPDATE|SHARE)') AS "locksRows"
     FROM pg_proc JOIN pg_language AS language ON language.oid = prolang
     WHERE pronamespace = 'public'::regnamespace GROUP BY proname ORDER BY 1`,
  );
});

afterAll(() => database?.drop());

/** The scope of each name; a name with two scopes has both. */
function scopesOf<Scope extends string>(register: Readonly<Record<Scope, readonly string[]>>): Map<string, Scope> {
  const scopes = new Map<string, Scope>();
  for (const scope of keysOf(register)) {
    for (const name of register[scope]) {
      expect(scopes.get(name), `${name} is listed twice`).toBeUndefined();
      scopes.set(name, scope);
    }
  }
  return scopes;
}

function keysOf<Key extends string>(of: Readonly<Record<Key, unknown>>): Key[] {
  const keys: Key[] = [];
  for (const key in of) keys.push(key);
  return keys;
}

/** What the columns of a key must have, where its scope says so. */
const NEEDS: Readonly<Partial<Record<KeyScope, RegExp>>> = {
  client: /^client_id$/,
  account: /^account_id$/,
  'one side': /^(debit|credit)_account_id$/,
  resource: /(^|_)(id|hash|of)$/,
  number: /^(id|number|.*_(number|id|position))$/,
};

test('every unique key says for which rows it must hold, and a new one joins', () => {
  const scopes = scopesOf(UNIQUE_KEYS);
  expect(keys.length).toBeGreaterThan(100);
  expect([...scopes.keys()].sort()).toEqual(keys.map(({ name }) => name).sort());
  const wrong = keys.filter(({ name, columns }) => {
    const scope = scopes.get(name);
    const needed = scope === undefined ? undefined : NEEDS[scope];
    return needed !== undefined && !columns.some((column) => needed.test(column));
  });
  expect(wrong).toEqual([]);
  // One that has the client's id needs nothing else.
  const others = keys.filter(({ name, columns }) => columns.includes('client_id') && scopes.get(name) !== 'client');
  expect(others.map(({ name }) => name)).toEqual(['transfer_counts.transfer_counts_pkey']);
});

test('every function says which rows it reads and writes', () => {
  const scopes = scopesOf(FUNCTIONS);
  expect([...scopes.keys()].sort()).toEqual(functions.map(({ name }) => name).sort());
});

test('every place that takes an advisory lock says what it locks', () => {
  const found = filesBelow(ROOT, 'db')
    .filter((path) => /\.(ts|sql)$/.test(path) && !path.endsWith('.test.ts'))
    .map(
      (path) =>
        [path, readFileSync(join(ROOT, path), 'utf8').match(/pg_(try_)?advisory_\w*lock\w*\(/g)?.length] as const,
    )
    .filter(([, count]) => count !== undefined);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(ADVISORY_LOCKS).map(([path, locks]) => [path, locks.length])),
  );
});

test('docs/reference/scopes.md has all of them', () => {
  const keysByName = new Map(keys.map((key) => [key.name, key]));
  const scopes = scopesOf(FUNCTIONS);
  const nameOfKey = (name: string) => {
    const { columns = [], isPartial = false } = keysByName.get(name) ?? {};
    return [`\`${name}\``, `${columns.join(', ')}${isPartial ? ', of some rows' : ''}`] as const;
  };
  const locking = new Set(functions.filter(({ locksRows }) => locksRows).map(({ name }) => name));
  const nameOfFunction = (name: string) => `\`${name}\`${locking.has(name) ? ' (locks rows)' : ''}`;
  expectPrinted(
    'docs/reference/scopes.md',
    'Scopes',
    [
      'What each unique key, trigger, function and advisory lock is about, and what a database divided by client makes of it ([scale](../scale.md)).',
      '',
      '## Unique keys',
      ...keysOf(KEY_SCOPES).flatMap((scope) => [
        '',
        `### ${scope}: ${UNIQUE_KEYS[scope].length}`,
        '',
        `It ${KEY_SCOPES[scope]}.`,
        '',
        ...list(UNIQUE_KEYS[scope].map(nameOfKey)),
      ]),
      '',
      '## Functions',
      '',
      ...list(
        keysOf(FUNCTION_SCOPES).map((scope) => [
          `${scope} (${FUNCTIONS[scope].length}), ${FUNCTION_SCOPES[scope]}`,
          FUNCTIONS[scope].map(nameOfFunction).join(', '),
        ]),
      ),
      '',
      '## Triggers',
      '',
      'With the scope of their functions. Those of statements stop TRUNCATE.',
      '',
      ...list(
        triggers.map(({ name, table, functionName, isOfRows }) => [
          `\`${name}\``,
          `\`${table}\`, each ${isOfRows ? 'row' : 'statement'}, \`${functionName}\`: ${scopeOfFunction(scopes, functionName)}`,
        ]),
      ),
      '',
      '## Advisory locks',
      '',
      ...list(Object.entries(ADVISORY_LOCKS).map(([path, locks]) => [`\`${path}\``, locks.join('; ')])),
    ],
    'test/documents/scopes.test.ts',
  );
});

function scopeOfFunction(scopes: ReadonlyMap<string, FunctionScope>, name: string): string {
  return scopes.get(name) ?? 'not listed';
}
