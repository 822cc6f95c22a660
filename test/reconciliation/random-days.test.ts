import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays } from '../../domain/common/time/dates.ts';
import type { Totals } from '../../domain/reconciliation/day-balance.ts';
import type { Json } from '../harness/api.ts';
import { writeBankFile, xmlOf } from '../harness/transfers/bank-files.ts';
import { type ReconciliationWorld, startReconciliationWorld } from '../harness/transfers/reconciliation-world.ts';
import { itemsOf, randomOf, type TruePayment, whole } from '../harness/transfers/statement-model.ts';
import {
  DAYS,
  FAULTS,
  type Position,
  positionOf,
  textOf,
  textOfExpected,
} from '../harness/transfers/statement-world.ts';

const SEED = Number(process.env.MODEL_SEED ?? 20_261_126);
const CURRENCIES = ['AUD', 'BRL', 'CAD', 'HKD', 'ILS', 'MXN', 'NZD', 'PLN', 'RON', 'SGD', 'THB', 'ZAR'];
/** The first resolves what it finds on the first day; the others are figures that the text of a file here lacks. */
const LEFT_OUT = ['has an entry a day later', 'has a batch of another number', 'has a batch of another total'];

let service: ReconciliationWorld;
let hand: postgres.Sql;

beforeAll(async () => {
  service = await startReconciliationWorld('random-days', (fetchStatement) => fetchStatement);
  hand = postgres(service.ownerUrl, { max: 1, onnotice: () => {} });
  // Rows without what they belong to.
  await hand`SET session_replication_role = replica`;
});

afterAll(async () => {
  await hand?.end();
  await service?.stop();
});

interface Accounts {
  readonly currency: string;
  readonly settlement: string;
  readonly account: string;
  readonly postings: Posting[];
}

interface Posting {
  readonly amountMinor: bigint;
  readonly ourAt: Date;
  readonly isCredit: boolean;
  readonly outgoing: string | null;
  readonly incoming: string | null;
}

/** As our books have it, at the times of its movements. */
async function book(accounts: Accounts, payment: TruePayment): Promise<void> {
  const { postings } = accounts;
  const movements = payment.movements.flatMap(({ isReversal, amountMinor, ourAt }) =>
    ourAt === null ? [] : [{ isReversal, amountMinor, ourAt }],
  );
  const undone = movements.filter(({ isReversal }) => isReversal);
  const last = new Date(Math.max(...movements.map(({ ourAt }) => ourAt.getTime())));
  const created = new Date(Math.min(...movements.map(({ ourAt }) => ourAt.getTime())) - 1_000);
  const isFailed = undone.length === 1 && undone[0]?.amountMinor === payment.amountMinor;
  if (payment.isIn) {
    const [forward] = movements;
    const id = await incoming(
      accounts,
      payment,
      forward?.ourAt ?? created,
      last,
      undone.length > 0 ? 'done' : 'none',
      null,
    );
    for (const movement of movements)
      postings.push({ ...movement, isCredit: !movement.isReversal, incoming: id, outgoing: null });
    return;
  }
  const { currency, account } = accounts;
  await hand`
    INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, returned, scope, scheme, currency, amount_minor,
      transfer_date, original_transfer_date, beneficiary_bank_account_id, authorization_status, compliance_check_status,
      transfer_date_status, balance_check_status, method, provider, service_provider_reference, created_at, updated_at,
      incoming_transfer_id)
    VALUES (${payment.reference}, ${randomUUID()}, ${randomUUID()}, ${account}, ${isFailed ? 'failed' : 'completed'},
      ${undone.length > 0 && !isFailed}, 'external', 'swift', ${currency}, ${payment.amountMinor.toString()}, current_date, current_date,
      ${randomUUID()}, 'fulfilled', 'fulfilled', 'fulfilled', 'fulfilled', 'built-in', 'sandbox-bank', ${payment.bankReference},
      ${created}, ${last}, ${undone.length > 0 && !isFailed ? randomUUID() : null})`;
  for (const movement of movements) {
    if (!movement.isReversal || isFailed) {
      postings.push({ ...movement, isCredit: movement.isReversal, outgoing: payment.reference, incoming: null });
    } else {
      const back = { ...payment, amountMinor: movement.amountMinor };
      const id = await incoming(accounts, back, movement.ourAt, movement.ourAt, 'none', payment.reference);
      postings.push({ ...movement, isCredit: true, incoming: id, outgoing: null });
    }
  }
}

async function incoming(
  { currency, account }: Accounts,
  payment: Pick<TruePayment, 'reference' | 'bankReference' | 'amountMinor'>,
  createdAt: Date,
  updatedAt: Date,
  sendBack: string,
  returnOf: string | null,
): Promise<string> {
  const id = randomUUID();
  const isReturn = returnOf !== null;
  await hand`
    INSERT INTO incoming_transfers (id, transaction_number, client_id, account_id, status, scope, scheme, currency, amount_minor,
      transfer_date, provider, method, service_provider_id, service_provider_reference, send_back_status, return_of, return_reference,
      created_at, updated_at)
    VALUES (${id}, ${randomUUID()}, ${randomUUID()}, ${account}, 'completed', 'external', 'swift', ${currency},
      ${payment.amountMinor.toString()}, current_date, 'sandbox-bank', 'built-in', ${isReturn ? null : payment.reference},
      ${isReturn ? null : payment.bankReference}, ${sendBack}::send_back_status, ${returnOf}, ${isReturn ? id : null}, ${createdAt}, ${updatedAt})`;
  return id;
}

