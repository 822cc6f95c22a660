import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { compareDay } from '../../activities/reconciliation/daily-reconciliation.ts';
import type { StatementSource } from '../../activities/reconciliation/statement-sources.ts';
import type { Database } from '../../db/query/database.ts';
import { addDays, dateInUtc, type LocalDate } from '../../domain/common/time/dates.ts';
import type { DaySums } from '../../domain/reconciliation/day-balance.ts';
import { REPEATED_BREAKS_MAX } from '../../domain/reconciliation/repeated-breaks.ts';
import type { Json } from '../harness/api.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { executeOn } from '../harness/servers/postgres.ts';
import { balanceXml, type FileEntry, statementXml, writeBankFile } from '../harness/transfers/bank-files.ts';
import { type ReconciliationWorld, startReconciliationWorld } from '../harness/transfers/reconciliation-world.ts';

let service: ReconciliationWorld;
let today: LocalDate;
let tomorrow: LocalDate;
let paidIn: string;
let paidOut: string;

beforeAll(async () => {
  service = await startReconciliationWorld('worst-nights', (fetchStatement) => fetchStatement);
  const { api, world } = service;
  today = dateInUtc(new Date());
  tomorrow = addDays(today, 1);
  const account = await builtInAccounts(api).opened(await world.client());
  paidIn = await service.paidIn(account, 1_000);
  paidOut = await service.paidOut(account, 250.5);
  await service.becomes(paidOut, ({ status }) => status === 'completed');
});

afterAll(async () => {
  await service?.stop();
});

afterEach(async () => {
  const tables = ['reconciliation_breaks', 'reconciliation_carry_overs', 'reconciliations'];
  for (const table of tables) await service.api.database.reader.statement(`DELETE FROM ${table}`, []);
});

function transaction(reference: string, more = ''): string {
  return `<TxDtls><Refs><EndToEndId>${reference}</EndToEndId></Refs>${more}</TxDtls>`;
}

const debit = (amount: string, reference: string, date = today): FileEntry => ({
  amount,
  direction: 'debit',
  date,
  details: transaction(reference),
});

const arrived = (): FileEntry => ({
  amount: '1000.00',
  direction: 'credit',
  date: today,
  more: `<AcctSvcrRef>${paidIn}</AcctSvcrRef>`,
});

/** The truth, as a file. */
const truth = () => [arrived(), debit('250.50', paidOut)];

/** An entry with a time. */
const at = (xml: string, time: string) => xml.replace(/<Dt>([\d-]+)<\/Dt>(?=<\/BookgDt>)/, `<DtTm>$1T${time}Z</DtTm>`);

interface Stored {
  readonly kind: string;
  readonly status: string;
  readonly effect: readonly string[];
}

const storedOf = (day: LocalDate) =>
  service.api.database.reader.statement<Stored>(
    `SELECT kind, status, ARRAY[credit_count, credit_minor, debit_count, debit_minor]::text[] AS effect FROM reconciliation_breaks
     WHERE currency = 'GBP' AND day = $1::date ORDER BY id`,
    [day],
  );

/** Compares a day with a file; its breaks, explained ones too, say all by which its sides differ. */
async function compare(day: LocalDate, ...statements: readonly string[]): Promise<Json> {
  const lines: string[] = [];
  service.moveTo(`${addDays(day, 2)}T06:00:00Z`);
  const file = writeBankFile(service.directory, ...statements);
  await service.operate(['sandbox-bank', day, '--camt-053', file, '--json'], (line) => lines.push(line));
  const answer: Json = JSON.parse(lines.at(-1) ?? 'null');
  if (answer.rejected !== undefined) return answer;
  const [compared] = answer.reconciliations;
  expect(await effectsOf(day)).toEqual(differenceOf(compared));
  return compared;
}

const minorOf = (amount: string) => Math.round(Number(amount) * 100);

function differenceOf({ statement, ledger }: Json): number[] {
  return [
    statement.creditCount - ledger.creditCount,
    minorOf(statement.creditAmount) - minorOf(ledger.creditAmount),
    statement.debitCount - ledger.debitCount,
    minorOf(statement.debitAmount) - minorOf(ledger.debitAmount),
  ];
}

async function effectsOf(day: LocalDate): Promise<number[]> {
  const stored = await storedOf(day);
  return [0, 1, 2, 3].map((place) => stored.reduce((sum, { effect }) => sum + Number(effect[place]), 0));
}

const shown = ({ openBreaks }: Json) =>
  openBreaks.map(({ kind, expected, actual }: Json) => `${kind} ${expected ?? '-'}/${actual ?? '-'}`).sort();

