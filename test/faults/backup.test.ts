import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate, roleOf } from '../../db/migrate.ts';
import { type RunningPostgres, startPostgres } from '../../dev/servers/postgres.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { randomFrom, seedOr } from '../harness/random.ts';
import { until } from '../harness/stage.ts';
import { copyRunningPostgres } from './failover/postgres-pair.ts';

// A backup of the database under load, taken as an operator would, and what it restores.

const SEED = seedOr(20_261_121);
const CALLERS = 6;
/** Transfers made before, during and after the copy, each. */
const TRANSFERS_EACH = 60;

const directory = mkdtempSync(join(tmpdir(), 'backup-test-'));
const original = join(directory, 'original');
const restored = join(directory, 'restored');
const running: RunningPostgres[] = [];
const apis: TestApi[] = [];

async function serve(dataDirectory: string, users?: TestApi['users']): Promise<TestApi> {
  const server = await startPostgres({ dataDirectory });
  running.push(server);
  await migrate(server.ownerUrl, undefined, { serviceRole: roleOf(server.url) });
  const api = await startApi(server, { env: { AUTHORIZATION_RULE: '45' }, ...(users === undefined ? {} : { users }) });
  apis.push(api);
  return api;
}

beforeAll(async () => {
  chmodSync(directory, 0o711);
  await serve(original);
});

afterAll(async () => {
  for (const api of apis) await api.stop();
  for (const server of running) await server.kill();
  rmSync(directory, { recursive: true, force: true });
});

interface Load {
  readonly acknowledged: string[];
  stop(): Promise<void>;
}

/** Transfers of every kind between the accounts, some of them cancelled at once, until it is stopped. */
function load(api: TestApi, client: string, accounts: readonly string[], bankAccount: string): Load {
  const acknowledged: string[] = [];
  let stopping = false;
  const caller = async (number: number) => {
    const random = randomFrom(SEED + number);
    while (!stopping) {
      const accountId = random.pick(accounts);
      const external = random.chance(0.3);
      const destination = external
        ? { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount }
        : { type: 'client-account', accountId: random.pick(accounts.filter((id) => id !== accountId)) };
      const outgoingTransfer = {
        clientId: client,
        currency: 'GBP',
        amount: random.whole(1, 60),
        ...(external ? { scope: 'external', scheme: 'faster-payments' } : { scope: 'internal' }),
        source: { type: 'client-account', accountId },
        destination,
      };
      const made = await write(api, 'POST', '/outgoing-transfers', outgoingTransfer);
      if (made.status !== 201) continue;
      const { id } = made.body.data.outgoingTransfer;
      acknowledged.push(id);
      if (random.chance(0.2)) await write(api, 'PATCH', `/outgoing-transfers/${id}`, { status: 'cancelled' });
    }
  };
  const callers = Array.from({ length: CALLERS }, (_, number) => caller(number));
  return {
    acknowledged,
    stop: async () => {
      stopping = true;
      await Promise.all(callers);
    },
  };
}

function write(api: TestApi, method: 'POST' | 'PATCH', path: string, outgoingTransfer: Json) {
  return api.call(method, path, { workflow: { code: 'client.direct' }, data: { outgoingTransfer } });
}

test('a copy taken in the middle holds all that was acknowledged before and every invariant, and continues from there', async () => {
  const [api] = apis;
  const [server] = running;
  if (api === undefined || server === undefined) throw new Error('nothing runs');
  const world: MoneyWorld = moneyWorld(api);
  const client = await world.client();
  const accounts = await Promise.all([0, 1, 2, 3].map(() => world.account(client, { amount: 2_000 })));
  const traffic = load(api, client, accounts, await world.beneficiary(client));
  const more = async () => {
    const goal = traffic.acknowledged.length + TRANSFERS_EACH;
    await until(
      async () => traffic.acknowledged.length,
      (made) => made >= goal,
    );
  };
  await more();
  const before = [...traffic.acknowledged];
  await copyRunningPostgres(server.ownerUrl, original, restored, more);
  await more();
  await traffic.stop();
  await world.invariantsHold();

  const back = await serve(restored, api.users);
  const rows = await back.database.reader.statement<{ id: string }>('SELECT id FROM outgoing_transfers', []);
  const found = new Set(rows.map(({ id }) => id));
  expect(before.filter((id) => !found.has(id))).toEqual([]);
  // It is from the middle of the load: later transfers are missing.
  expect(found.size).toBeLessThan(traffic.acknowledged.length);
  const again = moneyWorld(back);
  await again.invariantsHold();

  const rest = load(back, client, accounts, await again.beneficiary(client));
  await until(
    async () => rest.acknowledged.length,
    (made) => made >= TRANSFERS_EACH,
  );
  await rest.stop();
  await again.invariantsHold();
});
