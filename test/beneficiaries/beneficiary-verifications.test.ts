import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { accountHolderNameRow } from '../../db/beneficiaries/verifications.ts';
import { freePort } from '../../scripts/servers/ports.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { TEST_KEYRING } from '../harness/keyring.ts';
import { moneyWorld } from '../harness/money.ts';
import { type ScriptedDirectory, startScriptedDirectory } from '../harness/parties/directory.ts';
import { COMPANY, openAtBank, type Verifications, verificationsOf } from '../harness/parties/verifications.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import {
  type CallbackReceiver,
  type RunningSandbox,
  startCallbackReceiver,
  startSandbox,
  temporaryDirectory,
} from '../harness/servers/sandbox.ts';

const directory = temporaryDirectory();
const logged: string[] = [];
let receiver: CallbackReceiver;
let sandbox: RunningSandbox;
let scripted: ScriptedDirectory;
let database: TestDatabase;
/** Asks the real sandbox process. */
let api: TestApi;
/** The same service, with a directory that the test scripts. */
let scriptedApi: TestApi;
let verify: Verifications['verify'];
let verified: Verifications['verified'];
let stored: Verifications['stored'];

beforeAll(async () => {
  receiver = await startCallbackReceiver();
  sandbox = await startSandbox({ directory: directory.path, callbackUrl: receiver.url });
  scripted = await startScriptedDirectory();
  database = await createTestDatabase('beneficiary-verifications');
  const logger = pino(
    { level: 'debug' },
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        logged.push(chunk.toString());
        done();
      },
    }),
  );
  api = await startApi(database, {
    env: { SANDBOX_URL: sandbox.url },
    logger,
    configuration: (configuration) => ({
      ...configuration,
      directories: { 'pay-uk': { ...configuration.directories['pay-uk'], timeoutMs: 5_000 } },
    }),
  });
  scriptedApi = await startApi(database, { env: { SANDBOX_URL: scripted.url }, users: api.users, logger });
  const client = await moneyWorld(api).client();
  ({ verify, verified, stored } = verificationsOf(api, () => client));
});

afterEach(async () => {
  await fetch(`${sandbox.url}/directory/faults`, { method: 'DELETE' });
});

afterAll(async () => {
  await api?.stop();
  await scriptedApi?.stop();
  await scripted?.close();
  await sandbox?.stop();
  await receiver?.close();
  await database?.drop();
  directory.remove();
});

async function setFaults(faults: Json): Promise<void> {
  await fetch(`${sandbox.url}/directory/faults`, { method: 'POST', body: JSON.stringify(faults) });
}

describe('a directory that is slow or away', () => {
  async function isRefusedWithoutCharge(at: TestApi): Promise<void> {
    const before = (await stored()).length;
    const key = randomUUID();
    const { status, body, headers } = await verify({ at, key });
    expect([status, body.code]).toEqual([503, 'connect.provider.unavailable']);
    expect(body.messageParameters).toEqual(['connect', 'serviceProvider', 'sandbox-bank']);
    expect(headers.get('retry-after')).toBe('2');
    expect(await stored()).toHaveLength(before);
    await fetch(`${sandbox.url}/directory/faults`, { method: 'DELETE' });
    // The key is still free: the same request asks again.
    expect((await verified({ key })).result.matched).toBe(true);
    expect(await stored()).toHaveLength(before + 1);
  }

  test.each([[{ latencyMs: 30_000 }], [{ errorRate: 1 }], [{ cutRate: 1 }]])(
    '%o is 503, within its limit, and free of charge',
    async (faults) => {
      await setFaults(faults);
      await isRefusedWithoutCharge(api);
    },
  );

  test.each<[number, Json]>([
    [200, { reference: 'r', matched: false, reasonCode: 'XXXX', name: null }],
    [200, { reference: 'r', matched: true, reasonCode: 'ANNM', name: null }],
    [200, { reference: 'r', matched: false, reasonCode: null, name: null }],
    [200, { matched: 'yes' }],
    [200, 'not JSON'],
    [302, {}],
    [400, { error: {} }],
    [429, {}],
  ])('an answer %i %o, which says nothing, is 503 too', async (status, body) => {
    scripted.answer = { status, body };
    await isRefusedWithoutCharge(scriptedApi);
  });

  test('an answer that begins and never ends is 503, within the limit', async () => {
    const body = { reference: 'r', matched: true, reasonCode: null, name: null };
    scripted.answer = { status: 200, body, endless: true };
    await isRefusedWithoutCharge(scriptedApi);
  });

  test('an answer larger than any answer is 503', async () => {
    const body = { reference: 'r', matched: true, reasonCode: null, name: null, more: 'x'.repeat(100_000) };
    scripted.answer = { status: 200, body };
    await isRefusedWithoutCharge(scriptedApi);
  });

  test('an unreachable directory is 503', async () => {
    const lonely = await startApi(database, {
      env: { SANDBOX_URL: `http://127.0.0.1:${await freePort()}` },
      users: api.users,
    });
    await isRefusedWithoutCharge(lonely).finally(() => lonely.stop());
  });
});

