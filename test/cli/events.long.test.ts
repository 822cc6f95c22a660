import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WEBHOOKS } from '../../api/webhooks/event-contracts.ts';
import { COMMAND_NOUNS, COMMANDS } from '../../cli/commands.ts';
import { EVENT_NAMES } from '../../cli/events/event-names.ts';
import { TRIGGERS } from '../../cli/events/trigger/triggers.ts';
import { EXIT_STATUSES } from '../../cli/program/exit-statuses.ts';
import { runCommandLine } from '../../cli/program/run.ts';
import type { Json } from '../harness/api.ts';
import {
  newServiceInstallation,
  removeServiceInstallation,
  type ServiceInstallation,
  startService,
} from '../harness/servers/started-service.ts';
import { until } from '../harness/stage.ts';
import { type Receiver, startReceiver } from '../harness/webhooks/webhooks.ts';

// `fas trigger`, `fas tail` and `fas doctor` against a service that `npm start` runs, with its sandbox.

let installation: ServiceInstallation;
let receiver: Receiver;

beforeAll(async () => {
  installation = await newServiceInstallation();
  await startService(installation);
  receiver = await startReceiver();
});

afterAll(async () => {
  await receiver?.close();
  if (installation !== undefined) await removeServiceInstallation(installation);
});

interface Ran {
  readonly status: number;
  readonly data: string;
  readonly errors: string;
}

function start(words: readonly string[], change: NodeJS.ProcessEnv = {}) {
  const { dataDirectory } = installation;
  const environment = { DATA_DIR: dataDirectory, XDG_CONFIG_HOME: dataDirectory, HOME: dataDirectory, ...change };
  const written = { data: '', errors: '' };
  const stream = (name: 'data' | 'errors') => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const streams = { data: stream('data'), errors: stream('errors') };
  const interruption = new AbortController();
  const line = { words, commands: COMMANDS, nouns: COMMAND_NOUNS, version: '0', environment, streams };
  const ended = runCommandLine({ ...line, signal: interruption.signal });
  return { written, interrupt: () => interruption.abort(), ended };
}

async function fas(words: readonly string[], change: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const { written, ended } = start(words, change);
  const status = await ended;
  return { status, ...written };
}

async function triggered(event: string, ...more: readonly string[]): Promise<Json> {
  const { status, data, errors } = await fas(['trigger', event, ...more, '--json']);
  expect(status, `${event}: ${errors}`).toBe(EXIT_STATUSES.succeeded.status);
  return JSON.parse(data);
}

/** A resource of the API, by fas itself. */
async function get(path: string): Promise<Json> {
  const { data, errors } = await fas(['api', 'GET', path, '--json']);
  expect(data, errors).not.toBe('');
  return JSON.parse(data);
}

async function shows(event: string, shown: Json): Promise<void> {
  const [module, type] = event.split('.');
  const page = await get(`/events?data.event.positionAfter=${shown.position - 1}&metadata.page.size=1`);
  expect(page.data.events[0]).toMatchObject({
    position: shown.position,
    resourceId: shown.resourceId,
    webhook: { module, type },
  });
}

const NAMES = WEBHOOKS.map(({ module, type }) => `${module}.${type}`);
/** It moves the clock, which ends what others wait for. */
const BY_THE_CLOCK = 'open-banking-consents.consent-expired';
const PING = 'webhook-subscriptions.ping';

test('every event of the contract has a trigger and is an operand, and there is no other', () => {
  expect([...EVENT_NAMES].sort()).toEqual([...NAMES].sort());
  expect(Object.keys(TRIGGERS).sort()).toEqual([...NAMES].sort());
});

test('doctor finds nothing wrong with a service that runs', async () => {
  const { data } = await fas(['doctor', '--json']);
  const checks: Json[] = JSON.parse(data).checks;
  // These are about the machine, and about the day.
  const others = checks.filter(({ name }) => name !== 'disk' && name !== 'calendars');
  expect(others.filter(({ state }) => state !== 'fine')).toEqual([]);
});

