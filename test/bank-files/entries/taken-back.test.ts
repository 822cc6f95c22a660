import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Exchange } from '../../../activities/bank-files/exchange/round.ts';
import type { BookedEntry } from '../../../domain/bank-files/messages.ts';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import type { Json } from '../../harness/api.ts';
import { type FilesWorld, filesWorld } from '../../harness/bank-files/files-world.ts';
import { GRACE, type ReturnedMoney, returnedMoney, type Said } from '../../harness/bank-files/returned-money.ts';
import { accountReport, creditOf, debitOf, statusOf } from '../../harness/bank-files/scripted-bank.ts';
import { incomingSteps } from '../../harness/transfers/payment-steps.ts';

// Debits of money in that goes back: what they name must be the money, or a person finds out, who always has a way out.

let files: FilesWorld;
let exchange: Exchange;
let account: Json;
let money: ReturnedMoney;

beforeAll(async () => {
  files = await filesWorld('taken-back');
  exchange = files.exchange();
  money = returnedMoney(files, exchange);
  account = await files.account(0);
});

afterAll(async () => {
  await files?.world.invariantsHold();
  await exchange?.end();
  await files?.close();
});

/** Money that a client has. */
async function credited(amountMinor: bigint, changed: Said): Promise<void> {
  await money.say({ ...creditOf(money.nextKey(), amountMinor, account.ledgerNumber), ...changed });
}

const RETURN = { returnReason: 'MS03' };

test.each<[string, bigint, Said]>([
  ['the bank’s own reference of it', 1001n, { references: ['AS 1001'] }],
  ['its payer’s id with the bank’s return information', 1002n, { paymentReference: 'RENT 1002', ...RETURN }],
])('a debit that names %s ends the return', async (_, amountMinor, named) => {
  const id = await money.due(amountMinor, {
    bankReference: `AS ${amountMinor}`,
    paymentReference: `RENT ${amountMinor}`,
  });
  expect(await money.debit(amountMinor, named)).toBe('payment');
  expect(await money.stands(id)).toBe('done');
});

test.each<[string, bigint, Said]>([
  ['its payer’s id, and is no return', 1101n, { paymentReference: 'RENT 1101' }],
  ['its payer’s id, and undoes a booking', 1102n, { paymentReference: 'RENT 1102', isReversal: true }],
])('a debit that names only %s, books nothing', async (_, amountMinor, named) => {
  const id = await money.due(amountMinor, {
    bankReference: `AS ${amountMinor}`,
    paymentReference: `RENT ${amountMinor}`,
  });
  expect(await money.debit(amountMinor, named)).toBe('unknown');
  expect(await money.stands(id)).toBe('due');
});

test('of two payments of an amount with one id of their payer, the one that a client has is not taken for the other', async () => {
  await credited(1201n, { bankReference: 'AS first', paymentReference: 'RENT 1201' });
  const id = await money.due(1201n, { bankReference: 'AS second', paymentReference: 'RENT 1201' });
  expect(await money.debit(1201n, { paymentReference: 'RENT 1201', ...RETURN })).toBe('unknown');
  expect(await money.debit(1201n, { paymentReference: 'RENT 1201', references: ['AS first'], ...RETURN })).toBe(
    'unknown',
  );
  expect(await money.stands(id)).toBe('due');
  // Its own reference tells it from the other.
  expect(await money.debit(1201n, { paymentReference: 'RENT 1201', references: ['AS second'], ...RETURN })).toBe(
    'payment',
  );
  expect(await money.stands(id)).toBe('done');
});

test('a debit that names the bank’s reference of another payment is not of this one, whatever else it names', async () => {
  await credited(1301n, { bankReference: 'AS other' });
  const id = await money.due(1302n, { bankReference: 'AS this', paymentReference: 'RENT 1302' });
  expect(await money.debit(1302n, { paymentReference: 'RENT 1302', references: ['AS other'], ...RETURN })).toBe(
    'unknown',
  );
  expect(await money.debit(1302n, { references: ['AS this', 'AS other'], ...RETURN })).toBe('unknown');
  expect(await money.stands(id)).toBe('due');
});

test('a reference that the bank has given to two payments names neither', async () => {
  await credited(1401n, { bankReference: 'AS twice' });
  const id = await money.due(1402n, { bankReference: 'AS twice' });
  expect(await money.debit(1402n, { references: ['AS twice'] })).toBe('unknown');
  expect(await money.stands(id)).toBe('due');
});

