import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Configuration } from '../../../config/configuration.ts';
import { type CheckedType, decideScreenedCheck, recordScreeningResult } from '../../../db/compliance/checks.ts';
import type { ComplianceRule } from '../../../domain/compliance/rules.ts';
import { type Json, startApi, type TestApi } from '../../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';
import { temporaryDirectory } from '../../harness/servers/sandbox.ts';
import { modes, reviews } from '../../harness/transfers/reviews.ts';
import { type ConsoleCaller, type ConsoleUnderTest, startConsole } from '../console-under-test.ts';

// The page on which compliance decides: what it shows, and that a decision there is the one that every door makes.

let database: TestDatabase;
let api: TestApi;
/** Reviews nothing: makes accounts and their money. */
let plain: TestApi;
let underTest: ConsoleUnderTest;
let world: MoneyWorld;
let compliance: ConsoleCaller;
let payer: Json;
let bankAccount: string;
const directory = temporaryDirectory();
const list = join(directory.path, 'list.csv');

const COMMON = { directions: ['outgoing'], stop: 'hard-stop' } as const;
const RULES: readonly ComplianceRule[] = [
  { ...COMMON, name: 'large', kind: 'amount', fromMinor: { GBP: 50_000n } },
  { ...COMMON, name: 'sanctions', kind: 'name', file: list, threshold: 0.85 },
];

const configured = (configuration: Configuration): Configuration => ({
  ...modes('none', 'external')(configuration),
  complianceRules: RULES,
});

beforeAll(async () => {
  writeFileSync(list, 'id,name,aliases\nQ-1,Viktor Sorokin,"Brooke Lane Bakery"\n');
  database = await createTestDatabase('console-reviews');
  plain = await startApi(database, { configuration: modes('none', 'none'), maxConnections: 3 });
  api = await startApi(database, { configuration: configured, users: plain.users, maxConnections: 4 });
  underTest = await startConsole(database, { configuration: configured });
  world = moneyWorld(plain);
  payer = { clientId: await world.client('Zephyrine') };
  payer.id = await world.account(payer.clientId, { amount: 100_000 });
  bankAccount = await world.beneficiary(payer.clientId);
  compliance = await underTest.signIn('compliance');
});

afterAll(async () => {
  await world?.invariantsHold();
  await underTest?.stop();
  await api?.stop();
  await plain?.stop();
  await database?.drop();
  directory.remove();
});

const payment = async (amount = 10): Promise<string> =>
  (await reviews(api).external(payer, bankAccount, { amount })).id;

/** The console of a service whose own rules screen: they have not done so here, because no worker runs. */
async function screened(during: (compliance: ConsoleCaller, id: string) => Promise<void>): Promise<void> {
  const id = await payment();
  const configuration = modes('none', 'built-in', { complianceRules: RULES });
  const screening = await startConsole(database, { configuration });
  await during(await screening.signIn('compliance'), id).finally(() => screening.stop());
}

/** As the service's own rules stop it. */
async function stop(id: string, rule: { readonly name: string; readonly kind: string }): Promise<void> {
  await api.database.reader.statement(
    `UPDATE outgoing_transfers SET compliance_result = 'hard-stop', compliance_rule = $2::jsonb WHERE id = $1`,
    [id, JSON.stringify(rule)],
  );
}

const addressOf = (id: string) => `/reviews/outgoing-transfers/${id}`;
const decide = (by: ConsoleCaller, id: string, result: string, reason = 'the invoice was seen') =>
  by.post(`${addressOf(id)}/decide-outgoing-review`, { result, reason });

async function reviewedEntries(type: CheckedType, id: string) {
  return api.database.reader.statement<Json>(
    `SELECT actor, role, reason FROM audit_entries WHERE resource = $1 AND resource_id = $2 AND action = 'reviewed'`,
    [type, id],
  );
}

test('the longest wait comes first, and each filter and page shows what it says', async () => {
  const ids: string[] = [];
  for (let count = 0; count < 3; count += 1) ids.push(await payment(20 + count));
  const { text } = await compliance.get('/reviews?direction=outgoing-transfer&currency=GBP');
  const places = ids.map((id) => text.indexOf(id));
  expect(places.every((place) => place > 0)).toBe(true);
  expect([...places].sort((one, other) => one - other)).toEqual(places);
  expect((await compliance.get('/reviews?direction=incoming-transfer')).text).toContain('Nothing waits');
  expect((await compliance.get('/reviews?currency=GB')).text).toContain('no currency code');
  const csv = (await compliance.get('/reviews?format=csv')).text;
  expect(csv.split('\r\n').length).toBeGreaterThan(ids.length);
});

