import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import { withAdvice } from '../../cli/operations/why/explanation.ts';
import { findWorkflowState } from '../../cli/operations/why/workflows.ts';
import { findWakeup } from '../../db/common/workflow-wakeups.ts';
import {
  advanceOutgoingTransfer,
  applyPaymentReport,
  recordLookUp,
  recordSubmission,
} from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { readDueSubmission } from '../../db/outgoing-transfers/payment-submissions.ts';
import { cancellation } from '../../db/outgoing-transfers/requested-changes.ts';
import type { Transaction } from '../../db/query/database.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import type { PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import type { Json, TestApi } from '../harness/api.ts';
import { auditOf, TESTER } from '../harness/audit.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { until } from '../harness/stage.ts';
import { modes, reviews } from '../harness/transfers/reviews.ts';
import { OPERATOR, type OperatedService, operatedService } from '../harness/workflows/operated-service.ts';
import { acceptedPayment, completedPayment } from '../harness/workflows/scripted-provider.ts';
import { entryArguments } from '../tools/run/entries.ts';

let service: OperatedService;
let api: TestApi;
let world: MoneyWorld;
/** Its transfers wait for an authorization; those of the next two, for a review of the sender's or the receiver's side. */
let authorizing: TestApi;
let reviewing: TestApi;
let reviewingReceivers: TestApi;
/** At the built-in provider. */
let source: Json;
/** Held by their caller. */
let plugIn: Json;
let poor: Json;
let receiver: string;
let bankAccount: string;

/** Noon of a Wednesday, a business day of every scheme. */
const [TODAY, TOMORROW] = ['2027-06-16', '2027-06-17'];

beforeAll(async () => {
  service = await operatedService('operator-commands', `${TODAY}T12:00:00Z`);
  ({ api } = service);
  world = moneyWorld(api);
  authorizing = await service.apiWith({ env: { AUTHORIZATION_RULE: 'always' } });
  reviewing = await service.apiWith({ configuration: modes('none', 'external', { prices: [] }) });
  reviewingReceivers = await service.apiWith({ configuration: modes('external', 'none', { prices: [] }) });
  const clientId = await world.client('Ada');
  const account = await builtInAccounts(api).opened(clientId);
  await builtInAccounts(api).payIn(account, 'funds', 10_000_000n);
  source = { clientId, id: account.id };
  plugIn = { clientId, id: await world.account(clientId, { amount: 10_000 }) };
  poor = { clientId, id: await world.account(clientId) };
  receiver = await world.account(await world.client('Grace'));
  bankAccount = await world.beneficiary(clientId);
});

afterAll(async () => {
  await service?.stop();
});

const act = <Value>(work: (tx: Transaction) => Promise<Value>) => api.database.transaction(work);
const rules = () => api.services.configuration;
const idOf = (id: string) => asId<OutgoingTransferId>(id);
const REASON = 'the client asked for it by telephone';

function report(id: string, outcome: PaymentReport['outcome']): PaymentReport {
  return {
    outcome,
    serviceProviderId: `p-${id}`,
    serviceProviderReference: null,
    code: outcome === 'failed' ? 'AC03' : null,
  };
}

async function external(change: Json = {}, by = api, from = source): Promise<string> {
  return (await reviews(by).external(from, bankAccount, change)).id;
}

/** Its money is reserved, and the outcome of the first submission is unknown. */
async function unresolved(): Promise<string> {
  const id = await external();
  expect(await act((tx) => advanceOutgoingTransfer(tx, idOf(id), rules()))).toEqual({ do: 'submit', attempt: 1 });
  return id;
}

/** As its workflow would: the operator's request leads to a look-up, which finds nothing. */
async function notFound(): Promise<string> {
  const id = await unresolved();
  expect((await service.operate('look-up', [id], { answerTimeoutMs: 0 })).status).toBe(2);
  expect(await act((tx) => advanceOutgoingTransfer(tx, idOf(id), rules()))).toEqual({ do: 'look-up', count: 0 });
  const step = await act((tx) => recordLookUp(tx, idOf(id), 0, 'not-found', rules()));
  expect(step).toMatchObject({ do: 'wait', for: 'provider' });
  return id;
}

