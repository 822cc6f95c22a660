import { createHash, randomUUID } from 'node:crypto';
import { createLocalJWKSet, createRemoteJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import { wakeAllOpen, wakeOverdue } from '../../db/common/open-work.ts';
import { findNextDeadline } from '../../db/common/sandbox-clock.ts';
import { advanceConsent, type ConsentRow } from '../../db/open-banking/consents.ts';
import { expireDueConsents } from '../../db/open-banking/expiry.ts';
import { findGrant } from '../../db/open-banking/grants.ts';
import { DomainError } from '../../domain/common/errors.ts';
import type { ThirdPartyProviderId } from '../../domain/common/ids.ts';
import { CONSENT_STATUSES, CONSENT_TRANSITIONS, type ConsentStatus } from '../../domain/open-banking/consents.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf } from '../harness/audit.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import {
  ACCOUNTS,
  type ConsentWorld,
  consentWorld,
  hashOf,
  PAYMENT,
  REDIRECT_URI,
  redirectOf,
} from '../harness/parties/consents.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let consents: ConsentWorld;
let offset = '0';
let thirdParty: ThirdPartyProviderId;
let clientId: string;
let userId: string;
let account: string;

const PUBLIC_URL = 'https://bank.example.com';

beforeAll(async () => {
  database = await createTestDatabase('consent-transitions');
  api = await startApi(database, { clockOffset: () => offset, env: { PUBLIC_URL } });
  world = moneyWorld(api);
  consents = consentWorld(api);
  thirdParty = await consents.thirdParty();
  clientId = await world.client();
  userId = await consents.user([clientId]);
  account = await world.account(clientId);
});

afterAll(async () => {
  await world?.invariantsHold();
  await api?.stop();
  await database?.drop();
});

/** Runs something by a clock that is ahead. */
async function ahead<Result>(interval: string, run: () => Promise<Result>): Promise<Result> {
  offset = interval;
  try {
    return await run();
  } finally {
    offset = '0';
  }
}

interface Made {
  readonly consent: ConsentRow;
  readonly code: string | null;
}

/** A consent to a payment in each status, by its own way there. */
const IN_STATUS: Readonly<Record<ConsentStatus, () => Promise<Made>>> = {
  'awaiting-authorisation': async () => ({ consent: await consents.request(thirdParty, PAYMENT), code: null }),
  'awaiting-exchange': async () => {
    const { consent } = await IN_STATUS['awaiting-authorisation']();
    return { consent, code: (await consents.approve(consent.id, userId, [account])).code };
  },
  authorised: async () => {
    const made = await IN_STATUS['awaiting-exchange']();
    expect((await consents.exchange(made.consent, made.code)).outcome).toBe('granted');
    return made;
  },
  consumed: async () => {
    const made = await IN_STATUS.authorised();
    await consents.consume(made.consent.id);
    return made;
  },
  rejected: async () => {
    const made = await IN_STATUS['awaiting-authorisation']();
    expect((await consents.decide(made.consent.id, { action: 'reject' })).status).toBe(200);
    return made;
  },
  revoked: async () => {
    const made = await IN_STATUS['awaiting-exchange']();
    expect((await consents.decide(made.consent.id, { action: 'revoke' })).status).toBe(200);
    return made;
  },
  expired: async () => {
    const made = await IN_STATUS['awaiting-exchange']();
    await ahead('61 seconds', () => advance(made.consent));
    return made;
  },
};

const advance = ({ id }: ConsentRow) => api.database.transaction((tx) => advanceConsent(tx, id));

/** What moves a consent, and whether it was possible. */
const ACTIONS: Readonly<Record<string, { to: ConsentStatus; run: (made: Made) => Promise<'moved' | 'rejected'> }>> = {
  approve: {
    to: 'awaiting-exchange',
    run: ({ consent }) => decided(consent, { action: 'approve', userId, accounts: [account] }),
  },
  reject: { to: 'rejected', run: ({ consent }) => decided(consent, { action: 'reject' }) },
  revoke: { to: 'revoked', run: ({ consent }) => decided(consent, { action: 'revoke' }) },
  exchange: {
    to: 'authorised',
    run: async ({ consent, code }) =>
      (await consents.exchange(consent, code)).outcome === 'granted' ? 'moved' : 'rejected',
  },
  consume: {
    to: 'consumed',
    run: async ({ consent }) => {
      try {
        await consents.consume(consent.id);
        return 'moved';
      } catch (error) {
        expect(error instanceof DomainError && error.code).toBe('consent.status.invalid');
        return 'rejected';
      }
    },
  },
  expire: {
    to: 'expired',
    run: async ({ consent }) => {
      const before = await statusOf(consent);
      await ahead('91 days', () => advance(consent));
      return before === (await statusOf(consent)) ? 'rejected' : 'moved';
    },
  },
};

async function decided({ id }: ConsentRow, sent: Json): Promise<'moved' | 'rejected'> {
  const before = await consents.find(id);
  const answer = await consents.decide(id, sent);
  if (answer.status === 200) return 'moved';
  expect([answer.status, answer.body.code, answer.body.messageParameters]).toEqual([
    409,
    'consent.status.invalid',
    ['consent', 'status', before.status],
  ]);
  return 'rejected';
}

async function keySetOf({ url }: TestApi): Promise<JSONWebKeySet> {
  const answer = await fetch(`${url}/.well-known/jwks.json`);
  return (await answer.json()) as JSONWebKeySet;
}

const statusOf = async ({ id }: ConsentRow): Promise<ConsentStatus> => (await consents.find(id)).status;

const EVENT_OF: Readonly<Partial<Record<ConsentStatus, string>>> = {
  'awaiting-exchange': 'consent-approved',
  authorised: 'consent-authorised',
  consumed: 'consent-consumed',
  rejected: 'consent-rejected',
  revoked: 'consent-revoked',
  expired: 'consent-expired',
};

describe('every transition of the table happens once, with its event; every other is rejected and changes nothing', () => {
  const rows = CONSENT_STATUSES.flatMap((from) =>
    Object.entries(ACTIONS).map(([name, { to }]) => ({
      from,
      name,
      to,
      legal: CONSENT_TRANSITIONS[from].includes(to),
    })),
  );
  test('the table of cases has every transition', () => {
    const legal = rows.filter((row) => row.legal).map(({ from, to }) => `${from} ${to}`);
    const table = Object.entries(CONSENT_TRANSITIONS).flatMap(([from, targets]) =>
      targets.map((to) => `${from} ${to}`),
    );
    expect(legal.toSorted()).toEqual(table.toSorted());
  });

  test.each(rows)('$from: $name', async ({ from, name, to, legal }) => {
    const made = await IN_STATUS[from]();
    expect(await statusOf(made.consent)).toBe(from);
    const before = await consents.find(made.consent.id);
    const eventsBefore = await world.events(made.consent.id);
    const auditBefore = (await auditOf(api.database.reader, made.consent.id)).length;
    expect(await ACTIONS[name]?.run(made)).toBe(legal ? 'moved' : 'rejected');
    const audited = (await auditOf(api.database.reader, made.consent.id)).slice(auditBefore);
    if (legal) {
      expect(await statusOf(made.consent)).toBe(to);
      expect(await world.events(made.consent.id)).toEqual([...eventsBefore, EVENT_OF[to]]);
      expect(audited.map(({ action }) => action)).toEqual(to === 'expired' ? [] : [to]);
    } else {
      expect(await consents.find(made.consent.id)).toEqual(before);
      expect(await world.events(made.consent.id)).toEqual(eventsBefore);
      expect(audited).toEqual([]);
    }
  });

  test('a consent to accounts is never consumed', async () => {
    const consent = await consents.request(thirdParty, ACCOUNTS);
    const { code } = await consents.approve(consent.id, userId, [account]);
    await consents.exchange(consent, code);
    await expect(consents.consume(consent.id)).rejects.toMatchObject({ code: 'consent.status.invalid' });
    expect(await statusOf(consent)).toBe('authorised');
  });
});

describe('a deadline that has passed counts at once, recorded or not', () => {
  test.each([
    ['awaiting-authorisation', 'approve', '10 minutes'],
    ['awaiting-authorisation', 'reject', '10 minutes'],
    ['awaiting-exchange', 'revoke', '60 seconds'],
    ['awaiting-exchange', 'exchange', '60 seconds'],
    ['authorised', 'revoke', '90 days'],
    ['authorised', 'consume', '90 days'],
  ] as const)('%s: %s after %s', async (from, name, interval) => {
    const early = await IN_STATUS[from]();
    const late = await IN_STATUS[from]();
    expect(await ACTIONS[name]?.run(early)).toBe('moved');
    const rejected = await ahead(interval, async () => {
      if (name === 'exchange' || name === 'consume') return ACTIONS[name]?.run(late);
      const answer = await consents.decide(
        late.consent.id,
        name === 'approve' ? { action: name, userId, accounts: [account] } : { action: name },
      );
      return [answer.status, answer.body.messageParameters];
    });
    expect(rejected).toEqual(
      name === 'exchange' || name === 'consume' ? 'rejected' : [409, ['consent', 'status', 'expired']],
    );
  });
});

describe('the loop that records what has expired', () => {
  const expire = (limit = 1_000) => api.database.transaction((tx) => expireDueConsents(tx, limit));

  test.each([
    ['awaiting-authorisation', '10 minutes', '599 seconds'],
    ['awaiting-exchange', '60 seconds', '50 seconds'],
    ['authorised', '90 days', '2159 hours'],
  ] as const)(
    'expires a consent that is %s at its deadline, not before, with one event and no audit entry',
    async (status, deadline, before) => {
      await ahead('91 days', () => expire());
      const { consent } = await IN_STATUS[status]();
      const audited = (await auditOf(api.database.reader, consent.id)).length;
      expect(await ahead(before, () => expire())).toBe(0);
      expect(await statusOf(consent)).toBe(status);
      const events = await world.events(consent.id);
      expect(await ahead(deadline, () => expire())).toBe(1);
      expect(await ahead(deadline, () => expire())).toBe(0);
      expect(await ahead(deadline, () => advance(consent))).toEqual({ do: 'end' });
      expect(await statusOf(consent)).toBe('expired');
      expect(await world.events(consent.id)).toEqual([...events, 'consent-expired']);
      expect(await auditOf(api.database.reader, consent.id)).toHaveLength(audited);
    },
  );

  test('takes the oldest first, up to the given limit, leaves a locked one for later, and takes no other status', async () => {
    await ahead('91 days', () => expire());
    const final: ConsentRow[] = [];
    for (const status of ['consumed', 'rejected', 'revoked'] as const) final.push((await IN_STATUS[status]()).consent);
    const before = await Promise.all(final.map(statusOf));
    const made: ConsentRow[] = [];
    for (let count = 0; count < 5; count += 1) made.push(await consents.request(thirdParty));
    const [first, locked, third, ...last] = made;
    if (first === undefined || locked === undefined || third === undefined) throw new Error('no consents');
    await ahead('11 minutes', async () => {
      const holder = createDatabase({ url: database.url, maxConnections: 1, applicationName: 'holder' });
      try {
        await holder.transaction(async (tx) => {
          await tx.statement('SELECT FROM open_banking_consents WHERE id = $1 FOR UPDATE', [locked.id]);
          expect(await expire(2)).toBe(2);
        });
      } finally {
        await holder.close();
      }
      expect(await Promise.all([first, locked, third].map(statusOf))).toEqual([
        'expired',
        'awaiting-authorisation',
        'expired',
      ]);
      expect(await expire()).toBe(3);
    });
    expect(await Promise.all([locked, ...last].map(statusOf))).toEqual(['expired', 'expired', 'expired']);
    expect(await Promise.all(final.map(statusOf))).toEqual(before);
  });

  test('wakes the workflows of a few, and leaves those of many to their timers', async () => {
    const wakings = () =>
      api.database.reader.statement<{ id: string }>(
        `DELETE FROM workflow_wakeups WHERE workflow_type = 'consent' RETURNING split_part(workflow_id, '/', 2) AS id`,
        [],
      );
    await ahead('91 days', () => expire());
    const { consent } = await IN_STATUS['awaiting-exchange']();
    await wakings();
    await ahead('2 minutes', () => expire());
    expect(await wakings()).toEqual([{ id: consent.id }]);
    for (let count = 0; count < 21; count += 1) await consents.request(thirdParty);
    await wakings();
    expect(await ahead('11 minutes', () => expire())).toBe(21);
    expect(await wakings()).toEqual([]);
  });
});

describe('should a workflow be lost', () => {
  const wakings = async () => {
    const rows = await api.database.reader.statement<{ id: string }>(
      `DELETE FROM workflow_wakeups WHERE workflow_type = 'consent' RETURNING split_part(workflow_id, '/', 2) AS id`,
      [],
    );
    return rows.map(({ id }) => id);
  };
  test('the sweep wakes an open consent a minute after its deadline, and the restart command every open one', async () => {
    const made: string[] = [];
    for (const status of CONSENT_STATUSES) made.push((await IN_STATUS[status]()).consent.id);
    const [waiting = '', exchanging = '', authorised = '', ...final] = made;
    await wakings();
    const sweep = () => api.database.transaction((tx) => wakeOverdue(tx, 'consent', 1_000));
    await ahead('70 seconds', sweep);
    const early = await wakings();
    for (const id of made) expect(early).not.toContain(id);
    await ahead('130 seconds', sweep);
    const first = await wakings();
    expect(first).toContain(exchanging);
    expect(first).not.toContain(waiting);
    await ahead('12 minutes', sweep);
    expect(await wakings()).toContain(waiting);
    await ahead('91 days', sweep);
    expect(await wakings()).toContain(authorised);
    await wakeAllOpen(api.database, 'consent');
    const all = await wakings();
    expect(all).toEqual(expect.arrayContaining([waiting, exchanging, authorised]));
    for (const id of final) expect(all).not.toContain(id);
  });

  test('the test clock’s next deadline is that of a consent, where none is earlier', async () => {
    const { consent } = await IN_STATUS['awaiting-exchange']();
    const next = await ahead('-10 seconds', () => findNextDeadline(api.database.reader));
    expect(next).not.toBeNull();
    expect(next?.getTime()).toBeLessThanOrEqual(consent.requestExpiresAt.getTime());
  });
});

describe('the redirect', () => {
  const verify = async (token: string, audience: string) => {
    return jwtVerify(token, createLocalJWKSet(await keySetOf(api)), {
      issuer: PUBLIC_URL,
      audience,
      algorithms: ['PS256'],
    });
  };
  const leftHalf = (text: string) => createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');

  test.each([
    REDIRECT_URI,
    'https://budget.example.com',
    'https://budget.example.com:8443/a%20b?x=%23&y=1+2',
    'http://127.0.0.1:3000/callback',
  ])('goes to %s as it is registered, with code, state and id_token in the fragment', async (redirectUri) => {
    const own = await consents.thirdParty({ redirectUris: ['https://elsewhere.example.com/', redirectUri] });
    const state = 'xyz=1&y +/%~';
    const consent = await consents.request(own, ACCOUNTS, { redirectUri, state, nonce: 'nonce-1' });
    const redirect = await consents.approve(consent.id, userId, [account]);
    expect(redirect).toMatchObject({ to: redirectUri, state, error: null });
    expect(redirect.code).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const { payload } = await verify(redirect.idToken, own);
    expect(payload).toEqual({
      iss: PUBLIC_URL,
      sub: consent.id,
      aud: own,
      iat: expect.any(Number),
      exp: (payload.iat ?? 0) + 300,
      nonce: 'nonce-1',
      openbanking_intent_id: consent.id,
      s_hash: leftHalf(state),
      c_hash: leftHalf(redirect.code ?? ''),
    });
  });

  test('of a rejection has error=access_denied, state and an id_token, and no code or hash of one', async () => {
    const consent = await consents.request(thirdParty);
    const answer = await consents.decide(consent.id, { action: 'reject' });
    const redirect = redirectOf(answer);
    expect(redirect).toMatchObject({ to: REDIRECT_URI, error: 'access_denied', state: consent.state, code: null });
    const { payload } = await verify(redirect.idToken, thirdParty);
    expect(payload).toMatchObject({ s_hash: leftHalf(consent.state), openbanking_intent_id: consent.id });
    expect(payload).not.toHaveProperty('c_hash');
  });

  test('leaves only hashes behind: neither code nor token is in the database', async () => {
    const consent = await consents.request(thirdParty);
    const { code } = await consents.approve(consent.id, userId, [account]);
    const token = `token-${randomUUID()}`;
    await consents.exchange(consent, code, token);
    for (const secret of [code ?? '', token]) {
      for (const table of [
        'open_banking_consents',
        'open_banking_codes',
        'open_banking_access_tokens',
        'events',
        'audit_entries',
        'idempotency_keys',
      ]) {
        const found = await api.database.reader.statement(
          `SELECT FROM ${table} AS row WHERE row::text LIKE '%' || $1 || '%'`,
          [secret],
        );
        expect([table, found.length]).toEqual([table, 0]);
      }
    }
    expect((await findGrant(api.database.reader, hashOf(token)))?.consent.id).toBe(consent.id);
  });
});

describe('an exchange of a code', () => {
  const outcome = async (run: Promise<{ outcome: string }>) => (await run).outcome;

  test('by another third party, for another address, or of no code, neither succeeds nor uses the code up', async () => {
    const { consent, code } = await IN_STATUS['awaiting-exchange']();
    const other = await consents.thirdParty();
    const { thirdPartyProviderId, redirectUri } = consent;
    expect(await outcome(consents.exchange({ thirdPartyProviderId: other, redirectUri }, code))).toBe('rejected');
    expect(await outcome(consents.exchange({ thirdPartyProviderId, redirectUri: `${redirectUri}&x=1` }, code))).toBe(
      'rejected',
    );
    expect(await outcome(consents.exchange(consent, `${code}x`))).toBe('rejected');
    expect(await outcome(consents.exchange(consent, code))).toBe('granted');
  });

  test('sent again revokes the token that it gave; sent again by another third party it does nothing', async () => {
    const { consent, code } = await IN_STATUS['awaiting-exchange']();
    await consents.exchange(consent, code, 'given');
    const grant = () => findGrant(api.database.reader, hashOf('given'));
    const other = await consents.thirdParty();
    expect(await outcome(consents.exchange({ ...consent, thirdPartyProviderId: other }, code))).toBe('rejected');
    expect((await grant())?.consent.id).toBe(consent.id);
    expect(await outcome(consents.exchange(consent, code))).toBe('replayed');
    expect(await grant()).toBeNull();
    expect(await statusOf(consent)).toBe('authorised');
  });

  test('gives a token that lives an hour, and only while the grant is valid', async () => {
    const live = async (token: string) => (await findGrant(api.database.reader, hashOf(token)))?.consent.status ?? null;
    for (const name of ['lives', 'revoked', 'consumed'] as const) {
      const { consent, code } = await IN_STATUS['awaiting-exchange']();
      await consents.exchange(consent, code, name);
      if (name === 'revoked') await consents.decide(consent.id, { action: 'revoke' });
      if (name === 'consumed') await consents.consume(consent.id);
    }
    expect([await live('lives'), await live('revoked'), await live('consumed')]).toEqual([
      'authorised',
      null,
      'consumed',
    ]);
    expect(await ahead('59 minutes', () => live('lives'))).toBe('authorised');
    expect(await ahead('61 minutes', () => live('lives'))).toBeNull();
    expect(await live('never given')).toBeNull();
  });
});

describe('at the same moment', () => {
  test('of twelve approvals and rejections one wins; the others are rejected', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await consents.request(thirdParty);
      const approve = { action: 'approve', userId, accounts: [account] };
      const sent = Array.from({ length: 12 }, (_, index) => (index % 3 === 2 ? { action: 'reject' } : approve));
      const answers = await Promise.all(sent.map((one) => consents.decide(id, one)));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(11).fill(409)]);
      expect(await world.events(id)).toHaveLength(2);
      const codes = await api.database.reader.statement('SELECT FROM open_banking_codes WHERE consent_id = $1', [id]);
      const winner = answers.findIndex(({ status }) => status === 200);
      expect(codes).toHaveLength(winner % 3 === 2 ? 0 : 1);
    }
  });

  test('of eight exchanges of one code one gives a token, and the others revoke it', async () => {
    const { consent, code } = await IN_STATUS['awaiting-exchange']();
    const tokens = Array.from({ length: 8 }, () => randomUUID());
    const outcomes = await Promise.all(tokens.map((token) => consents.exchange(consent, code, token)));
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['granted', ...Array(7).fill('replayed')]);
    for (const token of tokens) expect(await findGrant(api.database.reader, hashOf(token))).toBeNull();
  });

  test('of eight payments one uses the consent up', async () => {
    const { consent } = await IN_STATUS.authorised();
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => consents.consume(consent.id)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('the keys that sign', () => {
  test('are published without a token, to be cached, and without their private parts', async () => {
    const answer = await fetch(`${api.url}/.well-known/jwks.json`);
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      200,
      'application/jwk-set+json',
      'public, max-age=300',
    ]);
    const { keys } = (await answer.json()) as { keys: Json[] };
    for (const key of keys) {
      expect(Object.keys(key).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
      expect(key).toMatchObject({ alg: 'PS256', kty: 'RSA', use: 'sig' });
    }
    const stored = await api.database.reader.statement<{ key: string }>(
      'SELECT private_key AS key FROM signing_keys',
      [],
    );
    for (const { key } of stored) expect(key).toMatch(/^enc:v1:/);
    const { idToken } = await consents.approve((await consents.request(thirdParty)).id, userId, [account]);
    const remote = createRemoteJWKSet(new URL(`${api.url}/.well-known/jwks.json`));
    expect((await jwtVerify(idToken, remote)).protectedHeader).toMatchObject({ alg: 'PS256', kid: keys[0].kid });
  });

  test('are the same in every process, and only one is made when several need the first', async () => {
    const fresh = await createTestDatabase('signing-keys');
    const processes = await Promise.all([1, 2, 3].map(() => startApi(fresh)));
    try {
      const sets = await Promise.all(processes.map(keySetOf));
      expect(sets[0]?.keys).toHaveLength(1);
      expect(sets[1]).toEqual(sets[0]);
      expect(sets[2]).toEqual(sets[0]);
    } finally {
      for (const one of processes) await one.stop();
      await fresh.drop();
    }
  });
});
