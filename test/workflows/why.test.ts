import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProviderUnavailable } from '../../activities/providers/port.ts';
import type { ConsentRow } from '../../db/open-banking/consents.ts';
import { applyPaymentReport } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { asId, type ThirdPartyProviderId } from '../../domain/common/ids.ts';
import type { ConsentContent } from '../../domain/open-banking/consents.ts';
import { lazyTemporalClient } from '../../loops/temporal.ts';
import { workflowId } from '../../workflows/common/messages.ts';
import type { Json, TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { ACCOUNTS, type ConsentWorld, consentWorld, PAYMENT } from '../harness/parties/consents.ts';
import { thirdPartyWorld } from '../harness/parties/third-parties.ts';
import { until } from '../harness/stage.ts';
import { modes, reviews } from '../harness/transfers/reviews.ts';
import { OPERATOR, type OperatedService, operatedService } from '../harness/workflows/operated-service.ts';
import { acceptedPayment, completedPayment } from '../harness/workflows/scripted-provider.ts';

let service: OperatedService;
let api: TestApi;
let world: MoneyWorld;
let authorizing: TestApi;
let reviewing: TestApi;
let reviewingReceivers: TestApi;
let source: Json;
let plugIn: Json;
let poor: Json;
let receiver: string;
let bankAccount: string;
let consents: ConsentWorld;
let thirdParty: ThirdPartyProviderId;
let userId: string;

beforeAll(async () => {
  // Noon of a Wednesday in summer, when London is an hour ahead of UTC.
  service = await operatedService('why', '2027-06-16T11:00:00Z');
  ({ api } = service);
  service.provider.answer.submit = async ({ ourReference, remittanceText }) => {
    if (remittanceText === 'silent') throw new ProviderUnavailable('sandbox-bank', 'timeout');
    return remittanceText === 'slow' ? acceptedPayment(ourReference) : completedPayment(ourReference);
  };
  service.provider.answer.lookUp = async () => ({ outcome: 'not-found' });
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
  consents = consentWorld(api);
  thirdParty = await consents.thirdParty();
  userId = await consents.user([clientId]);
  service.relay.start();
});

afterAll(async () => {
  await service?.stop();
});

const external = async (change: Json = {}, by = api, from = source): Promise<string> =>
  (await reviews(by).external(from, bankAccount, change)).id;

/** Waits until the workflow runs and has shown its wait. */
async function shows(type: 'outgoing-transfer' | 'consent', id: string, waitingFor: string): Promise<void> {
  await until(
    async () => {
      const description = await handleOf(type, id)
        .describe()
        .catch(() => undefined);
      return description?.typedSearchAttributes.getAll().find(({ key }) => key.name === 'WaitingFor')?.value;
    },
    (value) => value === waitingFor,
  );
}

/** A part of a payment of 10 GBP comes back, as its provider's callback says. */
const comesBack = (id: string, reference: string, amountMinor: string) => {
  const report = {
    outcome: 'returned',
    serviceProviderId: null,
    serviceProviderReference: null,
    code: 'AC04',
    claim: { amountMinor: '1000', currency: 'GBP', returned: { reference, amountMinor } },
  } as const;
  return api.database.transaction((tx) =>
    applyPaymentReport(tx, { id: asId(id), provider: 'sandbox-bank' }, report, api.services.configuration),
  );
};

const handleOf = (type: 'outgoing-transfer' | 'consent', id: string) =>
  service.temporal.client.workflow.getHandle(workflowId(type, id));

const patchTransfer = (id: string, outgoingTransfer: Json, as: 'approver' | 'operator' = 'operator') =>
  api.call(
    'PATCH',
    `/outgoing-transfers/${id}`,
    { workflow: { code: 'client.direct' }, data: { outgoingTransfer } },
    { as },
  );

const ledgerNumberOf = async (id: string): Promise<string> =>
  (await api.call('GET', `/accounts/${id}`)).body.data.account.ledgerNumber;

async function waitingForAccount(): Promise<string> {
  const from = { clientId: plugIn.clientId, id: await world.account(plugIn.clientId, { amount: 100 }) };
  const id = await external({}, authorizing, from);
  const suspended = await api.call('PATCH', `/accounts/${from.id}`, {
    workflow: { code: 'client.direct' },
    data: { account: { status: 'suspended' } },
  });
  expect(suspended.status, suspended.text).toBe(200);
  await patchTransfer(id, { requirementConfiguration: { authorizationStatus: 'fulfilled' } }, 'approver');
  return id;
}

interface Case {
  readonly make: () => Promise<string>;
  readonly waits: string;
  readonly until?: RegExp;
  readonly released: RegExp;
}

const CASES: Readonly<Record<string, Case>> = {
  'an authorization': {
    make: () => external({ scheme: 'chaps' }, authorizing),
    waits: 'authorization',
    until:
      /^2027-06-16 1\d:\d\d UTC is 2027-06-16 1\d:\d\d in Europe\/London, its cut-off: then it rolls .*rolled 0 of at most 5/,
    released: /PATCH \/outgoing-transfers\/ID .*authorizationStatus "fulfilled"/,
  },
  'a review': {
    make: () => external({ scheme: 'chaps' }, reviewing),
    waits: 'compliance',
    until: /its cut-off/,
    released: /operate -- decide outgoing-transfer ID RESULT; RESULT is a decision of compliance, not of operations/,
  },
  "its receiver's review": {
    make: async () => (await reviews(reviewingReceivers).internal(plugIn, receiver)).id,
    waits: 'compliance',
    released: /operate -- decide incoming-transfer [0-9a-f-]{36} RESULT; RESULT is a decision of compliance/,
  },
  'its date': {
    make: () => external({ transferDate: '2027-07-01' }),
    waits: 'date',
    until: /^2027-06-30 23:00 UTC is 2027-07-01 00:00 in Europe\/London, the opening of its date/,
    released: /continues by itself/,
  },
  balance: {
    make: () => external({}, api, poor),
    waits: 'balance',
    until: /then it rolls/,
    released: /a credit of 10(\.00)? GBP to account/,
  },
  'an account': {
    make: waitingForAccount,
    waits: 'account',
    until: /then it rolls/,
    released: /the status active for [0-9a-f-]{36} is suspended/,
  },
  'its provider, which has accepted it': {
    make: () => external({ description: 'slow' }),
    waits: 'provider',
    until: /then the provider is asked/,
    released: /operate -- look-up ID/,
  },
  'its caller': {
    make: () => external({}, api, plugIn),
    waits: 'caller',
    released: /PATCH \/outgoing-transfers\/ID .*"completed"/,
  },
  'the next window': {
    make: async () => {
      const id = await external({ scheme: 'chaps' }, api, poor);
      expect(await service.operate('next-window', [id])).toMatchObject({ status: 0 });
      return id;
    },
    waits: 'next-window',
    until: /the opening of its date, 2027-06-17/,
    released: /continues by itself/,
  },
};

describe.each(Object.entries(CASES))(
  'a transfer that waits for %s',
  (_, { make, waits, until: untilMeans, released }) => {
    test('why says for what, since when, until when and what would release it; Temporal shows the same', async () => {
      const id = await make();
      await shows('outgoing-transfer', id, waits);
      expect(await reviews(api).find('outgoing-transfer', id)).toMatchObject({ waitingFor: waits });
      // The wake-up of a command is on its way for a moment.
      const { status, answer } = await until(
        () => service.operate('why', [id]),
        (said) => said.answer.obstacles.length === 0,
      );
      expect(status).toBe(0);
      expect(answer).toMatchObject({
        resource: 'outgoing-transfer',
        id,
        wait: { for: waits, since: expect.stringMatching(/^2027-06-16T1/) },
        obstacles: [],
        workflowId: `outgoing-transfer/${id}`,
        workflow: 'running',
      });
      if (untilMeans === undefined) expect(answer.wait).toMatchObject({ until: null, untilMeans: null });
      else expect(answer.wait.untilMeans).toMatch(untilMeans);
      expect(answer.releasedBy.join('\n').replaceAll(id, 'ID')).toMatch(released);

      const { lines } = await service.lines('why', [id]);
      const [first, second] = lines;
      expect(first).toMatch(
        new RegExp(`^outgoing-transfer ${id} \\(\\d{8}-\\w{6}, 10\\.00 GBP\\) is (pending|processing|released)\\.$`),
      );
      expect(second).toMatch(/^It waits for .* since 2027-06-16 1\d:\d\d UTC/);
      expect(lines.at(-1)).toBe(`Workflow: outgoing-transfer/${id} runs.`);

      await showsInTemporal('outgoing-transfer', id, untilMeans !== undefined);
    });
  },
);

/** The UI has the wait in the workflow's details and in the summary of its timer, and the command that says more. */
async function showsInTemporal(type: 'outgoing-transfer' | 'consent', id: string, hasDeadline: boolean): Promise<void> {
  const metadata = await handleOf(type, id).query<{ currentDetails?: string }, []>('__temporal_workflow_metadata');
  expect(metadata.currentDetails).toMatch(/^Waits for .* since 2027-06-16 1\d:\d\d UTC/);
  const { events } = await handleOf(type, id).fetchHistory();
  const started = events?.[0]?.userMetadata;
  expect(Buffer.from(started?.details?.data ?? []).toString()).toContain(`operate -- why ${id}`);
  if (!hasDeadline) return;
  const summaries = (events ?? []).map((event) => Buffer.from(event.userMetadata?.summary?.data ?? []).toString());
  expect(summaries).toContainEqual(expect.stringMatching(/^"?Waits for .* since 2027-06-16 1\d:\d\d UTC; until 2027/));
}

interface ConsentCase {
  readonly make: () => Promise<ConsentRow>;
  readonly waits: string;
  readonly words: string;
  readonly until: RegExp;
  readonly released: RegExp;
}

const requested = (content: ConsentContent = PAYMENT) => consents.request(thirdParty, content);

async function approved(content?: ConsentContent): Promise<{ consent: ConsentRow; code: string | null }> {
  const consent = await requested(content);
  return { consent, code: (await consents.approve(consent.id, userId, [source.id])).code };
}

async function granted(content?: ConsentContent): Promise<{ consent: ConsentRow; token: string }> {
  const { consent, code } = await approved(content);
  const token = randomBytes(32).toString('base64url');
  expect((await consents.exchange(consent, code, token)).outcome).toBe('granted');
  return { consent, token };
}

const CONSENT_CASES: Readonly<Record<string, ConsentCase>> = {
  'the account holder': {
    make: () => requested(),
    waits: 'account-holder',
    words: 'the account holder’s approval',
    until: /^2027-06-16 1\d:\d\d UTC: then the request expires/,
    released: /PATCH \/open-banking\/GB\/consents\/ID with data\.consent\.action "approve"/,
  },
  'its code to be exchanged': {
    make: async () => (await approved()).consent,
    waits: 'exchange',
    words: 'the third party’s exchange of its code',
    until: /^2027-06-16 1\d:\d\d UTC: then the code is worth nothing/,
    released: /POST \/open-banking\/GB\/token.*\n.*data\.consent\.action "revoke"/,
  },
  'its payment': {
    make: async () => (await granted()).consent,
    waits: 'grant-expiry',
    words: 'the end of the grant',
    until: /^2027-09-14 1\d:\d\d UTC: then the consent expires/,
    released: /POST \/open-banking\/GB\/payments\n.*data\.consent\.action "revoke"/,
  },
  'the end of its access to accounts': {
    make: async () => (await granted(ACCOUNTS)).consent,
    waits: 'grant-expiry',
    words: 'the end of the grant',
    until: /^2027-09-14 /,
    released: /^nothing: .*\n.*data\.consent\.action "revoke"/,
  },
};

describe.each(Object.entries(CONSENT_CASES))(
  'a consent that waits for %s',
  (_, { make, waits, words, until: untilMeans, released }) => {
    test('why says for what, since when, until when and what would release it; Temporal shows the same', async () => {
      const { id } = await make();
      await shows('consent', id, waits);
      const { status, answer } = await service.operate('why', [id]);
      expect([status, answer.resource, answer.id]).toEqual([0, 'consent', id]);
      expect(answer).toMatchObject({ obstacles: [], workflowId: `consent/${id}`, workflow: 'running' });
      expect(answer.wait).toEqual({
        for: waits,
        since: expect.stringMatching(/^2027-06-16T1/),
        until: expect.stringMatching(/^2027-/),
        rule: null,
        untilMeans: expect.stringMatching(untilMeans),
      });
      expect(answer.releasedBy.join('\n').replaceAll(id, 'ID')).toMatch(released);
      const { lines } = await service.lines('why', [id]);
      expect(lines[1]).toMatch(new RegExp(`^It waits for ${words} since 2027-06-16 1\\d:\\d\\d UTC; until 2027-`));
      await showsInTemporal('consent', id, true);
    });
  },
);

describe('why says of a consent', () => {
  const obstacles = async (id: string): Promise<string> =>
    (await service.operate('why', [id])).answer.obstacles.join('\n');

  test('what was done so far, its payment with the command that says more', async () => {
    const { consent, token } = await granted();
    expect((await service.operate('why', [consent.id])).answer.attempts).toEqual([
      expect.stringMatching(`^approved for user ${userId}, 2027-06-16 1`),
      expect.stringMatching(/^its code was exchanged, 2027-06-16 1/),
      expect.stringMatching(/^its access token is good until 2027-06-16 1/),
    ]);
    const paid = await thirdPartyWorld(api).pay(token);
    expect(paid.status, paid.text).toBe(201);
    const { answer } = await service.operate('why', [consent.id]);
    expect(answer).toMatchObject({ status: 'consumed', wait: null, releasedBy: [], workflow: 'not-needed' });
    expect(answer.attempts.at(-1)).toBe(
      `its payment: npm run -s operate -- why ${paid.body.data.payment.outgoingTransferId}`,
    );
  });

  test('that its third party is inactive, its account suspended, or its access token over', async () => {
    const other = await consents.thirdParty({ status: 'inactive' });
    const unanswered = await consents.request(other);
    expect(await obstacles(unanswered.id)).toContain(`the third-party provider ${other} is inactive`);

    const from = await world.account(plugIn.clientId, { amount: 100 });
    const consent = await requested();
    const { code } = await consents.approve(consent.id, userId, [from]);
    await consents.exchange(consent, code);
    expect(await obstacles(consent.id)).not.toMatch(/suspended|access token/);
    const suspended = { workflow: { code: 'client.direct' }, data: { account: { status: 'suspended' } } };
    expect((await api.call('PATCH', `/accounts/${from}`, suspended)).status).toBe(200);
    expect(await obstacles(consent.id)).toContain(`${from} is suspended`);
    expect((await consents.exchange(consent, code)).outcome).toBe('replayed');
    expect(await obstacles(consent.id)).toContain('its access token is no longer valid');
    expect((await service.operate('why', [consent.id])).answer.attempts.at(-1)).toMatch(
      /^its access token was revoked/,
    );
  });

  test('that its time is up, where its workflow has not recorded it', async () => {
    await service.relay.stop();
    const { id } = await requested();
    await api.database.statement(
      "UPDATE open_banking_consents SET request_expires_at = service_now() - interval '1 second' WHERE id = $1",
      [id],
    );
    const { answer } = await service.operate('why', [id]);
    expect(answer).toMatchObject({ status: 'awaiting-authorisation', releasedBy: [], workflow: 'not-running' });
    expect(answer.obstacles).toEqual([
      expect.stringContaining('its time is up'),
      expect.stringContaining('its wake-up is not delivered'),
    ]);
    service.relay.start();
    await until(
      () => service.operate('why', [id]),
      (again) => again.answer.status === 'expired',
    );
    expect(await service.operate('why', [id])).toMatchObject({ answer: { wait: null, workflow: 'not-needed' } });
  });
});

describe('what keeps a transfer from continuing', () => {
  test('a provider that does not answer: the attempts so far, and that nothing is known', async () => {
    const id = await external({ description: 'silent' });
    const { answer } = await until(
      () => service.operate('why', [id]),
      ({ answer: { workflowText } }) => /submitOutgoingTransfer, try [2-9]/.test(workflowText),
    );
    expect(answer.workflowText).toContain('ProviderUnavailable');
    expect(answer.attempts).toEqual([expect.stringMatching(/^submission, attempt 1: outcome unknown/)]);
    expect(answer.releasedBy).toContain(`npm run -s operate -- look-up ${id}`);
    expect(answer.releasedBy.join()).not.toMatch(/retry-submission|fail-transfer/);
  });

  test('no worker: the payment is not begun, since when, and whether Temporal or the workers are missing', async () => {
    await service.relay.stop();
    const id = await external({ description: 'silent' });
    const away = lazyTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
    const stopped = await service.operate('why', [id], { temporal: away, answerTimeoutMs: 1_000 });
    await away.close();
    expect(stopped.answer.attempts).toEqual([
      expect.stringMatching(
        /^submission, attempt 1: not begun: no worker has received it since 2027-06-16T1.*; Temporal does not answer$/,
      ),
    ]);
    const waiting = await service.operate('why', [id]);
    expect(waiting.answer.attempts).toEqual([
      expect.stringMatching(/^submission, attempt 1: not begun: no worker has received it/),
    ]);
    await service.pauseWorkers(async () => {
      service.relay.start();
      const { answer } = await until(
        () => service.operate('why', [id]),
        (again) => again.answer.workflow === 'running',
      );
      expect(answer.attempts).toEqual([
        expect.stringMatching(
          /^submission, attempt 1: not begun: no worker has taken its workflow’s first task since 20/,
        ),
      ]);
    });
    const begun = await until(
      () => service.operate('why', [id]),
      ({ answer }) => /submitOutgoingTransfer, try [2-9]/.test(answer.workflowText),
    );
    expect(begun.answer.attempts).toEqual([expect.stringMatching(/^submission, attempt 1: outcome unknown/)]);
    // A later wake-up that does not reach Temporal says nothing of what was sent before it, nor does a new run.
    await service.relay.stop();
    await service.operate('look-up', [id], { answerTimeoutMs: 0 });
    const gone = lazyTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
    const later = await service.operate('why', [id], { temporal: gone, answerTimeoutMs: 1_000 });
    await gone.close();
    expect(later.answer.attempts).toEqual([expect.stringMatching(/^submission, attempt 1: outcome unknown/)]);
    await service.pauseWorkers(async () => {
      await handleOf('outgoing-transfer', id).terminate('by mistake');
      service.relay.start();
      const { answer } = await until(
        () => service.operate('why', [id]),
        (again) => again.answer.workflow === 'running',
      );
      expect(answer.attempts).toEqual([expect.stringMatching(/^submission, attempt 1: outcome unknown/)]);
    });
  });

  test('submissions closed since a restore', async () => {
    const id = await external({ description: 'silent' });
    await api.database.statement('UPDATE provider_submissions SET restore_began_at = service_now()', []);
    try {
      expect((await service.operate('why', [id])).answer.obstacles.join()).toMatch(/after-restore --since/);
    } finally {
      await api.database.statement('UPDATE provider_submissions SET restore_began_at = NULL', []);
    }
  });

  test('a wake-up not delivered, then parked; `parked --retry` delivers it and is audited', async () => {
    await service.relay.stop();
    const id = await external({}, authorizing);
    const undelivered = await service.operate('why', [id]);
    expect(undelivered.answer).toMatchObject({
      obstacles: [expect.stringMatching(/^its wake-up is not delivered to Temporal since 2027/)],
      workflow: 'not-running',
    });
    const workflow = workflowId('outgoing-transfer', id);
    const park =
      "UPDATE workflow_wakeups SET parked_at = service_now(), attempt_count = 1, last_error = '3 invalid' WHERE workflow_id = $1";
    await api.database.statement(park, [workflow]);
    expect((await service.operate('why', [id])).answer.obstacles).toEqual([
      expect.stringMatching(
        /^its wake-up is parked since 2027.* after 1 attempts \(3 invalid\): npm run -s operate -- parked --retry\.$/,
      ),
    ]);
    expect(await service.lines('parked', ['--retry'])).toMatchObject({ status: 0 });
    expect(await auditOf(api.database.reader, workflow)).toMatchObject([
      { resource: 'workflow', action: 'woken', actor: OPERATOR.actor, after: { parkedDateTime: null } },
    ]);
    service.relay.start();
    await shows('outgoing-transfer', id, 'authorization');
  });

  test('a terminated workflow; `restart-workflows` restarts it and is audited', async () => {
    const id = await external({}, authorizing);
    await shows('outgoing-transfer', id, 'authorization');
    await handleOf('outgoing-transfer', id).terminate('by mistake');
    const { answer } = await service.operate('why', [id]);
    expect(answer).toMatchObject({
      workflow: 'not-running',
      workflowText: expect.stringMatching(/TERMINATED.*restart-workflows/),
    });
    expect(await service.lines('restart-workflows', [])).toMatchObject({ status: 0 });
    expect((await auditOf(api.database.reader, 'all')).at(-1)).toMatchObject({
      resource: 'workflow',
      action: 'restarted',
      actor: OPERATOR.actor,
    });
    await until(
      () => service.operate('why', [id]),
      (again) => again.answer.workflow === 'running',
    );
  });

  test('Temporal away: the row says all but whether the workflow runs', async () => {
    const id = await external({}, authorizing);
    const away = lazyTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
    const { status, answer } = await service.operate('why', [id], { temporal: away, answerTimeoutMs: 1_000 });
    await away.close();
    expect(status).toBe(0);
    expect(answer).toMatchObject({ wait: { for: 'authorization' }, workflow: 'unknown' });
  });
});

describe('why also explains', () => {
  test('a final transfer: nothing is waited for', async () => {
    const id = await external({});
    await until(
      () => reviews(api).find('outgoing-transfer', id),
      ({ status }) => status === 'completed',
    );
    expect(await service.operate('why', [id])).toMatchObject({
      answer: { status: 'completed', wait: null, releasedBy: [], workflow: 'not-needed' },
    });
  });

  test('a payment that came back, whole or in part: where its money is; and its incoming transfer, whose money it is', async () => {
    const id = await external({ description: 'slow' });
    await until(
      () => reviews(api).find('outgoing-transfer', id),
      ({ status }) => status === 'released',
    );
    expect(await comesBack(id, 'first', '300')).toBe('applied');
    const partly = (await service.operate('why', [id])).answer;
    expect(partly.money).toEqual([
      expect.stringMatching(/^3 of 10 GBP came back: incoming transfer [0-9a-f-]{36}, completed, credited to account/),
    ]);
    expect(await comesBack(id, 'second', '700')).toBe('applied');
    const { answer } = await service.operate('why', [id]);
    expect(answer).toMatchObject({ status: 'completed', wait: null });
    expect(answer.money).toHaveLength(2);
    expect(answer.money[1]).toContain(`credited to account ${source.id}`);
    expect((await service.lines('why', [id])).lines).toContain(`Its money: ${answer.money[1]}`);
    const incoming = /incoming transfer ([0-9a-f-]{36})/.exec(answer.money[1])?.[1] ?? '';
    expect((await service.operate('why', [incoming])).answer.money).toEqual([
      `it is money returned from the outgoing transfer ${id}: npm run -s operate -- why ${id}`,
    ]);
  });

  test('an open break: its kind, both sides, since when, and what to do about it', async () => {
    const id = await external({});
    await until(
      () => reviews(api).find('outgoing-transfer', id),
      ({ status }) => status === 'completed',
    );
    const facts = (amountMinor: string) => JSON.stringify({ amountMinor, currency: 'GBP', account: null, date: null });
    const [row] = await api.database.reader.statement<{ id: string }>(
      `INSERT INTO reconciliation_breaks (id, provider, kind, our_reference, details, found_at, expected, actual)
       VALUES (uuidv7(), 'sandbox-bank', 'statement-amount-differs', $1, '{}', service_now(), $2::text::jsonb, $3::text::jsonb) RETURNING id`,
      [id, facts('1000'), facts('900')],
    );
    const { answer } = await service.operate('why', [id]);
    expect(answer.breaks).toEqual([
      {
        id: row?.id,
        kind: 'statement-amount-differs',
        since: expect.stringMatching(/^2027-06-16T1/),
        ours: '10 GBP',
        providers: '9 GBP',
        remedy: expect.stringContaining('look-up'),
      },
    ]);
    const { lines } = await service.lines('why', [id]);
    expect(lines[1]).toBe('It waits only for a person to look into its open break.');
    expect(lines.join('\n')).toMatch(
      /Open break: statement-amount-differs since 2027-06-16 1\d:\d\d UTC; we have 10 GBP, the provider 9 GBP\. .*\n.*resolve-break/,
    );
    expect((await service.operate('why', [`${row?.id}`])).answer).toMatchObject({
      resource: 'reconciliation-break',
      breaks: answer.breaks,
    });
    const resolved = {
      workflow: { code: 'direct' },
      data: { reconciliationBreak: { status: 'resolved', note: 'Seen' } },
    };
    expect((await api.call('PATCH', `/reconciliation-breaks/${row?.id}`, resolved)).status).toBe(200);
    expect((await service.operate('why', [id])).answer.breaks).toEqual([]);
  });

  test('money that matches no account: which come near, and why none was chosen', async () => {
    const { id } = await reviews(api).payIn();
    const { answer } = await service.operate('why', [id]);
    expect(answer).toMatchObject({ resource: 'incoming-transfer', status: 'on-hold', wait: { for: 'match' } });
    expect(answer.money).toEqual([
      'no account has its IBAN or its account number, and its reference has no ledger number.',
    ]);
    const receiver = { iban: null, accountNumber: '31926819', routingCodes: { 'sort-code': '04-00-04' } };
    const near = await reviews(api).payIn({ receiver });
    expect((await service.operate('why', [near.id])).answer.money).toEqual([
      `account ${source.id} has the account number of the payment, but has the sort-code 601613, and the payment says 040004.`,
    ]);
    const [own, others] = [source, await builtInAccounts(api).opened(source.clientId)];
    const numbers = await Promise.all([own, others].map(({ id: accountId }) => ledgerNumberOf(accountId)));
    const ambiguous = await reviews(api).payIn({ remittanceText: numbers.join(' ') });
    expect((await service.operate('why', [ambiguous.id])).answer.money).toEqual(
      [own.id, others.id]
        .sort()
        .map(
          (accountId) =>
            `account ${accountId} has the ledger number in the payment’s reference, but the reference has the ledger numbers of several accounts.`,
        ),
    );
    expect(answer.releasedBy).toEqual([
      `npm run -s operate -- assign-incoming ${id} ACCOUNT`,
      `npm run -s operate -- return-incoming ${id}`,
    ]);
  });

  test("a receiver's side, and an incoming transfer in review", async () => {
    const { incomingTransferId } = await reviews(reviewingReceivers).internal(plugIn, receiver);
    expect((await service.operate('why', [incomingTransferId])).answer).toMatchObject({
      resource: 'incoming-transfer',
      wait: { for: 'compliance' },
    });
  });

  test('an account that its provider has not opened', async () => {
    await service.relay.stop();
    const { id } = await builtInAccounts(api).issued(source.clientId);
    const { answer } = await service.operate('why', [id]);
    expect(answer).toMatchObject({
      resource: 'account',
      status: 'pending',
      wait: { for: 'provider' },
      workflowId: `account-connection/${id}`,
    });
    service.relay.start();
  });

  test('a transfer by any of its names; several are listed, each with the id to ask by', async () => {
    const reference = `BANK-${randomUUID()}`;
    const { id, transactionNumber, serviceProviderId } = await reviews(api).payIn({
      serviceProviderReference: reference,
    });
    for (const name of [transactionNumber, serviceProviderId, reference, id.replaceAll('-', '')]) {
      expect((await service.operate('why', [name])).answer).toMatchObject({ resource: 'incoming-transfer', id });
    }
    const second = await reviews(api).payIn({ serviceProviderReference: reference });
    const { status, answer } = await service.operate('why', [reference]);
    expect(status).toBe(1);
    expect(answer.found.map((row: Json) => row.id)).toEqual([second.id, id]);
    const { lines } = await service.lines('why', [reference]);
    expect(lines[0]).toContain('Ask again by the id of one');
    expect(lines.join('\n')).toContain(id);
  });

  test('a client that is not active, and a user by e-mail address who cannot sign in', async () => {
    const clientId = await world.client('Mary');
    const suspended = { workflow: { code: 'direct' }, data: { client: { status: 'suspended' } } };
    expect((await api.call('PATCH', `/clients/${clientId}`, suspended, { as: 'compliance' })).status).toBe(200);
    expect((await service.operate('why', [clientId])).answer).toMatchObject({
      resource: 'client',
      status: 'suspended',
      wait: null,
      obstacles: [expect.stringContaining('it opens no account')],
      releasedBy: [`PATCH /clients/${clientId} with data.client.status "active"`],
    });
    const { email } = (await api.call('GET', `/users/${userId}`)).body.data.user;
    expect((await service.operate('why', [email])).answer).toMatchObject({
      resource: 'user',
      id: userId,
      obstacles: [expect.stringContaining('it has no password')],
    });
  });

  test('an invitation that its person has not answered', async () => {
    const invited = await api.call('POST', '/users', {
      workflow: { code: 'human.external.invitation' },
      data: {
        user: { email: 'invited@example.com', identity: { type: 'individual', givenName: 'Ada', familyName: 'Byron' } },
        invitations: [{ clientId: source.clientId, userClientRelation: 'director' }],
      },
    });
    expect(invited.status, invited.text).toBe(201);
    const { answer } = await service.operate('why', ['invited@example.com']);
    expect(answer).toMatchObject({ resource: 'user-invitation', status: 'pending' });
    expect(answer.wait.untilMeans).toContain('then its link is worth nothing');
    expect(answer.releasedBy.at(-1)).toContain('PATCH /users/invited%40example.com/invitations/');
  });

  test('a webhook subscription that was paused', async () => {
    const wanted = {
      workflow: { code: 'direct' },
      data: { webhookSubscription: { url: 'https://hook.example.com/' } },
    };
    const created = await api.call('POST', '/webhook-subscriptions', wanted, { as: 'admin' });
    expect(created.status, created.text).toBe(201);
    const { id } = created.body.data.webhookSubscription;
    const paused = { workflow: { code: 'direct' }, data: { webhookSubscription: { status: 'paused' } } };
    await api.call('PATCH', `/webhook-subscriptions/${id}`, paused, { as: 'admin' });
    expect((await service.operate('why', [id])).answer).toMatchObject({
      resource: 'webhook-subscription',
      status: 'paused',
      obstacles: ['it is paused: its owner has stopped it.'],
      releasedBy: [expect.stringContaining('"active"')],
    });
  });

  test('nothing that does not exist', async () => {
    expect(await service.operate('why', [randomUUID()])).toMatchObject({ status: 1 });
    expect(await service.lines('why', ['nonsense'])).toMatchObject({
      status: 1,
      lines: ['Nothing has this id, number, reference, IBAN or e-mail address.'],
    });
    await expect(service.operate('why', [' '])).rejects.toThrow('Give ID');
  });
});

/** A saved query, as docs/runbook/temporal.md has it, with this instant. */
function documented(name: string, instant: Date): string {
  const text = readFileSync(new URL('../../docs/runbook/temporal.md', import.meta.url), 'utf8');
  const row = text.split('\n').find((line) => line.startsWith(`| ${name} |`));
  const query = /`([^`]+)`/.exec(row ?? '')?.[1];
  if (query === undefined) throw new Error(`docs/runbook/temporal.md has no query for ${name}`);
  return query.replace(/INSTANT/g, instant.toISOString());
}

/** Lists are a moment behind. */
async function lists(
  name: string,
  instant: Date,
  wanted: readonly string[],
  foreign: readonly string[],
): Promise<void> {
  const all = new Set([...wanted, ...foreign]);
  const found = await until(
    async () => {
      const ids: string[] = [];
      for await (const { workflowId: id } of service.temporal.client.workflow.list({
        query: documented(name, instant),
      })) {
        ids.push(id.slice(id.indexOf('/') + 1));
      }
      return ids.filter((id) => all.has(id)).sort();
    },
    (ids) => wanted.every((id) => ids.includes(id)),
  );
  expect(found, name).toEqual([...wanted].sort());
}

test("the documented queries of transfers find in Temporal's lists exactly those that they are for; `past cut-off` also those dated ahead", async () => {
  const inReview = await external({ scheme: 'chaps' }, reviewing);
  const unauthorized = await external({ scheme: 'chaps' }, authorizing);
  const unauthorizedAhead = await external({ scheme: 'chaps', transferDate: '2027-07-01' }, authorizing);
  const rolledUnauthorized = await external({ scheme: 'chaps' }, authorizing);
  expect(await service.operate('next-window', [rolledUnauthorized])).toMatchObject({ status: 0 });
  const dated = await external({ transferDate: '2027-07-01' });
  const released = await external({ description: 'slow' });
  const rolled = await CASES['the next window']?.make();
  await service.relay.stop();
  // Its first step is the look-up, so that it waits for its provider at once.
  const unknown = await external({ description: 'silent' });
  await service.operate('look-up', [unknown], { answerTimeoutMs: 0 });
  service.relay.start();
  if (rolled === undefined) throw new Error('no rolled transfer');
  await shows('outgoing-transfer', inReview, 'compliance');
  const pastCutOff = [inReview, unauthorized, unauthorizedAhead, rolledUnauthorized];
  for (const id of pastCutOff.slice(1)) await shows('outgoing-transfer', id, 'authorization');
  await shows('outgoing-transfer', dated, 'date');
  await shows('outgoing-transfer', released, 'provider');
  await shows('outgoing-transfer', rolled, 'next-window');
  await shows('outgoing-transfer', unknown, 'provider');
  const instant = new Date(Date.now() + 1_000);
  await until(
    async () => Date.now(),
    (now) => now > instant.getTime() + 1_000,
  );
  const laterReview = await external({ scheme: 'chaps' }, reviewing);
  await shows('outgoing-transfer', laterReview, 'compliance');
  const ended = await external({ scheme: 'chaps' }, authorizing);
  await shows('outgoing-transfer', ended, 'authorization');
  await service.operate('fail-transfer', [ended, '--reason', 'over']);
  await handleOf('outgoing-transfer', ended).result();
  const others = [...pastCutOff, dated, released, rolled, unknown, laterReview, ended];
  await lists('in review over a day', instant, [inReview], others);
  await lists('past cut-off', instant, pastCutOff, others);
  await lists('provider silent', instant, [released, unknown], others);
  await lists('rolling', instant, [rolled], others);
});

test("the documented queries of consents find in Temporal's lists exactly those that they are for", async () => {
  const unanswered = (await requested()).id;
  const unexchanged = (await approved()).consent.id;
  const authorised = (await granted()).consent.id;
  const rejected = (await requested()).id;
  await shows('consent', rejected, 'account-holder');
  expect((await consents.decide(rejected, { action: 'reject' })).status).toBe(200);
  await handleOf('consent', rejected).result();
  await shows('consent', unanswered, 'account-holder');
  await shows('consent', unexchanged, 'exchange');
  await shows('consent', authorised, 'grant-expiry');
  const instant = new Date(Date.now() + 1_000);
  await until(
    async () => Date.now(),
    (now) => now > instant.getTime() + 1_000,
  );
  const later = (await requested()).id;
  await shows('consent', later, 'account-holder');
  const others = [unanswered, unexchanged, authorised, rejected, later];
  await lists('consents overdue', instant, [unanswered, unexchanged], others);
  await lists('waiting for account holders', instant, [unanswered, later], others);
  await lists('codes to be exchanged', instant, [unexchanged], others);
  await lists('grants of long ago', instant, [authorised], others);
});
