import { describe, expect, test } from 'vitest';
import { UnreadableMessage } from '../../domain/bank-files/messages.ts';
import type { StatementItem } from '../../domain/reconciliation/bank-statements.ts';
import { readBankStatement } from './camt-053.ts';

const AMOUNT = '<Amt Ccy="EUR">5.00</Amt>';
const DIRECTION = '<CdtDbtInd>CRDT</CdtDbtInd>';
const BOOKED = '<BookgDt><Dt>2026-11-10</Dt></BookgDt>';
const HEAD = `<NtryRef>N-1</NtryRef>${AMOUNT}${DIRECTION}<Sts>BOOK</Sts>${BOOKED}`;
const BALANCE = `<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp>${AMOUNT}${DIRECTION}<Dt><Dt>2026-11-10</Dt></Dt></Bal>`;

const documentOf = (statements: string, version = '02') =>
  `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.${version}"><BkToCstmrStmt>${statements}</BkToCstmrStmt></Document>`;
const statementOf = (content: string) => documentOf(`<Stmt><Id>S-1</Id>${content}</Stmt>`);
const entryOf = (content: string, head = HEAD) => statementOf(`<Ntry>${head}${content}</Ntry>`);
const transactionOf = (content: string) => entryOf(`<NtryDtls><TxDtls>${content}</TxDtls></NtryDtls>`);

async function* chunksOf(text: string, length = text.length): AsyncGenerator<string> {
  for (let start = 0; start < text.length; start += length) yield text.slice(start, start + length);
}

async function read(text: string, chunkLength?: number): Promise<readonly StatementItem[]> {
  const items: StatementItem[] = [];
  for await (const page of readBankStatement(chunksOf(text, chunkLength))) items.push(...page);
  return items;
}

const itemsOf = async <Name extends StatementItem['item']>(text: string, name: Name) =>
  (await read(text)).filter((item): item is Extract<StatementItem, { item: Name }> => item.item === name);

async function rejectionOf(text: string): Promise<string> {
  const error: unknown = await read(text).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof UnreadableMessage)) throw new Error(`not rejected, but ${String(error)}`);
  return error.message;
}

describe('text', () => {
  test.each([
    ['a CDATA section', '<![CDATA[REF<1>]]>', 'REF<1>'],
    ['text and CDATA', 'REF<![CDATA[-1]]>-2', 'REF-1-2'],
    ['a comment or an instruction inside', 'RE<!-- x -->F-<?y z?>1', 'REF-1'],
    ['references to characters', '&#82;EF&amp;1', 'REF&1'],
    ['white space at the ends', '\n   REF-1\t ', 'REF-1'],
    ['a line break', 'REF-1\nREF-2', 'REF-1 REF-2'],
  ])('a reference written with %s is read whole, however the file is cut into chunks', async (_, written, value) => {
    const text = entryOf('', `${HEAD}<AcctSvcrRef>${written}</AcctSvcrRef>`);
    for (const length of [1, 7, text.length]) {
      const [entry] = (await read(text, length)).filter(({ item }) => item === 'entry');
      expect(entry).toMatchObject({
        references: [
          { place: 'NtryRef', value: 'N-1' },
          { place: 'AcctSvcrRef', value },
        ],
      });
    }
  });

  test.each([
    ['C1', '\u009b31mred\u0085', '\uFFFD31mred\uFFFD'],
    ['bidirectional', 'a\u202Egnp\u202C\u2066x', 'a\uFFFDgnp\uFFFD\uFFFDx'],
    ['invisible', 'a\u200Bb\u00ADc', 'a\uFFFDb\uFFFDc'],
    ['line breaking', 'a\u2028b', 'a b'],
  ])('%s characters of a file reach no row and no terminal', async (_, written, value) => {
    const [entry] = await itemsOf(entryOf('', `${HEAD}<AcctSvcrRef>${written}</AcctSvcrRef>`), 'entry');
    expect(entry?.references[1]).toEqual({ place: 'AcctSvcrRef', value });
    const unsafe = /[\p{Cc}\p{Cf}]/u;
    for (const text of [
      entryOf('', HEAD.replace('N-1', written).replace('CRDT', written)),
      `<Document xmlns="${written}"/>`,
      `<${written.replaceAll(/[^a-z\u200B\u202E\u0085]/g, '')}`,
    ]) {
      expect(await rejectionOf(text)).not.toMatch(unsafe);
    }
  });

  test('a text longer than any reference is cut with a mark', async () => {
    const [transaction] = await itemsOf(
      transactionOf(`<AddtlTxInf>${' '.repeat(900)}${'a'.repeat(700)}</AddtlTxInf>`),
      'transaction',
    );
    expect(transaction?.references).toEqual([{ place: 'AddtlTxInf', value: `${'a'.repeat(500)}…` }]);
  });
});

