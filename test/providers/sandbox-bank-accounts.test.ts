import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccountRequest, ProviderEvent } from '../../activities/providers/port.ts';
import { stepReference } from '../../activities/providers/ports/common.ts';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import {
  type CallbackReceiver,
  eventually,
  type RunningSandbox,
  SANDBOX_SECRET,
  startCallbackReceiver,
  startSandbox,
  temporaryDirectory,
} from '../harness/servers/sandbox.ts';

const directory = temporaryDirectory();
let receiver: CallbackReceiver;
let sandbox: RunningSandbox;
let bank: ReturnType<typeof createSandboxBank>;
let clientReference: string;

beforeAll(async () => {
  receiver = await startCallbackReceiver();
  sandbox = await startSandbox({ directory: directory.path, callbackUrl: receiver.url });
  bank = createSandboxBank({ url: sandbox.url, secret: SANDBOX_SECRET });
  const client = clientOf('Acme Ltd');
  const answer = await bank.connectClient(client, {});
  if (answer.outcome !== 'connected') throw new Error('the client is rejected');
  clientReference = answer.reference;
});

afterAll(async () => {
  await sandbox?.stop();
  await receiver?.close();
  directory.remove();
});

function clientOf(fullName: string) {
  return { clientId: randomUUID(), identityType: 'corporate', fullName, country: 'GB' } as const;
}

function accountOf(alias: string, change: Partial<AccountRequest> = {}): AccountRequest {
  return {
    accountId: randomUUID(),
    clientReference,
    accountHolderName: 'Acme Ltd',
    alias,
    currency: 'GBP',
    country: 'GB',
    ...change,
  };
}

function eventsAbout(accountId: string): ProviderEvent[] {
  return receiver.received
    .flatMap(({ headers, rawBody }) => bank.verifyCallback(headers, rawBody, new Date()))
    .filter((event) => 'accountId' in event && event.accountId === accountId);
}

function eventAbout(accountId: string): Promise<ProviderEvent> {
  return eventually(`a callback about ${accountId}`, () => eventsAbout(accountId)[0]);
}

async function opened(alias: string): Promise<AccountRequest> {
  const account = accountOf(alias);
  await bank.openAccount(account, {});
  expect(await eventAbout(account.accountId)).toMatchObject({ type: 'account-opened' });
  return account;
}

describe('clients', () => {
  test('get one reference, however often and under whatever name they are connected', async () => {
    const client = clientOf('Beta Ltd');
    const first = await bank.connectClient(client, {});
    expect(first).toMatchObject({ outcome: 'connected' });
    expect(await bank.connectClient({ ...client, fullName: 'Beta Limited' }, {})).toEqual(first);
  });

  test('are rejected by how their name begins', async () => {
    const rejected = { outcome: 'rejected', error: { category: 'technical', origin: 'provider' } };
    expect(await bank.connectClient(clientOf('fail-technical Ltd'), {})).toMatchObject(rejected);
  });
});

