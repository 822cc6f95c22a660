import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TOOLS } from '../../cli/requests/mcp/tools.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { createTestMachineUser, type Json, startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { moneyWorld } from '../harness/money.ts';
import { rowCounts } from '../harness/parties/migration.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { fasArguments } from '../tools/run/entries.ts';
import { type FasUser, fasUser } from './fas-runs.ts';

// `fas mcp` as a process, asked by the SDK's own client.

let database: TestDatabase;
let api: TestApi;
let user: FasUser;
let world: Readonly<Record<'client' | 'account' | 'other' | 'transfer', string>>;

beforeAll(async () => {
  database = await createTestDatabase('mcp');
  api = await startApi(database);
  user = fasUser();
  const money = moneyWorld(api);
  const client = await money.client();
  const account = await money.account(client, { amount: 100 });
  const other = await money.account(client);
  world = { client, account, other, transfer: '' };
  const { body } = await api.call('POST', '/outgoing-transfers', payment(12.5));
  world = { ...world, transfer: body.data.outgoingTransfer.id };
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
  user?.remove();
});

function payment(amount: number): Json {
  const { client: clientId, account: accountId, other } = world;
  const source = { type: 'client-account', accountId };
  const destination = { type: 'client-account', accountId: other };
  const outgoingTransfer = {
    clientId,
    currency: 'GBP',
    amount,
    scope: 'internal',
    description: 'Rent',
    source,
    destination,
  };
  return { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
}

interface Assistant {
  readonly client: Client;
  /** The text of a tool's answer, and whether it is an error. */
  ask(name: string, given?: Record<string, unknown>): Promise<{ isError: boolean; text: string }>;
}

async function assistantWith(roles: readonly Role[]): Promise<Assistant> {
  const { id, kid, privateKey } = await createTestMachineUser(api.database, TEST_AUDIENCE, roles);
  const key = user.file(`${id}.pem`, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const env = {
    ...Object.fromEntries(Object.entries(user.environment).map(([name, value]) => [name, value ?? ''])),
    FAS_BASE_URL: api.url,
    FAS_MODE: 'test',
    FAS_MACHINE_USER: id,
    FAS_KEY_FILE: key,
    FAS_KEY_ID: kid,
    FAS_AUDIENCE: TEST_AUDIENCE,
  };
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [...fasArguments(), 'mcp'], env }));
  return {
    client,
    ask: async (name, given = {}) => {
      const result = await client.callTool({ name, arguments: given });
      const content = Array.isArray(result.content) ? result.content : [];
      return { isError: result.isError === true, text: content.map(({ text }) => text).join('') };
    },
  };
}

/** A call of each tool, and what its answer must show. */
const CALLS: Readonly<
  Record<string, readonly [given: () => Record<string, unknown>, shows: (answer: string) => void]>
> = {
  help: [
    () => ({}),
    (answer) => expect(answer).toMatch(/dry_run_payment: .*\[Pay out\]\(\/docs\/guides\/pay-out\.md\)/s),
  ],
  find: [() => ({ text: 'Lovelace' }), (answer) => expect(JSON.parse(answer).clients[0].id).toBe(world.client)],
  payment: [
    () => ({ id: world.transfer }),
    (answer) =>
      expect(JSON.parse(answer)).toMatchObject({
        outgoingTransfer: { status: 'completed', amount: 12.5, waitingFor: null },
        timelineEntries: expect.arrayContaining([expect.objectContaining({ kind: 'ledger-entry' })]),
      }),
  ],
  timeline: [
    () => ({ kind: 'client', id: world.client }),
    (answer) => expect(JSON.parse(answer).timelineEntries.length).toBeGreaterThan(0),
  ],
  waiting_work: [() => ({}), (answer) => expect(JSON.parse(answer)).toMatchObject({ heldIncomingTransfers: [] })],
  account: [() => ({ id: world.account }), (answer) => expect(JSON.parse(answer).account.availableBalance).toBe(87.5)],
  statement: [
    () => ({ accountId: world.account }),
    (answer) => expect(JSON.parse(answer).accountStatements.map(({ balance }: Json) => balance)).toEqual([100, 87.5]),
  ],
  client: [() => ({ id: world.client }), (answer) => expect(JSON.parse(answer).accounts).toHaveLength(2)],
  dry_run_payment: [
    () => ({
      clientId: world.client,
      sourceAccountId: world.account,
      destinationAccountId: world.other,
      currency: 'GBP',
      amount: 5,
    }),
    (answer) => expect(JSON.parse(answer).outgoingTransfer).toMatchObject({ totalAmount: 5 }),
  ],
  explain_error: [
    () => ({ code: 'account.balance.insufficient' }),
    (answer) => expect(JSON.parse(answer).whatToDo).toContain('Pay money in'),
  ],
  webhook_deliveries: [
    () => ({ status: 'failed' }),
    (answer) => expect(JSON.parse(answer).webhookDeliveries).toEqual([]),
  ],
  events: [() => ({}), (answer) => expect(JSON.parse(answer)).toHaveProperty('events')],
};

