import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { accountHolderNameRow } from '../../db/beneficiaries/verifications.ts';
import { freePort } from '../../dev/servers/ports.ts';
import { DIRECTORY_RULES } from '../../domain/beneficiaries/directories.ts';
import { DIRECTORIES } from '../../domain/beneficiaries/verifications.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { TEST_KEYRING } from '../harness/keyring.ts';
import { moneyWorld } from '../harness/money.ts';
import { type ScriptedDirectory, startScriptedDirectory } from '../harness/parties/directory.ts';
import {
  COMPANY,
  DIRECTORY_CASES,
  openAtBank,
  type Verifications,
  verificationsOf,
} from '../harness/parties/verifications.ts';
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
      directories: withTimeouts(configuration.directories),
    }),
  });
  scriptedApi = await startApi(database, {
    env: { SANDBOX_URL: scripted.url },
    users: api.users,
    logger,
    configuration: (configuration) => ({
      ...configuration,
      directories: withTimeouts(configuration.directories),
    }),
  });
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

type Directories = TestApi['services']['configuration']['directories'];

/** Long enough for a busy machine, and short enough for tests that wait for it. */
function withTimeouts(directories: Directories): Directories {
  const timeoutMs = 6_000;
  return { 'pay-uk': { ...directories['pay-uk'], timeoutMs }, 'eu-vop': { ...directories['eu-vop'], timeoutMs } };
}

async function setFaults(faults: Json): Promise<void> {
  await fetch(`${sandbox.url}/directory/faults`, { method: 'POST', body: JSON.stringify(faults) });
}

describe.each(DIRECTORIES)('%s, slow or away', (directory) => {
  const { match, senseless, notPossible } = DIRECTORY_CASES[directory];

  async function isRejectedWithoutCharge(at: TestApi): Promise<void> {
    const before = (await stored()).length;
    const key = randomUUID();
    const { status, body, headers } = await verify({ directory, at, key });
    expect([status, body.code]).toEqual([503, 'connect.provider.unavailable']);
    expect(body.messageParameters).toEqual(['connect', 'serviceProvider', 'sandbox-bank']);
    expect(headers.get('retry-after')).toBe('2');
    expect(await stored()).toHaveLength(before);
    await fetch(`${sandbox.url}/directory/faults`, { method: 'DELETE' });
    // The key is still free: the same request asks again.
    expect((await verified({ directory, key })).result.matched).toBe(true);
    expect(await stored()).toHaveLength(before + 1);
  }

  /** Never a match: no answer, or the scheme's own way to say that no check was possible. */
  async function isNoMatch(at: TestApi): Promise<void> {
    if (notPossible === null) return isRejectedWithoutCharge(at);
    const { result, attributes } = await verified({ directory, at });
    expect(result).toEqual({ matched: false, reason: 'account-type-not-supported', accountHolderName: null });
    expect(attributes.schemeReasonCode).toBe(notPossible);
    const row = (await stored()).at(-1);
    expect(row?.provider_reference).toMatch(/^[0-9a-f-]{36}$/);
  }

  test.each([[{ latencyMs: 30_000 }], [{ errorRate: 1 }], [{ cutRate: 1 }]])(
    '%o is 503, within its limit, and free of charge',
    async (faults) => {
      await setFaults(faults);
      await isRejectedWithoutCharge(api);
    },
  );

  test.each([302, 400, 404, 429, 500, 503])('the status %i is 503, whatever comes with it', async (status) => {
    scripted.answer = { status, body: match };
    await isRejectedWithoutCharge(scriptedApi);
  });

  test.each(senseless.map((body) => [body]))('an answer that says nothing is no match: %o', async (body) => {
    scripted.answer = { status: 200, body };
    await isNoMatch(scriptedApi);
  });

  test('half an answer is no match', async () => {
    await setFaults({ garbledRate: 1 });
    await isNoMatch(api);
  });

  test('each request asks once, however it ends', async () => {
    for (const status of [200, 503]) {
      scripted.answer = { status, body: match };
      const asked = scripted.asked;
      await verify({ directory, at: scriptedApi });
      expect(scripted.asked - asked).toBe(1);
    }
  });

  test('an answer that begins and never ends is 503, within the limit', async () => {
    scripted.answer = { status: 200, body: match, endless: true };
    await isRejectedWithoutCharge(scriptedApi);
  });

  test('an answer larger than any answer is 503', async () => {
    scripted.answer = { status: 200, body: { ...match, more: 'x'.repeat(100_000) } };
    await isRejectedWithoutCharge(scriptedApi);
  });

  test('an unreachable directory is 503', async () => {
    const lonely = await startApi(database, {
      env: { SANDBOX_URL: `http://127.0.0.1:${await freePort()}` },
      users: api.users,
    });
    await isRejectedWithoutCharge(lonely).finally(() => lonely.stop());
  });
});

test('an error of Verification of Payee is logged by its code, and without its text', async () => {
  const error = { type: 'about:blank', title: 'Bad Request', status: 400, detail: 'No Real Holder at DE96…' };
  for (const [code, shown] of [
    ...DIRECTORY_RULES['eu-vop'].errors.map((known) => [known, `status 400 ${known}`]),
    ['Real Holder', 'status 400'],
  ]) {
    scripted.answer = { status: 400, body: { ...error, code } };
    const before = logged.length;
    expect((await verify({ directory: 'eu-vop', at: scriptedApi })).status).toBe(503);
    const lines = logged.slice(before).map((line): Json => JSON.parse(line));
    expect(lines.find(({ msg }) => msg === 'directory gave no answer')?.reason).toBe(shown);
  }
});