describe('opening an account', () => {
  test('is accepted; the callback brings new identifiers, and a look-up agrees', async () => {
    const account = accountOf('Main');
    expect(await bank.openAccount(account, {})).toMatchObject({ outcome: 'accepted' });
    const event = await eventAbout(account.accountId);
    expect(event).toMatchObject({
      type: 'account-opened',
      currency: 'GBP',
      country: 'GB',
      accountNumber: expect.stringMatching(/^\d{8}$/),
      iban: expect.stringMatching(/^GB\d\dSBNK040075\d{8}$/),
      routingCodes: { 'sort-code': '040075', bic: 'SBNKGB2L' },
    });
    if (event.type !== 'account-opened') throw new Error(event.type);
    const { type: _, providerEventId, occurredAt, accountId, ...opened } = event;
    expect(await bank.lookUpAccount(account.accountId, {})).toEqual({ outcome: 'opened', ...opened });
    // The same request again gets the result, not another account.
    expect(await bank.openAccount(account, {})).toEqual({ outcome: 'opened', ...opened });
    await expect(bank.openAccount({ ...account, currency: 'USD' }, {})).rejects.toMatchObject({ reason: 'status 409' });
  });

  test.each([
    ['fail-functional', { category: 'functional', origin: 'customer' }],
    ['fail-technical', { category: 'technical', origin: 'provider' }],
  ])('with an alias that begins with %s is rejected for good', async (alias, error) => {
    const account = accountOf(`${alias} account`);
    expect(await bank.openAccount(account, {})).toMatchObject({ outcome: 'accepted' });
    expect(await eventAbout(account.accountId)).toMatchObject({ type: 'account-opening-rejected', error });
    expect(await bank.lookUpAccount(account.accountId, {})).toMatchObject({ outcome: 'rejected', error });
  });

  test('silent never calls back and is looked up; slow comes after the others', async () => {
    const [slow, silent] = [accountOf('slow one'), accountOf('silent one')];
    await bank.openAccount(slow, {});
    await bank.openAccount(silent, {});
    await eventually('the silent account by look-up', async () => {
      const answer = await bank.lookUpAccount(silent.accountId, {});
      return answer.outcome === 'opened' ? answer : undefined;
    });
    await opened('a later one');
    expect(await bank.lookUpAccount(slow.accountId, {})).toMatchObject({ outcome: 'accepted' });
    expect(await eventAbout(slow.accountId)).toMatchObject({ type: 'account-opened' });
    expect(eventsAbout(silent.accountId)).toEqual([]);
  });

  test('for an unknown client is rejected, and an unknown account is not found', async () => {
    const account = accountOf('Main', { clientReference: 'SBC-unknown' });
    expect(await bank.openAccount(account, {})).toMatchObject({
      outcome: 'rejected',
      error: { category: 'technical' },
    });
    expect(await bank.lookUpAccount(account.accountId, {})).toEqual({ outcome: 'not-found' });
  });
});

describe('changing an account', () => {
  test('closing is accepted, and reported by one callback', async () => {
    const account = await opened('to be closed');
    const change = {
      accountId: account.accountId,
      changeReference: stepReference(account.accountId, 'close', 1),
      change: { kind: 'close' },
    } as const;
    expect(await bank.lookUpAccountChange(change, {})).toEqual({ outcome: 'not-found' });
    expect(await bank.changeAccount(change, {})).toEqual({ outcome: 'accepted' });
    const event = await eventually('account-changed', () =>
      eventsAbout(account.accountId).find(({ type }) => type === 'account-changed'),
    );
    expect(event).toMatchObject({ changeReference: change.changeReference });
    expect(await bank.changeAccount(change, {})).toEqual({ outcome: 'changed' });
    expect(await bank.lookUpAccountChange(change, {})).toEqual({ outcome: 'changed' });
    expect(await bank.lookUpAccount(account.accountId, {})).toMatchObject({ outcome: 'closed' });
  });

  test('an alias that begins with close-fail is not closed; a new attempt has a new reference', async () => {
    const account = await opened('close-fail-functional');
    const close = (attempt: number) =>
      ({
        accountId: account.accountId,
        changeReference: stepReference(account.accountId, 'close', attempt),
        change: { kind: 'close' },
      }) as const;
    await bank.changeAccount(close(1), {});
    const event = await eventually('account-change-rejected', () =>
      eventsAbout(account.accountId).find(({ type }) => type === 'account-change-rejected'),
    );
    expect(event).toMatchObject({ error: { category: 'functional' } });
    expect(await bank.lookUpAccount(account.accountId, {})).toMatchObject({ outcome: 'opened' });

    const renamed = {
      ...close(1),
      changeReference: stepReference(account.accountId, 'alias', 1),
      change: { kind: 'alias', alias: 'plain' },
    } as const;
    expect(await bank.changeAccount(renamed, {})).toEqual({ outcome: 'changed' });
    expect(await bank.changeAccount(close(2), {})).toEqual({ outcome: 'accepted' });
    await eventually('the closing', async () => {
      const answer = await bank.lookUpAccountChange(close(2), {});
      return answer.outcome === 'changed' ? answer : undefined;
    });
    expect(await bank.lookUpAccountChange(close(1), {})).toMatchObject({ outcome: 'rejected' });
  });
});