async function post(
  { currency, settlement, account }: Accounts,
  { amountMinor, ourAt, isCredit, outgoing, incoming: arrived }: Posting,
  version: number,
): Promise<void> {
  const [debit, credit] = isCredit ? [settlement, account] : [account, settlement];
  const type = outgoing === null ? 'incoming-transfer' : 'outgoing-transfer';
  await hand`
    INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, debit_version, debit_balance_after_minor,
      credit_version, credit_balance_after_minor, outgoing_transfer_id, incoming_transfer_id, currency, debit_transaction_number,
      credit_transaction_number, debit_transaction_type, credit_transaction_type, entry_type)
    VALUES (${ourAt}, ${debit}, ${credit}, ${amountMinor.toString()}, ${isCredit ? null : version}, ${isCredit ? null : 0},
      ${isCredit ? version : null}, ${isCredit ? 0 : null}, ${outgoing}, ${arrived}, ${currency}, 'n', 'n',
      ${type}::transaction_type, ${type}::transaction_type, 'principal')`;
}

async function booksOf(currency: string, { world }: Position): Promise<void> {
  const accounts: Accounts = { currency, settlement: randomUUID(), account: randomUUID(), postings: [] };
  const { settlement, postings } = accounts;
  await hand`INSERT INTO system_accounts (id, provider, currency, kind) VALUES (${settlement}, 'sandbox-bank', ${currency}, 'settlement')`;
  for (const payment of world.payments) await book(accounts, payment);
  // The ledger's ids follow the time.
  const inTime = postings.sort((one, other) => one.ourAt.getTime() - other.ourAt.getTime());
  for (const [version, posting] of inTime.entries()) await post(accounts, posting, version + 1);
}

const totalsIn = ({ creditCount, creditAmount, debitCount, debitAmount }: Json): Totals => {
  const minor = (amount: number) => BigInt(Math.round(amount * 100));
  return {
    creditCount: BigInt(creditCount),
    creditMinor: minor(creditAmount),
    debitCount: BigInt(debitCount),
    debitMinor: minor(debitAmount),
  };
};

const listed = (path: string, currency: string, more = '') =>
  service.listed(
    path,
    `&data.${path === 'reconciliations' ? 'reconciliation' : 'reconciliationBreak'}.currency=${currency}${more}`,
  );

/** Each day's statement less our books is what its breaks say. */
async function requireClosed(currency: string): Promise<void> {
  const breaks = await listed('reconciliation-breaks', currency);
  for (const { date, statement, ledger } of await listed('reconciliations', currency)) {
    const ofDay = breaks.filter((one) => one.date === date).map(({ difference }) => totalsIn(difference));
    const [theirs, ours] = [totalsIn(statement), totalsIn(ledger)];
    for (const key of ['creditCount', 'creditMinor', 'debitCount', 'debitMinor'] as const) {
      expect(theirs[key] - ours[key], `${currency} ${date} ${key}`).toBe(
        ofDay.reduce((sum, one) => sum + one[key], 0n),
      );
    }
  }
}

async function openBreaks(currency: string): Promise<string[]> {
  const open = await listed('reconciliation-breaks', currency, '&data.reconciliationBreak.status=open');
  return open
    .map(({ date, reference, difference }) =>
      textOf(reference.startsWith('statement-') ? null : date, reference, totalsIn(difference)),
    )
    .sort();
}

test(`${CURRENCIES.length * DAYS.length} random days by file: each fault is an open break, a true day has none, and the sums close`, async () => {
  const random = randomOf(SEED);
  const names = Object.keys(FAULTS).filter((name) => !LEFT_OUT.includes(name));
  for (const [round, currency] of CURRENCIES.entries()) {
    const faults = Array.from({ length: round % 3 }, () => names[whole(random, names.length)] ?? '');
    const position = positionOf(random, { currency, decimals: 2 }, faults);
    await booksOf(currency, position);
    const compare = async () => {
      for (const [at, rendered] of position.rendered.entries()) {
        const stated: string[] = [];
        let entries = 0;
        for (const [index, one] of (position.world.isOneFile ? position.rendered : [rendered]).entries()) {
          stated.push(xmlOf(itemsOf(one, index + 1, entries + 1)));
          entries += one.entries.length;
        }
        service.moveTo(`${addDays(DAYS[at] ?? '', 2)}T06:00:00Z`);
        const file = writeBankFile(service.directory, ...stated);
        await service.operate(['sandbox-bank', rendered.day, '--camt-053', file], () => {});
      }
    };
    const wanted = position.expected.map((one) => textOfExpected(position, one)).sort();
    await compare();
    expect(await openBreaks(currency), `seed ${SEED}, ${currency}: ${position.applied.join(' and ')}`).toEqual(wanted);
    await requireClosed(currency);
    const rows = (await listed('reconciliation-breaks', currency)).map(({ id }) => id);
    await compare();
    expect(await openBreaks(currency), `${currency} again`).toEqual(wanted);
    await requireClosed(currency);
    const again = (await listed('reconciliation-breaks', currency)).map(({ id }) => id);
    expect(again).toEqual(expect.arrayContaining(rows));
  }
});
