import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type CheckedType, decideBySignal } from '../../db/compliance/checks.ts';
import { PROCEDURE_RESULTS, type ProcedureResult } from '../../domain/compliance/procedures.ts';
import { ROLES } from '../../domain/machine-users/roles.ts';
import { COMPLIANCE_MODES } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { APPROVALS, modes, reviews, STOPS } from '../harness/transfers/reviews.ts';
import { eventsOf } from '../harness/webhooks/events.ts';

// No Temporal runs here: every decision is Postgres's.

let database: TestDatabase;
/** Reviews nothing: makes accounts and their money. */
let plain: TestApi;
/** Callers review both directions; one that reviews one direction only. */
let api: TestApi;
let incomingOnly: TestApi;
let outgoingOnly: TestApi;
let world: MoneyWorld;
let payer: Json;
let payee: Json;
let bankAccount: string;
const started: TestApi[] = [];

beforeAll(async () => {
  database = await createTestDatabase('compliance-checks');
  plain = await start('none', 'none');
  [api, incomingOnly, outgoingOnly] = [
    await start('external', 'external'),
    await start('external', 'none'),
    await start('none', 'external'),
  ];
  world = moneyWorld(plain);
  payer = { clientId: await world.client('Ada') };
  payer.id = await world.account(payer.clientId, { amount: 100_000 });
  payee = { clientId: await world.client('Grace') };
  payee.id = await world.account(payee.clientId);
  bankAccount = await world.beneficiary(payer.clientId);
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  for (const one of started) await one.stop();
  await database?.drop();
});

async function start(...[incoming, outgoing]: Parameters<typeof modes>): Promise<TestApi> {
  const users = started[0] === undefined ? {} : { users: started[0].users };
  const one = await startApi(database, { ...users, configuration: modes(incoming, outgoing), maxConnections: 4 });
  started.push(one);
  return one;
}

interface Reviewed {
  readonly type: CheckedType;
  readonly id: string;
  /** What the other side of an internal transfer is. */
  readonly other?: { readonly type: CheckedType; readonly id: string };
}

interface Kind {
  readonly make: () => Promise<Reviewed>;
  readonly approved: string;
  /** Events before the decision, after an approval, and after a rejection. */
  readonly events: readonly [opened: readonly string[], approved: readonly string[], rejected: readonly string[]];
}

const OUT = ['outgoing-transfer-created', 'outgoing-transfer-compliance-in-review'];
const IN = ['incoming-transfer-pending', 'incoming-transfer-compliance-in-review'];
const IN_EVENTS = [IN, ['incoming-transfer-completed'], ['incoming-transfer-failed']] as const;
const settled = ['processing', 'released', 'completed'].map((status) => `outgoing-transfer-${status}`);

