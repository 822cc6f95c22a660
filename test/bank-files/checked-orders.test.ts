import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiResponse, Json } from '../harness/api.ts';
import { FILES_BANK, type FilesWorld, filesWorld } from '../harness/bank-files/files-world.ts';
import { accountReport, creditOf } from '../harness/bank-files/scripted-bank.ts';

// What a bank would not take by file is no transfer, whichever way it is ordered.

interface Payer {
  readonly clientId: string;
  readonly accountId: string;
}

let files: FilesWorld;
let usual: Payer;
/** Whose name is longer than the bank takes. */
let longNamed: Payer;

async function payer(givenName: string): Promise<Payer> {
  const clientId = await files.world.client(givenName);
  const { id } = await files.account(1_000, clientId);
  return { clientId, accountId: id };
}

beforeAll(async () => {
  files = await filesWorld('checked-orders');
  usual = await payer('Ada');
  longNamed = await payer('Ada'.padEnd(70, 'a'));
});

afterAll(async () => {
  await files?.close();
});

const order = ({ clientId, accountId }: Payer, beneficiaryBankAccountId: string, description: string) =>
  files.order(accountId, 10, {
    clientId,
    description,
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId },
  });

const sent = (path: string, data: Json, workflow: Json = {}) =>
  files.api.call('POST', path, { workflow: { code: 'client.direct', ...workflow }, data });

/** Every way to order a payment out; the answer that rejects it. */
const WAYS: Readonly<Record<string, (ordered: Json, from: Payer) => Promise<ApiResponse>>> = {
  one: (ordered) => sent('/outgoing-transfers', { outgoingTransfer: ordered }),
  'one for a later date': (ordered) =>
    sent('/outgoing-transfers', { outgoingTransfer: { ...ordered, transferDate: '2027-07-01' } }),
  'a dry run': (ordered) => sent('/outgoing-transfers', { outgoingTransfer: ordered }, { dryRun: true }),
  'a batch whose other items are taken': (ordered) =>
    sent('/outgoing-transfers/batch', { items: [{ reference: randomUUID(), outgoingTransfer: ordered }] }),
  'a batch of all or none': (ordered) =>
    sent(
      '/outgoing-transfers/batch',
      { items: [{ reference: randomUUID(), outgoingTransfer: ordered }] },
      { mode: 'all' },
    ),
};

const PROBLEMS = [
  {
    what: 'a text that is too long',
    from: () => usual,
    description: 'x'.repeat(101),
    field: () => 'description',
    value: () => '',
    says: 'The bank takes at most 100 characters, as it writes them. Its rule for remittanceText is length.',
  },
  {
    what: 'a holder whose name cannot be written',
    from: () => longNamed,
    description: 'Rent',
    field: () => 'source.accountId',
    value: () => longNamed.accountId,
    says: 'The bank’s files cannot have the name of the account’s holder, so nothing can be paid from this account by them: The bank takes at most 70 characters, as it writes them. Its rule for ultimateDebtorName is length.',
  },
] as const;

describe.each(PROBLEMS)('$what', ({ from, description, field, value, says }) => {
  test.each(Object.keys(WAYS))('is no transfer, ordered by %s: the answer names field and rule', async (way) => {
    const at = from();
    const ordered = order(at, await files.world.beneficiary(at.clientId), description);
    const answer = await WAYS[way]?.(ordered, at);
    const named = way === 'a batch of all or none' ? ['items', '0.outgoingTransfer.'] : ['outgoingTransfer', ''];
    expect(answer?.text).toContain(JSON.stringify([named[0], `${named[1]}${field()}`, value()]));
    expect(answer?.text).toContain(says);
    const isBatch = way.startsWith('a batch');
    expect(answer?.status).toBe(way === 'a batch of all or none' ? 422 : isBatch ? answer?.status : 400);
    expect(await transfersFrom(at)).toEqual([]);
  });
});

async function transfersFrom({ accountId }: Payer): Promise<Json[]> {
  const { body } = await files.api.call('GET', `/outgoing-transfers?data.outgoingTransfer.accountId=${accountId}`);
  return body.data.outgoingTransfers;
}

test('what can be written is taken', async () => {
  const ordered = order(usual, await files.world.beneficiary(usual.clientId), 'Rent');
  expect((await sent('/outgoing-transfers', { outgoingTransfer: ordered }, { dryRun: true })).status).toBe(200);
});

describe('the return of completed money', () => {
  /** Money that has come in from this account. */
  async function receivedBy({ accountId }: Payer, numbers: { iban: string | null; accountNumber: string | null }) {
    const { body } = await files.api.call('GET', `/accounts/${accountId}`);
    const key = `in ${randomUUID()}`;
    const credit = creditOf(key, 500n, body.data.account.ledgerNumber);
    files.bank.say(accountReport('camt.054', { ...credit, debtor: { ...credit.debtor, ...numbers } }));
    const exchange = files.exchange();
    await files.rounds(exchange);
    await exchange.end();
    const [row] = await files.rows(
      `SELECT id FROM incoming_transfers WHERE provider = '${FILES_BANK}' AND service_provider_id = '${key}'`,
    );
    return row.id;
  }

  const UNNAMED = { iban: null, accountNumber: '55779911' };
  const NAMED = { iban: 'GB29NWBK60161331926819', accountNumber: null };

  test.each([
    {
      what: 'a payer without a number in the clearing',
      from: () => usual,
      payer: UNNAMED,
      status: 422,
      rule: 'account',
    },
    { what: 'a holder whose name cannot be written', from: () => longNamed, payer: NAMED, status: 400, rule: 'length' },
  ])('of $what is no transfer: the answer names field and rule', async ({ from, payer: numbers, status, rule }) => {
    const id = await receivedBy(from(), numbers);
    const body = { workflow: { code: 'direct' }, data: { incomingTransfer: { statusReason: { code: 'CUST' } } } };
    const answer = await files.api.call('POST', `/incoming-transfers/${id}/return`, body);
    expect(answer.status, answer.text).toBe(status);
    const field = rule === 'account' ? ['senderAccount', ''] : ['accountId', from().accountId];
    expect(answer.body.messageParameters).toEqual(['incomingTransfer', ...field]);
    expect(answer.text).toContain(`is ${rule}`);
    expect(await transfersFrom(from())).toEqual([]);
  });
});
