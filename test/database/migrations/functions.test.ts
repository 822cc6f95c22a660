import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';
import { OWN_FUNCTIONS } from '../../harness/servers/releases/schema-releases.ts';

/** What is installed, and what is written in db/functions. */

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase('functions');
});

afterAll(async () => {
  await database?.drop();
});

const ROOT = new URL('../../../', import.meta.url);
const textOf = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

function textsIn(folder: string, isRead: (name: string) => boolean): string[] {
  const names = readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' });
  return names.filter(isRead).map((name) => textOf(`${folder}/${name}`));
}

interface Installed {
  readonly signature: string;
  readonly name: string;
  /** Of the functions, triggers and views that are not it. */
  readonly isCalled: boolean;
}

const INSTALLED = `
  SELECT called.oid::regprocedure::text AS signature, proname AS name,
    EXISTS (SELECT FROM pg_proc caller WHERE caller.pronamespace = called.pronamespace AND caller.proname <> called.proname
      AND pg_get_functiondef(caller.oid) ~ ('\\m' || called.proname || '\\('))
    OR EXISTS (SELECT FROM pg_trigger WHERE NOT tgisinternal AND tgparentid = 0 AND pg_get_triggerdef(pg_trigger.oid) ~ ('\\m' || called.proname || '\\('))
    OR EXISTS (SELECT FROM pg_views WHERE schemaname = 'public' AND definition ~ ('\\m' || called.proname || '\\('))
    OR EXISTS (SELECT FROM pg_constraint WHERE connamespace = called.pronamespace
      AND pg_get_constraintdef(pg_constraint.oid) ~ ('\\m' || called.proname || '\\('))
    OR EXISTS (SELECT FROM pg_attrdef WHERE pg_get_expr(adbin, adrelid) ~ ('\\m' || called.proname || '\\(')) AS "isCalled"
  FROM pg_proc called WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'`;

test('every function is called: by another, a trigger, a view, a CHECK, a default, or a statement of ours', async () => {
  const isProduct = (name: string) => /\.(ts|sql)$/.test(name) && !/\.test\.ts$|^(migrations|functions)\//.test(name);
  const statements = textsIn('db', isProduct).map((text) => text.replaceAll(/^\s*(\/\/|\/?\*|--).*$/gm, ''));
  const installed = await database.asOwner<Installed>(INSTALLED);
  expect(installed.length).toBeGreaterThan(40);
  const uncalled = installed.filter(
    ({ name, isCalled }) => !isCalled && !statements.some((text) => new RegExp(`\\b${name}\\(`).test(text)),
  );
  expect(uncalled.map(({ signature }) => signature)).toEqual([]);
});

/** The names that the files define, one for each definition; those that transfer-rows.sql makes have its placeholder filled in. */
function definedNames(kind: 'FUNCTION' | 'TRIGGER' | 'VIEW'): string[] {
  const definition = new RegExp(`^ *CREATE OR REPLACE ${kind} (\\w+)`, 'gm');
  return OWN_FUNCTIONS.flatMap((path) => [...textOf(`db/${path}`).matchAll(definition)])
    .flatMap(([, name = '']) =>
      name.startsWith('SIDE_') ? ['outgoing', 'incoming'].map((side) => name.replace('SIDE', side)) : [name],
    )
    .sort();
}

test('every installed function and trigger stands in the files, once, and they define no other', async () => {
  const functions = await database.asOwner<Installed>(INSTALLED);
  expect(definedNames('FUNCTION')).toEqual(functions.map(({ name }) => name).sort());
  const triggers = await database.asOwner<{ name: string }>(
    'SELECT tgname::text AS name FROM pg_trigger WHERE NOT tgisinternal AND tgparentid = 0',
  );
  expect(definedNames('TRIGGER')).toEqual(triggers.map(({ name }) => name).sort());
  expect(textOf('db/migrations/0001_baseline.sql')).not.toMatch(/^CREATE (OR REPLACE )?(FUNCTION|TRIGGER)/m);
});

test('a file of functions only creates or replaces, so that it can be applied again', () => {
  for (const path of OWN_FUNCTIONS) {
    const text = textOf(`db/${path}`);
    expect(text, path).not.toMatch(/^(DROP|ALTER|INSERT|UPDATE|DELETE|GRANT|CREATE (?!OR REPLACE))/m);
  }
});

test('a file that lists the columns of tables says so in its first line', () => {
  const listing = OWN_FUNCTIONS.filter((path) => textOf(`db/${path}`).includes('pg_attribute'));
  expect(listing).toEqual(['functions/transfer-rows.sql']);
  for (const path of listing) expect(textOf(`db/${path}`)).toMatch(/^-- Applied after every migration/);
});
