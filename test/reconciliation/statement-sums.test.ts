import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { housekeepingActivities } from '../../activities/housekeeping.ts';
import type { StatementEntry } from '../../activities/providers/ports/statement-port.ts';
import { addDays, dateInUtc } from '../../domain/common/time/dates.ts';
import type { Json } from '../harness/api.ts';
import { builtInAccounts } from '../harness/built-in-accounts.ts';
import { executeOn } from '../harness/servers/postgres.ts';
import { balanceXml, type FileEntry, statementXml, writeBankFile } from '../harness/transfers/bank-files.ts';
import { type ReconciliationWorld, startReconciliationWorld } from '../harness/transfers/reconciliation-world.ts';

let service: ReconciliationWorld;
/** What the bank's own statement has beyond the truth. */
const further: StatementEntry[] = [];
let today: string;
let paidIn: string;
let paidOut: string;
/** The truth, as a file. */
let entries: FileEntry[];

beforeAll(async () => {
  service = await startReconciliationWorld('statement-sums', (fetchStatement) => async (request, call) => {
    const page = await fetchStatement(request, call);
    const isAsked = (entry: StatementEntry) =>
      entry.currency === request.currency && entry.bookedAt >= request.from && entry.bookedAt < request.to;
    return { ...page, entries: [...page.entries, ...further.filter(isAsked)] };
  });
  const { api, world } = service;
  today = dateInUtc(new Date());
  const account = await builtInAccounts(api).opened(await world.client());
  paidIn = await service.paidIn(account, 10_200.75);
  paidOut = await service.paidOut(account, 329.56);
  await service.becomes(paidOut, ({ status }) => status === 'completed');
  entries = [
    { amount: '10200.75', direction: 'credit', date: today, more: `<AcctSvcrRef>${paidIn}</AcctSvcrRef>` },
    { amount: '329.56', direction: 'debit', date: today, details: transaction(`<EndToEndId>${paidOut}</EndToEndId>`) },
  ];
});

afterAll(async () => {
  await service?.stop();
});

afterEach(async () => {
  further.length = 0;
  await service.api.database.reader.statement('DELETE FROM reconciliation_breaks', []);
});

function transaction(references: string, more = ''): string {
  return `<TxDtls><Refs>${references}</Refs>${more}</TxDtls>`;
}

async function operate(...given: string[]): Promise<Json> {
  const lines: string[] = [];
  service.moveTo(`${addDays(today, 1)}T06:00:00Z`);
  const status = await service.operate(['sandbox-bank', today, ...given, '--json'], (line) => lines.push(line));
  return { status, answer: JSON.parse(lines.at(-1) ?? 'null') };
}

/** Compares a file of one statement in pounds. */
async function compareFile(stated: readonly FileEntry[], head = ''): Promise<Json> {
  const file = writeBankFile(service.directory, statementXml(stated, { head }));
  const { status, answer } = await operate('--camt-053', file);
  expect(answer.rejected).toBeUndefined();
  const [day] = answer.reconciliations;
  return { status, ...day };
}

/** `kind expected/actual` of the breaks. */
const shown = (day: Json) =>
  day.openBreaks.map(({ kind, expected, actual }: Json) => `${kind} ${expected ?? '-'}/${actual ?? '-'}`).sort();

test('a true file is balanced, with equal sums', async () => {
  const day = await compareFile(entries);
  expect(day).toMatchObject({ status: 'balanced', statement: day.ledger });
});

const MARKS: readonly (readonly [string, (reference: string) => Pick<FileEntry, 'more' | 'details'>])[] = [
  ['by RvslInd', (id) => ({ more: '<RvslInd>true</RvslInd>', details: transaction(`<EndToEndId>${id}</EndToEndId>`) })],
  [
    'by RtrInf',
    (id) => ({ details: transaction(`<EndToEndId>${id}</EndToEndId>`, '<RtrInf><Rsn><Cd>AC06</Cd></Rsn></RtrInf>') }),
  ],
  [
    'by its bank transaction code',
    (id) => ({
      more: '<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>RRTN</SubFmlyCd></Fmly></Domn></BkTxCd>',
      details: transaction(`<EndToEndId>${id}</EndToEndId>`),
    }),
  ],
  ['by nothing', (id) => ({ details: transaction(`<EndToEndId>${id}</EndToEndId>`) })],
  ['by nothing, and unknown', () => ({ details: transaction('<EndToEndId>SOMETHING</EndToEndId>') })],
];

describe.each(MARKS)('an entry that only the file has, marked %s,', (_, mark) => {
  test.each([
    ['undoes a payment out', 'credit', '329.56', () => paidOut],
    ['undoes a part of a payment out', 'credit', '100.01', () => paidOut],
    ['takes back money in', 'debit', '10200.75', () => paidIn],
    ['takes back a part of money in', 'debit', '0.99', () => paidIn],
  ] as const)('%s: a break of its amount', async (_name, direction, amount, idOf) => {
    const day = await compareFile([...entries, { amount, direction, date: today, ...mark(idOf()) }]);
    expect(day.openBreaks).toHaveLength(1);
    expect(day).toMatchObject({ status: 'breaks', openBreaks: [{ actual: String(Number(amount)) }] });
    expect(day.statement).not.toEqual(day.ledger);
  });
});