async function submitted(outcome: PaymentReport['outcome']): Promise<string> {
  const id = await unresolved();
  await act((tx) => recordSubmission(tx, idOf(id), 1, report(id, outcome), rules()));
  return id;
}

async function cancelled(): Promise<string> {
  const id = await external({ transferDate: '2027-07-01' });
  await act((tx) => changeUnderLocks(tx, cancellation({ id: idOf(id), initiator: TESTER, rules: rules() })));
  return id;
}

const STATES: Readonly<Record<string, () => Promise<string>>> = {
  'waits for authorization': () => external({}, authorizing),
  'waits for authorization within the service': async () => (await reviews(authorizing).internal(plugIn, receiver)).id,
  'waits for review': () => external({}, reviewing),
  'waits for its date': () => external({ transferDate: TOMORROW, scheme: 'chaps' }),
  'is dated far ahead': () => external({ transferDate: '2027-07-01' }),
  'waits for balance': () => external({}, api, poor),
  'waits for the review of its receiver': async () => (await reviews(reviewingReceivers).internal(plugIn, receiver)).id,
  'has an unresolved attempt': unresolved,
  'is unknown to its provider': notFound,
  'is released': () => submitted('released'),
  'is with its caller': () => external({}, api, plugIn),
  'is completed': () => submitted('completed'),
  'is cancelled': cancelled,
  'is failed': () => submitted('failed'),
};

/** For each state, what each command does there: `does`, `no effect`, or a part of the reason for which it rejects. */
const NOT_SENT = /nothing has been submitted/;
const WITHIN = /it is internal/;
const CALLERS = /its plug-in caller/;
const FINAL = /which is final/;
const ON_ITS_WAY = /its payment is in progress/;
const MATRIX: readonly (readonly [string, ...(RegExp | 'does' | 'no effect')[]])[] = [
  // state, retry-submission, look-up, fail-transfer, next-window
  ['waits for authorization', NOT_SENT, NOT_SENT, 'does', 'does'],
  ['waits for authorization within the service', WITHIN, WITHIN, 'does', 'does'],
  ['waits for review', NOT_SENT, NOT_SENT, 'does', 'does'],
  ['waits for its date', NOT_SENT, NOT_SENT, 'does', 'no effect'],
  ['is dated far ahead', NOT_SENT, NOT_SENT, 'does', /is after 2027-06-17/],
  ['waits for balance', CALLERS, CALLERS, 'does', 'does'],
  ['waits for the review of its receiver', WITHIN, WITHIN, 'does', ON_ITS_WAY],
  ['has an unresolved attempt', /Run look-up .* first/, 'does', /attempt 1 is unresolved/, ON_ITS_WAY],
  ['is unknown to its provider', 'does', 'does', /attempt 1 is unresolved/, ON_ITS_WAY],
  ['is released', /has accepted it/, 'does', /has accepted it/, ON_ITS_WAY],
  ['is with its caller', CALLERS, CALLERS, /caller may have paid/, ON_ITS_WAY],
  ['is completed', FINAL, 'no effect', FINAL, FINAL],
  ['is cancelled', FINAL, FINAL, FINAL, FINAL],
  ['is failed', FINAL, FINAL, FINAL, FINAL],
];
const COMMANDS = ['retry-submission', 'look-up', 'fail-transfer', 'next-window'] as const;
type Command = (typeof COMMANDS)[number];

const CASES = MATRIX.flatMap(([state, ...expectations]) =>
  COMMANDS.map((command, index) => ({ state, command, expected: expectations[index] ?? 'does' })),
);

const give = (command: Command, id: string) =>
  service.operate(command, [id, ...(command === 'fail-transfer' ? ['--reason', REASON] : [])], { answerTimeoutMs: 0 });