const credited = async (): Promise<Reviewed> => {
  const accountId = await world.account(payee.clientId);
  await moneyWorld(api).credit(accountId, 10);
  const { body } = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${accountId}`);
  return { type: 'incoming-transfer', id: body.data.incomingTransfers[0].id };
};
const receiversSide = async (change: Json = {}): Promise<Reviewed> => {
  const { id, incomingTransferId } = await reviews(api).internal(payer, payee.id, change, incomingOnly);
  return { type: 'incoming-transfer', id: incomingTransferId, other: { type: 'outgoing-transfer', id } };
};

const KINDS: Readonly<Record<string, Kind>> = {
  'a payment out': {
    make: async () => ({ type: 'outgoing-transfer', id: (await reviews(api).external(payer, bankAccount)).id }),
    approved: 'processing',
    events: [OUT, ['outgoing-transfer-processing'], ['outgoing-transfer-failed']],
  },
  "an internal transfer's sender": {
    make: async () => {
      const { id, incomingTransferId } = await reviews(api).internal(payer, payee.id, {}, outgoingOnly);
      return { type: 'outgoing-transfer', id, other: { type: 'incoming-transfer', id: incomingTransferId } };
    },
    approved: 'completed',
    events: [OUT, settled, ['outgoing-transfer-failed']],
  },
  "an internal transfer's receiver": { make: receiversSide, approved: 'completed', events: IN_EVENTS },
  'a provisioned credit': { make: credited, approved: 'completed', events: IN_EVENTS },
  'a payment in': {
    make: async () => {
      const { ledgerNumber } = await builtInAccounts(plain).opened(payee.clientId);
      const { id } = await reviews(api).payIn({ remittanceText: ledgerNumber });
      return { type: 'incoming-transfer', id };
    },
    approved: 'completed',
    events: IN_EVENTS,
  },
};

const cases = Object.entries(KINDS).flatMap(([name, kind]) =>
  PROCEDURE_RESULTS.map((result) => ({ name, result, ...kind })),
);

const isStop = (result: ProcedureResult) => STOPS.some((stop) => stop === result);
const isApproval = (result: ProcedureResult) => APPROVALS.some((approval) => approval === result);

describe('a decision by a caller moves the transfer at once', () => {
  test.each(cases)('$name, $result', async ({ make, approved, events, result }) => {
    const { find, check, decide } = reviews(api);
    const { type, id, other } = await make();
    expect(await check(type, id)).toEqual({
      status: 'in-review',
      procedureResults: { 'transaction-monitoring': { result: null } },
    });
    const [opened, afterApproval, afterRejection] = events;
    expect(await world.events(id)).toEqual(opened);
    const requestId = randomUUID();
    const answer = await decide(type, id, result, { headers: { 'request-id': requestId } });
    expect(answer.status, answer.text).toBe(200);
    const checked = answer.body.data.complianceCheck;
    expect(checked).toEqual(await check(type, id));
    expect(checked.procedureResults).toEqual({ 'transaction-monitoring': { result } });

    const actor = api.users.compliance.id;
    const audited = await auditOf(api.database.reader, id);
    const entry = audited.filter(({ action }) => action === 'reviewed');
    expect(entry).toMatchObject([{ resource: type, actor, requestId, after: { complianceCheck: checked } }]);

    if (isStop(result)) {
      expect(checked).toEqual({ status: 'in-review', procedureResults: checked.procedureResults });
      expect(await world.events(id)).toEqual(opened);
      // The same again changes nothing; another stop, and then an approval, do.
      expect((await decide(type, id, result)).status).toBe(200);
      expect((await auditOf(api.database.reader, id)).length).toBe(audited.length);
      expect((await decide(type, id, 'hard-stop-accepted')).body.data.complianceCheck.status).toBe('approved');
    } else {
      const status = isApproval(result) ? 'approved' : 'rejected';
      expect(checked).toMatchObject({ status, decidedBy: actor });
      expect(checked.decidedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
    }
    const isApproved = isStop(result) || isApproval(result);
    expect(await world.events(id)).toEqual([...opened, ...(isApproved ? afterApproval : afterRejection)]);
    const transfer = await find(type, id);
    expect(transfer.status).toBe(isApproved ? approved : 'failed');
    expect(transfer.statusReason?.code ?? null).toBe(isApproved ? null : 'compliance.rejected');
    if (other !== undefined) {
      expect(await find(other.type, other.id)).toMatchObject(
        isApproved ? { status: 'completed' } : { status: 'failed', statusReason: { code: 'compliance.rejected' } },
      );
    }
    // Final is final, also for the same decision.
    const kept = await check(type, id);
    for (const late of PROCEDURE_RESULTS) {
      const rejected = await decide(type, id, late);
      expect([rejected.status, rejected.body.code]).toEqual([409, 'common.state.illegal_transition']);
    }
    expect(await check(type, id)).toEqual(kept);
  });

  test(`covers ${Object.keys(KINDS).length} kinds of transfers and every result`, () => {
    expect(cases.length).toBe(25);
  });
});

test('the event in review shows the check, and no other event does', async () => {
  const { id } = await receiversSide();
  const { id: outgoing } = await reviews(api).external(payer, bankAccount);
  await reviews(api).decide('incoming-transfer', id, 'all-passed');
  const mine = [...(await eventsOf(api, id)), ...(await eventsOf(api, outgoing))];
  expect(mine.filter(({ webhook }) => webhook.type.endsWith('compliance-in-review')).length).toBe(2);
  for (const { webhook, data } of mine) {
    if (!webhook.type.endsWith('compliance-in-review')) expect(Object.keys(data)).not.toContain('complianceCheck');
    else {
      const procedureResults = { 'transaction-monitoring': { result: null } };
      expect(data.complianceCheck).toEqual({ status: 'in-review', procedureResults });
      expect((data.incomingTransfer ?? data.outgoingTransfer).status).toBe('pending');
    }
  }
});

describe('who decides', () => {
  test.each(COMPLIANCE_MODES)('in mode %s', async (mode) => {
    const one = await start(mode, mode);
    const { check, decide } = reviews(one);
    const { id, incomingTransferId } = await reviews(one).internal(payer, payee.id);
    for (const [type, checked] of [
      ['outgoing-transfer', id],
      ['incoming-transfer', incomingTransferId],
    ] as const) {
      const opened = await check(type, checked);
      if (mode === 'none') expect(opened).toEqual({ status: 'skipped', procedureResults: {} });
      else expect(opened.status).toBe('in-review');
      const answer = await decide(type, checked, 'all-passed');
      if (mode === 'external') expect(answer.status).toBe(200);
      else expect([answer.status, answer.body.code]).toEqual([403, 'compliance.external.not_enabled']);
    }
    const completed = mode !== 'built-in';
    expect((await reviews(one).find('outgoing-transfer', id)).status).toBe(completed ? 'completed' : 'pending');
  });

  test('modes are per currency', async () => {
    const one = await startApi(database, {
      users: plain.users,
      configuration: (configuration) => ({
        ...configuration,
        compliance: {
          incoming: { rule: 'none', byCurrency: {} },
          outgoing: { rule: 'external', byCurrency: { EUR: 'none' } },
        },
      }),
    });
    started.push(one);
    const from = { clientId: payer.clientId, id: await world.account(payer.clientId, { currency: 'EUR', amount: 50 }) };
    const to = await world.account(payee.clientId, { currency: 'EUR' });
    const { id } = await reviews(one).internal(from, to, { currency: 'EUR' });
    expect(await reviews(one).check('outgoing-transfer', id)).toEqual({ status: 'skipped', procedureResults: {} });
    const { id: sterling } = await reviews(one).internal(payer, payee.id);
    expect((await reviews(one).check('outgoing-transfer', sterling)).status).toBe('in-review');
  });

  test('only the role compliance, and only with a known procedure and result', async () => {
    const { id } = await reviews(api).external(payer, bankAccount);
    for (const as of ROLES.filter((role) => role !== 'compliance')) {
      expect((await reviews(api).decide('outgoing-transfer', id, 'all-passed', { as })).status).toBe(403);
    }
    for (const result of ['passed', null, '', 7, undefined]) {
      const { status, body } = await reviews(api).decide('outgoing-transfer', id, result);
      expect([status, body.messageParameters[1]]).toEqual([400, expect.stringContaining('result')]);
    }
    const path = `/outgoing-transfers/${id}/compliance-check`;
    for (const complianceCheck of [
      { procedureResult: { procedure: 'sanctions', result: 'all-passed' } },
      { procedureResults: { 'transaction-monitoring': { result: 'all-passed' } } },
      { status: 'approved' },
    ]) {
      const body = { workflow: { code: 'direct' }, data: { complianceCheck } };
      expect((await api.call('PATCH', path, body, { as: 'compliance' })).status).toBe(400);
    }
    expect((await reviews(api).decide('incoming-transfer', randomUUID(), 'all-passed')).status).toBe(404);
    expect((await reviews(api).check('outgoing-transfer', id)).status).toBe('in-review');
  });
});

test('a signalled decision counts once, also when it is delivered again after another one', async () => {
  const { type, id } = await receiversSide();
  const signal = (decisionId: string, result: ProcedureResult) =>
    api.database.transaction((tx) =>
      decideBySignal(
        tx,
        { type, id },
        { decisionId, procedure: 'transaction-monitoring', result, actor: 'ann' },
        api.services.configuration,
      ),
    );
  await signal('first', 'soft-stop');
  await signal('second', 'hard-stop');
  await signal('first', 'soft-stop');
  expect((await reviews(api).check(type, id)).procedureResults['transaction-monitoring'].result).toBe('hard-stop');
  await Promise.all([signal('third', 'hard-stop-rejected'), signal('third', 'hard-stop-rejected')]);
  expect(await reviews(api).check(type, id)).toMatchObject({ status: 'rejected', decidedBy: 'ann' });
  const audited = await auditOf(api.database.reader, id);
  expect(audited.map(({ actor, requestId }) => [actor, requestId])).toEqual([
    ['ann', 'first'],
    ['ann', 'second'],
    ['ann', 'third'],
  ]);
});
