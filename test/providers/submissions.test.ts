import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { requireOpenSubmissions } from '../../activities/common/submissions.ts';
import { ActionableError } from '../../cli/common/actionable-error.ts';
import { createDatabase } from '../../db/client.ts';
import { readClock } from '../../db/common/clock.ts';
import { listServiceProcesses } from '../../db/providers/restores.ts';
import { closeForRestore, openAfterRestore, readClosure } from '../../db/providers/submissions.ts';
import { findDifferingRules, putTransferRulesInForce } from '../../db/providers/transfer-rules.ts';
import { workflowId } from '../../workflows/common/messages.ts';
import type { Json, TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { moneyWorld } from '../harness/money.ts';
import { until } from '../harness/stage.ts';
import { modes, reviews } from '../harness/transfers/reviews.ts';
import { OPERATOR, type OperatedService, operatedService } from '../harness/workflows/operated-service.ts';
import { inFull } from '../tools/run/length.ts';

let service: OperatedService;
let api: TestApi;
let authorizing: TestApi;
let reviewing: TestApi;
let source: Json;
let bankAccount: string;

beforeAll(async () => {
  // Noon of a Wednesday, a business day of every scheme.
  service = await operatedService('submissions', '2027-06-16T11:00:00Z');
  ({ api } = service);
  authorizing = await service.apiWith({ env: { AUTHORIZATION_RULE: 'always' } });
  reviewing = await service.apiWith({ configuration: modes('none', 'external', { prices: [] }) });
  const world = moneyWorld(api);
  const clientId = await world.client('Ada');
  const account = await builtInAccounts(api).opened(clientId);
  await builtInAccounts(api).payIn(account, 'funds', 10_000_000n);
  source = { clientId, id: account.id };
  bankAccount = await world.beneficiary(clientId);
  service.relay.start();
});

afterAll(async () => {
  await service?.stop();
});

afterEach(async () => {
  await api.database.transaction((tx) => openAfterRestore(tx));
  await service.operate('submissions', ['open', '--reason', 'end of the test']);
});

const close = (reason: string) => service.operate('submissions', ['close', '--reason', reason]);
const open = () => service.operate('submissions', ['open', '--reason', 'the bank is sound']);
const pay = async (by = api): Promise<string> => (await reviews(by).external(source, bankAccount)).id;
/** Once its workflow has been rejected and shows that it waits. */
const shownToWait = (id: string) =>
  until(
    async () => {
      const description = await service.temporal.client.workflow
        .getHandle(workflowId('outgoing-transfer', id))
        .describe()
        .catch(() => undefined);
      return description?.typedSearchAttributes.getAll().find(({ key }) => key.name === 'WaitingFor')?.value;
    },
    (value) => value === 'provider',
  );
const statusOf = async (id: string) => (await reviews(api).find('outgoing-transfer', id)).status;

describe('submissions close, the emergency stop', () => {
  let stopped: string;

  test('nothing reaches the bank; `why` and the error name actor, time and reason', async () => {
    expect(await close('the bank pays twice')).toMatchObject({ status: 0, answer: { result: 'closed' } });
    const closure = await readClosure(api.database.reader);
    const words = `an operator closed submissions at ${closure?.operator?.closedAt.toISOString()} (the bank pays twice)`;
    stopped = await pay();
    await shownToWait(stopped);
    const [obstacle] = (await service.operate('why', [stopped])).answer.obstacles;
    expect(obstacle).toContain(words);
    expect(obstacle).toContain('submissions open --reason TEXT');
    await expect(requireOpenSubmissions(api.database.reader)).rejects.toThrow(words);
    expect(service.provider.submissions).not.toContain(stopped);
    expect(await open()).toMatchObject({ status: 0, answer: { submissions: 'open', result: 'open' } });
  });

  // Its workflow tries again a minute after it was rejected.
  test.runIf(inFull)('after reopening the payment goes out once, without a command', async () => {
    await until(
      () => statusOf(stopped),
      (status) => status === 'completed',
    );
    expect(service.provider.submissions.filter((reference) => reference === stopped)).toHaveLength(1);
  });

  test('a return of money in waits as well, and `why` says so', async () => {
    await close('the bank pays twice');
    const { id } = await reviews(api).payIn();
    expect((await service.lines('return-incoming', [id])).status).toBe(0);
    expect((await service.operate('why', [id])).answer.obstacles.join()).toContain('the bank pays twice');
    expect(service.provider.returned).toEqual([]);
    await open();
    await until(
      async () => service.provider.returned,
      (returned) => returned.length === 1,
    );
  });

  test('repeating a command has no further effect, and only changes are audited', async () => {
    const entries = (await auditOf(api.database.reader, 'all')).length;
    expect(await close('first')).toMatchObject({ status: 0, answer: { result: 'closed' } });
    expect(await close('second')).toMatchObject({
      status: 0,
      answer: { submissions: 'closed', result: 'unchanged', closure: { operator: { reason: 'first' } } },
    });
    expect((await open()).answer).toMatchObject({ result: 'open' });
    expect((await open()).answer).toMatchObject({ submissions: 'open', result: 'unchanged' });
    expect((await auditOf(api.database.reader, 'all')).slice(entries)).toEqual([
      { resource: 'submission', action: 'closed', ...OPERATOR, before: null, after: { reason: 'first' } },
      { resource: 'submission', action: 'opened', ...OPERATOR, before: null, after: { reason: 'the bank is sound' } },
    ]);
  });

  test('neither is done without a reason', async () => {
    await expect(service.lines('submissions', ['close'])).rejects.toThrow(ActionableError);
    await expect(service.lines('submissions', ['--reason', 'x'])).rejects.toThrow(ActionableError);
    expect(await readClosure(api.database.reader)).toBeNull();
  });

  test('what is still pending can be failed meanwhile', async () => {
    const id = await pay(authorizing);
    await close('fraud');
    expect(await service.operate('fail-transfer', [id, '--reason', 'fraud'])).toMatchObject({ status: 0 });
    expect(await statusOf(id)).toBe('failed');
  });
});

describe('around a restore', () => {
  test.each(['api', 'loops', 'activities', 'console'])(
    'a process of %s/main.ts that is connected is one to be stopped first',
    async (folder) => {
      const main = readFileSync(new URL(`../../${folder}/main.ts`, import.meta.url), 'utf8');
      const [, applicationName = ''] = /applicationName: '([a-z]+)'/.exec(main) ?? [];
      const database = createDatabase({ url: service.testDatabase.url, maxConnections: 1, applicationName });
      try {
        await readClock(database.reader);
        expect(await listServiceProcesses(api.database.reader)).toContain(applicationName);
      } finally {
        await database.close();
      }
    },
  );

  test('open rejects what after-restore has closed, and an operator’s stop outlasts it', async () => {
    await api.database.transaction((tx) => closeForRestore(tx));
    expect(await open()).toMatchObject({ status: 1, answer: { rejected: expect.stringContaining('after-restore') } });
    await close('the bank pays twice');
    expect(await open()).toMatchObject({ status: 1 });
    const left = await api.database.transaction((tx) => openAfterRestore(tx));
    expect(left).toMatchObject({ restoreBeganAt: null, operator: { reason: 'the bank pays twice' } });
    expect(await open()).toMatchObject({ status: 0, answer: { submissions: 'open' } });
  });

  test('a restore keeps an operator’s stop and the first time of each', async () => {
    await close('the bank pays twice');
    const stop = await readClosure(api.database.reader);
    await api.database.transaction((tx) => closeForRestore(tx));
    const both = await readClosure(api.database.reader);
    expect(both).toEqual({ restoreBeganAt: expect.any(Date), operator: stop?.operator });
    await api.database.transaction((tx) => closeForRestore(tx));
    expect(await readClosure(api.database.reader)).toEqual(both);
  });
});

describe('commands with other settings than the service’s', () => {
  afterEach(async () => {
    await service.testDatabase.asOwner('TRUNCATE transfer_rule_settings');
    await service.testDatabase.asOwner('TRUNCATE calendar_editions');
  });

  const serviceRules = () => api.services.configuration;

  test.each([
    ['fail-transfer', ['--reason', 'fraud']],
    ['next-window', []],
    ['decide', []],
  ] as const)('%s changes nothing, and says what differs and what to set', async (command, options) => {
    const id = await pay(command === 'decide' ? reviewing : authorizing);
    const given = command === 'decide' ? ['outgoing-transfer', id, 'all-passed'] : [id, ...options];
    await putTransferRulesInForce(
      api.database,
      new Map([...serviceRules().transferRuleDigests, ['rollLimit', 'other']]),
    );
    await expect(service.lines(command, given)).rejects.toThrow(
      /\(rollLimit, in force since \S+Z\)\. Set CONFIG_FILE to the worker’s/,
    );
    expect(await statusOf(id)).toBe('pending');
    expect(await auditOf(api.database.reader, id)).toEqual([]);
    await putTransferRulesInForce(api.database, serviceRules().transferRuleDigests);
    expect(await service.lines(command, given)).toMatchObject({ status: 0 });
  });

  test('another edition of a calendar is another setting; an edition that was never recorded is none', async () => {
    const { transferRuleDigests, calendars } = serviceRules();
    const differing = () => findDifferingRules(api.database.reader, transferRuleDigests, calendars.editions);
    expect(await differing()).toEqual([]);
    await api.database.statement(
      `INSERT INTO calendar_editions VALUES ('gb', 'other', 'a test', '2027-12-31', '2027-12-31', '{}', service_now())`,
      [],
    );
    expect(await differing()).toMatchObject([{ name: 'calendar gb' }]);
  });
});
