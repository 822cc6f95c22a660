import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { lockAccounts, post } from '../../db/ledger/ledger.ts';
import { type AccountId, asId } from '../../domain/common/ids.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createEntries } from '../harness/parties/entries.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';
import { readCamt053 } from '../tools/camt053.ts';

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let hand: postgres.Sql;
let clientId: string;

beforeAll(async () => {
  database = await createTestDatabase('statement-exports');
  api = await startApi(database, { applicationName: 'statement-exports' });
  world = moneyWorld(api);
  hand = postgres(database.ownerUrl, { max: 3, onnotice: () => {} });
  clientId = await world.client();
});

afterAll(async () => {
  await hand?.end();
  await api?.stop();
  await database?.drop();
});

const FROM = 'data.accountStatement.entryDateTimeFrom';
const TO = 'data.accountStatement.entryDateTimeTo';
const LONG_AGO = `${FROM}=2000-01-01T00:00:00.000&${TO}=2999-01-01T00:00:00.000`;

const pathOf = (accountId: string, query: string) => `/accounts/${accountId}/account-statements/export?${query}`;

async function exported(accountId: string, query: string): Promise<string> {
  const { status, text } = await api.call('GET', pathOf(accountId, query), undefined, { as: 'viewer' });
  expect(status, text).toBe(200);
  return text;
}

/** An entry at a time of our choice; a negative amount leaves the account. */
async function enter(
  accountId: string,
  amountMinor: bigint,
  at: Date,
  narrative: string | null = null,
  currency = 'GBP',
) {
  const account = asId<AccountId>(accountId);
  const outside = { provider: 'custom-bank', kind: 'settlement' } as const;
  const type = amountMinor > 0n ? 'incoming-transfer' : 'outgoing-transfer';
  await api.database.transaction(async (tx) => {
    await lockAccounts(tx, [account]);
    await post(tx, {
      now: at,
      debit: amountMinor > 0n ? outside : account,
      credit: amountMinor > 0n ? account : outside,
      amountMinor: amountMinor > 0n ? amountMinor : -amountMinor,
      currency,
      debitNumber: '20260101-AAAAAA',
      debitType: type,
      entryType: 'principal',
      ...(narrative === null ? {} : { narrative }),
    });
  });
}

/** CSV as another program reads it: Postgres's COPY. */
async function readCsv(text: string): Promise<Json[]> {
  const [header = ''] = text.split('\r\n');
  const columns = header.split(',').map((name) => `"${name}" text`);
  const table = `read_${randomUUID().replaceAll('-', '')}`;
  await hand.unsafe(`CREATE TABLE ${table} (${columns.join(', ')})`);
  const copy = await hand.unsafe(`COPY ${table} FROM STDIN (FORMAT csv, HEADER match)`).writable();
  await pipeline([text], copy);
  return hand.unsafe(`SELECT * FROM ${table}`);
}

