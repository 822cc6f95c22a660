import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Exchange } from '../../../activities/bank-files/exchange/round.ts';
import { iso20022Provider } from '../../../activities/providers/iso20022/iso20022.ts';
import { askToRelease, signRequest } from '../../../db/bank-files/by-hand/requests.ts';
import type { BankWord } from '../../../domain/bank-files/by-hand/requests.ts';
import type { BookedEntry } from '../../../domain/bank-files/messages.ts';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import type { Json } from '../../harness/api.ts';
import { FILES_BANK, type FilesWorld, filesWorld } from '../../harness/bank-files/files-world.ts';
import { accountReport, creditOf, debitOf, statusOf } from '../../harness/bank-files/scripted-bank.ts';
import { incomingSteps } from '../../harness/transfers/payment-steps.ts';

// Debits of money in that goes back: what they name must be the money, or a person finds out, who always has a way out.

let files: FilesWorld;
let exchange: Exchange;
let account: Json;

beforeAll(async () => {
  files = await filesWorld('taken-back');
  exchange = files.exchange();
  account = await files.account(0);
});

afterAll(async () => {
  await files?.world.invariantsHold();
  await exchange?.end();
  await files?.close();
});

let entries = 0;
const nextKey = () => {
  entries += 1;
  return `entry ${entries}`;
};

type Said = Partial<BookedEntry>;

async function say(...said: readonly BookedEntry[]): Promise<void> {
  files.bank.say(accountReport('camt.054', ...said));
  await files.rounds(exchange);
}

/** Money that a person returns, and whose payer's account the bank has not told. */
async function due(amountMinor: bigint, changed: Said, dependencies = files.dependencies): Promise<string> {
  const key = nextKey();
  const debtor = { name: 'Grace Hopper', iban: null, accountNumber: null, bic: null };
  await say({ ...creditOf(key, amountMinor, 'unknown'), debtor, ...changed });
  const [{ id }] = await files.rows(`SELECT id FROM incoming_transfers WHERE service_provider_id = '${key}'`);
  const answer = await files.api.call('POST', `/incoming-transfers/${id}/return`, { workflow: { code: 'direct' } });
  expect(answer.status, answer.text).toBe(200);
  expect(await incomingSteps(dependencies).go(id)).toMatchObject({ do: 'wait' });
  return id;
}

/** Money that a client has. */
async function credited(amountMinor: bigint, changed: Said): Promise<void> {
  await say({ ...creditOf(nextKey(), amountMinor, account.ledgerNumber), ...changed });
}

async function debit(amountMinor: bigint, changed: Said): Promise<string> {
  const key = nextKey();
  await say({ ...creditOf(key, amountMinor, ''), direction: 'debit', ...changed });
  const [{ kind }] = await files.rows(`SELECT kind FROM bank_entries WHERE key = '${key}'`);
  return kind;
}

const stands = async (id: string): Promise<string> =>
  (await files.rows(`SELECT send_back_status AS status FROM incoming_transfers WHERE id = '${id}'`))[0].status;

const RETURN = { returnReason: 'MS03' };

test.each<[string, bigint, Said]>([
  ['the bank’s own reference of it', 1001n, { references: ['AS 1001'] }],
  ['its payer’s id with the bank’s return information', 1002n, { paymentReference: 'RENT 1002', ...RETURN }],
])('a debit that names %s ends the return', async (_, amountMinor, named) => {
  const id = await due(amountMinor, { bankReference: `AS ${amountMinor}`, paymentReference: `RENT ${amountMinor}` });
  expect(await debit(amountMinor, named)).toBe('payment');
  expect(await stands(id)).toBe('done');
});

test.each<[string, bigint, Said]>([
  ['its payer’s id, and is no return', 1101n, { paymentReference: 'RENT 1101' }],
  ['its payer’s id, and undoes a booking', 1102n, { paymentReference: 'RENT 1102', isReversal: true }],
])('a debit that names only %s, books nothing', async (_, amountMinor, named) => {
  const id = await due(amountMinor, { bankReference: `AS ${amountMinor}`, paymentReference: `RENT ${amountMinor}` });
  expect(await debit(amountMinor, named)).toBe('unknown');
  expect(await stands(id)).toBe('due');
});

test('of two payments of an amount with one id of their payer, the one that a client has is not taken for the other', async () => {
  await credited(1201n, { bankReference: 'AS first', paymentReference: 'RENT 1201' });
  const id = await due(1201n, { bankReference: 'AS second', paymentReference: 'RENT 1201' });
  expect(await debit(1201n, { paymentReference: 'RENT 1201', ...RETURN })).toBe('unknown');
  expect(await debit(1201n, { paymentReference: 'RENT 1201', references: ['AS first'], ...RETURN })).toBe('unknown');
  expect(await stands(id)).toBe('due');
  // Its own reference tells it from the other.
  expect(await debit(1201n, { paymentReference: 'RENT 1201', references: ['AS second'], ...RETURN })).toBe('payment');
  expect(await stands(id)).toBe('done');
});