test('what one file tells of money that comes in is known before its debits are looked at', async () => {
  const id = await money.due(1501n, { paymentReference: 'RENT 1501' });
  const key = money.nextKey();
  const other = { ...creditOf(money.nextKey(), 1501n, account.ledgerNumber), paymentReference: 'RENT 1501' };
  const back = { ...creditOf(key, 1501n, ''), direction: 'debit', paymentReference: 'RENT 1501', ...RETURN } as const;
  await money.say(back, other);
  expect(await files.rows(`SELECT kind FROM bank_entries WHERE key = '${key}'`)).toEqual([{ kind: 'unknown' }]);
  expect(await money.stands(id)).toBe('due');
});

/** A return that the bank has, and of which it tells a debit of another amount. */
async function debitedOtherwise(amountMinor: bigint) {
  const id = await money.due(amountMinor, { debtor: GRACE });
  await files.rounds(exchange);
  const payment = files.bank.payment(paymentReferenceOf(id));
  files.bank.say(statusOf(payment, 'ACSP'));
  await files.rounds(exchange);
  const told = { ...debitOf(payment), amountMinor: amountMinor + 50n };
  await money.say(told);
  expect(await money.stands(id)).toBe('due');
  return { id, payment, told };
}

const CONTRADICTED = 'a debit of it is a break';

test('a return at the bank whose debit is of another amount is held, and ends once, as paid, by people’s word', async () => {
  const { id, told } = await debitedOtherwise(1601n);
  const held = [{ state: 'released', held_reason: CONTRADICTED }];
  expect(await money.instructionsOf(id)).toEqual(held);
  for (const word of ['not-received', 'received', 'withdrawn'] as const) {
    await expect(money.release(word, id), word).rejects.toThrow('is at the bank');
  }
  // The statement tells the same again.
  files.bank.say(accountReport('camt.053', told));
  await files.rounds(exchange);
  expect(await money.instructionsOf(id)).toEqual(held);
  expect(await money.release('paid', id)).toBe(1);
  expect(await money.stands(id)).toBe('done');
  expect(await money.instructionsOf(id)).toEqual([{ state: 'completed', held_reason: null }]);
  const breaks = await files.rows(`SELECT 1 FROM reconciliation_breaks WHERE our_reference = '${id}'`);
  expect(breaks).toHaveLength(1);
});

test('… or as rejected: then its next attempt waits for people, and nothing is sent again while the debit stands', async () => {
  const { id } = await debitedOtherwise(1701n);
  expect(await money.release('rejected', id)).toBe(1);
  expect(await money.stands(id)).toBe('due');
  const next = { state: 'queued', held_reason: 'an earlier submission was booked' };
  expect(await money.instructionsOf(id)).toEqual([{ state: 'rejected', held_reason: null }, next]);
  await expect(money.release('not-received', id)).rejects.toThrow('it is paid');
});

test('… or by the debit of its amount, which the bank tells after all', async () => {
  const { id, payment } = await debitedOtherwise(1801n);
  await money.say({ ...debitOf(payment), key: money.nextKey() });
  expect(await money.stands(id)).toBe('done');
  expect(await money.instructionsOf(id)).toEqual([{ state: 'completed', held_reason: null }]);
});

const entriesOf = (id: string) =>
  files.rows(`SELECT kind, outcome FROM bank_entries WHERE transfer_id = '${id}' ORDER BY key`);

/** A return by file that the bank rejects, while it has returned the money by itself. `before`: what it has told besides. */
async function takenBackUnderWay(amountMinor: bigint, before: readonly Said[] = []) {
  const id = await money.due(amountMinor, { bankReference: `AS ${amountMinor}`, debtor: GRACE });
  await files.rounds(exchange);
  const payment = files.bank.payment(paymentReferenceOf(id));
  const own: BookedEntry = {
    ...creditOf(`own debit ${amountMinor}`, amountMinor, ''),
    direction: 'debit',
    references: [`AS ${amountMinor}`],
  };
  for (const one of [own, ...before.map((changed) => ({ ...own, ...changed }))]) await money.say(one);
  expect(await money.stands(id)).toBe('due');
  files.bank.say(statusOf(payment, 'RJCT', 'AC04'));
  await files.rounds(exchange);
  await incomingSteps(files.dependencies).goWoken(files.api.database.reader);
  expect(await money.instructionsOf(id)).toEqual([
    { state: 'rejected', held_reason: null },
    { state: 'queued', held_reason: NOT_KNOWN },
  ]);
  return { id, payment, own };
}