describe('an entry that only the provider’s own statement has', () => {
  test.each([
    ['returns a payment out', 'payment-out-returned', 32_956n, () => paidOut],
    ['returns a part of a payment out', 'payment-out-returned', 10_001n, () => paidOut],
    ['fails a payment out', 'payment-out-failed', 32_956n, () => paidOut],
    ['takes back money in', 'payment-in-sent-back', 1_020_075n, () => paidIn],
    ['takes back a part of money in', 'payment-in-sent-back', 99n, () => paidIn],
  ] as const)('%s: a break of its amount', async (_, kind, amountMinor, idOf) => {
    const isIn = kind === 'payment-in-sent-back';
    further.push({
      kind,
      direction: isIn ? 'debit' : 'credit',
      entryId: 'extra',
      serviceProviderId: isIn ? idOf() : 'extra',
      ourReference: isIn ? null : idOf(),
      accountId: null,
      bookedAt: new Date(`${today}T12:00:00Z`),
      amountMinor,
      currency: 'GBP',
    });
    const { answer } = await operate();
    const [day] = answer.reconciliations.filter(({ currency }: Json) => currency === 'GBP');
    expect(day).toMatchObject({ status: 'breaks', openBreaks: [{ actual: String(Number(amountMinor) / 100) }] });
    expect(day.openBreaks).toHaveLength(1);
  });
});

test('an entry with the id of another and another amount is an entry of its own', async () => {
  for (const amountMinor of [32_956n, 700n]) {
    further.push({
      kind: 'payment-out',
      direction: 'debit',
      entryId: 'the same',
      serviceProviderId: 'unknown',
      ourReference: paidOut,
      accountId: null,
      bookedAt: new Date(`${today}T12:00:00Z`),
      amountMinor,
      currency: 'GBP',
    });
  }
  const { answer } = await operate();
  const [day] = answer.reconciliations.filter(({ currency }: Json) => currency === 'GBP');
  expect(shown(day)).toEqual(['statement-payment-doubled 329.56/336.56', 'statement-payment-doubled 329.56/659.12']);
  expect(day).toMatchObject({ statement: { debitCount: 3 }, ledger: { debitCount: 1 } });
});

describe.each([
  ['undone-payment', 'in whole', (amount: number) => amount],
  ['partly-undone-payment', 'in part', (amount: number) => Math.ceil(amount * 50) / 100],
] as const)('a statement of the bank with a fault: %s', (fault, _, amountOf) => {
  test.each([
    ['out', 329.56, () => paidOut],
    ['in', 10_200.75, () => paidIn],
  ] as const)(
    'about a payment %s gives a break of the amount, whatever a look-up says',
    async (_direction, amount, idOf) => {
      await service.bank('POST', '/faults', { statement: [{ fault, payment: idOf() }] });
      const { answer } = await operate();
      await service.bank('DELETE', '/faults');
      const [day] = answer.reconciliations.filter(({ currency }: Json) => currency === 'GBP');
      expect(shown(day)).toEqual([`statement-not-booked -/${amountOf(amount)}`]);
      // Nor do the look-ups of the frequent comparison take away what the day's statement has.
      const tasks = housekeepingActivities({ ...service.dependencies, database: service.moved });
      await new MockActivityEnvironment().run(tasks.compareStatements);
      expect(await service.dayOf(today)).toMatchObject({ status: 'breaks', openBreakCount: 1 });
    },
  );
});

test('what the details of an entry do not explain is a break of that amount', async () => {
  const amounts = (amount: string) => `<Amt Ccy="GBP">${amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd>`;
  const [first] = entries;
  if (first === undefined) throw new Error('no entry');
  const parts = [
    transaction(`<EndToEndId>${paidOut}</EndToEndId>`, amounts('329.56')),
    transaction('<EndToEndId>OTHER</EndToEndId>', amounts('100.00')),
  ];
  const day = await compareFile([
    first,
    { amount: '455.56', direction: 'debit', date: today, details: parts.join('') },
  ]);
  expect(shown(day)).toEqual(['statement-entry-differs 455.56/429.56', 'statement-unknown-payment -/100']);
});

test('an instructed amount of another currency has no effect', async () => {
  const [first, second] = entries;
  if (first === undefined || second === undefined) throw new Error('no entry');
  for (const currency of ['JPY', 'EUR']) {
    const details = transaction(
      `<EndToEndId>${paidOut}</EndToEndId>`,
      `<AmtDtls><InstdAmt><Amt Ccy="${currency}">4000</Amt></InstdAmt><TxAmt><Amt Ccy="${currency}">4000</Amt></TxAmt></AmtDtls>`,
    );
    const day = await compareFile([first, { ...second, details: `${details}` }]);
    expect(day).toMatchObject({ currency: 'GBP', status: 'balanced' });
    const twice = await compareFile([first, { ...second, details: details + details }]);
    expect(twice.openBreaks.length).toBeGreaterThan(0);
  }
});