test.each<readonly [string, () => readonly FileEntry[], readonly string[]]>([
  [
    'an unknown debit and credit of one amount',
    () => [...truth(), debit('7.00', 'X'), { ...debit('7.00', 'X'), direction: 'credit' }],
    ['statement-unknown-payment -/7', 'statement-unknown-payment -/7'],
  ],
  [
    'a payment under an unknown reference',
    () => [arrived(), debit('250.50', 'X')],
    ['statement-payment-missing 250.5/-', 'statement-unknown-payment -/250.5'],
  ],
  [
    'a payment in two entries',
    () => [arrived(), debit('200.50', paidOut), debit('50.00', paidOut)],
    ['statement-amount-differs 250.5/200.5', 'statement-payment-doubled 250.5/250.5'],
  ],
  [
    'an entry of nothing whose transactions cancel each other',
    () => [
      ...truth(),
      {
        amount: '0.00',
        direction: 'debit',
        date: today,
        details:
          transaction('X', '<Amt Ccy="GBP">7.00</Amt>') +
          transaction('Y', '<Amt Ccy="GBP">7.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>'),
      },
    ],
    ['statement-unknown-payment -/7', 'statement-unknown-payment -/7'],
  ],
  [
    'an entry of nothing with a transaction of something',
    () => [
      ...truth(),
      {
        amount: '0.00',
        direction: 'debit',
        date: today,
        details: transaction('X', '<Amt Ccy="GBP">7.00</Amt>'),
      },
    ],
    ['statement-entry-differs 0/7'],
  ],
])('faults that cancel each other are breaks: %s', async (_, entries, expected) => {
  const day = await compare(today, statementXml(entries()));
  expect(day.status).toBe('breaks');
  expect(shown(day)).toEqual(expected);
});

test('an entry with an unknown status is rejected, as its money may have moved', async () => {
  for (const status of ['<Cd>book</Cd>', '<Prtry>Booked</Prtry>']) {
    const file = statementXml([...truth(), debit('7.00', 'X')]).replace(
      /<Cd>BOOK<\/Cd>(?![\s\S]*<Cd>BOOK<\/Cd>)/,
      status,
    );
    expect((await compare(today, file)).rejected).toMatch(
      /^Entry 3 of the file cannot be read: Sts must be one of BOOK/,
    );
  }
});

test('one reference in very many entries: the breaks beyond a thousand are one, of their number and sum', async () => {
  const many = Array.from({ length: REPEATED_BREAKS_MAX + 200 }, () => debit('1.00', 'SALARY'));
  await compare(today, statementXml([...truth(), ...many]));
  const stored = await storedOf(today);
  expect(stored).toHaveLength(REPEATED_BREAKS_MAX);
  expect(stored.at(-1)?.effect).toEqual(['0', '0', '201', '20100']);
  await compare(today, statementXml([...truth(), ...many, debit('1.00', 'SALARY')]));
  expect((await storedOf(today)).filter(({ effect }) => effect[2] === '202')).toHaveLength(1);
});

async function resolve(id: string): Promise<void> {
  const data = { reconciliationBreak: { status: 'resolved', note: 'Seen.' } };
  const { status } = await service.api.call('PATCH', `/reconciliation-breaks/${id}`, {
    workflow: { code: 'direct' },
    data,
  });
  expect(status).toBe(200);
}

test('a resolved break of a statement hides nothing of the next one with the same id', async () => {
  const summary = '<TxsSummry><TtlNtries><NbOfNtries>1</NbOfNtries></TtlNtries></TxsSummry>';
  const lying = (day: LocalDate) => statementXml([], { head: balanceXml('CLBD', '0.00', 'GBP', day) + summary });
  const [first, second] = [addDays(today, -2), addDays(today, -1)];
  const { openBreaks } = await compare(first, lying(first));
  expect(openBreaks).toMatchObject([{ kind: 'statement-summary-differs' }]);
  await resolve(openBreaks[0].id);
  expect(await compare(first, lying(first))).toMatchObject({ status: 'balanced' });
  expect(await compare(second, lying(second))).toMatchObject({
    status: 'breaks',
    openBreaks: [{ kind: 'statement-summary-differs' }],
  });
});

/** Our books have the payment out at another time. */
async function withPaymentAt(time: string, run: () => Promise<void>): Promise<void> {
  const { reader } = service.api.database;
  const query = 'SELECT min(posted_at)::text AS before FROM postings WHERE outgoing_transfer_id = $1';
  const [{ before } = { before: '' }] = await reader.statement<{ before: string }>(query, [paidOut]);
  const move = (to: string) =>
    executeOn(
      service.ownerUrl,
      `SET session_replication_role = replica; UPDATE postings SET posted_at = '${to}' WHERE outgoing_transfer_id = '${paidOut}'`,
    );
  await move(time);
  await run().finally(() => move(before));
}