test('a debit that names the bank’s reference of another payment is not of this one, whatever else it names', async () => {
  await credited(1301n, { bankReference: 'AS other' });
  const id = await due(1302n, { bankReference: 'AS this', paymentReference: 'RENT 1302' });
  expect(await debit(1302n, { paymentReference: 'RENT 1302', references: ['AS other'], ...RETURN })).toBe('unknown');
  expect(await debit(1302n, { references: ['AS this', 'AS other'], ...RETURN })).toBe('unknown');
  expect(await stands(id)).toBe('due');
});

test('a reference that the bank has given to two payments names neither', async () => {
  await credited(1401n, { bankReference: 'AS twice' });
  const id = await due(1402n, { bankReference: 'AS twice' });
  expect(await debit(1402n, { references: ['AS twice'] })).toBe('unknown');
  expect(await stands(id)).toBe('due');
});

test('what one file tells of money that comes in is known before its debits are looked at', async () => {
  const id = await due(1501n, { paymentReference: 'RENT 1501' });
  const key = nextKey();
  const other = { ...creditOf(nextKey(), 1501n, account.ledgerNumber), paymentReference: 'RENT 1501' };
  const back = { ...creditOf(key, 1501n, ''), direction: 'debit', paymentReference: 'RENT 1501', ...RETURN } as const;
  await say(back, other);
  expect(await files.rows(`SELECT kind FROM bank_entries WHERE key = '${key}'`)).toEqual([{ kind: 'unknown' }]);
  expect(await stands(id)).toBe('due');
});

/** What two people say that the bank says; without `id` of all that are held. */
async function release(bankSays: BankWord, id: string | null): Promise<number> {
  const { database } = files.api;
  const asked = { provider: FILES_BANK, transferIds: id === null ? null : [id], bankSays };
  const by = (actor: string) => ({ actor, requestId: null, reason: 'a test' });
  const request = await database.transaction((tx) => askToRelease(tx, asked, by('ada')));
  const signed = await database.transaction((tx) => signRequest(tx, request, by('grace'), new Map()));
  await files.rounds(exchange);
  await incomingSteps(files.dependencies).goWoken(database.reader);
  return signed.done;
}

const instructionsOf = (id: string) =>
  files.rows(`SELECT state, held_reason FROM bank_instructions WHERE transfer_id = '${id}' ORDER BY attempt`);

/** A return that the bank has, and of which it tells a debit of another amount. */
async function debitedOtherwise(amountMinor: bigint) {
  const iban = 'GB33BUKB20201555555555';
  const id = await due(amountMinor, { debtor: { name: 'Grace Hopper', iban, accountNumber: null, bic: null } });
  await files.rounds(exchange);
  const payment = files.bank.payment(paymentReferenceOf(id));
  files.bank.say(statusOf(payment, 'ACSP'));
  await files.rounds(exchange);
  const told = { ...debitOf(payment), amountMinor: amountMinor + 50n };
  await say(told);
  expect(await stands(id)).toBe('due');
  return { id, payment, told };
}

const CONTRADICTED = 'a debit of it is a break';

test('a return at the bank whose debit is of another amount is held, and ends once, as paid, by people’s word', async () => {
  const { id, told } = await debitedOtherwise(1601n);
  const held = [{ state: 'released', held_reason: CONTRADICTED }];
  expect(await instructionsOf(id)).toEqual(held);
  for (const word of ['not-received', 'received', 'withdrawn'] as const) {
    await expect(release(word, id), word).rejects.toThrow('is at the bank');
  }
  // The statement tells the same again.
  files.bank.say(accountReport('camt.053', told));
  await files.rounds(exchange);
  expect(await instructionsOf(id)).toEqual(held);
  expect(await release('paid', id)).toBe(1);
  expect(await stands(id)).toBe('done');
  expect(await instructionsOf(id)).toEqual([{ state: 'completed', held_reason: null }]);
  const breaks = await files.rows(`SELECT 1 FROM reconciliation_breaks WHERE our_reference = '${id}'`);
  expect(breaks).toHaveLength(1);
});

test('… or as rejected: then its next attempt waits for people, and nothing is sent again while the debit stands', async () => {
  const { id } = await debitedOtherwise(1701n);
  expect(await release('rejected', id)).toBe(1);
  expect(await stands(id)).toBe('due');
  const next = { state: 'queued', held_reason: 'an earlier submission was booked' };
  expect(await instructionsOf(id)).toEqual([{ state: 'rejected', held_reason: null }, next]);
  await expect(release('not-received', id)).rejects.toThrow('it is paid');
});

test('… or by the debit of its amount, which the bank tells after all', async () => {
  const { id, payment } = await debitedOtherwise(1801n);
  await say({ ...debitOf(payment), key: nextKey() });
  expect(await stands(id)).toBe('done');
  expect(await instructionsOf(id)).toEqual([{ state: 'completed', held_reason: null }]);
});

const GRACE = { name: 'Grace Hopper', iban: 'GB33BUKB20201555555555', accountNumber: null, bic: null };
const NOT_KNOWN = 'the bank has booked a debit of its amount, and it is not known what for';