test('money in is found by the reference that we show', async () => {
  const reference = 'BANKREF/2026/0001';
  await service.api.database.reader.statement(
    'UPDATE incoming_transfers SET service_provider_reference = $1 WHERE service_provider_id = $2',
    [reference, paidIn],
  );
  const [, second] = entries;
  if (second === undefined) throw new Error('no entry');
  const more = `<AcctSvcrRef>${reference}</AcctSvcrRef>`;
  const day = await compareFile([{ amount: '10200.75', direction: 'credit', date: today, more }, second]);
  expect(day).toMatchObject({ status: 'balanced', openBreaks: [] });
});

test('a quiet day’s file settles the day', async () => {
  const head = balanceXml('OPBD', '1.00', 'GBP', today) + balanceXml('CLBD', '1.00', 'GBP', today);
  const day = await compareFile([], head);
  expect(shown(day)).toEqual(['statement-payment-missing 10200.75/-', 'statement-payment-missing 329.56/-']);
});

test('a file with money in a currency that we do not hold there is rejected, naming the currency; one of an empty account is not', async () => {
  const foreign = { amount: '5.00', direction: 'credit', date: today, currency: 'JMD' } as const;
  const rejected = await operate(
    '--camt-053',
    writeBankFile(service.directory, statementXml(entries), statementXml([foreign])),
  );
  expect(rejected.answer.rejected).toMatch(/no money in JMD/);
  const empty = statementXml([], { head: balanceXml('CLBD', '0.00', 'JMD', today) });
  const accepted = await operate('--camt-053', writeBankFile(service.directory, statementXml(entries), empty));
  expect(accepted).toMatchObject({ status: 0, answer: { reconciliations: [{ currency: 'GBP', status: 'balanced' }] } });
});

test.each([
  ['EndToEndId', (id: string) => ({ details: transaction(`<EndToEndId>${id.replaceAll('-', '')}</EndToEndId>`) })],
  ['UETR', (id: string) => ({ details: transaction(`<UETR>${id.toUpperCase()}</UETR>`) })],
  [
    'RmtInf/Ustrd among other words',
    (id: string) => ({
      details: transaction('<EndToEndId>NOTPROVIDED</EndToEndId>', `<RmtInf><Ustrd>Our ${id}, thanks</Ustrd></RmtInf>`),
    }),
  ],
  [
    'Strd/CdtrRefInf/Ref',
    (id: string) => ({
      details: transaction('', `<RmtInf><Strd><CdtrRefInf><Ref>${id}</Ref></CdtrRefInf></Strd></RmtInf>`),
    }),
  ],
  ['AddtlTxInf', (id: string) => ({ details: transaction('', `<AddtlTxInf>${id.replaceAll('-', '')}</AddtlTxInf>`) })],
  [
    'MsgId of a batch of one',
    (id: string) => ({
      details: `<Btch><MsgId>${id.replaceAll('-', '').toUpperCase()}</MsgId><NbOfTxs>1</NbOfTxs></Btch>${transaction('')}`,
    }),
  ],
  ['NtryRef', (id: string) => ({ more: `<NtryRef>${id.replaceAll('-', '')}</NtryRef>` })],
] as const)('a payment out is recognised by its id in %s', async (_, named) => {
  const [first] = entries;
  if (first === undefined) throw new Error('no entry');
  const day = await compareFile([first, { amount: '329.56', direction: 'debit', date: today, ...named(paidOut) }]);
  expect(day).toMatchObject({ status: 'balanced', openBreaks: [] });
});

describe('an error of the comparison itself', () => {
  /** Rows of a table that name a reference are lost, as a defect of ours could lose them. */
  async function losing<Result>(table: string, condition: string, run: () => Promise<Result>): Promise<Result> {
    const plant = (statement: string) => executeOn(service.ownerUrl, statement);
    await plant(
      `CREATE FUNCTION planted_defect() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
       CREATE TRIGGER planted_defect BEFORE INSERT ON ${table} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION planted_defect()`,
    );
    try {
      return await run();
    } finally {
      await plant('DROP FUNCTION planted_defect CASCADE');
    }
  }

  test('that loses an entry of a file is a break of that amount', async () => {
    const condition = `NEW.side = 'provider' AND NEW.amount_minor = 32956`;
    const day = await losing('reconciliation_movements', condition, () => compareFile(entries));
    expect(shown(day)).toEqual(['statement-payment-missing 329.56/-', 'statement-sums-differ 0/329.56']);
    expect(await compareFile(entries)).toMatchObject({ status: 'balanced', openBreaks: [] });
  });

  test('that loses a break is a break of that amount, and the day is not balanced', async () => {
    const { answer } = await losing('reconciliation_breaks', `NEW.kind = 'statement-payment-doubled'`, async () => {
      await service.bank('POST', '/faults', { statement: [{ fault: 'doubled-payment', payment: paidOut }] });
      return operate();
    });
    await service.bank('DELETE', '/faults');
    const [day] = answer.reconciliations.filter(({ currency }: Json) => currency === 'GBP');
    expect(day.status).toBe('breaks');
    expect(shown(day)).toEqual(['statement-sums-differ 329.56/659.12']);
  });
});