const entryAt = (amount: string, time: string, date = today) => {
  const [entry = ''] = /<Ntry>[\s\S]*<\/Ntry>/.exec(statementXml([debit(amount, paidOut, date)])) ?? [];
  return at(entry, time);
};
const withEntry = (entries: readonly FileEntry[], entry: string) =>
  statementXml(entries).replace('</Stmt>', `${entry}</Stmt>`);

test('a payment just beyond midnight explains one entry of the statement, however often the days are compared', () =>
  withPaymentAt(`${tomorrow}T00:02:00Z`, async () => {
    const first = withEntry([arrived()], entryAt('250.50', '23:58:00'));
    expect(await compare(today, first)).toMatchObject({ status: 'balanced', openBreaks: [] });
    // The bank books it again: our one payment is the second entry's.
    await compare(tomorrow, withEntry([], entryAt('250.50', '12:00:00', tomorrow)));
    for (let time = 1; time <= 2; time += 1) {
      expect(await service.dayOf(today)).toMatchObject({ status: 'breaks', openBreakCount: 1 });
      expect(await compare(today, first)).toMatchObject({ openBreaks: [{ kind: 'statement-day-differs' }] });
    }
  }));

test.each([
  ['stays so once our books have it', '250.50', []],
  ['is open again once our books have it with another amount', '300.50', ['statement-amount-differs 250.5/300.5']],
] as const)('what a person has resolved as not yet booked %s', (_, amount, expected) =>
  withPaymentAt(`${tomorrow}T12:00:00Z`, async () => {
    const first = withEntry([arrived()], entryAt(amount, '12:00:00'));
    // Compared before our books have it.
    const { openBreaks } = await compare(today, first);
    expect(openBreaks).toMatchObject([{ kind: 'statement-not-booked' }]);
    await resolve(openBreaks[0].id);
    await compare(tomorrow, statementXml([], { head: balanceXml('CLBD', '0.00', 'GBP', tomorrow) }));
    expect(await service.dayOf(today)).toMatchObject({ openBreakCount: expected.length });
    expect(shown(await compare(today, first))).toEqual(expected);
  }),
);

test('of two concurrent comparisons that see different statements, the day shows only one, and its breaks', async () => {
  service.moveTo(`${tomorrow}T06:00:00Z`);
  const position = { provider: 'sandbox-bank', currency: 'GBP' };
  const provider = service.dependencies.providers.get('sandbox-bank');
  if (provider === undefined) throw new Error('no provider');
  const dependencies = { logger: pino({ level: 'silent' }) };
  const bookedAt = new Date(`${today}T12:00:00Z`);
  const one = { direction: 'out', movement: 'payment-out', bookedAt, accounts: [] } as const;
  /** Only the truth, or with an unknown payment; not before `ready`. */
  const source = (unknown: boolean, ready: () => Promise<void>): StatementSource => ({
    kind: 'statement',
    async *pages() {
      await ready();
      const movements = [
        {
          ...one,
          direction: 'in' as const,
          movement: 'payment-in' as const,
          entryId: '1',
          reference: paidIn,
          amountMinor: 100_000n,
        },
        { ...one, entryId: '2', reference: paidOut, amountMinor: 25_050n },
        ...(unknown ? [{ ...one, entryId: '3', reference: 'X', amountMinor: 700n }] : []),
      ];
      yield { movements, breaks: [], totals: null };
    },
  });
  const run = (unknown: boolean, ready = async () => {}, database = service.moved) =>
    compareDay({ ...dependencies, database }, { position, day: today, provider, source: source(unknown, ready) }, {});
  const check = async ({ provider: stated }: DaySums) => {
    const { status, statement, ledger } = await service.dayOf(today);
    expect(statement.debitCount).toBe(Number(stated.debitCount));
    expect(await effectsOf(today)).toEqual(differenceOf({ statement, ledger }));
    expect(status).toBe(statement.debitCount === ledger.debitCount ? 'balanced' : 'breaks');
  };
  /** The second begins and ends meanwhile. */
  const onceOther = (isUnknown: boolean) => {
    let others = 0;
    return async () => {
      others += 1;
      if (others === 1) await run(isUnknown);
    };
  };
  for (const isUnknown of [true, false]) await check((await run(isUnknown, onceOther(!isUnknown))).sums);
  // When the first one has recorded its break, and has not ended.
  const other = onceOther(false);
  const transaction: Database['transaction'] = async (work, options) => {
    const recorded = await service.moved.transaction(work, options);
    await other();
    return recorded;
  };
  await check((await run(true, async () => {}, { ...service.moved, transaction })).sums);
});