test('the answer to another request of Verification of Payee is no match', async () => {
  scripted.answer = { status: 200, body: { partyNameMatch: 'MTCH' }, requestId: randomUUID() };
  const { result } = await verified({ directory: 'eu-vop', at: scriptedApi });
  expect(result).toMatchObject({ matched: false, reason: 'account-type-not-supported' });
});

test('a name that matches is no answer about an identifier', async () => {
  scripted.answer = { status: 200, body: DIRECTORY_CASES['eu-vop'].match };
  const identification = { type: 'vat-number', identificationNumber: 'DE123456789' };
  const { bankAccount } = DIRECTORY_CASES['eu-vop'];
  const beneficiary = { bankAccount, attributes: { identification } };
  const asking = { directory: 'eu-vop', at: scriptedApi, identity: COMPANY, beneficiary } as const;
  expect((await verified(asking)).result).toMatchObject({ matched: false, reason: 'account-type-not-supported' });
  scripted.answer = { status: 200, body: { partyIdMatch: 'MTCH' } };
  expect((await verified(asking)).result.matched).toBe(true);
});

describe('what a directory must not reveal', () => {
  test.each(DIRECTORIES)(
    'a name that %s sends with anything but a close match is neither shown nor stored',
    async (directory) => {
      for (const body of DIRECTORY_CASES[directory].indiscreet('Real Holder')) {
        scripted.answer = { status: 200, body };
        const answer = await verify({ directory, at: scriptedApi });
        expect([answer.status, answer.text.includes('Real Holder')], JSON.stringify(body)).toEqual([201, false]);
      }
      const kept = (await stored()).flatMap(({ id, account_holder_name: name }) =>
        name === null ? [] : [TEST_KEYRING.decrypt(name, accountHolderNameRow(id))],
      );
      expect(JSON.stringify(kept)).not.toContain('Real');
    },
  );

  test('the database itself rejects such a name', async () => {
    const change = (assignment: string) =>
      api.database.statement(`update beneficiary_verifications set ${assignment} where reason = 'opted-out'`, []);
    await expect(change("account_holder_name = 'Real Holder'")).rejects.toThrow('beneficiary_verifications_name');
    await expect(change('matched = true')).rejects.toThrow('beneficiary_verifications_result');
  });

  test.each(DIRECTORIES)(
    'a close match of %s shows the name, if there is one, with its letters in the order in which they are read',
    async (directory) => {
      const shown = async (name: string | null) => {
        scripted.answer = { status: 200, body: DIRECTORY_CASES[directory].close(name) };
        return (await verified({ directory, at: scriptedApi })).result.accountHolderName;
      };
      expect(await shown('Mr John Smith')).toBe('Mr John Smith');
      expect(await shown('')).toBeNull();
      expect(await shown(null)).toBeNull();
      // Without the character that would show it as John smith.
      expect(await shown('John \u202Ehtims')).toBe('John htims');
    },
  );

  test('empty titles before a name of Confirmation of Payee are not shown', async () => {
    scripted.answer = { status: 200, body: DIRECTORY_CASES['pay-uk'].close(',,Mr John Smith') };
    expect((await verified({ at: scriptedApi })).result.accountHolderName).toBe('Mr John Smith');
  });
});

describe.each(DIRECTORIES)('the same request to %s again', (directory) => {
  beforeEach(() => {
    scripted.answer = { status: 200, body: DIRECTORY_CASES[directory].close('Mr John Smith') };
  });

  test('is answered byte for byte without asking or charging again', async () => {
    const asked = scripted.asked;
    const rows = (await stored()).length;
    const key = randomUUID();
    const first = await verify({ directory, at: scriptedApi, key });
    const second = await verify({ directory, at: scriptedApi, key });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('x-idempotency-status')).toBe('replayed');
    expect([scripted.asked - asked, (await stored()).length - rows]).toEqual([1, 1]);
    const other = await verify({ directory, at: scriptedApi, key, identity: COMPANY });
    expect([other.status, other.body.code]).toEqual([409, 'common.idempotency.key_reused']);
    expect(scripted.asked - asked).toBe(1);
  });

  test('sent five times at once is charged once', async () => {
    const rows = (await stored()).length;
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 5 }, () => verify({ directory, at: scriptedApi, key })));
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
  const euro = await openAtBank(sandbox.url, 'individual', 'Katherine Green', { currency: 'EUR', country: 'FR' });
  const bankAccount = { iban: euro.iban };
  const inEurope = { directory: 'eu-vop', identity: kate, beneficiary: { bankAccount, attributes } } as const;
  expect((await verified(inEurope)).result.accountHolderName).toBe('Katherine Green');
  await setFaults({ garbledRate: 1 });
  expect((await verified(inEurope)).result.matched).toBe(false);
  const wrong = await verify({ accountNumber: 'no number', identity: { ...COMPANY, legalName: ' ' } });
  expect(wrong.status).toBe(400);
  const lines = `${logged.join('')}${sandbox.output()}`;
  expect(lines).toContain('directory gave no answer');
  for (const secret of [
    ...['Hopperson', 'Grace', 'Brook Lane', 'John Smith', 'Kate', 'Katherine', 'Real Holder', 'no number', 'Roll 17'],
    ...['0093489', holder.accountNumber, euro.iban, euro.accountNumber],
  ]) {
    expect(lines.includes(secret), secret).toBe(false);
  }
});
