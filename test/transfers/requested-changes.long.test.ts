import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSandboxBank } from '../../activities/providers/sandbox-bank.ts';
import { cancellation } from '../../db/outgoing-transfers/requested-changes.ts';
import type { Database } from '../../db/query/database.ts';
import { decideWithoutLocks } from '../../db/transfers/requested-changes.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { TESTER } from '../harness/audit.ts';
import { normalised } from '../harness/http/write-stories/normalised.ts';
import {
  type ChangeWorld,
  HAPPENINGS,
  isCompleted,
  isIncoming,
  isOfMoneyIn,
  newParties,
  type Parties,
  REQUESTS,
  type RequestName,
  SITUATIONS,
  type Situation,
  type StagedTransfer,
  stageTransfer,
  USUAL,
} from '../harness/http/write-stories/requested-changes.ts';
import { type InterruptedDatabase, interruptedDatabase, withChangesUnderLocks } from '../harness/http/write-ways.ts';
import { moneyWorld } from '../harness/money.ts';
import { type Random, randomFrom, seedOr } from '../harness/random.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { checkStory } from '../harness/transfers/transfer-race-checks.ts';

// A change that a caller requests of a transfer is decided from what is read without locks, or under locks. Whatever happens between that
// reading and the writing, it leaves what it leaves if it is decided under locks after that: the same answer, rows, postings, events, audit
// entries, wake-ups and stored answer.

const CASES = Number(process.env.REQUESTED_CHANGES ?? 300);
/** Against hanging only. */
const TIMEOUT_MS = 900_000 + CASES * 1_000;
const TOGETHER = 4;
/** Of each situation that is raced. */
const COPIES = 8;

let database: TestDatabase;
let fast: TestApi;
let underLocks: TestApi;
let world: ChangeWorld;
/** Each stages one case at a time. */
let lanes: readonly Parties[];
let interrupted: InterruptedDatabase;
const started: TestApi[] = [];

beforeAll(async () => {
  database = await createTestDatabase('requested-changes');
  const providers = new Map([['sandbox-bank', createSandboxBank({ url: 'http://127.0.0.1:9', secret: 'secret' })]]);
  const options = {
    providers,
    configuration: (given: TestApi['services']['configuration']) => ({ ...given, prices: [] }),
  };
  interrupted = interruptedDatabase();
  fast = await startApi(database, { ...options, database: interrupted.wrap });
  started.push(fast);
  const more = { ...options, users: fast.users };
  const slow = await withChangesUnderLocks(database);
  underLocks = await startApi(slow, more);
  started.push(underLocks);
  const authorizing = await startApi(slow, { ...more, env: { AUTHORIZATION_RULE: 'always' } });
  started.push(authorizing);
  world = { api: underLocks, authorizing, database };
  lanes = await Promise.all(Array.from({ length: TOGETHER }, () => newParties(world)));
});

afterAll(async () => {
  for (const api of started.reverse()) await api.stop();
  await database?.drop();
});

interface Case {
  readonly situation: Situation;
  readonly request: RequestName;
  readonly happening: string;
}

const requests = Object.keys(REQUESTS) as RequestName[];
const situations = Object.keys(SITUATIONS) as Situation[];

function fitting(situation: Situation): RequestName[] {
  return requests.filter((request) => isOfMoneyIn(request) === isIncoming(situation));
}

function drawCase(random: Random): Case {
  const situation = random.pick(situations);
  return { situation, request: random.pick(fitting(situation)), happening: random.pick(Object.keys(HAPPENINGS)) };
}

/** Twice. What happens to a client happens to no other case. */
async function stagedFor({ situation, happening }: Case, lane: number): Promise<readonly StagedTransfer[]> {
  const own = () => (happening.includes('client') ? newParties(world) : partiesOf(lane));
  return [await stageTransfer(world, situation, await own()), await stageTransfer(world, situation, await own())];
}

function partiesOf(lane: number): Parties {
  const parties = lanes[lane % lanes.length];
  if (parties === undefined) throw new Error('there is no lane');
  return parties;
}

async function happen({ happening }: Case, staged: StagedTransfer): Promise<void> {
  await HAPPENINGS[happening]?.(world, staged);
}

