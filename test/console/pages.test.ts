import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressAt, hasRole } from '../../console/page/page.ts';
import { PAGES, REMEDIES } from '../../console/pages.ts';
import { addressOf } from '../../console/remedies/remedy-pages.tsx';
import { ROLES, type Role } from '../../domain/machine-users/roles.ts';
import { startApi, type TestApi } from '../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { type ConsoleCaller, type ConsoleUnderTest, startConsole } from './console-under-test.ts';
import { type ConsoleWorld, EMAIL, FAMILY_NAME, GIVEN_NAME, idOn, makeConsoleWorld, SCRIPT } from './console-world.ts';

// Every page and every remedy of the console: a new one is covered as soon as it stands in its table (console/pages.ts).

let testDatabase: TestDatabase;
let api: TestApi;
let underTest: ConsoleUnderTest;
let world: ConsoleWorld;
const callers = new Map<Role, ConsoleCaller>();

beforeAll(async () => {
  testDatabase = await createTestDatabase('console-pages');
  api = await startApi(testDatabase);
  underTest = await startConsole(testDatabase);
  world = await makeConsoleWorld(api);
  for (const role of ROLES) callers.set(role, await underTest.signIn(role));
});

afterAll(async () => {
  await underTest?.stop();
  await api?.stop();
  await testDatabase?.drop();
});

function as(role: Role): ConsoleCaller {
  const caller = callers.get(role);
  if (caller === undefined) throw new Error(`no one is signed in as ${role}`);
  return caller;
}

/** The page's address for the resource of this world. */
const addressOfPage = (path: string) => addressAt(path, { id: idOn(world, path) });

const PATHS = PAGES.map(({ path, roles = ROLES }) => ({ path, roles }));

