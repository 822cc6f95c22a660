import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { lazyTemporalClient, type TemporalClient } from '../../loops/temporal.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { auditOf, TESTER } from '../harness/audit.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// `operate breaks` and `operate resolve-break`: the night's way to what the API shows as /reconciliation-breaks.

let database: TestDatabase;
let api: TestApi;
let temporal: TemporalClient;

beforeAll(async () => {
  database = await createTestDatabase('break-operations');
  api = await startApi(database);
  temporal = lazyTemporalClient({ address: '127.0.0.1:1', namespace: 'default' });
});

afterAll(async () => {
  await temporal.close();
  await api?.stop();
  await database?.drop();
});

async function operate(command: string, ...given: string[]): Promise<{ status: number | undefined; lines: string[] }> {
  const lines: string[] = [];
  const context = { database: api.database, temporal, initiator: TESTER, arguments: given };
  const status = await OPERATIONS[command]?.run({ ...context, print: (line) => lines.push(line) });
  return { status, lines };
}

async function found(kind: string, provider: string, day: string | null, reference: string): Promise<string> {
  const facts = JSON.stringify({ amountMinor: '4000', currency: 'GBP', account: null, date: day });
  const [row] = await api.database.reader.statement<{ id: string }>(
    `INSERT INTO reconciliation_breaks (id, provider, kind, our_reference, details, found_at, expected, day)
     VALUES (uuidv7(), $1, $2, $3, '{}', service_now(), $4::text::jsonb, $5::text::date) RETURNING id`,
    [provider, kind, reference, facts, day],
  );
  return row?.id ?? '';
}

const listed = async (...given: string[]): Promise<Json> => {
  const { status, lines } = await operate('breaks', ...given, '--json');
  const { total, reconciliationBreaks } = JSON.parse(lines.join(''));
  return { status, total, ids: reconciliationBreaks.map(({ id }: Json) => id) };
};

test('breaks are listed by provider, status, kind and day, as the API shows them, and resolved with a note, once, audited', async () => {
  expect(await operate('breaks')).toEqual({ status: 0, lines: ['No such break.'] });
  const missing = await found('statement-payment-missing', 'sandbox-bank', '2026-11-22', 'payment-one');
  const contradicted = await found('callback-contradicts', 'other-bank', null, 'payment-\u001b[31mtwo');
  expect(await listed()).toEqual({ status: 1, total: 2, ids: [missing, contradicted] });
  expect((await listed('--provider', 'other-bank')).ids).toEqual([contradicted]);
  expect((await listed('--kind', 'statement-payment-missing')).ids).toEqual([missing]);
  expect((await listed('--day', '2026-11-22')).ids).toEqual([missing]);
  expect(await listed('--status', 'resolved')).toEqual({ status: 0, total: 0, ids: [] });
  const shown = JSON.parse((await operate('breaks', '--provider', 'sandbox-bank', '--json')).lines.join(''));
  const byApi = await api.call('GET', `/reconciliation-breaks/${missing}`);
  expect(shown.reconciliationBreaks).toEqual([byApi.body.data.reconciliationBreak]);
  const table = (await operate('breaks')).lines.join('\n');
  expect(table).toMatch(/statement-payment-missing +sandbox-bank +2026-11-22 +\S+ \S+ UTC +40 GBP +- +payment-one/);
  expect(table).not.toContain('\u001b');

  expect(await operate('resolve-break', missing, '--note', 'The bank books it tomorrow.')).toEqual({
    status: 0,
    lines: [`${missing} is resolved.`],
  });
  const { reconciliationBreak } = (await api.call('GET', `/reconciliation-breaks/${missing}`)).body.data;
  expect(reconciliationBreak).toMatchObject({
    status: 'resolved',
    note: 'The bank books it tomorrow.',
    resolvedBy: TESTER.actor,
  });
  expect(await auditOf(api.database.reader, missing)).toMatchObject([
    { resource: 'reconciliation-break', action: 'resolved', actor: TESTER.actor },
  ]);
  expect(await listed('--status', 'resolved')).toEqual({ status: 0, total: 1, ids: [missing] });
});

test('resolve-break rejects what the API rejects, and says what is missing', async () => {
  const id = await found('callback-contradicts', 'sandbox-bank', null, 'payment-three');
  expect((await operate('resolve-break', id, '--note', 'Seen', '--json')).status).toBe(0);
  const again = await operate('resolve-break', id, '--note', 'Seen again', '--json');
  expect(again).toEqual({ status: 1, lines: [JSON.stringify({ id, rejected: 'The break is already resolved.' })] });
  await expect(operate('resolve-break', id, '--note', 'Seen again')).rejects.toThrow(DomainError);
  const unknown = '019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f31';
  expect((await operate('resolve-break', unknown, '--note', 'Seen', '--json')).status).toBe(1);
  await expect(operate('resolve-break', id)).rejects.toThrow('Give --note');
  await expect(operate('resolve-break', 'nonsense', '--note', 'Seen')).rejects.toThrow('Give ID');
  await expect(operate('breaks', '--status', 'closed')).rejects.toThrow('open, resolved');
  await expect(operate('breaks', '--kind', 'odd')).rejects.toThrow('statement-payment-missing');
  await expect(operate('breaks', '--day', 'today')).rejects.toThrow('YYYY-MM-DD');
});