/** All that is recorded of a transfer and of what belongs to it. By amounts: an id may have been drawn before something happened. */
async function observe(staged: StagedTransfer, { status, text, headers }: ApiResponse): Promise<Json> {
  const { source, destination, id } = staged;
  const [found] = await database.asOwner<{ found: Json }>(
    `WITH incoming AS (SELECT * FROM incoming_transfers
         WHERE '${id}' IN (id, outgoing_transfer_id, return_of) OR account_id IN ('${source}', '${destination}')),
       outgoing AS (SELECT * FROM outgoing_transfers WHERE account_id = '${source}'),
       ids AS (SELECT id, amount_minor FROM incoming UNION SELECT id, amount_minor FROM outgoing)
     SELECT json_build_object(
       'outgoing', (SELECT json_agg(to_jsonb(row) ORDER BY amount_minor, id) FROM outgoing AS row),
       'incoming', (SELECT json_agg(to_jsonb(row) ORDER BY amount_minor, id) FROM incoming AS row),
       'credits', (SELECT json_agg(to_jsonb(row) ORDER BY amount_minor, id) FROM provisioned_account_credits AS row
         WHERE id IN (SELECT provisioned_account_credit_id FROM incoming)),
       'accounts', (SELECT json_agg(to_jsonb(row) ORDER BY id) FROM accounts AS row WHERE id IN ('${source}', '${destination}')),
       'postings', (SELECT json_agg(to_jsonb(row) - 'id' ORDER BY id) FROM postings AS row
         WHERE outgoing_transfer_id IN (SELECT id FROM ids) OR incoming_transfer_id IN (SELECT id FROM ids)),
       'events', (SELECT json_agg(json_build_array(module, resource_id, first_sequence, entries) ORDER BY amount_minor, resource_id, first_sequence)
         FROM events JOIN ids ON ids.id = resource_id),
       'audit', (SELECT json_agg(to_jsonb(row) - 'id' ORDER BY occurred_at, id) FROM audit_entries AS row
         WHERE resource_id IN (SELECT id::text FROM ids)),
       'wake-ups', (SELECT json_agg(to_jsonb(row) - 'claim_token' ORDER BY amount_minor, workflow_id)
         FROM workflow_wakeups AS row JOIN ids ON ids.id::text = split_part(workflow_id, '/', 2)),
       'keys', (SELECT json_agg(to_jsonb(row) - 'request_hash' ORDER BY key) FROM idempotency_keys AS row WHERE key = 'key-${id}')
     ) AS found`,
  );
  const answer = { status, text, idempotency: headers.get('x-idempotency-status') };
  return normalised({ answer, found: found?.found }, new Map(drawn(JSON.stringify(found?.found))));
}

/** Numbers of transfers and accounts, within texts too. */
function drawn(text: string): [string, string][] {
  return [...text.matchAll(/(?<![-\w])(\d{8}-[0-9A-Z]{6}|0\d{11,12})(?![-\w])/g)].map(([number]) => [
    number,
    'a number',
  ]);
}

function differenceOf(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const from = Math.max(0, at - 200);
  return `${one.slice(from, at + 200)} INSTEAD OF ${other.slice(from, at + 200)}`;
}

/** The differences between a request that is interrupted and the same under locks after what interrupted it. */
async function differenceIn(of: Case, staged: readonly StagedTransfer[]): Promise<string[]> {
  const [one, other] = staged;
  if (one === undefined || other === undefined) throw new Error('a case is staged twice');
  const request = REQUESTS[of.request];
  interrupted.interrupt(() => happen(of, one));
  const answer = await request(fast, one);
  await happen(of, other);
  const expected = await request(underLocks, other);
  const outcomes = [await observe(one, answer), await observe(other, expected)].map((seen) =>
    JSON.stringify(seen, null, 1),
  );
  if (outcomes[0] === outcomes[1]) return [];
  return [`${JSON.stringify(of)}: ${differenceOf(outcomes[0] ?? '', outcomes[1] ?? '')}`];
}

async function differencesIn(cases: readonly Case[]): Promise<string[]> {
  const differences: string[] = [];
  for (let start = 0; start < cases.length; start += TOGETHER) {
    const some = cases.slice(start, start + TOGETHER);
    const staged = await Promise.all(some.map((of, lane) => stagedFor(of, lane)));
    for (const [index, of] of some.entries()) differences.push(...(await differenceIn(of, staged[index] ?? [])));
  }
  return differences;
}

test.each(requests)(
  '%s: where it is usual it needs no locks, and leaves what it leaves under locks',
  async (request) => {
    const before = interrupted.applied();
    const cases = USUAL[request].map((situation) => ({ situation, request, happening: 'nothing' }));
    expect(await differencesIn(cases)).toEqual([]);
    expect(interrupted.applied() - before).toBe(cases.length);
  },
);