/** All that a command could change. */
async function tracesOf(id: string): Promise<Json> {
  const [traces] = await api.database.reader.statement<Json>(
    `SELECT to_jsonb(transfer) AS transfer, (SELECT count(*)::int FROM events WHERE resource_id = $1) AS events,
      (SELECT count(*)::int FROM audit_entries WHERE resource_id = $1::text) AS audited,
      (SELECT generation::int FROM workflow_wakeups WHERE workflow_id = 'outgoing-transfer/' || $1) AS wakeups,
      (SELECT json_agg(json_build_array(posted_minor, reserved_minor, receivable_minor) ORDER BY id) FROM accounts) AS accounts
     FROM outgoing_transfers transfer WHERE id = $1`,
    [id],
  );
  return traces;
}

const AUDITED: Readonly<Record<Command, Json>> = {
  'retry-submission': { action: 'submitted-again', after: { submissionAttempt: 2 } },
  'look-up': { action: 'look-up-requested', after: { nextLookUpDateTime: expect.any(String) } },
  'fail-transfer': { action: 'failed', after: { status: 'failed', statusReasonCode: 'operator.failed' } },
  'next-window': { action: 'postponed', after: { transferDate: TOMORROW, rollCount: 1 } },
};

describe.each(CASES)('$command of a transfer that $state', ({ state, command, expected }) => {
  test(expected === 'does' ? 'does it once, also eight at once' : 'changes nothing', async () => {
    const id = (await STATES[state]?.()) ?? '';
    const before = await tracesOf(id);
    const first = await give(command, id);
    if (expected !== 'does') {
      expect(first.status, JSON.stringify(first.answer)).toBe(expected === 'no effect' ? 0 : 1);
      expect(first.answer).toMatchObject(
        expected === 'no effect'
          ? { id, result: command === 'look-up' ? 'no-news' : 'unchanged' }
          : { id, rejected: expect.stringMatching(expected) },
      );
      expect(await tracesOf(id)).toEqual(before);
      return;
    }
    // Its workflow does not run here, so that a look-up has no answer.
    expect(first.status, JSON.stringify(first.answer)).toBe(command === 'look-up' ? 2 : 0);
    const after = await tracesOf(id);
    expect(after.wakeups).toBe(before.wakeups === null ? 1 : before.wakeups + 1);
    expect(await give(command, id)).toMatchObject({ status: command === 'retry-submission' ? 1 : first.status });
    expect(await tracesOf(id)).toEqual(after);

    const other = (await STATES[state]?.()) ?? '';
    const all = await Promise.all(Array.from({ length: 8 }, () => give(command, other)));
    const done = all.filter(({ status }) => status === first.status);
    expect(done).toHaveLength(command === 'retry-submission' ? 1 : 8);
    for (const of of [id, other]) {
      const audited = (await auditOf(api.database.reader, of)).filter(({ actor }) => actor === OPERATOR.actor);
      expect(audited.at(-1)).toMatchObject({ resource: 'outgoing-transfer', requestId: null, ...AUDITED[command] });
      expect(audited.filter(({ action }) => action === AUDITED[command].action)).toHaveLength(
        command === 'look-up' && state === 'is unknown to its provider' ? 2 : 1,
      );
    }
    if (command === 'fail-transfer') {
      expect((await world.events(id)).at(-1)).toBe('outgoing-transfer-failed');
      const { body } = await api.call('GET', `/outgoing-transfers/${id}`);
      expect(body.data.outgoingTransfer.statusReason).toEqual({ code: 'operator.failed', message: REASON });
    }
  });
});

test('the money agrees after all of that', () => world.invariantsHold());

