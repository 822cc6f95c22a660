import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiResponse, type Json, startApi, type TestApi } from '../../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';
import { reviews } from '../../harness/transfers/reviews.ts';
import { sequence } from '../../harness/webhooks/webhooks.ts';

// Every path of an outgoing transfer: its events with what each shows (specification 6), the entries that it leaves in the
// statements, and what it does to the balances. Then the rows of specification 2.10, and of 4.9 for PATCH and GET.

/** The service's clock: a Wednesday, eleven o'clock in Brussels and ten in London. */
const MORNING = '2027-06-16T09:00:00Z';
const TODAY = '2027-06-16';
const LATER = '2027-06-17';
const MONEY = 100;

/** Dollars are authorized, Canadian ones reviewed, Australian ones both; the receiver of kroner is reviewed. */
const RULES = {
  authorization: { rule: 'never', byCurrency: { USD: 'always', AUD: 'always' } },
  compliance: {
    incoming: { rule: 'none', byCurrency: { NOK: 'external' } },
    outgoing: { rule: 'none', byCurrency: { CAD: 'external', AUD: 'external' } },
  },
  prices: [],
} as const;

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let payer: string;
let payee: string;
let log: Json[];
const banks = new Map<string, string>();

interface Made {
  readonly id: string;
  readonly source: string;
  readonly destination: string | null;
}

const ratio = { type: 'ratio', ratio: '0.1' };
const withFee = { pricing: { sourcingMethod: 'explicit' } };

async function send(outgoingTransfer: Json, fee: boolean): Promise<Json> {
  const workflow = { code: 'client.direct', ...(fee ? withFee : {}) };
  const data = { outgoingTransfer, ...(fee ? { pricing: ratio } : {}) };
  const answer = await api.call('POST', '/outgoing-transfers', { workflow, data });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer;
}

/** A transfer of 20 with a fee of 2, from a fresh account that holds 100. */
async function inside(currency: string, change: Json = {}): Promise<Made> {
  const source = await world.account(payer, { currency, amount: currency === 'NOK' ? 0 : MONEY });
  if (currency === 'NOK') await creditReviewed(source);
  const destination = await world.account(payee, { currency });
  const { id } = await send(
    {
      clientId: payer,
      currency,
      amount: 20,
      scope: 'internal',
      source: { type: 'client-account', accountId: source },
      destination: { type: 'client-account', accountId: destination },
      ...change,
    },
    true,
  );
  return { id, source, destination };
}

/** Money that is reviewed on its way in. */
async function creditReviewed(accountId: string): Promise<void> {
  await world.credit(accountId, MONEY, 'NOK');
  const { body } = await api.call('GET', `/incoming-transfers?data.incomingTransfer.accountId=${accountId}`);
  const answer = await reviews(api).decide('incoming-transfer', body.data.incomingTransfers[0].id, 'all-passed');
  expect(answer.status, answer.text).toBe(200);
}

async function outside(currency: string, change: Json = {}, money = MONEY): Promise<Made> {
  const source = await world.account(payer, { currency, amount: money });
  const { id } = await send(
    {
      clientId: payer,
      currency,
      amount: 20,
      scope: 'external',
      scheme: currency === 'GBP' ? 'faster-payments' : 'swift',
      source: { type: 'client-account', accountId: source },
      destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: banks.get(currency) },
      ...change,
    },
    true,
  );
  return { id, source, destination: null };
}

function patch(
  id: string,
  outgoingTransfer: Json,
  as: 'operator' | 'approver' | 'viewer' = 'operator',
): Promise<ApiResponse> {
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  return api.call('PATCH', `/outgoing-transfers/${id}`, body, { as });
}

/** The transfer after these steps, each of which must succeed. */
async function after(made: Promise<Made>, ...steps: readonly ((made: Made) => Promise<ApiResponse>)[]): Promise<Made> {
  const transfer = await made;
  for (const step of steps) {
    const answer = await step(transfer);
    expect(answer.status, answer.text).toBe(200);
  }
  return transfer;
}

const reported =
  (report: Json) =>
  ({ id }: Made) =>
    patch(id, report);