describe.each<readonly [string, readonly Role[]]>([
  ['of the role viewer', ['viewer']],
  ['that could write', ['viewer', 'operator', 'approver', 'compliance', 'admin']],
])('an assistant with a token %s', (_, roles) => {
  let assistant: Assistant;

  beforeAll(async () => {
    assistant = await assistantWith(roles);
  });

  afterAll(() => assistant?.client.close());

  test('is offered a dozen tools at most, each marked as one that only reads, with a schema of its arguments', async () => {
    const { tools } = await assistant.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));
    expect(tools.length).toBeLessThanOrEqual(12);
    for (const { annotations, inputSchema } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    }
  });

  test('gets an answer from every tool, and nothing is written', async () => {
    expect(Object.keys(CALLS).sort()).toEqual(TOOLS.map(({ name }) => name).sort());
    const before = await rowCounts(api);
    for (const [name, [given, shows]] of Object.entries(CALLS)) {
      const { isError, text } = await assistant.ask(name, given());
      expect(isError, `${name}: ${text}`).toBe(false);
      shows(text);
    }
    expect(await rowCounts(api)).toEqual(before);
  });

  test('gets in words what was wrong with a question, and what to do', async () => {
    const before = await rowCounts(api);
    const rejected = [
      ['payment', { id: 'none' }, /id: .*UUID/],
      ['payment', { id: world.client }, /record_not_found: Compare the id/],
      ['account', { id: world.account, status: 'closed' }, /status/],
      ['explain_error', { code: 'nothing' }, /code/],
      ['help', { guide: '../package' }, /guide/],
      [
        'dry_run_payment',
        { clientId: world.client, sourceAccountId: world.account, currency: 'GBP', amount: 1 },
        /destination/,
      ],
      ['create_payment', {}, /There is no tool create_payment/],
    ] as const;
    for (const [name, given, shown] of rejected) {
      const { isError, text } = await assistant.ask(name, given);
      expect([name, isError]).toEqual([name, true]);
      expect(text).toMatch(shown);
    }
    expect(await rowCounts(api)).toEqual(before);
  });

  test('finds a payment by whatever is known of it', async () => {
    const { body } = await api.call('GET', `/outgoing-transfers/${world.transfer}`);
    const { transactionNumber, paymentReference, description } = body.data.outgoingTransfer;
    const { body: shown } = await api.call('GET', `/accounts/${world.account}`);
    for (const known of [world.transfer, transactionNumber, paymentReference, description]) {
      const found = JSON.parse((await assistant.ask('find', { text: known })).text);
      expect(
        [found.outgoingTransfer, ...(found.outgoingTransfers ?? [])].map((one) => one?.id),
        known,
      ).toContain(world.transfer);
    }
    for (const known of [world.account, shown.data.account.ledgerNumber]) {
      const found = JSON.parse((await assistant.ask('find', { text: known })).text);
      expect(
        [found.account, ...(found.accounts ?? [])].map((one) => one?.id),
        known,
      ).toContain(world.account);
    }
    for (const unknown of [
      'nothing of this kind',
      'unknown@example.com',
      'GB33 BUKB 2020 1555 5555 55',
      randomUUID(),
      '%_',
    ]) {
      const { isError, text } = await assistant.ask('find', { text: unknown });
      expect(isError, text).toBe(false);
      expect(JSON.parse(text).found, unknown).toBe('nothing');
    }
  });
});