describe('retry-submission', () => {
  test('rejects while another look-up has no answer, which may find the payment', async () => {
    const id = await notFound();
    const rejected = { status: 1, answer: { rejected: expect.stringMatching(/another look-up/) } };
    expect(await give('look-up', id)).toMatchObject({ status: 2 });
    expect(await give('retry-submission', id)).toMatchObject(rejected);
    expect(await act((tx) => advanceOutgoingTransfer(tx, idOf(id), rules()))).toEqual({ do: 'look-up', count: 1 });
    expect(await give('retry-submission', id)).toMatchObject(rejected);
    await act((tx) => recordLookUp(tx, idOf(id), 1, 'not-found', rules()));
    expect(await give('retry-submission', id)).toMatchObject({ status: 0, answer: { submissionAttempt: 2 } });
  });

  test.each(['failed', 'released'] as const)(
    'a late answer "%s" to the attempt before moves no money: the new attempt counts',
    async (outcome) => {
      const id = await notFound();
      await give('retry-submission', id);
      const { accounts } = await tracesOf(id);
      const step = await act((tx) => recordSubmission(tx, idOf(id), 1, report(id, outcome), rules()));
      expect(step).toEqual({ do: 'submit', attempt: 2 });
      expect(await tracesOf(id)).toMatchObject({ accounts, transfer: { status: 'processing' } });
      await act((tx) => recordSubmission(tx, idOf(id), 2, report(id, 'released'), rules()));
      expect((await reviews(api).find('outgoing-transfer', id)).status).toBe('released');
    },
  );

  test('is rejected once a callback has found the payment, which is then not submitted', async () => {
    const id = await notFound();
    const from = { id: idOf(id), provider: 'sandbox-bank' };
    expect(await act((tx) => applyPaymentReport(tx, from, report(id, 'released'), rules()))).toBe('applied');
    expect(await give('retry-submission', id)).toMatchObject({ status: 1 });
    expect(await readDueSubmission(api.database.reader, idOf(id), 1)).toBeNull();
  });
});

describe('look-up', () => {
  test('that found nothing does not outweigh the answer of the attempt itself', async () => {
    const id = await notFound();
    await act((tx) => recordSubmission(tx, idOf(id), 1, report(id, 'released'), rules()));
    expect((await reviews(api).find('outgoing-transfer', id)).status).toBe('released');
  });

  test('wakes the workflow again if the look-up has been due for long', async () => {
    const id = await submitted('released');
    const overdue = `UPDATE outgoing_transfers SET next_look_up_at = service_now() - interval '10 minutes' WHERE id = $1`;
    await api.database.statement(overdue, [id]);
    const { wakeups } = await tracesOf(id);
    await give('look-up', id);
    expect((await tracesOf(id)).wakeups).toBe((wakeups ?? 0) + 1);
  });
});

describe('next-window', () => {
  test('keeps the reserve of rolls: at the limit it rejects, and the transfer does not fail', async () => {
    const id = await external({}, authorizing);
    await api.database.statement('UPDATE outgoing_transfers SET roll_count = $2 WHERE id = $1', [
      id,
      rules().rollLimit,
    ]);
    expect(await give('next-window', id)).toMatchObject({
      status: 1,
      answer: { rejected: expect.stringMatching(/limit/) },
    });
    expect((await reviews(api).find('outgoing-transfer', id)).status).toBe('pending');
  });
});

describe('fail-transfer', () => {
  test('rejects while a restore is not complete: the provider may have paid what is pending again', async () => {
    const id = await external({}, authorizing);
    await api.database.statement('UPDATE provider_submissions SET restore_began_at = service_now()', []);
    try {
      expect(await give('fail-transfer', id)).toMatchObject({ status: 1 });
    } finally {
      await api.database.statement('UPDATE provider_submissions SET restore_began_at = NULL', []);
    }
    expect(await give('fail-transfer', id)).toMatchObject({ status: 0, answer: { status: 'failed' } });
  });
});