test('every place where banks put a payment’s reference is kept, by its name, and what says that there is none is not', async () => {
  const names =
    'MsgId AcctSvcrRef PmtInfId InstrId EndToEndId UETR TxId MndtId ChqNb ClrSysRef AcctOwnrTxId AcctSvcrTxId';
  const refs = `${names} MktInfrstrctrTxId PrcgId`.split(' ').map((name) => ({ place: name, value: `${name}-1` }));
  const texts = [
    'RmtInf/Ustrd',
    'RmtInf/Strd/CdtrRefInf/Ref',
    'RmtInf/Strd/RfrdDocInf/Nb',
    'RltdRmtInf/RmtId',
    'RtrInf/AddtlInf',
    'AddtlTxInf',
  ].map((place) => ({ place, value: place }));
  const nested = (place: string): string =>
    place.split('/').reduceRight((content, name) => `<${name}>${content}</${name}>`, place);
  const text = entryOf(
    `<NtryDtls><Btch><MsgId>B-1</MsgId><PmtInfId>B-2</PmtInfId></Btch><TxDtls><Refs>
      ${refs.map(({ place, value }) => `<${place}>${value}</${place}>`).join('')}
      <Prtry><Tp>OF</Tp><Ref>P-1</Ref></Prtry><Prtry><Tp>OF</Tp><Ref>P-2</Ref></Prtry></Refs>
      ${texts.map(({ place }) => nested(place)).join('')}
      <RmtInf><Ustrd>line 2</Ustrd></RmtInf></TxDtls>
      <TxDtls><Refs><EndToEndId>NOTPROVIDED</EndToEndId><InstrId>NOTAVAILABLE</InstrId><TxId/></Refs></TxDtls></NtryDtls><AddtlNtryInf>end</AddtlNtryInf>`,
    `${HEAD}<AcctSvcrRef>A-1</AcctSvcrRef>`,
  );
  const items = await read(text);
  const [first, second] = items.filter(({ item }) => item === 'transaction');
  const found = first?.item === 'transaction' ? first.references : [];
  expect(found).toEqual(
    expect.arrayContaining([
      ...refs,
      ...texts,
      { place: 'Prtry/Ref', value: 'P-1' },
      { place: 'Prtry/Ref', value: 'P-2' },
      { place: 'RmtInf/Ustrd', value: 'line 2' },
    ]),
  );
  expect(found).toHaveLength(refs.length + texts.length + 3);
  expect(second).toMatchObject({ number: 2, references: [] });
  expect(items.find(({ item }) => item === 'entry-end')).toMatchObject({
    transactions: 2,
    batches: [{ batch: 1, references: [{ value: 'B-1' }, { value: 'B-2' }] }],
    references: [{ place: 'AddtlNtryInf', value: 'end' }],
  });
});