describe.each(PATHS)('the page $path', ({ path, roles }) => {
  test.each(ROLES)('opens for %s only if the role may read it, and never fails', async (role) => {
    const answer = await as(role).get(addressOfPage(path));
    if (!hasRole({ roles: [role] }, roles)) return expect(answer.status, answer.text).toBe(403);
    expect(answer.status, answer.text).toBe(200);
  });

  test('sends a person who is not signed in to sign in, and back', async () => {
    const address = addressOfPage(path);
    const answer = await fetch(`${underTest.url}${address}`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      `/sign-in?return_to=${encodeURIComponent(address)}`,
    ]);
  });

  test('shows texts of others as texts', async () => {
    const answer = await as('admin').get(addressOfPage(path));
    expect(answer.text).not.toContain(SCRIPT);
  });

  test('holds no name, e-mail address or account number for a viewer', async () => {
    const answer = await as('viewer').get(addressOfPage(path));
    for (const hidden of [GIVEN_NAME, FAMILY_NAME, EMAIL]) expect(answer.text).not.toContain(hidden);
  });

  test('has no script, style or address of its own that the content security policy would stop', async () => {
    const answer = await as('admin').get(addressOfPage(path));
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(answer.text).not.toMatch(/<script(?![^>]*\bsrc="\/assets\/)/);
    expect(answer.text).not.toMatch(/\sstyle="|\son[a-z]+="|<style|javascript:/);
    expect(answer.text).not.toMatch(/(src|href|action)="(https?:)?\/\/(?!127\.0\.0\.1)/);
  });
});

const KINDS = REMEDIES.map((remedy) => ({ kind: remedy.kind, remedy }));

test('each remedy has a kind of its own', () => {
  expect(new Set(KINDS.map(({ kind }) => kind)).size).toBe(KINDS.length);
});

/** What the console has changed: nothing may be added by a request that is rejected. */
async function countAuditEntries(): Promise<number> {
  const [row] = await api.database.reader.statement<{ count: number }>(
    'SELECT count(*)::integer AS count FROM audit_entries',
    [],
  );
  return row?.count ?? 0;
}

describe.each(KINDS)('the remedy $kind', ({ remedy }) => {
  // A remedy for many is asked for one that there is.
  const address = () =>
    `${addressOf(remedy, { id: idOn(world, remedy.page) })}${remedy.kind.startsWith('for-all-') ? '?remedy=cancel' : ''}`;
  const filled = () => Object.fromEntries((remedy.fields ?? []).map(({ name }) => [name, 'x']));

  test.each(ROLES)('is for %s only if the role may do it, and shows first what it does', async (role) => {
    const [page, act] = await Promise.all([
      as(role).get(address()),
      hasRole({ roles: [role] }, remedy.roles) ? null : as(role).post(address(), { ...filled(), reason: 'because' }),
    ]);
    if (act === null) {
      expect(page.status, page.text).toBe(200);
      expect(page.text).toContain('What will happen');
      return;
    }
    expect([page.status, act.status]).toEqual([403, 403]);
  });

  test('does nothing without a reason, the form’s token, or the console’s own origin', async () => {
    const [role] = remedy.roles;
    if (role === undefined) throw new Error(`${remedy.kind} is for no role`);
    const caller = as(role);
    const before = await countAuditEntries();
    const url = `${underTest.url}${address()}`;
    const form = { ...filled(), reason: 'because', csrf: caller.csrfToken };
    const headers = { origin: underTest.url };
    const answers = await Promise.all([
      caller.post(address(), { ...filled(), reason: ' ' }),
      caller.browser.request(url, { form: { ...form, csrf: 'x'.repeat(43) }, headers }),
      caller.browser.request(url, { form, headers: { origin: 'https://evil.example' } }),
      caller.browser.request(url, { form, headers: { origin: 'null' } }),
      fetch(url, { method: 'POST', body: new URLSearchParams(form), headers, redirect: 'manual' }),
    ]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toEqual([422, 403, 403, 403, 401]);
    expect(await countAuditEntries()).toBe(before);
  });
});

// Whether anything is found tells as much as the name itself: a viewer finds by what a viewer sees.
describe('a viewer finds nothing by what is hidden', () => {
  /** Every filter that takes a text, by the path of its list: a new one has to be added here. */
  const HIDDEN: Readonly<Record<string, readonly string[]>> = {
    '/accounts': ['holder', 'iban', 'ledger'],
    '/clients': ['name', 'email'],
  };
  const SHOWN = [
    ...['account', 'actor', 'action', 'client', 'id', 'main', 'month', 'number', 'user'],
    ...['country', 'currency', 'provider', 'rule', 'scheme'],
  ];
  const SENTENCE = 'are hidden from viewers, so nothing is found by them';
  const textFiltersOf = (text: string) =>
    [
      ...(/<form class="filters" method="get".*?<\/form>/s.exec(text)?.[0] ?? '').matchAll(
        /<input type="text" name="([^"]+)"/g,
      ),
    ].map(([, name = '']) => name);

  test.each(PATHS)('among the filters of $path', async ({ path }) => {
    const hidden = HIDDEN[path] ?? [];
    const offered = textFiltersOf((await as('admin').get(addressOfPage(path))).text);
    for (const name of offered) expect([...hidden, ...SHOWN], name).toContain(name);
    expect(offered).toEqual(expect.arrayContaining([...hidden]));
    const toViewer = await as('viewer').get(addressOfPage(path));
    for (const name of textFiltersOf(toViewer.text)) expect(hidden).not.toContain(name);
  });

  beforeAll(async () => {
    await testDatabase.asOwner(
      `UPDATE accounts SET iban = 'GB33BUKB20201555555555', account_number = '31926819' WHERE id = '${world.account}'`,
    );
  });

  const CASES: readonly (readonly [address: string, matching: () => Promise<string>])[] = [
    ['/accounts?holder=', async () => FAMILY_NAME],
    ['/accounts?iban=', async () => 'GB33BUKB20201555555555'],
    ['/accounts?ledger=', async () => columnOf('accounts', 'ledger_number', world.account)],
    ['/clients?name=', async () => FAMILY_NAME],
    ['/clients?email=', async () => EMAIL],
    ['/search?q=', async () => FAMILY_NAME],
    ['/search?q=', async () => EMAIL],
    ['/search?q=', async () => columnOf('accounts', 'ledger_number', world.account)],
    ['/search?q=', async () => 'GB33BUKB20201555555555'],
    ['/search?q=', async () => '31926819'],
  ];

  async function columnOf(table: string, column: string, id: string): Promise<string> {
    const [row] = await api.database.reader.statement<{ value: string }>(
      `SELECT ${column} AS value FROM ${table} WHERE id = $1::uuid`,
      [id],
    );
    return row?.value ?? '';
  }

  test.each(CASES)('by %s, and another person does', async (address, matching) => {
    const value = await matching();
    const none = [...value].reverse().join('');
    const ask = async (role: Role, of: string) => {
      const answer = await as(role).get(`${address}${encodeURIComponent(of)}`);
      expect(answer.status, answer.text).toBe(200);
      return answer.text.replaceAll(of, '').replaceAll(encodeURIComponent(of), '');
    };
    const [hit, miss] = [await ask('viewer', value), await ask('viewer', none)];
    expect(hit).toContain(SENTENCE);
    expect(hit).toBe(miss);
    expect(await ask('operator', value)).not.toContain(SENTENCE);
    if (address.startsWith('/search')) return;
    const exported = await as('viewer').get(`${address}${encodeURIComponent(value)}&format=csv`);
    expect(exported.headers.get('content-type')).toContain('text/html');
  });

  test('and finds by an id, a transaction number and a client number', async () => {
    const { 'outgoing-transfers': transfer = '', clients: client = '' } = world.ids;
    const number = await columnOf('outgoing_transfers', 'transaction_number', transfer);
    const clientNumber = await columnOf('clients', 'client_number', client);
    for (const [text, id] of [
      [transfer, transfer],
      [number, transfer],
      [clientNumber, client],
    ] as const)
      expect((await as('viewer').get(`/search?q=${text}`)).text, text).toContain(id);
  });
});