test('a page shows the rule and its limit, the history of both parties, and earlier decisions', async () => {
  const earlier = await payment(30);
  expect((await reviews(api).decide('outgoing-transfer', earlier, 'all-passed')).status).toBe(200);
  const id = await payment(600);
  await stop(id, { name: 'large', kind: 'amount' });
  const { text } = await compliance.get(addressOf(id));
  expect(text).toContain('Stopped by the rule large (amount)');
  expect(text).toContain('£600.00 GBP is not below its limit of £500.00 GBP');
  expect(text).toContain('From the client to this party');
  expect(text).toContain(`/reviews/outgoing-transfers/${earlier}`);
  expect(text).toContain(`/outgoing-transfers/${id}`);
});

test('the hits of a list are shown with their similarity, and a viewer sees no name', async () => {
  const id = await payment(11);
  await stop(id, { name: 'sanctions', kind: 'name' });
  // The list is read when it is first needed.
  await compliance.get(addressOf(id));
  await expect
    .poll(async () => (await compliance.get(addressOf(id))).text, { timeout: 120_000 })
    .toContain('Brooke Lane Bakery');
  const { text } = await compliance.get(addressOf(id));
  expect(text).toMatch(/Q-1[\s\S]*\d+%/);
  const viewer = await underTest.signIn('viewer');
  const masked = await viewer.get(addressOf(id));
  expect(masked.status).toBe(200);
  expect(masked.text).not.toContain('Bakery');
  expect((await viewer.get('/reviews?format=csv')).text).not.toContain('Bakery');
});

describe('what was decided', () => {
  const wordsOf = ({ text }: { readonly text: string }) => text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

  test('is listed with who, why, what and the rule that had stopped it, the newest first, and a viewer sees no name', async () => {
    const [stopped, other] = [await payment(601), await payment(13)];
    await stop(stopped, { name: 'large', kind: 'amount' });
    expect((await decide(compliance, stopped, 'hard-stop-rejected', 'the invoice is forged')).status).toBe(303);
    expect((await reviews(api).decide('outgoing-transfer', other, 'all-passed')).status).toBe(200);
    const answer = await compliance.get('/reviews/decided');
    const { transactionNumber } = await reviews(api).find('outgoing-transfer', stopped);
    expect(wordsOf(answer)).toMatch(
      new RegExp(
        `${transactionNumber} out hard-stop-rejected rejected [^£]* \\(compliance\\) the invoice is forged large £601.00 GBP`,
      ),
    );
    expect(answer.text.indexOf(other)).toBeLessThan(answer.text.indexOf(stopped));
    expect(answer.text.indexOf(other)).toBeGreaterThan(0);
    const ofRule = (await compliance.get('/reviews/decided?rule=large')).text;
    expect([ofRule.includes(stopped), ofRule.includes(other)]).toEqual([true, false]);
    expect((await compliance.get('/reviews/decided?currency=EUR')).text).toContain('Nothing like this was decided.');
    const viewer = await underTest.signIn('viewer');
    const masked = (await viewer.get('/reviews/decided?format=csv')).text;
    expect(masked).toContain(transactionNumber);
    for (const hidden of ['Bakery', 'forged']) expect(masked).not.toContain(hidden);
  });

  test('by the built-in rules is not in it', async () => {
    const id = await payment(14);
    await api.database.transaction((tx) =>
      recordScreeningResult(
        tx,
        { type: 'outgoing-transfer', id },
        { result: 'all-passed', rule: null },
        api.services.configuration,
      ),
    );
    expect(await reviewedEntries('outgoing-transfer', id)).toHaveLength(1);
    expect((await compliance.get('/reviews/decided')).text).not.toContain(id);
  });
});