test('a look-up of a completed payment that its provider does not know is no success, and changes nothing', async () => {
  const { answer } = service.provider;
  const lookUp = answer.lookUp;
  const id = await submitted('completed');
  const before = await tracesOf(id);
  answer.lookUp = async () => ({ outcome: 'not-found' });
  try {
    expect(await give('look-up', id)).toMatchObject({
      status: 1,
      answer: { id, status: 'completed', result: 'not-found' },
    });
  } finally {
    answer.lookUp = lookUp;
  }
  expect(await tracesOf(id)).toEqual(before);
});

describe('with the workflow running', () => {
  beforeAll(() => service.relay.start());

  test('look-up asks the provider and says what it answered; retry-submission then pays once', async () => {
    const { answer } = service.provider;
    let known = false;
    answer.lookUp = async (reference) => (known ? completedPayment(reference) : { outcome: 'not-found' });
    answer.submit = async ({ ourReference }) => acceptedPayment(ourReference);
    // The workflow begins once the look-up is asked for, which is therefore its first step.
    await service.relay.stop();
    const id = await unresolved();
    const asked = service.operate('look-up', [id]);
    await until(
      () => auditOf(api.database.reader, id),
      (entries) => entries.length === 1,
    );
    service.relay.start();
    expect(await asked).toMatchObject({ status: 0, answer: { id, status: 'processing', result: 'not-found' } });
    const { answer: again } = await service.operate('retry-submission', [id]);
    expect(again).toMatchObject({ id, submissionAttempt: 2, result: 'submitted-again' });
    await until(
      () => reviews(api).find('outgoing-transfer', id),
      ({ status }) => status === 'released',
    );
    known = true;
    expect(await service.operate('look-up', [id])).toMatchObject({
      status: 0,
      answer: { id, status: 'completed', result: 'moved' },
    });
    const { submissions } = service.provider;
    expect(submissions.filter((reference) => reference === id)).toHaveLength(1);
    await world.invariantsHold();
  });

  test('while a submission is under way every command but look-up is rejected, and the payment is made once', async () => {
    const { answer } = service.provider;
    let reached = () => {};
    let open = () => {};
    const underWay = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    answer.submit = async ({ ourReference }) => {
      reached();
      await gate;
      return acceptedPayment(ourReference);
    };
    answer.lookUp = async (reference) => completedPayment(reference);
    const id = await external();
    await underWay;
    const statuses = await Promise.all(COMMANDS.map((command) => give(command, id).then(({ status }) => status)));
    expect(statuses).toEqual([1, 2, 1, 1]);
    open();
    await until(
      () => reviews(api).find('outgoing-transfer', id),
      ({ status }) => status === 'completed',
    );
    expect(service.provider.submissions.filter((reference) => reference === id)).toHaveLength(1);
    await world.invariantsHold();
  });

  test('races of commands with authorization, cancellation and the provider: each transfer ends once, and only completed ones are paid', async () => {
    service.provider.answer.submit = async ({ ourReference }) => completedPayment(ourReference);
    const ids = await Promise.all(Array.from({ length: 20 }, () => external({}, authorizing)));
    const authorized = { requirementConfiguration: { authorizationStatus: 'fulfilled' } };
    const patch = (id: string, outgoingTransfer: Json, as: 'approver' | 'operator') =>
      api.call(
        'PATCH',
        `/outgoing-transfers/${id}`,
        { workflow: { code: 'client.direct' }, data: { outgoingTransfer } },
        { as },
      );
    await Promise.all(
      ids.flatMap((id, index) => [
        patch(id, authorized, 'approver'),
        give('fail-transfer', id),
        ...(index % 2 === 0 ? [patch(id, { status: 'cancelled' }, 'operator'), give('look-up', id)] : []),
        ...(index % 3 === 0 ? [give('next-window', id), give('retry-submission', id)] : []),
      ]),
    );
    for (const id of ids) {
      const { status } = await until(
        () => reviews(api).find('outgoing-transfer', id),
        (transfer) =>
          ['completed', 'cancelled', 'failed'].includes(transfer.status) || transfer.transferDate === TOMORROW,
      );
      const paid = service.provider.submissions.filter((reference) => reference === id).length;
      expect(paid, `${id} ${status}`).toBe(status === 'completed' ? 1 : 0);
      const ends = (await world.events(id)).filter((type) => /completed|cancelled|failed/.test(type));
      expect(ends).toHaveLength(status === 'pending' ? 0 : 1);
    }
    await world.invariantsHold();
  });

  test('races of look-up and retry with a callback and a late answer to the first attempt: booked once', async () => {
    await service.relay.stop();
    for (let number = 0; number < 10; number += 1) {
      const id = await notFound();
      await Promise.all([
        give('retry-submission', id),
        give('look-up', id),
        give('fail-transfer', id),
        act((tx) => recordSubmission(tx, idOf(id), 1, report(id, 'completed'), rules())),
        act((tx) =>
          applyPaymentReport(tx, { id: idOf(id), provider: 'sandbox-bank' }, report(id, 'completed'), rules()),
        ),
      ]);
      expect(await reviews(api).find('outgoing-transfer', id)).toMatchObject({ status: 'completed' });
      expect((await tracesOf(id)).transfer.reserved_minor).toBe(0);
    }
    await world.invariantsHold();
  });
});