describe('amounts', () => {
  test('each is kept with its role, and one in a currency of which we have no money is not rejected', async () => {
    const part = (name: string, currency: string, amount: string) =>
      `<${name}><Amt Ccy="${currency}">${amount}</Amt></${name}>`;
    const details = `<AmtDtls>${part('InstdAmt', 'JPY', '1000')}${part('TxAmt', 'TND', '1.234')}${part('CntrValAmt', 'USD', '.5')}
      ${part('AnncdPstngAmt', 'EUR', '+007.')}<PrtryAmt><Tp>X</Tp><Amt Ccy="EUR">0</Amt></PrtryAmt></AmtDtls>`;
    const [transaction] = await itemsOf(
      transactionOf(`<Amt Ccy="EUR">5.00</Amt><CdtDbtInd>DBIT</CdtDbtInd>${details}`),
      'transaction',
    );
    const [entry] = await itemsOf(entryOf('', HEAD + details), 'entry');
    const amounts = [
      { role: 'amount', amountMinor: 500n, currency: 'EUR' },
      { role: 'instructed', amountMinor: 1000n, currency: 'JPY' },
      { role: 'transaction', amountMinor: 1234n, currency: 'TND' },
      { role: 'counter-value', amountMinor: 50n, currency: 'USD' },
      { role: 'announced-posting', amountMinor: 700n, currency: 'EUR' },
      { role: 'proprietary', amountMinor: 0n, currency: 'EUR' },
    ];
    expect(transaction).toMatchObject({ direction: 'debit', amounts });
    expect(entry).toMatchObject({ direction: 'credit', amounts });
  });

  test('charges are read as version 02 has them and as the later ones do, with what they are together', async () => {
    const old = `<Chrgs><Amt Ccy="EUR">1</Amt><CdtDbtInd>DBIT</CdtDbtInd></Chrgs><Chrgs><TtlChrgsAndTaxAmt Ccy="EUR">3</TtlChrgsAndTaxAmt><Amt Ccy="EUR">2</Amt></Chrgs>`;
    const records = `<Chrgs><TtlChrgsAndTaxAmt Ccy="EUR">3</TtlChrgsAndTaxAmt><Rcrd><Amt Ccy="EUR">1</Amt><CdtDbtInd>DBIT</CdtDbtInd><ChrgInclInd>true</ChrgInclInd></Rcrd><Rcrd><Amt Ccy="EUR">2</Amt></Rcrd></Chrgs>`;
    const one = { amountMinor: 100n, currency: 'EUR', direction: 'debit' };
    const two = { amountMinor: 200n, currency: 'EUR', direction: null, included: null };
    const together = { amountMinor: 300n, currency: 'EUR' };
    const [first] = await itemsOf(transactionOf(old), 'transaction');
    expect(first).toMatchObject({ charges: [{ ...one, included: null }, two], chargeTotals: [together] });
    const [second] = await itemsOf(entryOf('', HEAD + records), 'entry');
    expect(second).toMatchObject({ charges: [{ ...one, included: true }, two], chargeTotals: [together] });
    const [third] = await itemsOf(
      entryOf('', `${HEAD}<Chrgs><TtlChrgsAndTaxAmt Ccy="EUR">3</TtlChrgsAndTaxAmt></Chrgs>`),
      'entry',
    );
    expect(third).toMatchObject({ charges: [{ ...together, direction: null, included: null }] });
  });
});

