import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkLedger } from '../../db/ledger/check.ts';
import { admitWaitingTransfers, listAdmissionsDue } from '../../db/outgoing-transfers/admissions.ts';
import { advanceOutgoingTransfer } from '../../db/outgoing-transfers/outgoing-transfers.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import type { Price } from '../../domain/ledger/fees.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { type Random, randomFrom, seedOr } from '../harness/random.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import {
  type Answered,
  EXTERNAL_FEE,
  isSerializable,
  LedgerModel,
  type Operation,
} from '../harness/transfers/ledger-model.ts';

const ROUNDS = 45;
const AT_ONCE_MAX = 6;
const DATED_DAYS = 2;

const gbp = (direction: 'incoming' | 'outgoing', scheme: string): Omit<Price, 'fixedMinor' | 'pricing'> => ({
  direction,
  scheme,
  currency: 'GBP',
});
const PRICES: readonly Price[] = [
  {
    ...gbp('outgoing', 'internal'),
    fixedMinor: 0n,
    pricing: { ratio: { numerator: 1n, denominator: 100n }, minimumMinor: 5n, maximumMinor: 200n },
  },
  { ...gbp('outgoing', 'faster-payments'), fixedMinor: BigInt(EXTERNAL_FEE), pricing: null },
  { ...gbp('incoming', 'swift'), fixedMinor: 10n, pricing: null },
];

let database: TestDatabase;
let apis: readonly [TestApi, TestApi];
let world: MoneyWorld;
let daysAhead = 0;

beforeAll(async () => {
  database = await createTestDatabase('ledger-model');
  const options = {
    clockOffset: () => `${daysAhead} days`,
    configuration: (
      configuration: Parameters<NonNullable<Parameters<typeof startApi>[1]>['configuration'] & {}>[0],
    ) => ({
      ...configuration,
      prices: PRICES,
    }),
  };
  const first = await startApi(database, options);
  apis = [first, await startApi(database, { ...options, users: first.users })];
  world = moneyWorld(first);
});

afterAll(async () => {
  for (const api of apis) await api.stop();
  await database.drop();
});

interface Request {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly workflow: Json;
  readonly data: Json;
  readonly as?: Role;
}

/** The workflow whose adjustment is posted against a system account. */
const ADJUSTMENT_WORKFLOWS = {
  settlement: { code: 'synchronization', type: 'unconnected-service-provider' },
  fees: { code: 'correction', type: 'fee', transactionType: 'unconnected-service-provider' },
  correction: { code: 'correction', type: 'unknown', transactionType: 'unconnected-service-provider' },
} as const;

