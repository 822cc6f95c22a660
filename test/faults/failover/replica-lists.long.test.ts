import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate, roleOf } from '../../../db/migrate.ts';
import type { ReplicaOutcome } from '../../../db/postgres/replica.ts';
import { startApi, type TestApi } from '../../harness/api.ts';
import { READS, readEverything } from '../../harness/http/reads.ts';
import { runStory } from '../../harness/http/write-stories/story.ts';
import { STORY_OPTIONS, WRITE_STORIES } from '../../harness/http/write-stories/table.ts';
import { type PostgresPair, startPostgresPair } from './postgres-pair.ts';

// An API whose lists, statements and exports come from a replica, and one that reads everything where it is written.

let pair: PostgresPair;
let withReplica: TestApi;
let without: TestApi;
const outcomes = new Map<ReplicaOutcome, number>();

beforeAll(async () => {
  pair = await startPostgresPair();
  await migrate(pair.ownerUrl, undefined, { serviceRole: roleOf(pair.url) });
  const onRead = (outcome: ReplicaOutcome) => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  const lists = { maxConnections: 4, deadlineMs: 60_000, replica: { url: pair.standby.url, onRead } };
  withReplica = await startApi(pair.primary, { ...STORY_OPTIONS, lists });
  without = await startApi(pair.primary, { ...STORY_OPTIONS, users: withReplica.users });
});

afterAll(async () => {
  await without?.stop();
  await withReplica?.stop();
  await pair?.close();
});

/** Compares what both answer to each list and export. */
function comparing(differences: string[], seen: Set<string>): TestApi {
  return {
    ...withReplica,
    call: async (method, path, body, options) => {
      const answer = await withReplica.call(method, path, body, options);
      if (!/metadata\.page\.size|\/export\?/.test(path)) return answer;
      const expected = await without.call(method, path, body, options);
      // What is rejected says when.
      const isSame = answer.status >= 400 ? answer.status === expected.status : answer.text === expected.text;
      if (!isSame) differences.push(path);
      if (answer.status === 200) seen.add(path.split('?')[0] ?? '');
      return answer;
    },
  };
}

test('every list, statement and export answers from the replica as from the primary, right after every kind of write', async () => {
  const called: string[] = [];
  for (const [kind, story] of Object.entries(WRITE_STORIES)) {
    const { processed } = await runStory(withReplica, `replica-${kind}`, story);
    called.push(...processed.map(({ path }) => path));
  }
  const differences: string[] = [];
  const seen = new Set<string>();
  const both = comparing(differences, seen);
  await readEverything(both, called, { accounts: '', payments: '' });
  const { rows: accounts } = await accountsOf(without);
  for (const id of accounts) {
    const range = 'data.accountStatement.entryDateTimeTo=2026-01-01T00:00:00.000';
    await both.call('GET', `/accounts/${id}/account-statements/export?format=csv&${range}`);
  }
  expect(differences).toEqual([]);
  const lists = READS.filter(({ contract }) => contract.paged).map(({ contract }) => contract.path);
  expect(lists.filter((path) => !path.includes('{') && !seen.has(path))).toEqual([]);
  // They are read there, or this test has compared the primary with itself.
  expect(outcomes.get('read') ?? 0).toBeGreaterThan(lists.length);
  expect(outcomes.get('away')).toBeUndefined();
  console.log(Object.fromEntries(outcomes));
});

async function accountsOf(api: TestApi): Promise<{ rows: string[] }> {
  const answer = await api.call('GET', '/accounts?metadata.page.size=100');
  return { rows: answer.body.data.accounts.map(({ id }: { id: string }) => id) };
}