const breaksOf = (id: string) =>
  files.rows(`SELECT kind FROM reconciliation_breaks WHERE our_reference = '${id}' OR our_reference LIKE 'own debit%'`);

test('the bank’s own debit that came while our file was under way is the one that people say has paid', async () => {
  const { id, payment, own } = await takenBackUnderWay(2401n);
  expect(await money.release('paid', id)).toBe(1);
  expect(await money.stands(id)).toBe('done');
  expect(await entriesOf(id)).toEqual([{ kind: 'payment', outcome: 'no-effect' }]);
  files.bank.say(accountReport('camt.053', own));
  await files.rounds(exchange);
  expect(await entriesOf(id)).toEqual([{ kind: 'payment', outcome: 'no-effect' }]);
  expect(await breaksOf(id)).toEqual([]);
  // If the file is carried out as well, it has gone back twice.
  await money.say(debitOf(payment));
  expect(await breaksOf(id)).toEqual([{ kind: 'callback-contradicts' }]);
});

test('of two debits that name the money, people’s word takes neither', async () => {
  const { id } = await takenBackUnderWay(2501n, [{ key: 'own debit again' }]);
  expect(await money.release('paid', id)).toBe(1);
  expect(await money.stands(id)).toBe('done');
  expect(await entriesOf(id)).toEqual([]);
});

test('… nor one whose reference the bank has given to other money since, even in a file that came before', async () => {
  const { id } = await takenBackUnderWay(2601n);
  await credited(2602n, { bankReference: 'AS 2601' });
  await files.rows(
    `UPDATE bank_entries SET file_id = (SELECT id FROM bank_files ORDER BY id LIMIT 1) WHERE amount_minor = 2602 RETURNING 1`,
  );
  expect(await money.release('paid', id)).toBe(1);
  expect(await entriesOf(id)).toEqual([]);
});

const NOT_KNOWN = 'the bank has booked a debit of its amount, and it is not known what for';

test('a return is held while a debit of its amount and of the bank’s charges is not known', async () => {
  const key = money.nextKey();
  await money.say({ ...creditOf(key, 2301n, 'unknown'), debtor: GRACE });
  expect(await money.debit(2351n, { chargesMinor: 50n })).toBe('unknown');
  const [{ id }] = await files.rows(`SELECT id FROM incoming_transfers WHERE service_provider_id = '${key}'`);
  await files.api.call('POST', `/incoming-transfers/${id}/return`, { workflow: { code: 'direct' } });
  await incomingSteps(files.dependencies).go(id);
  expect(await money.instructionsOf(id)).toEqual([{ state: 'queued', held_reason: NOT_KNOWN }]);
});

test.each([
  ['its amount', 2001n, {}],
  ['its amount and of the bank’s charges', 2002n, { chargesMinor: 50n }],
])(
  'a return that waits for its file is held by a debit of %s that is not known',
  async (_, amountMinor, charges: Said) => {
    const id = await money.due(amountMinor, { debtor: GRACE });
    expect(await money.instructionsOf(id)).toEqual([{ state: 'queued', held_reason: null }]);
    const { bank } = files.services;
    const settings = { ...bank.settings, files: 'per-window', windowSeconds: 3_600 } as const;
    const later = files.exchangeOf({ ...files.services, bank: { ...bank, settings } });
    const gross = amountMinor + (charges.chargesMinor ?? 0n);
    const told = { ...creditOf(money.nextKey(), gross, ''), direction: 'debit', ...charges } as const;
    files.bank.say(accountReport('camt.054', told));
    await files.loseLease();
    await files.rounds(later);
    await later.end();
    await files.loseLease();
    expect(await money.instructionsOf(id)).toEqual([{ state: 'queued', held_reason: NOT_KNOWN }]);
  },
);

test('a return that the bank undoes is money in once, whichever message tells it, and no break', async () => {
  const id = await money.due(2101n, { debtor: GRACE });
  await files.rounds(exchange);
  const payment = files.bank.payment(paymentReferenceOf(id));
  await money.say(debitOf(payment));
  expect(await money.stands(id)).toBe('done');
  const key = money.nextKey();
  const undone = { ...debitOf(payment), key, direction: 'credit', isReversal: true, debtor: OURS } as const;
  await money.say(undone);
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
  const key = money.nextKey();
  const credit = { ...creditOf(key, 2201n, 'unknown'), paymentReference: 'RENT 2201' };
  await money.say(credit);
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