describe('what a directory must not reveal', () => {
  test('a name that it sends with anything but a close match is neither shown nor stored', async () => {
    for (const reasonCode of ['ANNM', 'BANM', 'PANM', 'AC01', 'IVCR', 'ACNS', 'OPTO', 'CASS', 'SCNS']) {
      scripted.answer = { status: 200, body: { reference: 'r', matched: false, reasonCode, name: 'Real Holder' } };
      const answer = await verify({ at: scriptedApi });
      expect([answer.status, answer.text.includes('Real Holder')]).toEqual([201, false]);
    }
    scripted.answer = { status: 200, body: { reference: 'r', matched: true, reasonCode: null, name: 'Real Holder' } };
    expect((await verify({ at: scriptedApi })).text).not.toContain('Real Holder');
    const kept = (await stored()).flatMap(({ id, account_holder_name: name }) =>
      name === null ? [] : [TEST_KEYRING.decrypt(name, accountHolderNameRow(id))],
    );
    expect(JSON.stringify(kept)).not.toContain('Real');
  });

  test('the database itself refuses such a name', async () => {
    const change = (assignment: string) =>
      api.database.statement(`update beneficiary_verifications set ${assignment} where reason = 'opted-out'`, []);
    await expect(change("account_holder_name = 'Real Holder'")).rejects.toThrow('beneficiary_verifications_name');
    await expect(change('matched = true')).rejects.toThrow('beneficiary_verifications_result');
  });

  test('a close match shows the name without the empty title before it, and its letters in the order in which they are read', async () => {
    const shown = async (name: string | null) => {
      scripted.answer = { status: 200, body: { reference: 'r', matched: false, reasonCode: 'MBAM', name } };
      return (await verified({ at: scriptedApi })).result.accountHolderName;
    };
    expect(await shown(',,Mr John Smith')).toBe('Mr John Smith');
    expect(await shown('')).toBeNull();
    expect(await shown(null)).toBeNull();
    // Without the character that would show it as John smith.
    expect(await shown('John \u202Ehtims')).toBe('John htims');
  });
});

describe('the same request again', () => {
  test('is answered byte for byte without asking or charging again', async () => {
    scripted.answer = { status: 200, body: { reference: 'r', matched: false, reasonCode: 'OPTO', name: null } };
    const asked = scripted.asked;
    const rows = (await stored()).length;
    const key = randomUUID();
    const first = await verify({ at: scriptedApi, key });
    const second = await verify({ at: scriptedApi, key });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('x-idempotency-status')).toBe('replayed');
    expect([scripted.asked - asked, (await stored()).length - rows]).toEqual([1, 1]);
    const other = await verify({ at: scriptedApi, key, identity: COMPANY });
    expect([other.status, other.body.code]).toEqual([409, 'common.idempotency.key_reused']);
    expect(scripted.asked - asked).toBe(1);
  });

  test('sent five times at once is charged once', async () => {
    const rows = (await stored()).length;
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 5 }, () => verify({ at: scriptedApi, key })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await stored()).length - rows).toBe(1);
  });
});

test('no name and no account number reaches a log, of the service or of the sandbox', async () => {
  const holder = await openAtBank(sandbox.url, 'individual', 'Katherine Green');
  const sortCode = holder.routingCodes['sort-code'];
  const kate = { type: 'individual', givenName: 'Kate', familyName: 'Green' };
  const close = await verified({ identity: kate, accountNumber: holder.accountNumber, sortCode });
  expect(close.result.accountHolderName).toBe('Katherine Green');
  const attributes = { secondaryIdentification: 'Roll 17' };
  const magic = { accountNumber: '00934892', beneficiary: { attributes } };
  expect((await verified(magic)).result.accountHolderName).toBe('Mr John Smith');
  const wrong = await verify({ accountNumber: 'no number', identity: { ...COMPANY, legalName: ' ' } });
  expect(wrong.status).toBe(400);
  const lines = `${logged.join('')}${sandbox.output()}`;
  expect(lines).toContain('directory gave no answer');
  for (const secret of [
    ...['Hopperson', 'Grace', 'Brook Lane', 'John Smith', 'Kate', 'Katherine', 'Real Holder', 'no number', 'Roll 17'],
    ...['0093489', holder.accountNumber],
  ]) {
    expect(lines.includes(secret), secret).toBe(false);
  }
});