const decided =
  (result: string) =>
  ({ id }: Made) =>
    reviews(api).decide('outgoing-transfer', id, result);
const authorized = ({ id }: Made) =>
  patch(id, { requirementConfiguration: { authorizationStatus: 'fulfilled' } }, 'approver');
const receiversReview =
  (result: string) =>
  async ({ id }: Made) =>
    reviews(api).decide('incoming-transfer', (await read(id)).incomingTransferId, result);
const PROVIDER = { serviceProviderId: 'BANK-1', serviceProviderReference: 'REF-1' };

async function read(id: string): Promise<Json> {
  return (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer;
}

interface Path {
  readonly make: () => Promise<Made>;
  /** Its events, without `outgoing-transfer-`. */
  readonly events: readonly string[];
  /** The source's entries after the money it began with: direction, amount, entry type and kind of transaction. */
  readonly entries: readonly (readonly [string, number, string, string])[];
  /** What the source has then. */
  readonly available: number;
  /** What has reached the receiver of an internal one. */
  readonly arrived?: number;
  readonly reason?: string;
}

const DONE = ['created', 'processing', 'released', 'completed'];
const PAID = [
  ['debit', 20, 'principal', 'outgoing-transfer'],
  ['debit', 2, 'fee', 'outgoing-transfer'],
] as const;
const BACK = [
  ['credit', 20, 'principal', 'outgoing-transfer'],
  ['credit', 2, 'fee', 'outgoing-transfer'],
] as const;

const PATHS: Readonly<Record<string, Path>> = {
  'internal, at once': { make: () => inside('GBP'), events: DONE, entries: PAID, available: 78, arrived: 20 },
  'internal, dated today': {
    make: () => inside('GBP', { transferDate: TODAY }),
    events: DONE,
    entries: PAID,
    available: 78,
    arrived: 20,
  },
  'internal, waiting for its day': {
    make: () => inside('GBP', { transferDate: LATER }),
    events: ['created'],
    entries: [],
    available: 100,
    arrived: 0,
  },
  'internal, cancelled': {
    make: () => after(inside('GBP', { transferDate: LATER }), reported({ status: 'cancelled' })),
    events: ['created', 'cancelled'],
    entries: [],
    available: 100,
    arrived: 0,
  },
  'internal, authorized': {
    make: () => after(inside('USD'), authorized),
    events: DONE,
    entries: PAID,
    available: 78,
    arrived: 20,
  },
  'internal, approved': {
    make: () => after(inside('CAD'), decided('all-passed')),
    events: ['created', 'compliance-in-review', 'processing', 'released', 'completed'],
    entries: PAID,
    available: 78,
    arrived: 20,
  },
  'internal, rejected': {
    make: () => after(inside('CAD'), decided('hard-stop-rejected')),
    events: ['created', 'compliance-in-review', 'failed'],
    entries: [],
    available: 100,
    arrived: 0,
    reason: 'compliance.rejected',
  },
  'internal, its receiver in review': {
    make: () => inside('NOK'),
    events: ['created', 'processing'],
    entries: [],
    available: 78,
    arrived: 0,
  },
  'internal, its receiver approved': {
    make: () => after(inside('NOK'), receiversReview('all-passed')),
    events: DONE,
    entries: PAID,
    available: 78,
    arrived: 20,
  },
  'internal, its receiver rejected': {
    make: () => after(inside('NOK'), receiversReview('hard-stop-rejected')),
    events: ['created', 'processing', 'failed'],
    entries: [],
    available: 100,
    arrived: 0,
    reason: 'compliance.rejected',
  },
  'external, on its way to its bank': {
    make: () => outside('GBP'),
    events: ['created', 'processing'],
    entries: [],
    available: 78,
  },
  'external, released': {
    make: () => after(outside('GBP'), reported({ status: 'released', ...PROVIDER })),
    events: ['created', 'processing', 'released'],
    entries: PAID,
    available: 78,
  },
  'external, completed': {
    make: () => after(outside('GBP'), reported({ status: 'released' }), reported({ status: 'completed', ...PROVIDER })),
    events: DONE,
    entries: PAID,
    available: 78,
  },
  'external, completed in one report': {
    make: () => after(outside('GBP'), reported({ status: 'completed' })),
    events: DONE,
    entries: PAID,
    available: 78,
  },
  'external, failed before its release': {
    make: () => after(outside('GBP'), reported({ status: 'failed', statusReason: { code: 'AC03' } })),
    events: ['created', 'processing', 'failed'],
    entries: [],
    available: 100,
    reason: 'AC03',
  },
  'external, failed after its release': {
    make: () => after(outside('GBP'), reported({ status: 'released' }), reported({ status: 'failed' })),
    events: ['created', 'processing', 'released', 'failed'],
    entries: [...PAID, ...BACK],
    available: 100,
    reason: 'caller.reported',
  },
  'external, returned': {
    make: () =>
      after(
        outside('GBP'),
        reported({ status: 'completed' }),
        reported({ returned: true, statusReason: { code: 'AC04' } }),
      ),
    events: [...DONE, 'returned'],
    // The fee stays.
    entries: [...PAID, ['credit', 20, 'principal', 'incoming-transfer']],
    available: 98,
    reason: 'AC04',
  },
  'external, short of money': {
    make: () => outside('GBP', {}, 21.99),
    events: ['created'],
    entries: [],
    available: 21.99,
  },
  'external, short of money, cancelled': {
    make: () => after(outside('GBP', {}, 21.99), reported({ status: 'cancelled' })),
    events: ['created', 'cancelled'],
    entries: [],
    available: 21.99,
  },
  'external, waiting for its day': {
    make: () => outside('GBP', { transferDate: LATER }),
    events: ['created'],
    entries: [],
    available: 100,
  },
  'external, authorized': {
    make: () => after(outside('USD'), authorized),
    events: ['created', 'processing'],
    entries: [],
    available: 78,
  },
  'external, cancelled before it is authorized': {
    make: () => after(outside('USD'), reported({ status: 'cancelled' })),
    events: ['created', 'cancelled'],
    entries: [],
    available: 100,
  },
  'external, approved': {
    make: () => after(outside('CAD'), decided('hard-stop-accepted'), reported({ status: 'completed' })),
    events: ['created', 'compliance-in-review', 'processing', 'released', 'completed'],
    entries: PAID,
    available: 78,
  },
  'external, rejected': {
    make: () => after(outside('CAD'), decided('hard-stop'), decided('hard-stop-rejected')),
    events: ['created', 'compliance-in-review', 'failed'],
    entries: [],
    available: 100,
    reason: 'compliance.rejected',
  },
  'external, approved and authorized': {
    make: () => after(outside('AUD'), decided('all-passed'), authorized, reported({ status: 'completed' })),
    events: ['created', 'compliance-in-review', 'processing', 'released', 'completed'],
    entries: PAID,
    available: 78,
  },
  'external, authorized and rejected': {
    make: () => after(outside('AUD'), authorized, decided('hard-stop-rejected')),
    events: ['created', 'compliance-in-review', 'failed'],
    entries: [],
    available: 100,
    reason: 'compliance.rejected',
  },
};

const made: Record<string, Made> = {};

beforeAll(async () => {
  database = await createTestDatabase('transfer-paths');
  api = await startApi(database, {
    clockOffset: () => `${Math.round((Date.parse(MORNING) - Date.now()) / 1000)} seconds`,
    configuration: (configuration) => ({ ...configuration, ...RULES }),
  });
  world = moneyWorld(api);
  payer = await world.client('Ada');
  payee = await world.client('Grace');
  banks.set('GBP', await world.beneficiary(payer));
  for (const [currency, country] of Object.entries({ USD: 'US', CAD: 'CA', AUD: 'AU' })) {
    const routingCodes = { bic: `BANK${country}33` };
    banks.set(currency, await world.beneficiary(payer, { currency, country, accountNumber: '1234567', routingCodes }));
  }
  const making = Object.entries(PATHS).map(async ([name, { make }]) => Object.assign(made, { [name]: await make() }));
  await Promise.all(making);
  await sequence(api.database);
  log = await wholeLog();
});

afterAll(async () => {
  await world.invariantsHold();
  await api.stop();
  await database.drop();
});

async function wholeLog(): Promise<Json[]> {
  const events: Json[] = [];
  for (let position = 0; ; ) {
    const path = `/events?metadata.page.size=100&data.event.positionAfter=${position}`;
    const { body } = await api.call('GET', path, undefined, { as: 'viewer' });
    if (body.data.events.length === 0) return events;
    events.push(...body.data.events);
    position = body.metadata.nextPositionAfter;
  }
}

const STATUS_OF_EVENT: Readonly<Record<string, string>> = {
  created: 'pending',
  'compliance-in-review': 'pending',
  returned: 'completed',
};
/** What never changes, from the first event to the answer of today. */
const UNCHANGING = [
  'id',
  'transactionNumber',
  'clientId',
  'originalTransferDate',
  'currency',
  'amount',
  'feeCurrency',
  'feeAmount',
  'totalAmount',
  'description',
  'transferReasonId',
  'transferCustomReason',
  'scope',
  'scheme',
  'ownerType',
  'source',
  'destination',
];

function madeBy(name: string): Made {
  const transfer = made[name];
  if (transfer === undefined) throw new Error('made before');
  return transfer;
}

describe.each(Object.entries(PATHS))('%s', (name, { events, entries, available, reason }) => {
  const eventsOf = () => log.filter(({ resourceId }) => resourceId === madeBy(name).id);

  test('has its events, and each shows what its type says', async () => {
    const found = eventsOf();
    expect(found.map(({ webhook }) => `${webhook.module}.${webhook.type}`)).toEqual(
      events.map((type) => `outgoing-transfers.outgoing-transfer-${type}`),
    );
    expect(found.map(({ metadata }) => metadata.sequence)).toEqual(events.map((_, index) => index + 1));
    const now = await read(madeBy(name).id);
    const kept = Object.fromEntries(UNCHANGING.map((field) => [field, now[field]]));
    for (const [index, { data }] of found.entries()) {
      const type = events[index] ?? '';
      const shown = data.outgoingTransfer;
      expect(shown).toMatchObject({ ...kept, status: STATUS_OF_EVENT[type] ?? type, returned: type === 'returned' });
      expect(Object.keys(data)).toEqual(
        type === 'compliance-in-review' ? ['outgoingTransfer', 'complianceCheck'] : ['outgoingTransfer'],
      );
      const explained = type === 'failed' || type === 'returned' ? (reason ?? null) : null;
      expect(shown.statusReason?.code ?? null).toBe(explained);
      const shownIncoming = madeBy(name).destination !== null || type === 'returned';
      expect(shown.incomingTransferId).toBe(shownIncoming ? now.incomingTransferId : null);
      if (isMoved(type, events)) expect(shown.requirementConfiguration.balanceCheckStatus).toBe('fulfilled');
    }
    expect(found.at(-1)?.data.outgoingTransfer.status).toBe(now.status);
    expect(now.statusReason?.code ?? null).toBe(reason ?? null);
    for (const field of ['serviceProviderId', 'serviceProviderReference']) {
      expect(found.at(-1)?.data.outgoingTransfer[field]).toBe(now[field]);
    }
  });

  test('leaves its entries in the statement, and nothing else', async () => {
    const { id, source } = madeBy(name);
    const { transactionNumber, incomingTransferId } = await read(id);
    const [began, ...statement] = await world.statement(source);
    expect(statement.map((entry) => [entry.direction, entry.amount, entry.entryType, entry.transactionType])).toEqual(
      entries,
    );
    let balance = began?.balance ?? 0;
    for (const { direction, amount, balance: shown, transactionNumber: number, transactionType } of statement) {
      balance += direction === 'credit' ? amount : -amount;
      expect(shown).toBeCloseTo(balance, 10);
      const own = transactionType === 'outgoing-transfer';
      expect(number).toBe(own ? transactionNumber : (await incoming(incomingTransferId)).transactionNumber);
    }
    expect((await world.balance(source)).available).toBeCloseTo(available, 10);
  });
});

const INSIDE = Object.entries(PATHS).filter(([, { arrived }]) => arrived !== undefined);

test.each(INSIDE)('%s: brings the receiver what has arrived', async (name, { events, arrived }) => {
  const { id, destination } = madeBy(name);
  const statement = await world.statement(destination ?? '');
  const { incomingTransferId } = await read(id);
  const { status, transactionNumber, amount, feeAmount } = await incoming(incomingTransferId);
  const expected = arrived === 0 ? [] : [[20, 'principal', transactionNumber]];
  expect(statement.map((entry) => [entry.amount, entry.entryType, entry.transactionNumber])).toEqual(expected);
  expect([amount, feeAmount]).toEqual([20, 0]);
  const ended = events.at(-1) === 'failed' || events.at(-1) === 'cancelled';
  expect(status).toBe(arrived === 20 ? 'completed' : ended ? 'failed' : 'pending');
  const types = log.filter(({ resourceId }) => resourceId === incomingTransferId).map(({ webhook }) => webhook.type);
  expect(types.at(-1)).toBe(
    status === 'pending' && name.includes('in review')
      ? 'incoming-transfer-compliance-in-review'
      : `incoming-transfer-${status}`,
  );
});

/** From `processing` on the money was there; a failure may come before it. */
function isMoved(type: string, events: readonly string[]): boolean {
  const started = events.includes('processing');
  return started && ['processing', 'released', 'completed', 'failed', 'returned'].includes(type);
}

async function incoming(id: string): Promise<Json> {
  return (await api.call('GET', `/incoming-transfers/${id}`)).body.data.incomingTransfer;
}

describe('specification 2.10: the compliance check of an outgoing transfer', () => {
  const results = (result: string | null) => ({ 'transaction-monitoring': { result } });
  const check = async ({ id }: Made) => reviews(api).check('outgoing-transfer', id);

  test('is skipped, without procedures, where nothing is reviewed', async () => {
    expect(await check(await outside('GBP'))).toEqual({ status: 'skipped', procedureResults: {} });
    expect(await check(await inside('GBP'))).toEqual({ status: 'skipped', procedureResults: {} });
  });

  test('is in review, without a result, from its creation on', async () => {
    expect(await check(await outside('CAD'))).toEqual({ status: 'in-review', procedureResults: results(null) });
  });

  test.each([
    ['all-passed', 'approved', 'fulfilled', 'processing'],
    ['soft-stop', 'in-review', 'not-checked', 'pending'],
    ['hard-stop', 'in-review', 'not-checked', 'pending'],
    ['hard-stop-accepted', 'approved', 'fulfilled', 'processing'],
    ['hard-stop-rejected', 'rejected', 'not-fulfilled', 'failed'],
  ])('result %s: %s', async (result, status, requirement, transferStatus) => {
    const transfer = await outside('CAD');
    const answer = await reviews(api).decide('outgoing-transfer', transfer.id, result);
    expect(answer.body.data.complianceCheck).toMatchObject({ status, procedureResults: results(result) });
    expect(await check(transfer)).toEqual(answer.body.data.complianceCheck);
    expect('decidedAt' in answer.body.data.complianceCheck).toBe(status !== 'in-review');
    const shown = await read(transfer.id);
    expect([shown.requirementConfiguration.complianceCheckStatus, shown.status]).toEqual([requirement, transferStatus]);
    const again = await reviews(api).decide('outgoing-transfer', transfer.id, 'all-passed');
    expect(again.status).toBe(status === 'in-review' ? 200 : 409);
  });
});

describe('specification 4.9: PATCH /outgoing-transfers/{id}', () => {
  const rejected: readonly (readonly [string, Json, number, string])[] = [
    ['nothing', {}, 400, 'common.validation.mutually_exclusive'],
    [
      'a status and an authorization',
      { status: 'cancelled', requirementConfiguration: { authorizationStatus: 'fulfilled' } },
      400,
      'common.validation.mutually_exclusive',
    ],
    ['status pending', { status: 'pending' }, 400, 'common.validation.field_invalid'],
    ['status processing', { status: 'processing' }, 400, 'common.validation.field_invalid'],
    [
      'an authorization that is rejected',
      { requirementConfiguration: { authorizationStatus: 'not-fulfilled' } },
      400,
      'common.validation.field_invalid',
    ],
    [
      'another requirement',
      { requirementConfiguration: { balanceCheckStatus: 'fulfilled' } },
      400,
      'common.validation.field_required',
    ],
    ['another amount', { amount: 5 }, 400, 'common.validation.field_unexpected'],
    ['another date', { transferDate: LATER }, 400, 'common.validation.field_unexpected'],
    [
      'a reason to cancel',
      { status: 'cancelled', statusReason: { code: 'x' } },
      400,
      'common.validation.field_unexpected',
    ],
    ['returned false', { returned: false }, 400, 'common.validation.field_invalid'],
  ];
  test.each(rejected)('rejects %s', async (_, change, status, code) => {
    const { id } = madeBy('external, waiting for its day');
    const before = await read(id);
    const answer = await patch(id, change);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await read(id)).toEqual(before);
  });

  test.each(['cancelled', 'authorized'] as const)('answers the full transfer: %s', async (what) => {
    const { id } = await outside('AUD');
    const answer =
      what === 'cancelled'
        ? await patch(id, { status: 'cancelled' })
        : await authorized({ id, source: '', destination: null });
    expect(answer.body.data.outgoingTransfer).toEqual(await read(id));
    expect(answer.body.data.outgoingTransfer).toMatchObject(
      what === 'cancelled'
        ? { status: 'cancelled' }
        : {
            status: 'pending',
            requirementConfiguration: { authorizationStatus: 'fulfilled', complianceCheckStatus: 'not-checked' },
          },
    );
  });

  const STATUSES = {
    processing: 'external, on its way to its bank',
    released: 'external, released',
    completed: 'external, completed',
    cancelled: 'internal, cancelled',
    failed: 'external, rejected',
  };
  test.each(Object.entries(STATUSES))('neither cancels nor authorizes a transfer that is %s', async (status, name) => {
    const { id } = madeBy(name);
    expect((await read(id)).status).toBe(status);
    for (const answer of [
      await patch(id, { status: 'cancelled' }),
      await authorized({ id, source: '', destination: null }),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([409, 'common.state.illegal_transition']);
    }
  });

  test.each([
    ['cancels', { status: 'cancelled' }, 'approver'],
    ['authorizes', { requirementConfiguration: { authorizationStatus: 'fulfilled' } }, 'operator'],
    ['cancels', { status: 'cancelled' }, 'viewer'],
  ] as const)('%s by role: %j by a %s is 403', async (_, change, as) => {
    const { id } = await outside('USD');
    const answer = await patch(id, change, as);
    expect([answer.status, answer.body.code]).toEqual([403, 'common.security.access_denied']);
  });

  test('an unknown id is 404 for each method', async () => {
    const unknown = '00000000-0000-7000-8000-000000000000';
    const answers = [
      await patch(unknown, { status: 'cancelled' }),
      await api.call('GET', `/outgoing-transfers/${unknown}`),
      await api.call('GET', `/outgoing-transfers/${unknown}/compliance-check`),
      await reviews(api).decide('outgoing-transfer', unknown, 'all-passed'),
    ];
    for (const { status, body } of answers) {
      expect([status, body.code]).toEqual([404, 'common.coding.internal.record_not_found']);
    }
  });
});

describe('specification 4.9: GET /outgoing-transfers', () => {
  test.each(Object.keys(PATHS))('shows the same in the list as by its id: %s', async (name) => {
    const one = await read(madeBy(name).id);
    const { body } = await api.call(
      'GET',
      `/outgoing-transfers?data.outgoingTransfer.accountId=${madeBy(name).source}`,
    );
    expect(body.data.outgoingTransfers).toEqual([one]);
  });

  test.each(['pending', 'processing', 'released', 'completed', 'cancelled', 'failed'])('status=%s', async (status) => {
    const { body } = await api.call(
      'GET',
      `/outgoing-transfers?metadata.page.size=100&data.outgoingTransfer.status=${status}`,
    );
    const statuses = new Set(body.data.outgoingTransfers.map((one: Json) => one.status));
    expect([...statuses]).toEqual([status]);
  });
});