describe('a decision', () => {
  test('shows first what each possible result does, in numbers', async () => {
    const id = await payment(12);
    const { text } = await compliance.get(`${addressOf(id)}/decide-outgoing-review`);
    expect(text).toContain('all-passed: approved; £12.00 GBP is reserved at once, and £12.00 GBP goes out');
    expect(text).toContain('hard-stop-rejected: rejected; the transfer fails for good');
    expect(text).toContain('soft-stop: recorded; the transfer stays in review');
  });

  test('moves the transfer as every door does, and the audit log has person, role and reason', async () => {
    const id = await payment(13);
    const answer = await decide(compliance, id, 'all-passed');
    expect([answer.status, answer.headers.get('location')], answer.text).toEqual([303, addressOf(id)]);
    expect((await compliance.get(addressOf(id))).text).toContain('The check is approved, the transfer processing.');
    expect(await reviewedEntries('outgoing-transfer', id)).toEqual([
      { actor: compliance.personId, role: 'compliance', reason: 'the invoice was seen' },
    ]);
  });

  test('cannot be changed, and the page says so before anyone tries', async () => {
    const id = await payment(14);
    await decide(compliance, id, 'hard-stop-rejected');
    const page = await compliance.get(addressOf(id));
    expect(page.text).toContain('nothing is left to decide');
    const again = await decide(compliance, id, 'all-passed');
    expect(again.status).toBe(422);
    expect(await reviews(api).check('outgoing-transfer', id)).toMatchObject({ status: 'rejected' });
  });

  test('of two people at once, different, has one effect', async () => {
    const second = await underTest.signIn('compliance');
    for (let round = 0; round < 4; round += 1) {
      const id = await payment(15);
      const answers = await Promise.all([
        decide(compliance, id, 'all-passed'),
        decide(second, id, 'hard-stop-rejected'),
      ]);
      expect(answers.filter(({ status }) => status === 303).length).toBe(1);
      expect(await reviewedEntries('outgoing-transfer', id)).toHaveLength(1);
    }
  });

  test('approves nothing before the built-in rules have screened it, in one step or two, and may reject it', async () => {
    await screened(async (reviewer, id) => {
      const { text } = await reviewer.get(`${addressOf(id)}/decide-outgoing-review`);
      expect(text).toContain(
        'The built-in rules have not screened the transfer yet: until then it can only be rejected.',
      );
      expect(text).toContain('hard-stop-rejected: rejected');
      for (const result of ['all-passed', 'hard-stop-accepted', 'soft-stop', 'hard-stop']) {
        expect(text).not.toContain(`${result}:`);
        expect((await decide(reviewer, id, result)).status, result).toBe(422);
      }
      expect(await reviews(api).check('outgoing-transfer', id)).toMatchObject({ status: 'in-review' });
      const early = { result: 'all-passed', mode: 'built-in' } as const;
      const initiator = { actor: reviewer.personId, requestId: null };
      const checked = { type: 'outgoing-transfer', id } as const;
      await expect(
        api.database.transaction((tx) =>
          decideScreenedCheck(tx, checked, early, initiator, configured(api.services.configuration)),
        ),
      ).rejects.toMatchObject({ code: 'common.state.illegal_transition' });
      await stop(id, { name: 'large', kind: 'amount' });
      expect((await decide(reviewer, id, 'hard-stop-accepted')).status).toBe(303);
    });
    await screened(async (reviewer, id) => {
      expect((await decide(reviewer, id, 'hard-stop-rejected')).status).toBe(303);
      expect(await reviews(api).check('outgoing-transfer', id)).toMatchObject({ status: 'rejected' });
    });
  });

  test('is for compliance only, and not for who authorized the payment', async () => {
    const id = await payment(16);
    for (const role of ['viewer', 'operator', 'approver', 'admin'] as const) {
      const caller = await underTest.signIn(role);
      expect((await decide(caller, id, 'all-passed')).status, role).toBe(403);
    }
    await api.database.reader.statement(
      `INSERT INTO audit_entries (id, occurred_at, actor, action, resource, resource_id)
       VALUES (uuidv7(), service_now(), $1, 'authorized', 'outgoing-transfer', $2)`,
      [compliance.personId, id],
    );
    const page = await compliance.get(addressOf(id));
    expect(page.text).toContain('No one decides about a payment that they made, authorized or assigned');
    expect((await decide(compliance, id, 'all-passed')).status).toBe(422);
    expect(await reviews(api).check('outgoing-transfer', id)).toMatchObject({ status: 'in-review' });
  });
});