/** What a reader of statements that is not ours finds; it must agree with the published schema. */
async function readXml(text: string) {
  const directory = mkdtempSync(join(tmpdir(), 'financial-accounts-camt-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, 'statement.xml'), text);
  const read = await readCamt053(join(directory, 'statement.xml'));
  if (read === null) {
    if (process.env.CI) throw new Error('no Python 3.10 or later with venv found to read statements with');
    return null;
  }
  expect(read.problems).toEqual([]);
  expect(read.statements).toHaveLength(1);
  return { statement: read.statements[0] ?? {}, transactions: read.transactions };
}

const NASTY = [
  '=HYPERLINK("http://evil.example","pay, now")',
  'rent;=1+1',
  'two parts, "quoted"',
  `</Ustrd><Amt>1</Amt> & <b> ]]> ${'ä'.repeat(150)} 😀`,
];

describe('GET /accounts/{accountId}/account-statements/export', () => {
  test('CSV has the fields of the specification, and what other programs read equals the statement', async () => {
    const accountId = await world.account(clientId);
    for (const narrative of [null, ...NASTY]) await enter(accountId, 10_050n, new Date(), narrative);
    await enter(accountId, -300n, new Date(), 'out');
    const answer = await api.call('GET', pathOf(accountId, 'format=csv'));
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="\d{12}_\d{4}-\d\d-01_[\d-]{10}\.csv"$/,
    );
    expect(answer.text.split('\r\n')[0]).toBe(
      'accountId,transactionNumber,entryDateTime,direction,amount,transactionType,entryType,balance,currency,narrative',
    );
    const [first, ...others] = await readCsv(answer.text);
    const entries = await world.statement(accountId);
    expect(first).toMatchObject({ direction: 'credit', amount: '100.50', balance: '100.50', narrative: null });
    const plain = ({ amount, balance, narrative, ...same }: Json) => ({
      ...same,
      amount: Number(amount),
      balance: Number(balance),
      narrative: narrative?.replace(/^'|(?<=;)'/g, '') ?? null,
    });
    expect([first, ...others].map(plain)).toEqual(entries);
    expect(others.map(({ narrative }) => narrative).slice(0, 2)).toEqual([`'${NASTY[0]}`, "rent;'=1+1"]);
    expect(others.at(-1)).toMatchObject({ direction: 'debit', amount: '3.00', balance: '499.50' });
  });

  test.each([
    ['JPY', 1_050n, '1050'],
    ['BHD', 1_050n, '1.050'],
  ])('amounts have the decimals of %s', async (currency, amountMinor, shown) => {
    const accountId = await world.account(clientId, { currency });
    await enter(accountId, amountMinor, new Date(), null, currency);
    expect(await readCsv(await exported(accountId, 'format=csv'))).toMatchObject([{ amount: shown, balance: shown }]);
    const read = await readXml(await exported(accountId, 'format=camt.053'));
    expect(read?.transactions ?? [{ Amount: shown }]).toMatchObject([{ Amount: shown }]);
  });

  test('camt.053 agrees with the published schema, and its sums, read by others, with the statement', async () => {
    const accountId = await world.account(clientId);
    await enter(accountId, 100_000n, new Date('2026-01-31T23:59:59.999Z'));
    for (const narrative of [null, ...NASTY])
      await enter(accountId, 10_050n, new Date('2026-02-10T10:00:00.123Z'), narrative);
    await enter(accountId, -300n, new Date('2026-02-28T23:59:59.999Z'), 'out');
    await enter(accountId, 1n, new Date('2026-03-01T00:00:00.000Z'));
    const february = `${FROM}=2026-02-01T00:00:00.000`;
    const answer = await api.call('GET', pathOf(accountId, `format=camt.053&${february}`));
    expect(answer.headers.get('content-type')).toBe('application/xml');
    const read = await readXml(answer.text);
    const again = await exported(accountId, `format=camt.053&${february}`);
    const idOf = (text: string) => /<Stmt><Id>(\w{32})<\/Id>/.exec(text)?.[1] ?? '';
    expect(idOf(again)).toBe(idOf(answer.text));
    expect(answer.text).toContain(
      '<FrToDt><FrDtTm>2026-02-01T00:00:00.000Z</FrDtTm><ToDtTm>2026-02-28T23:59:59.999Z</ToDtTm></FrToDt>',
    );
    expect(answer.text).toContain(
      '<TtlNtries><NbOfNtries>6</NbOfNtries><TtlNetNtry><Amt>499.50</Amt><CdtDbtInd>CRDT</CdtDbtInd></TtlNetNtry></TtlNtries>',
    );
    if (read === null) return;
    const { statement, transactions } = read;
    expect(statement).toMatchObject({ Currency: 'GBP', OpeningBalance: '1000.00', ClosingBalance: '1499.50' });
    const entries = await api.call(
      'GET',
      `/accounts/${accountId}/account-statements?${february}&metadata.page.size=100`,
    );
    const signed = transactions.map((entry) => Number(entry.Amount) * (entry.CreditDebitIndicator === 'DBIT' ? -1 : 1));
    expect(signed).toEqual(
      entries.body.data.accountStatements.map(
        ({ amount, direction }: Json) => amount * (direction === 'debit' ? -1 : 1),
      ),
    );
    expect(signed.reduce((sum, amount) => sum + amount, 1_000)).toBeCloseTo(1_499.5, 6);
    expect(transactions[0]).toMatchObject({
      TransactionID: '20260101-AAAAAA',
      Status: 'BOOK',
      BookingDate: '2026-02-10T10:00:00.123Z',
      BankTransactionCode: 'PMNT',
      TransactionFamilyCode: 'RCDT',
      TransactionSubFamilyCode: 'OTHR',
      AdditionalEntryInformation: 'principal',
    });
    const words = transactions.map(({ RemittanceInformationFull }) => RemittanceInformationFull);
    expect(words.slice(1, 4)).toEqual(NASTY.slice(0, 3));
    expect(words[4]?.replaceAll(' ', '')).toBe(NASTY[3]?.replaceAll(' ', ''));
  });

  test('the account is named by its IBAN where it has one, else by its ledger number', async () => {
    const accountId = await world.account(clientId);
    const { body } = await api.call('GET', `/accounts/${accountId}`);
    expect(await exported(accountId, `format=camt.053&${LONG_AGO}`)).toContain(
      `<Acct><Id><Othr><Id>${body.data.account.ledgerNumber}</Id></Othr></Id><Ccy>GBP</Ccy>`,
    );
    await hand`UPDATE accounts SET iban = 'GB33BUKB20201555555555' WHERE id = ${accountId}`;
    const text = await exported(accountId, `format=camt.053&${LONG_AGO}`);
    const read = await readXml(text);
    expect(read?.statement.IBAN ?? 'GB33BUKB20201555555555').toBe('GB33BUKB20201555555555');
    expect(text).toContain('<Acct><Id><IBAN>GB33BUKB20201555555555</IBAN></Id>');
  });

  test('an empty range is a whole file: no entries, the same balance before and after', async () => {
    const accountId = await world.account(clientId, { amount: 5 });
    const january = `${FROM}=2026-01-01T00:00:00.000`;
    expect((await exported(accountId, `format=csv&${january}`)).split('\r\n')).toHaveLength(2);
    const text = await exported(accountId, `format=camt.053&${january}`);
    expect(text.match(/<Amt Ccy="GBP">0\.00<\/Amt><CdtDbtInd>CRDT/g)).toHaveLength(2);
    await readXml(text);
  });

  test('a file of many pages holds what was there when it was asked for, whatever is posted meanwhile', async () => {
    const accountId = await world.account(clientId);
    const count = 20_000;
    await createEntries(hand, accountId, count);
    const headers = { authorization: `Bearer ${api.users.viewer.token}` };
    const answer = await fetch(`${api.url}${pathOf(accountId, `format=camt.053&${LONG_AGO}`)}`, { headers });
    const reader = (answer.body ?? new ReadableStream()).getReader();
    const decoder = new TextDecoder();
    let text = decoder.decode((await reader.read()).value, { stream: true });
    for (let more = 0; more < 5; more += 1) await enter(accountId, 7n, new Date());
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += decoder.decode(part.value, { stream: true });
    }
    const references = [...text.matchAll(/<NtryRef>(\d+)<\/NtryRef>/g)].map(([, reference]) => Number(reference));
    expect(references).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    const balances = [...text.matchAll(/<Amt Ccy="GBP">([\d.]+)<\/Amt><CdtDbtInd>CRDT<\/CdtDbtInd><Dt>/g)];
    expect(balances.map(([, balance]) => balance)).toEqual(['0.00', (count / 100).toFixed(2)]);
    expect(text.endsWith('</Document>\n')).toBe(true);
  });

  test('one file begins where the one before ends: each entry is in exactly one, also one that is being posted', async () => {
    const accountId = await world.account(clientId);
    await enter(accountId, 100n, new Date());
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let lock = () => {};
    const locked = new Promise<void>((resolve) => {
      lock = resolve;
    });
    const posting = api.database.transaction(async (tx) => {
      const account = asId<AccountId>(accountId);
      await lockAccounts(tx, [account]);
      const [row] = await tx.statement<{ now: Date }>('SELECT service_now() AS now', []);
      const shared = {
        debitNumber: '20260101-AAAAAA',
        debitType: 'incoming-transfer',
        entryType: 'principal',
      } as const;
      const debit = { provider: 'custom-bank', kind: 'settlement' } as const;
      await post(tx, {
        now: row?.now ?? new Date(),
        debit,
        credit: account,
        amountMinor: 20n,
        currency: 'GBP',
        ...shared,
      });
      lock();
      await released;
    });
    await locked;
    const asked = exported(accountId, 'format=camt.053');
    await until(
      () =>
        hand`SELECT FROM pg_stat_activity WHERE application_name = 'statement-exports' AND wait_event_type = 'Lock'`,
      (waiting) => waiting.length === 1,
    );
    release();
    await posting;
    const first = await asked;
    await enter(accountId, 3n, new Date());
    const end = /<ToDtTm>(.*?)Z<\/ToDtTm>/.exec(first)?.[1] ?? '';
    const next = new Date(new Date(`${end}Z`).getTime() + 1).toISOString().slice(0, 23);
    const second = await exported(accountId, `format=camt.053&${FROM}=${next}`);
    const entries = (text: string) => [...text.matchAll(/<NtryRef>(\d+)</g)].map(([, reference]) => reference);
    expect([entries(first), entries(second)]).toEqual([['1', '2'], ['3']]);
    expect(first).toContain('<Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="GBP">1.20</Amt>');
    expect(second).toContain('<Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="GBP">1.20</Amt>');
  });

  test('rejects what it cannot export: no or another format, the future, no such account', async () => {
    const accountId = await world.account(clientId);
    const rejected = async (query: string, id = accountId) => {
      const { status, body } = await api.call('GET', pathOf(id, query));
      return [status, body.code, body.messageParameters[1]];
    };
    expect(await rejected('')).toEqual([400, 'common.validation.field_required', 'format']);
    expect(await rejected('format=pdf')).toEqual([400, 'common.validation.field_invalid', 'format']);
    expect(await rejected(`format=csv&${FROM}=2999-01-01T00:00:00`)).toEqual([
      400,
      'common.validation.field_invalid',
      'entryDateTimeFrom',
    ]);
    expect((await rejected('format=csv', randomUUID()))[0]).toBe(404);
  });
});
