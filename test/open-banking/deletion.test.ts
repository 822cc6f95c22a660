import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { housekeepingActivities } from '../../activities/housekeeping.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import {
  ACCOUNTS,
  PUBLIC_URL,
  signed,
  type ThirdParty,
  type ThirdPartyWorld,
  thirdPartyWorld,
} from '../harness/parties/third-parties.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// Housekeeping deletes expired rows in batches, and never a row that still causes a rejection or a revocation.

const MINUTE_MS = 60_000;
const PIECE_ROWS_MAX = 1_000;

let testDatabase: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let parties: ThirdPartyWorld;
let party: ThirdParty;
let userId: string;
let account: string;
/** The wall clock of this process, and the database's, run ahead by this much. */
let aheadMs = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase('deletion');
  api = await startApi(testDatabase, { env: { PUBLIC_URL }, clockOffset: () => `${aheadMs} milliseconds` });
  world = moneyWorld(api);
  parties = thirdPartyWorld(api);
  party = await parties.thirdParty();
  const clientId = await world.client();
  userId = await parties.user([clientId]);
  account = await world.account(clientId);
});

afterEach(() => {
  vi.useRealTimers();
  aheadMs = 0;
});

afterAll(async () => {
  await world?.invariantsHold();
  await api?.stop();
  await testDatabase?.drop();
});

/** Moves both clocks; no workflow wakes. */
function moveTo(instantMs: number): void {
  vi.useRealTimers();
  aheadMs = instantMs - Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: instantMs });
}

/** The task of the scheduled housekeeping, by the clocks as they are now. */
async function housekeeping(): Promise<void> {
  const { database, services } = api;
  const { configuration, environment, keyring, logger } = services;
  const tasks = housekeepingActivities({
    database,
    configuration,
    keyring,
    logger,
    publicUrl: api.url,
    mail: environment.mail,
    providers: new Map(),
  });
  expect(await new MockActivityEnvironment().run(tasks.forgetWhatHasExpired)).toBe('ok');
}

async function count(table: string, where = 'true', values: readonly unknown[] = []): Promise<number> {
  const rows = await api.database.reader.statement(`SELECT FROM ${table} WHERE ${where}`, values);
  return rows.length;
}

const TABLES = [
  'user_authentication_failures',
  'open_banking_access_tokens',
  'open_banking_codes',
  'third_party_assertions',
] as const;

const ask = async (token: string): Promise<number> =>
  (await parties.call('POST', '/open-banking/GB/consents', token, parties.consentBody(ACCOUNTS))).status;

describe('a token that a third party has signed and used', () => {
  /** `exp` in seconds from now, which the token outlives by the thirty seconds of tolerance. */
  test.each([
    ['of whole seconds', 0],
    ['with a fraction, which is good until its second is over', 0.7],
  ])('with an exp %s is rejected at every moment around its deletion, and then deleted', async (_, fraction) => {
    const iat = Math.floor(Date.now() / 1000);
    const exp = iat + 20 + fraction;
    const token = await signed(party, { iat, exp });
    const mine = 'expires_at = $1';
    const expiresAt = [new Date((exp + 30) * 1000)];
    expect(await ask(token)).toBe(201);
    // Around the end of its lifetime, by seconds and less, and around the deletion of its record.
    const moments = [1, 19, 29, 29.5, 30, 30.1, 30.5, 30.95, 31.05, 32, 60, 200, 329, 330].map((at) => exp + at);
    for (const seconds of moments) {
      moveTo(Math.floor(seconds * 1000));
      await housekeeping();
      expect([seconds - exp, await ask(token)]).toEqual([seconds - exp, 401]);
      // Another process may be a few minutes behind.
      if (seconds < exp + 329)
        expect([seconds - exp, await count('third_party_assertions', mine, expiresAt)]).toEqual([seconds - exp, 1]);
    }
    moveTo((exp + 332) * 1000);
    await housekeeping();
    expect(await count('third_party_assertions', mine, expiresAt)).toBe(0);
    expect(await ask(token)).toBe(401);
  });

  test('as a client assertion is rejected just so', async () => {
    const iat = Math.floor(Date.now() / 1000);
    const assertion = await signed(party, { aud: PUBLIC_URL, iat, exp: iat + 300 });
    const exchange = async () => (await parties.token(party, 'x'.repeat(43), { client_assertion: assertion })).status;
    expect(await exchange()).toBe(400);
    for (const minutes of [1, 5, 5.6, 9, 11]) {
      moveTo(iat * 1000 + minutes * MINUTE_MS);
      await housekeeping();
      expect([minutes, await exchange()]).toEqual([minutes, 401]);
    }
    expect(await count('third_party_assertions', 'expires_at = $1', [new Date((iat + 330) * 1000)])).toBe(0);
  });
});