test.each<readonly [string, string, RegExp]>([
  ['an empty amount', entryOf('', HEAD.replace('5.00', '')), /^Entry 1 of the file \(reference N-1\).*: Amt is empty/],
  [
    'a long name and no amount',
    entryOf('', HEAD.replace('N-1', 'N'.repeat(600)).replace(AMOUNT, '')),
    /^Entry 1 of the file \(reference N{100}…\) cannot be read: Amt is missing/,
  ],
  ['no amount', entryOf('', HEAD.replace(AMOUNT, '')), /: Amt is missing/],
  ['two amounts', entryOf('', HEAD + AMOUNT), /: Amt is there more than once/],
  ['words for an amount', entryOf('', HEAD.replace('5.00', 'five')), /: Amt is not a decimal number/],
  ['an amount below zero', entryOf('', HEAD.replace('5.00', '-5')), /: Amt is negative/],
  ['too many decimals', entryOf('', HEAD.replace('5.00', '5.001')), /: Amt has more decimals than EUR has/],
  ['too many digits', entryOf('', HEAD.replace('5.00', '1'.repeat(14))), /: Amt is too large/],
  ['an unknown currency', entryOf('', HEAD.replace('EUR', 'XYZ')), /: Amt has a currency that is not in ISO 4217: XYZ/],
  ['no currency', entryOf('', HEAD.replace(' Ccy="EUR"', '')), /: Amt has no currency/],
  ['no indicator', entryOf('', HEAD.replace(DIRECTION, '')), /: CdtDbtInd is missing/],
  ['an unknown indicator', entryOf('', HEAD.replace('CRDT', 'C')), /: CdtDbtInd is neither/],
  [
    'a status that we do not know',
    entryOf('', HEAD.replace('BOOK', 'book')),
    /: Sts must be one of BOOK, .* \(is book\)/,
  ],
  ['no status', entryOf('', HEAD.replace('<Sts>BOOK</Sts>', '')), /: Sts is missing/],
  ['no booking date', entryOf('', HEAD.replace(BOOKED, '')), /: BookgDt is missing/],
  ['no such date', entryOf('', HEAD.replace('11-10', '02-31')), /: BookgDt is not a date/],
  ['no such value date', entryOf('', `${HEAD}<ValDt><Dt>2026-13-01</Dt></ValDt>`), /: ValDt is not a date/],
  ['neither true nor false', entryOf('', `${HEAD}<RvslInd>yes</RvslInd>`), /: RvslInd is neither/],
  ['a transaction’s empty amount', transactionOf('<Amt Ccy="EUR"/>'), /: TxDtls\[1\]\/Amt is empty/],
  [
    'no amount in its details',
    transactionOf('<AmtDtls><TxAmt/></AmtDtls>'),
    /: TxDtls\[1\]\/AmtDtls\/TxAmt\/Amt is missing/,
  ],
  [
    'an empty charge',
    transactionOf('<Chrgs><Rcrd><Amt Ccy="EUR"/></Rcrd></Chrgs>'),
    /: TxDtls\[1\]\/Chrgs\/Amt is empty/,
  ],
  [
    'a number of transactions',
    entryOf('<NtryDtls><Btch><NbOfTxs>x</NbOfTxs></Btch></NtryDtls>'),
    /NtryDtls\[1\]\/Btch\/NbOfTxs is no/,
  ],
  ['a batch’s empty total', entryOf('<NtryDtls><Btch><TtlAmt Ccy="EUR"/></Btch></NtryDtls>'), /Btch\/TtlAmt is empty/],
  ['an amount after the transactions', entryOf(`<NtryDtls/>${AMOUNT}`), /: Amt follows the transactions/],
  [
    'a balance’s empty amount',
    statementOf(BALANCE.replace('5.00', '')),
    /^Statement 1 of the file \(S-1\).*: Bal\[1\]\/Amt is empty/,
  ],
  ['a balance on no side', statementOf(BALANCE.replace(DIRECTION, '')), /: Bal\[1\]\/CdtDbtInd is missing/],
  [
    'a sum',
    statementOf('<TxsSummry><TtlNtries><Sum/></TtlNtries></TxsSummry>'),
    /: TxsSummry\/TtlNtries\/Sum is empty/,
  ],
  ['a balance after the entries', statementOf(`<Ntry>${HEAD}</Ntry>${BALANCE}`), /Bal follows the entries/],
  ['version 01', documentOf('', '01'), /is camt\.053\.001\.01, but only versions 001\.02 to 001\.14/],
  ['a version to come', documentOf('', '15'), /is camt\.053\.001\.15/],
  ['no namespace', documentOf('').replace(/ xmlns="[^"]*"/, ''), /not a camt\.053 message/],
  ['no document', '<html><p>Your session has ended.</p></html>', /not a camt\.053 message but html/],
  ['no statement', documentOf(''), /contains no statement/],
  [
    'another encoding',
    `<?xml version="1.0" encoding="ISO-8859-1"?>${entryOf('<AddtlNtryInf>ä</AddtlNtryInf>')}`,
    /ISO-8859-1/,
  ],
])('a file with %s is rejected by entry and element', async (_, text, message) => {
  expect(await rejectionOf(text)).toMatch(message);
});

test('a quiet day is a statement without entries, with its day and its balances', async () => {
  const items = await read(
    statementOf(`<FrToDt><FrDtTm>2026-11-10T00:00:00</FrDtTm><ToDtTm>2026-11-10T23:59:59+01:00</ToDtTm></FrToDt>
      <Acct><Id><IBAN>CH93 0076 2011 6238 5295 7</IBAN></Id><Ccy>CHF</Ccy></Acct>${BALANCE}`),
  );
  expect(items).toMatchObject([
    {
      item: 'statement',
      number: 1,
      id: 'S-1',
      account: 'CH9300762011623852957',
      currency: 'CHF',
      period: { from: new Date('2026-11-10T00:00:00Z'), to: new Date('2026-11-10T22:59:59Z') },
      balances: [{ code: 'CLBD', amountMinor: 500n, currency: 'EUR', direction: 'credit', date: '2026-11-10' }],
      summary: { all: { count: null, sum: null, net: null, direction: null } },
    },
    { item: 'statement-end', statement: 1, entries: 0 },
  ]);
});

test('a message in an envelope is read, and what banks add in other namespaces is not', async () => {
  const added = `<SplmtryData><Envlp><Ntry><Amt Ccy="XYZ"/></Ntry></Envlp></SplmtryData><Amt xmlns="urn:bank" Ccy="XYZ"/>`;
  const header = '<AppHdr xmlns="urn:iso:std:iso:20022:tech:xsd:head.001.001.02"><MsgDefIdr>x</MsgDefIdr></AppHdr>';
  const text = `<e:BizMsgEnvlp xmlns:e="urn:e">${header}${entryOf('', HEAD + added)}${entryOf('')}</e:BizMsgEnvlp>`;
  expect((await read(text)).filter(({ item }) => item === 'entry')).toMatchObject([
    { number: 1, statement: 1, amountMinor: 500n },
    { number: 2, statement: 2, amountMinor: 500n },
  ]);
});
