import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Exchange } from '../../../activities/bank-files/exchange/round.ts';
import { iso20022Provider } from '../../../activities/providers/iso20022/iso20022.ts';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import type { Provider } from '../../../domain/providers/providers.ts';
import { FILES_BANK, type FilesWorld, filesWorld } from '../../harness/bank-files/files-world.ts';
import { GRACE, type ReturnedMoney, returnedMoney, type Said } from '../../harness/bank-files/returned-money.ts';
import { creditOf, debitOf } from '../../harness/bank-files/scripted-bank.ts';
import { incomingSteps } from '../../harness/transfers/payment-steps.ts';

// A bank where clients' accounts share several accounts of one currency: money goes back from the one that it came to.

const [FIRST, SECOND] = ['31926819', '70872490'];
/** Not ours: a number that leads to one of our accounts, and says not to which. */
const VIRTUAL = 'GB94BARC10201530093459';

let files: FilesWorld;
let exchange: Exchange;
let money: ReturnedMoney;
let dependencies: FilesWorld['dependencies'];

beforeAll(async () => {
  files = await filesWorld('several-accounts');
  const { database, configuration } = files.dependencies;
  const { profile } = files.services.bank;
  const providers = configuration.providers.map(withSecond);
  const several = { ...files.services.configuration, providers };
  const adapter = iso20022Provider({ database, configuration: several, provider: FILES_BANK, profile });
  exchange = files.exchangeOf({ ...files.services, configuration: several });
  dependencies = { ...files.dependencies, providers: new Map([[FILES_BANK, adapter]]) };
  money = returnedMoney(files, exchange, dependencies);
});

afterAll(async () => {
  await files?.world.invariantsHold();
  await exchange?.end();
  await files?.close();
});

function withSecond(provider: Provider): Provider {
  if (provider.code !== FILES_BANK) return provider;
  const others = provider.offers.flatMap((offer) => {
    const bank = offer.bank ?? null;
    const pooledAccount = bank?.pooledAccount ?? null;
    if (bank === null || pooledAccount === null) return [offer];
    const second = { ...bank, pooledAccount: { ...pooledAccount, accountNumber: SECOND } };
    // The same account, as another scheme needs it.
    const abroad = { ...second, routingCodes: { ...bank.routingCodes, bic: 'FILEGB2L' } };
    return [
      { ...offer, bank: second },
      { ...offer, bank: abroad },
    ];
  });
  return { ...provider, offers: [...provider.offers, ...others] };
}

test.each<[string, bigint, Said]>([
  [FIRST, 1001n, { creditorIban: VIRTUAL }],
  [SECOND, 1002n, { creditorIban: VIRTUAL }],
  ['601613 70872490', 1004n, { creditorIban: VIRTUAL }],
])(
  'money that the bank has booked in %s goes back from it, whatever its payer has named',
  async (account, amountMinor, named) => {
    const id = await money.due(amountMinor, { account, debtor: GRACE, ...named });
    expect(await money.instructionsOf(id)).toEqual([{ state: 'queued', held_reason: null }]);
    await files.rounds(exchange);
    const payment = files.bank.payment(paymentReferenceOf(id));
    expect(account.endsWith(payment.file.account)).toBe(true);
    await money.say({ ...debitOf(payment), account });
    expect(await money.stands(id)).toBe('done');
  },
);

const UNCLEAR = 'it is not known at which account it came in';

test.each<[string, bigint, string]>([
  ['of before its account was stored', 1101n, 'NULL'],
  ['in an account that is none of ours any more', 1102n, "'99999999'"],
])('money %s, and which names none of them, goes back by no file until people say', async (_, amountMinor, stored) => {
  const key = money.nextKey();
  await money.say({ ...creditOf(key, amountMinor, 'unknown'), debtor: GRACE, creditorIban: VIRTUAL });
  await files.rows(`UPDATE bank_entries SET account = ${stored} WHERE key = '${key}'`);
  const id = await money.sendBack(key);
  expect(await money.instructionsOf(id)).toEqual([{ state: 'queued', held_reason: UNCLEAR }]);
  expect(await money.release('paid', id)).toBe(1);
  expect(await money.stands(id)).toBe('done');
});

test('money of before its account was stored, whose payer has named one of ours, goes back from that one', async () => {
  const key = money.nextKey();
  await money.say({ ...creditOf(key, 1201n, 'unknown'), debtor: GRACE, account: SECOND });
  await files.rows(`UPDATE bank_entries SET account = NULL WHERE key = '${key}'`);
  const id = await money.sendBack(key);
  await files.rounds(exchange);
  expect(files.bank.payment(paymentReferenceOf(id)).file.account).toContain(SECOND);
});

/** Money whose event is stored, and its entry not: a person returns it. */
async function withoutEntry(amountMinor: bigint) {
  const key = money.nextKey();
  await money.say({ ...creditOf(key, amountMinor, 'unknown'), debtor: GRACE, creditorIban: VIRTUAL });
  const [{ id }] = await files.rows(`SELECT id FROM incoming_transfers WHERE service_provider_id = '${key}'`);
  const answer = await files.api.call('POST', `/incoming-transfers/${id}/return`, { workflow: { code: 'direct' } });
  expect(answer.status, answer.text).toBe(200);
  await files.rows(`UPDATE bank_entries SET key = 'later ' || key WHERE key = '${key}'`);
  return { id, key };
}

test('while its credit is not stored yet, nothing is decided of it', async () => {
  const { id, key } = await withoutEntry(1301n);
  const [{ id: file }] = await files.rows(`SELECT file_id AS id FROM bank_entries WHERE key = 'later ${key}'`);
  await files.rows(`UPDATE bank_files SET state = 'fetched' WHERE id = '${file}'`);
  await expect(incomingSteps(dependencies).go(id)).rejects.toThrow('its credit is not stored yet');
  expect(await money.instructionsOf(id)).toEqual([]);
  await files.rows(`UPDATE bank_files SET state = 'taken' WHERE id = '${file}'`);
  await files.rows(`UPDATE bank_entries SET key = '${key}' WHERE key = 'later ${key}'`);
  await incomingSteps(dependencies).go(id);
  expect(await money.instructionsOf(id)).toEqual([{ state: 'queued', held_reason: null }]);
});

test('a credit that no file is left to tell keeps nothing waiting: people say', async () => {
  const { id } = await withoutEntry(1302n);
  await incomingSteps(dependencies).go(id);
  expect(await money.instructionsOf(id)).toEqual([{ state: 'queued', held_reason: UNCLEAR }]);
});