const seed = seedOr(1 + Math.floor(Math.random() * 1e9));

test(
  `whatever happens before it writes, a requested change leaves what it leaves after that: ${CASES} cases from seed ${seed}`,
  async () => {
    const random = randomFrom(seed);
    const differences = await differencesIn(Array.from({ length: CASES }, () => drawCase(random)));
    expect(differences.slice(0, 3), `${differences.length} differences`).toEqual([]);
    await moneyWorld(fast).invariantsHold();
  },
  TIMEOUT_MS,
);

test('what is read of two moments decides nothing: neither a rejection nor an impossible transition is the answer', async () => {
  const staged = await stageTransfer(world, 'internal, waits for its authorization', partiesOf(0));
  const request = { id: asId<OutgoingTransferId>(staged.id), initiator: TESTER, rules: fast.services.configuration };
  const whole = cancellation(request);
  const torn = {
    ...whole,
    read: async (of: Database) => {
      const earlier = await whole.read(of);
      expect((await REQUESTS.authorize(underLocks, staged)).status).toBe(200);
      const later = await whole.read(of);
      if (earlier === null || later === null) throw new Error('the transfer is there');
      return { ...earlier, situation: { ...earlier.situation, incoming: later.situation.incoming } };
    },
  };
  expect(await decideWithoutLocks(fast.services.database, torn)).toBeNull();
});

const ENDED: ReadonlySet<string> = new Set(['completed', 'cancelled', 'failed']);

/** Closes the account, or says why not. */
function closing(api: TestApi, { source }: StagedTransfer): Promise<ApiResponse> {
  const body = { workflow: { code: 'client.direct' }, data: { account: { status: 'closed' } } };
  return api.call('PATCH', `/accounts/${source}`, body);
}

/** Assigned money is on its account, from where a part may go back at once. */
const EITHER = [[], ['assigned'], ['returned'], ['assigned', 'returned in part']];

/** What was done to money in by command, in its order. */
async function commandsOn(id: string): Promise<string[]> {
  const entries = await world.database.asOwner<{ action: string }>(
    `SELECT action || CASE WHEN after ? 'outgoingTransferId' THEN ' in part' ELSE '' END AS action FROM audit_entries WHERE resource_id = '${id}' AND action IN ('assigned', 'returned') ORDER BY occurred_at, id`,
  );
  return entries.map(({ action }) => action);
}

test.each(situations)(
  '%s: whatever is requested of it at once, while its account closes, one follows legally on the other',
  async (situation) => {
    const copies = Array.from({ length: COPIES }, (_, lane) => stageTransfer(world, situation, partiesOf(lane)));
    const staged = await Promise.all(copies);
    const raced = await Promise.all(
      staged.map(async (one) => {
        const [closed, ...answers] = await Promise.all([
          closing(fast, one),
          ...fitting(situation).map((name) => REQUESTS[name](fast, one)),
        ]);
        return { one, closed, answers };
      }),
    );
    for (const { one, closed, answers } of raced) {
      for (const { status, text } of answers) expect([200, 403, 404, 409, 422], text).toContain(status);
      if (!isIncoming(situation)) {
        const shown = await fast.call('GET', `/outgoing-transfers/${one.id}`);
        // A bank has not ended its own.
        if (ENDED.has(shown.body.data.outgoingTransfer.status)) await checkStory(fast, one.id);
        continue;
      }
      const { body } = await fast.call('GET', `/incoming-transfers/${one.id}`);
      const { status, accountId } = body.data.incomingTransfer;
      // Assigned or returned. Money that its provider holds is on hold even with an account, and can still be returned after.
      const done = await commandsOn(one.id);
      expect(answers.filter(({ status }) => status === 200).length).toBe(done.length);
      if (isCompleted(situation)) {
        // A part goes back, or the account closes first. The incoming transfer stays as it is.
        expect([[], ['returned in part']]).toContainEqual(done);
        expect(status).toBe('completed');
        continue;
      }
      const legal = situation === 'money that its provider holds' ? [...EITHER, ['assigned', 'returned']] : EITHER;
      expect(legal).toContainEqual(done);
      expect(status === 'failed').toBe(done.includes('returned'));
      if (closed.status === 200 && status === 'completed') expect(accountId).not.toBe(one.source);
    }
    await moneyWorld(fast).invariantsHold();
  },
  TIMEOUT_MS,
);