describe('a code and its access token', () => {
  const rowsOf = async (consentId: string) => [
    await count('open_banking_codes', 'consent_id = $1', [consentId]),
    await count('open_banking_access_tokens', 'consent_id = $1', [consentId]),
  ];
  const accountsWith = async (accessToken: string): Promise<number> =>
    (await parties.call('GET', '/open-banking/GB/accounts', accessToken)).status;
  const grant = async () => {
    const { consentId, code } = await parties.approved(party, ACCOUNTS, userId, [account]);
    const { status, body } = await parties.token(party, code);
    expect(status, JSON.stringify(body)).toBe(200);
    return { consentId, code, accessToken: body.access_token as string, startedMs: Date.now() };
  };
  const replay = async (code: string): Promise<Json> => {
    const { status, body } = await parties.token(party, code);
    return [status, body.error];
  };

  test('a token works until its hour is over and is rejected from then on, its record deleted or not', async () => {
    const { consentId, accessToken, startedMs } = await grant();
    moveTo(startedMs + 59 * MINUTE_MS);
    await housekeeping();
    expect([await accountsWith(accessToken), await rowsOf(consentId)]).toEqual([200, [1, 1]]);
    moveTo(startedMs + 60 * MINUTE_MS + 1);
    expect([await accountsWith(accessToken), await rowsOf(consentId)]).toEqual([401, [1, 1]]);
    await housekeeping();
    expect([await accountsWith(accessToken), await rowsOf(consentId)]).toEqual([401, [1, 0]]);
  });

  test('a used code that is sent again revokes its token as long as that lives, and is rejected ever after', async () => {
    const { consentId, code, accessToken, startedMs } = await grant();
    moveTo(startedMs + 59 * MINUTE_MS);
    await housekeeping();
    expect(await accountsWith(accessToken)).toBe(200);
    expect(await replay(code)).toEqual([400, 'invalid_grant']);
    expect(await accountsWith(accessToken)).toBe(401);
    for (const [minutes, codes] of [
      [60.9, 1],
      [61.1, 0],
      [600, 0],
    ] as const) {
      moveTo(startedMs + minutes * MINUTE_MS);
      await housekeeping();
      expect([minutes, (await rowsOf(consentId))[0], await replay(code)]).toEqual([
        minutes,
        codes,
        [400, 'invalid_grant'],
      ]);
    }
    expect(await accountsWith(accessToken)).toBe(401);
    // Back within the hour of the operator's own token.
    moveTo(startedMs + MINUTE_MS);
    expect((await parties.consent(consentId)).status).toBe('authorised');
  });

  test('a code that was never exchanged is rejected after its minute, before and after its deletion', async () => {
    const { consentId, code } = await parties.approved(party, ACCOUNTS, userId, [account]);
    const startedMs = Date.now();
    for (const [minutes, rows] of [
      [1.01, [1, 0]],
      [60, [1, 0]],
      [61.1, [0, 0]],
    ] as const) {
      moveTo(startedMs + minutes * MINUTE_MS);
      await housekeeping();
      expect([minutes, await rowsOf(consentId), await replay(code)]).toEqual([minutes, rows, [400, 'invalid_grant']]);
    }
  });
});