test.concurrent.each(NAMES.filter((name) => name !== BY_THE_CLOCK && name !== PING))(
  'trigger %s makes it happen, and shows it as the event log has it',
  async (event) => {
    await shows(event, await triggered(event));
  },
);

test('trigger causes a ping of a subscription, and an expiry by the sandbox’s clock', async () => {
  const body = { workflow: { code: 'direct' }, data: { webhookSubscription: { url: receiver.url } } };
  const file = join(installation.dataDirectory, 'subscription.json');
  writeFileSync(file, JSON.stringify(body));
  const created = await fas(['api', 'POST', '/webhook-subscriptions', '--data', `@${file}`, '--json']);
  const { id } = JSON.parse(created.data).data.webhookSubscription;
  const { webhookDeliveryId } = await triggered(PING, '--for', id);
  await until(
    () => get(`/webhook-deliveries/${webhookDeliveryId}`),
    (delivery) => delivery.data.webhookDelivery.status === 'succeeded',
  );
  await shows(BY_THE_CLOCK, await triggered(BY_THE_CLOCK));
});

describe('--for', () => {
  test('names the account, client or payment of the event', async () => {
    const { resourceId: accountId } = await triggered('accounts.account-activated');
    await until(
      () => get(`/accounts/${accountId}`),
      (account) => account.data.account.status === 'active',
    );
    const { resourceId: incomingId } = await triggered(
      'incoming-transfers.incoming-transfer-completed',
      '--for',
      accountId,
    );
    expect((await get(`/incoming-transfers/${incomingId}`)).data.incomingTransfer.accountId).toBe(accountId);
    const { resourceId: paymentId } = await triggered(
      'outgoing-transfers.outgoing-transfer-released',
      '--for',
      accountId,
    );
    expect((await get(`/outgoing-transfers/${paymentId}`)).data.outgoingTransfer.source.accountId).toBe(accountId);
    expect(await triggered('outgoing-transfers.outgoing-transfer-completed', '--for', paymentId)).toMatchObject({
      resourceId: paymentId,
    });
    expect(await triggered('outgoing-transfers.outgoing-transfer-returned', '--for', paymentId)).toMatchObject({
      resourceId: paymentId,
    });
  });

  test('of a resource that the event does not take is rejected, and so is an unknown event', async () => {
    const { usage } = EXIT_STATUSES;
    const { resourceId: clientId } = await triggered('clients.created');
    expect(await fas(['trigger', 'incoming-transfers.incoming-transfer-failed', '--for', clientId])).toMatchObject({
      status: usage.status,
      data: '',
      errors: expect.stringContaining('is none of what this event takes (incoming-transfer)'),
    });
    expect(await fas(['trigger', 'nonsense'])).toMatchObject({ status: usage.status, data: '' });
  });
});

test('nothing is triggered where it is live', async () => {
  const { status, data, errors } = await fas(['trigger', 'clients.created'], {
    FAS_BASE_URL: installation.apiUrl,
    FAS_MODE: 'live',
  });
  expect([status === EXIT_STATUSES.succeeded.status, data]).toEqual([false, '']);
  expect(errors).toContain('[LIVE]');
});

test('tail prints the events after a position as they come, also as JSON, and ends by Ctrl-C', async () => {
  const first = await triggered('clients.created');
  const followed = start(['tail', '--after', `${first.position - 1}`, '--type', 'created', '--json']);
  const second = await triggered('clients.created');
  await until(
    async () => followed.written.data,
    (data) => data.includes(second.resourceId),
  );
  followed.interrupt();
  expect(await followed.ended).toBe(EXIT_STATUSES.succeeded.status);
  const lines = followed.written.data
    .trim()
    .split('\n')
    .map((line): Json => JSON.parse(line));
  expect(lines.map(({ resourceId }) => resourceId)).toEqual([first.resourceId, second.resourceId]);
  expect(lines[0]?.event.webhook).toEqual({ module: 'clients', type: 'created' });
});