describe('a workflow whose task Temporal has lost', () => {
  beforeAll(() => service.relay.start());

  const workflowOf = (id: string) => `outgoing-transfer/${id}`;
  const restart = (id: string, ...options: string[]) =>
    service.operate('restart-workflow', [workflowOf(id), ...options]);
  const lineOf = (id: string) =>
    expect.stringMatching(new RegExp(`^workflow whose task no worker .* since .*Z: .*${id}$`));
  const handleOf = (id: string, runId?: string) => service.temporal.client.workflow.getHandle(workflowOf(id), runId);
  const statusOf = async (id: string, runId?: string) => (await handleOf(id, runId).describe()).status.name;
  const patch = (id: string, outgoingTransfer: Json) =>
    api.call(
      'PATCH',
      `/outgoing-transfers/${id}`,
      { workflow: { code: 'client.direct' }, data: { outgoingTransfer } },
      { as: 'approver' },
    );
  const authorize = (id: string) => patch(id, { requirementConfiguration: { authorizationStatus: 'fulfilled' } });

  /** Its run now has a task on a queue that no worker serves, so that none begins it. Returns the run's id. */
  async function losesItsTask(id: string): Promise<string> {
    const { firstExecutionRunId } = await service.temporal.client.workflow.start('outgoing-transfer', {
      workflowId: workflowOf(id),
      taskQueue: 'queue-without-workers',
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    });
    return firstExecutionRunId;
  }

  const completes = (id: string) =>
    until(
      () => reviews(api).find('outgoing-transfer', id),
      ({ status }) => status === 'completed',
    );
  const entry = (endedRunId: string) => ({
    resource: 'workflow',
    action: 'restarted',
    actor: OPERATOR.actor,
    requestId: null,
    before: null,
    after: { endedRunId },
  });

  test('is listed once a minute is over, and its signals are in vain; restart-workflow, four at once, frees it once, and it is paid once', async () => {
    service.provider.answer.submit = async ({ ourReference }) => completedPayment(ourReference);
    const id = await external({}, authorizing);
    const runId = await losesItsTask(id);
    expect((await service.lines('stuck', [])).lines).not.toContainEqual(lineOf(id));
    const { status, lines } = await service.lines('stuck', [], { answerTimeoutMs: 0 });
    expect({ status, lines }).toEqual({ status: 1, lines: expect.arrayContaining([lineOf(id)]) });
    expect(lines).toContainEqual(expect.stringMatching(/No worker runs/));
    const { text } = await findWorkflowState(service.temporal, workflowOf(id), undefined, 0);
    expect(withAdvice(text)).toContain(`npm run -s operate -- restart-workflow ${workflowOf(id)}`);

    expect((await authorize(id)).status).toBe(200);
    await until(
      () => findWakeup(api.database.reader, workflowOf(id)),
      (wakeup) => wakeup === null,
    );
    expect(await statusOf(id)).toBe('RUNNING');
    const submissionsOf = () => service.provider.submissions.filter((reference) => reference === id);
    expect(submissionsOf()).toEqual([]);

    await service.relay.stop();
    const answers = await Promise.all(Array.from({ length: 4 }, () => restart(id)));
    service.relay.start();
    expect(answers.map((answer) => answer.status)).toEqual([0, 0, 0, 0]);
    expect(answers.map(({ answer }) => answer.result).sort()).toEqual([
      'restarted',
      ...Array.from({ length: 3 }, () => 'unchanged'),
    ]);
    for (const { answer } of answers) expect(answer).toMatchObject({ id: workflowOf(id), endedRunId: runId });
    await completes(id);
    expect(submissionsOf()).toEqual([id]);
    expect(await auditOf(api.database.reader, workflowOf(id))).toEqual([entry(runId)]);
    const { events } = await handleOf(id, runId).fetchHistory();
    expect(events?.at(-1)?.workflowExecutionTerminatedEventAttributes?.reason).toBe(
      `${OPERATOR.actor}: npm run operate -- restart-workflow ${workflowOf(id)}`,
    );
    expect((await service.lines('stuck', [], { answerTimeoutMs: 0 })).lines).not.toContainEqual(lineOf(id));
    await world.invariantsHold();
  });

  test('whose run has ended when the database fails is listed without a workflow; the same command again restarts it', async () => {
    const id = await external({}, authorizing);
    await authorize(id);
    const runId = await losesItsTask(id);
    await until(
      () => findWakeup(api.database.reader, workflowOf(id)),
      (wakeup) => wakeup === null,
    );
    const database = { ...api.database, transaction: () => Promise.reject(new Error('the database is away')) };
    await expect(
      OPERATIONS['restart-workflow']?.run({
        database,
        temporal: service.temporal,
        initiator: OPERATOR,
        arguments: [workflowOf(id)],
        print: () => {},
      }),
    ).rejects.toThrow('the database is away');
    expect(await statusOf(id, runId)).toBe('TERMINATED');
    expect(await auditOf(api.database.reader, workflowOf(id))).toEqual([]);
    await until(
      () => service.lines('stuck', []),
      ({ lines }) => lines.includes(`open row without a workflow: ${workflowOf(id)}`),
    );
    expect(await restart(id)).toMatchObject({ status: 0, answer: { endedRunId: runId, result: 'restarted' } });
    await completes(id);
    expect(await auditOf(api.database.reader, workflowOf(id))).toEqual([entry(runId)]);
  });

  test('and a compliance decision with it: restart-workflow names what the row does not have, and ends the run only with --anyway', async () => {
    const id = await external({}, reviewing);
    const decision = (decisionId: string, result: string) =>
      handleOf(id).signal('compliance-decision', {
        decisionId,
        procedure: 'transaction-monitoring',
        result,
        actor: 'compliance-desk-4',
      });
    await until(
      () =>
        handleOf(id)
          .describe()
          .catch(() => undefined),
      (description) => description?.status.name === 'RUNNING',
    );
    await decision('recorded', 'soft-stop');
    await until(
      () => reviews(api).check('outgoing-transfer', id),
      ({ procedureResults }) => JSON.stringify(procedureResults).includes('soft-stop'),
    );
    const present = await restart(id);
    expect(present).toMatchObject({ status: 0, answer: { result: 'restarted', decisions: [] } });
    await losesItsTask(id);
    await decision('lost', 'hard-stop-accepted');
    await decision('lost', 'hard-stop-accepted');
    const lost = [{ decisionId: 'lost', result: 'hard-stop-accepted', actor: 'compliance-desk-4' }];
    const { runId } = await handleOf(id).describe();
    expect(await restart(id)).toMatchObject({ status: 1, answer: { result: 'not-ended', decisions: lost } });
    expect(await handleOf(id).describe()).toMatchObject({ runId, status: { name: 'RUNNING' } });
    const { status, answer } = await restart(id, '--anyway');
    expect({ status, answer }).toMatchObject({ status: 1, answer: { result: 'restarted', decisions: lost } });
    expect((await reviews(api).find('outgoing-transfer', id)).status).toBe('pending');
    expect((await service.lines('decide', ['outgoing-transfer', id, 'hard-stop-accepted'])).status).toBe(0);
    await completes(id);
  });

  const UNKNOWN = '00000000-0000-4000-8000-000000000000';
  const NO_ID = /is not a workflow’s id/;
  const NOT_OPEN = /No open row has the workflow/;

  /** What any command would write. */
  const written = () =>
    api.database.reader.statement(
      'SELECT (SELECT count(*) FROM audit_entries) AS audited, (SELECT sum(generation) FROM workflow_wakeups) AS wakeups',
      [],
    );

  test.each([
    ['a final row', async () => workflowOf(await cancelled()), NOT_OPEN],
    ['an unknown row', async () => workflowOf(UNKNOWN), NOT_OPEN],
    ['a row of another kind', async () => `incoming-transfer/${await external({}, authorizing)}`, NOT_OPEN],
    ['the id of a row', () => external({}, authorizing), NO_ID],
    ['no id', async () => 'outgoing-transfer/1', NO_ID],
    ['a workflow without a row', async () => 'webhook-delivery/0', NO_ID],
    ['no workflow', async () => 'housekeeping', NO_ID],
  ])('restart-workflow rejects %s and changes nothing', async (_, given, rule) => {
    await service.relay.stop();
    const id = await given();
    const before = await written();
    const rejected = { status: 1, answer: { id, rejected: expect.stringMatching(rule) } };
    expect(await service.operate('restart-workflow', [id])).toEqual(rejected);
    const { status, lines } = await service.lines('restart-workflow', [id]);
    expect({ status, lines }).toEqual({ status: 1, lines: [expect.stringMatching(rule)] });
    expect(await written()).toEqual(before);
  });
});