/** One run: its accounts, their model, and how operations are sent. */
class Run {
  readonly random: Random;
  readonly model = new LedgerModel();
  readonly incoming = new Map<string, string>();
  #accounts: string[] = [];
  #client = '';
  #bankAccount = '';
  #numbers = 0;
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
    this.random = randomFrom(seed);
  }

  async open(): Promise<void> {
    this.#client = await world.client('Ada');
    this.#bankAccount = await world.beneficiary(this.#client);
    for (let count = 0; count < 4; count += 1) {
      const id = await world.account(this.#client);
      this.#accounts.push(id);
      this.model.addAccount(id);
    }
  }

  draw(): Operation {
    const { random } = this;
    const kind = random.weighted({
      internal: 6,
      credit: 3,
      external: 3,
      adjustment: 3,
      dated: 1,
      cancel: 2,
      report: 5,
      'dry-run': 1,
    });
    const pence = random.chance(0.1) ? random.whole(1, 12) : random.whole(1, 9_000);
    const [from, to] = random.pair(this.#accounts);
    if (kind === 'credit') return { kind, to, pence: pence * 2 };
    if (kind === 'external') return { kind, from, pence };
    if (kind === 'adjustment') {
      const against = random.pick(['settlement', 'fees', 'correction'] as const);
      return { kind, account: from, direction: random.pick(['debit', 'credit'] as const), against, pence };
    }
    if (kind !== 'cancel' && kind !== 'report') return { kind, from, to, pence };
    const open = [...this.model.state.transfers].filter(
      ([, { status }]) => status !== 'cancelled' && status !== 'failed',
    );
    // The newest most: those are the ones that are still under way.
    const transfer = open.map(([id]) => id).at(-1 - Math.min(open.length - 1, random.whole(0, 5)));
    if (transfer === undefined) return { kind: 'credit', to, pence };
    if (kind === 'cancel') return { kind, transfer };
    return { kind, transfer, word: random.pick(['released', 'completed', 'failed', 'returned']) };
  }

  /**
   * The result. Two equal answers to one key count as one; a rejection is not stored, so it may occur along with a success.
   */
  async send(operation: Operation): Promise<Answered[]> {
    const answers = await this.#sendOnceOrTwice(operation);
    const outcomes = new Map<number, Answered>();
    let created = '';
    for (const { status, text, body } of answers) {
      expect(status, text).toBeLessThan(500);
      const shown: Json = body?.data?.outgoingTransfer;
      if (shown?.incomingTransferId) this.incoming.set(shown.id, shown.incomingTransferId);
      if (status === 201 && created !== '') expect(text).toBe(created);
      if (status === 201) created = text;
      outcomes.set(status, { operation, status, id: shown?.id ?? null });
    }
    return [...outcomes.values()];
  }

  /** A tenth of the creations go out twice at once, with one key and through both processes. */
  async #sendOnceOrTwice(operation: Operation): Promise<ApiResponse[]> {
    this.#numbers += 1;
    const key = `${this.#seed}-${this.#numbers}`;
    const request = this.#request(operation);
    const through = this.random.chance(0.5) ? apis : apis.toReversed();
    const times = request.method === 'POST' && this.random.chance(0.1) ? 2 : 1;
    return Promise.all(
      through.slice(0, times).map((api) => {
        const options = { as: request.as ?? 'operator', ...(request.method === 'POST' ? { key } : {}) };
        return api.call(request.method, request.path, { workflow: request.workflow, data: request.data }, options);
      }),
    );
  }

  #request(operation: Operation): Request {
    const workflow = { code: 'client.direct' };
    switch (operation.kind) {
      case 'credit': {
        const { to: accountId, pence } = operation;
        const credit = { accountId, amount: pence / 100, currency: 'GBP', scope: 'external', scheme: 'swift' };
        const data = { provisionedAccountCredit: { ...credit, serviceProviderId: `${this.#seed}-${this.#numbers}` } };
        return { method: 'POST', path: '/provisioned-account-credits', workflow, data };
      }
      case 'adjustment': {
        const { account: accountId, direction, pence } = operation;
        const adjusted = { accountId, direction, amount: pence / 100, currency: 'GBP' };
        const data = { balanceAdjustment: { ...adjusted, unconnectedServiceProvider: 'Other Bank' } };
        const path = `/accounts/${accountId}/balance-adjustments`;
        return { method: 'POST', path, workflow: ADJUSTMENT_WORKFLOWS[operation.against], data, as: 'admin' };
      }
      case 'cancel':
      case 'report': {
        const path = `/outgoing-transfers/${operation.transfer}`;
        const word = operation.kind === 'cancel' ? 'cancelled' : operation.word;
        const outgoingTransfer = word === 'returned' ? { returned: true } : { status: word };
        return { method: 'PATCH', path, workflow, data: { outgoingTransfer } };
      }
      default: {
        const dryRun = operation.kind === 'dry-run' ? { dryRun: true } : {};
        const data = { outgoingTransfer: this.#transfer(operation) };
        return { method: 'POST', path: '/outgoing-transfers', workflow: { ...workflow, ...dryRun }, data };
      }
    }
  }

  #transfer(operation: Extract<Operation, { from: string }>): Json {
    const external = operation.kind === 'external';
    const date = new Date(Date.now() + DATED_DAYS * 86_400_000).toISOString().slice(0, 10);
    return {
      clientId: this.#client,
      currency: 'GBP',
      amount: operation.pence / 100,
      scope: external ? 'external' : 'internal',
      ...(external ? { scheme: 'faster-payments' } : {}),
      ...(operation.kind === 'dated' ? { transferDate: date } : {}),
      source: { type: 'client-account', accountId: operation.from },
      destination: external
        ? { type: 'beneficiary-bank-account', beneficiaryBankAccountId: this.#bankAccount }
        : { type: 'client-account', accountId: operation.to },
    };
  }

  /** What the API shows, in the format of the model's fingerprint. */
  async observe(answered: readonly Answered[]): Promise<string> {
    const { body } = await apis[0].call('GET', `/accounts?data.account.clientId=${this.#client}`);
    const accounts: Json[] = body.data.accounts;
    const balances = accounts.map(({ id, availableBalance }) => `${id} ${Math.round(availableBalance * 100)}`);
    const created = answered.flatMap(({ status, id }) => (status === 201 && id !== null ? [id] : []));
    const ids = [...new Set([...this.model.state.transfers.keys(), ...created])];
    const rows = await apis[0].database.reader.statement<{ id: string; status: string; returned: boolean }>(
      'SELECT id, status, returned FROM outgoing_transfers WHERE id = ANY ($1::uuid[])',
      [`{${ids.join(',')}}`],
    );
    return [...balances, ...rows.map(({ id, status, returned }) => `${id} ${status} ${returned}`)].sort().join('\n');
  }

  /** The entries that each account's statement shows are the model's, and each balance follows from the one before. */
  async compareStatements(): Promise<void> {
    const range =
      'data.accountStatement.entryDateTimeFrom=2020-01-01T00:00:00.000&data.accountStatement.entryDateTimeTo=2999-01-01T00:00:00.000';
    for (const id of this.#accounts) {
      const shown: Json[] = [];
      for (let page = 0; ; page += 1) {
        const path = `/accounts/${id}/account-statements?${range}&metadata.page.size=100&metadata.page.number=${page}`;
        const { body } = await apis[0].call('GET', path);
        shown.push(...body.data.accountStatements);
        if (page + 1 >= body.metadata.page.totalPages) break;
      }
      let balance = 0;
      for (const entry of shown) {
        balance += Math.round(entry.amount * 100) * (entry.direction === 'debit' ? -1 : 1);
        expect(Math.round(entry.balance * 100)).toBe(balance);
        expect(balance).toBeGreaterThanOrEqual(0);
      }
      const { posted, entries } = this.model.account(id);
      expect(balance).toBe(posted);
      const line = (direction: string, pence: number, type: string, entryType: string) =>
        `${direction} ${String(pence).padStart(9)} ${type} ${entryType}`;
      expect(
        shown.map((e) => line(e.direction, Math.round(e.amount * 100), e.transactionType, e.entryType)).sort(),
      ).toEqual(entries.map((e) => line(e.direction, e.pence, e.transactionType, e.entryType)).sort());
    }
  }

  async compareEvents(): Promise<void> {
    const events = await readEvents();
    for (const [id, transfer] of this.model.state.transfers) {
      expect(events.get(id)).toEqual(transfer.events.map((name) => `outgoing-transfer-${name}`));
      const incoming = this.incoming.get(id);
      if (transfer.to === null || incoming === undefined) continue;
      expect(events.get(incoming)).toEqual(transfer.incomingEvents.map((name) => `incoming-transfer-${name}`));
    }
  }

  dated(): string[] {
    return [...this.model.state.transfers].flatMap(([id, { to, status }]) =>
      to !== null && status === 'pending' ? [id] : [],
    );
  }
}