test('counted sign-in failures keep an address shut until they no longer count, and are then deleted', async () => {
  const startedMs = Date.now();
  const attempt = async (): Promise<number> => {
    const data = { user: { email: 'unknown@example.com' }, password: 'a wrong one' };
    return (await api.call('POST', '/user-authentications', { workflow: { code: 'password' }, data })).status;
  };
  moveTo(startedMs);
  for (let failures = 0; failures < 10; failures += 1) expect(await attempt()).toBe(422);
  for (const minutes of [0.1, 10, 14.9]) {
    moveTo(startedMs + minutes * MINUTE_MS);
    await housekeeping();
    expect([minutes, await attempt(), await count('user_authentication_failures')]).toEqual([minutes, 429, 1]);
  }
  moveTo(startedMs + 16 * MINUTE_MS);
  await housekeeping();
  expect(await count('user_authentication_failures')).toBe(0);
  expect(await attempt()).toBe(422);
});

describe('a backlog', () => {
  const ROWS = 2_300;
  /** As many rows of each table, of which the even ones expired long ago and the odd ones have not. */
  const PILES = [
    `INSERT INTO user_authentication_failures SELECT sha256(('pile' || n)::bytea), '{}', now() + at FROM pile`,
    `INSERT INTO third_party_assertions SELECT $1, sha256(('pile' || n)::bytea), now() + at FROM pile WHERE $1::uuid IS NOT NULL`,
    `INSERT INTO open_banking_consents (id, third_party_provider_id, status, scope, redirect_uri, state, nonce, request_expires_at, created_at)
      SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, 'expired', 'accounts', '', '', '', now(), now() FROM pile`,
    `INSERT INTO open_banking_codes SELECT sha256(('pile' || n)::bytea), ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, NULL,
      now() + at FROM pile`,
    `INSERT INTO open_banking_access_tokens SELECT sha256(('pile' || n)::bytea), ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid,
      now() + at, NULL, now() FROM pile`,
  ];

  test('goes in pieces of at most a thousand rows, each a transaction of its own, and nothing goes before its time', async () => {
    const { database } = api;
    await database.transaction(async (tx) => {
      for (const pile of PILES) {
        const rows = `WITH pile AS (SELECT n, CASE WHEN n % 2 = 0 THEN interval '-3 hours' ELSE interval '3 hours' END AS at
          FROM generate_series(1, ${2 * ROWS}) AS n)`;
        await tx.statement(`${rows} ${pile.replaceAll('$1', `'${party.id}'`)}`, []);
      }
    });
    await testDatabase.asOwner(`
      CREATE TABLE pieces (name text, transaction xid8, row_count integer);
      GRANT ALL ON pieces TO PUBLIC;
      CREATE FUNCTION note_piece() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO pieces SELECT TG_TABLE_NAME, pg_current_xact_id(), count(*) FROM gone; RETURN NULL; END $$`);
    for (const table of TABLES) {
      const trigger = `AFTER DELETE ON ${table} REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_piece()`;
      await testDatabase.asOwner(`CREATE TRIGGER piece ${trigger}`);
    }
    await housekeeping();
    const pieces = await database.reader.statement<{ name: string; rows: number; transaction: string }>(
      'SELECT name, row_count AS rows, transaction::text FROM pieces WHERE row_count > 0',
      [],
    );
    expect(new Set(pieces.map(({ transaction }) => transaction)).size).toBe(pieces.length);
    for (const { rows } of pieces) expect(rows).toBeLessThanOrEqual(PIECE_ROWS_MAX);
    for (const table of TABLES) {
      const gone = pieces.filter(({ name }) => name === table).reduce((sum, { rows }) => sum + rows, 0);
      expect([table, gone]).toEqual([table, ROWS]);
    }
    for (const table of TABLES) await testDatabase.asOwner(`DROP TRIGGER piece ON ${table}`);
    await testDatabase.asOwner('DROP TABLE pieces');
  });
});