test('a return is held while a debit of its amount and of the bank’s charges is not known', async () => {
  const key = nextKey();
  await say({ ...creditOf(key, 2301n, 'unknown'), debtor: GRACE });
  expect(await debit(2351n, { chargesMinor: 50n })).toBe('unknown');
  const [{ id }] = await files.rows(`SELECT id FROM incoming_transfers WHERE service_provider_id = '${key}'`);
  await files.api.call('POST', `/incoming-transfers/${id}/return`, { workflow: { code: 'direct' } });
  await incomingSteps(files.dependencies).go(id);
  expect(await instructionsOf(id)).toEqual([{ state: 'queued', held_reason: NOT_KNOWN }]);
});

test.each([
  ['its amount', 2001n, {}],
  ['its amount and of the bank’s charges', 2002n, { chargesMinor: 50n }],
])(
  'a return that waits for its file is held by a debit of %s that is not known',
  async (_, amountMinor, charges: Said) => {
    const id = await due(amountMinor, { debtor: GRACE });
    expect(await instructionsOf(id)).toEqual([{ state: 'queued', held_reason: null }]);
    const { bank } = files.services;
    const settings = { ...bank.settings, files: 'per-window', windowSeconds: 3_600 } as const;
    const later = files.exchangeOf({ ...files.services, bank: { ...bank, settings } });
    const gross = amountMinor + (charges.chargesMinor ?? 0n);
    const told = { ...creditOf(nextKey(), gross, ''), direction: 'debit', ...charges } as const;
    files.bank.say(accountReport('camt.054', told));
    await files.loseLease();
    await files.rounds(later);
    await later.end();
    await files.loseLease();
    expect(await instructionsOf(id)).toEqual([{ state: 'queued', held_reason: NOT_KNOWN }]);
  },
);

test('a return that the bank undoes is money in once, whichever message tells it, and no break', async () => {
  const id = await due(2101n, { debtor: GRACE });
  await files.rounds(exchange);
  const payment = files.bank.payment(paymentReferenceOf(id));
  await say(debitOf(payment));
  expect(await stands(id)).toBe('done');
  const key = nextKey();
  const undone = { ...debitOf(payment), key, direction: 'credit', isReversal: true, debtor: OURS } as const;
  await say(undone);
  files.bank.say(accountReport('camt.053', undone));
  await files.rounds(exchange);
  const [told] = await files.rows(
    `SELECT kind, stated_by IS NOT NULL AS is_stated FROM bank_entries WHERE key = '${key}'`,
  );
  expect(told).toEqual({ kind: 'received', is_stated: true });
  expect(await files.rows(`SELECT kind FROM reconciliation_breaks WHERE our_reference = '${key}'`)).toEqual([]);
});

const OURS = { name: 'Clients Ltd', iban: null, accountNumber: '31926819', bic: null };

test('money that was told before its account was known keeps its payer’s id', async () => {
  const key = nextKey();
  const credit = { ...creditOf(key, 2201n, 'unknown'), paymentReference: 'RENT 2201' };
  await say(credit);
  await files.rows(
    `UPDATE bank_entries SET kind = 'unknown', outcome = 'waiting', payer_reference = NULL WHERE key = '${key}'`,
  );
  await files.rows(`DELETE FROM provider_callbacks WHERE provider_event_id = 'entry:${key}'`);
  files.bank.say(accountReport('camt.053', credit));
  await files.rounds(exchange);
  expect(await files.rows(`SELECT kind, payer_reference FROM bank_entries WHERE key = '${key}'`)).toEqual([
    { kind: 'received', payer_reference: 'RENT 2201' },
  ]);
});

test('money that came in at one of several pooled accounts, and names none of them, goes back by no file', async () => {
  const { database, configuration } = files.dependencies;
  const providers = configuration.providers.map((one) => {
    if (one.code !== FILES_BANK) return one;
    const others = one.offers.map((offer) => {
      const bank = offer.bank ?? null;
      const pooledAccount = bank?.pooledAccount ?? null;
      if (bank === null || pooledAccount === null) return offer;
      return { ...offer, bank: { ...bank, pooledAccount: { ...pooledAccount, accountNumber: '70872490' } } };
    });
    return { ...one, offers: [...one.offers, ...others] };
  });
  const { profile } = files.services.bank;
  const options = { database, configuration: { ...configuration, providers }, provider: FILES_BANK, profile };
  const dependencies = { ...files.dependencies, providers: new Map([[FILES_BANK, iso20022Provider(options)]]) };
  const debtor = { name: 'Grace Hopper', iban: 'GB33BUKB20201555555555', accountNumber: null, bic: null };
  const id = await due(1901n, { debtor, creditorIban: 'GB94BARC10201530093459' }, dependencies);
  expect(await instructionsOf(id)).toEqual([
    { state: 'queued', held_reason: 'it is not known at which account it came in' },
  ]);
  expect(await release('paid', id)).toBe(1);
  expect(await stands(id)).toBe('done');
});