describe('as a command', () => {
  const operate = (...words: string[]) =>
    new Promise<{ status: number; output: string; errors: string }>((resolve) => {
      const env = { ...process.env, DATABASE_URL: service.testDatabase.url, TEMPORAL_ADDRESS: '127.0.0.1:1' };
      execFile(process.execPath, [...entryArguments('cli/operate.ts'), ...words], { env }, (error, output, errors) => {
        resolve({ status: typeof error?.code === 'number' ? error.code : 0, output, errors });
      });
    });

  test('it exits with 0 when done, 1 with the reason when rejected, and 2 when it could not be tried; the audit names who ran it', async () => {
    const id = await external({}, authorizing);
    expect(await operate('look-up', id)).toMatchObject({ status: 1, errors: expect.stringMatching(NOT_SENT) });
    expect(await operate('fail-transfer', id)).toMatchObject({ status: 2, errors: expect.stringMatching(/--reason/) });
    expect(await operate('next-window', 'nonsense')).toMatchObject({ status: 2 });
    expect(await operate('restart-workflow', `outgoing-transfer/${id}`)).toMatchObject({
      status: 2,
      errors: expect.stringMatching(/^Temporal does not carry that out \(.*\)\. Give the same command again/),
    });
    const done = await operate('fail-transfer', id, '--reason', REASON, '--json');
    expect(done).toMatchObject({ status: 0, errors: '' });
    expect(Object.keys(JSON.parse(done.output))).toEqual([
      'id',
      'status',
      'transferDate',
      'submissionAttempt',
      'result',
    ]);
    expect((await auditOf(api.database.reader, id)).map(({ actor }) => actor)).toEqual([userInfo().username]);
    const unknown = await operate('fail-transfer', '00000000-0000-4000-8000-000000000000', '--reason', 'x', '--json');
    expect(unknown).toMatchObject({ status: 1, output: expect.stringMatching(/rejected/) });
  });
});