async function readEvents(): Promise<Map<string, string[]>> {
  const rows = await apis[0].database.reader.execute<{ id: string; entries: { type: string }[] }>(
    sql`SELECT resource_id AS id, entries FROM events ORDER BY resource_id, first_sequence`,
  );
  const events = new Map<string, string[]>();
  for (const { id, entries } of rows) events.set(id, [...(events.get(id) ?? []), ...entries.map(({ type }) => type)]);
  return events;
}

/** As the API's loop does it, but only here, so that it is known when. */
async function admitAll(api: TestApi): Promise<void> {
  for (const accountId of await listAdmissionsDue(api.database.reader, 100)) {
    await api.database.transaction((tx) => admitWaitingTransfers(tx, accountId, api.services.configuration));
  }
}

async function systemBalances(): Promise<Record<string, number>> {
  const rows = await apis[0].database.reader.execute<{ kind: string; pence: bigint }>(sql`
    SELECT account.kind, coalesce(sum(CASE WHEN posting.credit_account_id = account.id THEN amount_minor ELSE -amount_minor END), 0)::bigint AS pence
    FROM system_accounts account JOIN postings posting ON account.id IN (posting.debit_account_id, posting.credit_account_id)
    GROUP BY account.kind`);
  return Object.fromEntries(rows.map(({ kind, pence }) => [kind, Number(pence)]));
}

const FIRST_SEED = seedOr(20_260_101);
// A set: keys and providers' references follow from the seed, so that none can run twice.
const SEEDS = new Set([FIRST_SEED, FIRST_SEED + 1, seedOr(1 + Math.floor(Math.random() * 1e9))]);

test.each([...SEEDS])(
  'operations at once are answered and booked as in some order one by one: seed %i',
  async (seed) => {
    const run = new Run(seed);
    const { model, random } = run;
    daysAhead = 0;
    await run.open();
    const before = await systemBalances();
    for (let round = 0; round < ROUNDS; round += 1) {
      const operations = Array.from({ length: random.whole(1, AT_ONCE_MAX) }, () => run.draw());
      const answered = (await Promise.all(operations.map((operation) => run.send(operation)))).flat();
      const observed = await run.observe(answered);
      const explained = isSerializable(model, answered, observed);
      expect(
        explained,
        `seed ${seed}, round ${round}: ${JSON.stringify(answered)}\n${observed}\n${model.fingerprint()}`,
      ).toBe(true);
      await admitAll(apis[0]);
      model.admit();
      expect(await run.observe([]), `seed ${seed}, round ${round}: admission`).toBe(model.fingerprint());
    }

    daysAhead = DATED_DAYS + 1;
    for (const id of run.dated()) {
      const transfer = asId<OutgoingTransferId>(id);
      await apis[1].database.transaction((tx) => advanceOutgoingTransfer(tx, transfer, apis[1].services.configuration));
      model.fallDue(id);
    }
    expect(await run.observe([])).toBe(model.fingerprint());
    await run.compareStatements();
    await run.compareEvents();
    const after = await systemBalances();
    expect(after.settlement).toBe((before.settlement ?? 0) + model.state.system.settlement);
    expect(after['fee-revenue']).toBe((before['fee-revenue'] ?? 0) + model.state.system.fees);
    expect(after.correction ?? 0).toBe((before.correction ?? 0) + model.state.system.correction);
    expect(await checkLedger(apis[0].database.reader)).toEqual([]);
  },
);
