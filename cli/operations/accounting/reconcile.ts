import { createReadStream } from 'node:fs';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import {
  type AskedDay,
  type BankFile,
  ComparisonRejected,
  compareForPerson,
  positionsToCompare,
} from '../../../activities/reconciliation/on-demand.ts';
import { listBreaks, type ReconciliationBreak } from '../../../db/reconciliation/breaks.ts';
import type { Reconciliation } from '../../../db/reconciliation/days.ts';
import { UnreadableMessage } from '../../../domain/bank-files/messages.ts';
import { formatAmount } from '../../../domain/common/money.ts';
import { isDate, type LocalDate } from '../../../domain/common/time/dates.ts';
import { ActionableError } from '../../common/actionable-error.ts';
import { configuredProviders } from '../../common/configured-providers.ts';
import { type OperationContext, printRejection } from '../operation.ts';

const BREAKS_SHOWN_MAX = 1_000;

/**
 * `reconcile PROVIDER DATE [--camt-053 FILE]`: compares a day with the ledger, per currency, and records the result and the
 * breaks as the daily comparison does. Exit status 1 if breaks are open, or the service rejects.
 */
export async function reconcileDayNow(context: OperationContext): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    args: [...context.arguments],
    options: { 'camt-053': { type: 'string' }, json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [code, day, ...more] = positionals;
  if (code === undefined || more.length > 0) throw new ActionableError('Give PROVIDER and DATE.');
  if (day === undefined || !isDate(day)) throw new ActionableError('Give DATE as YYYY-MM-DD (UTC).');
  const provider = (context.providers ?? configuredProviders(context.database)).get(code);
  try {
    if (provider === undefined) throw new ComparisonRejected(`The statements of ${code} are not compared.`);
    const path = values['camt-053'];
    const asked = { code, provider, day, file: path === undefined ? null : bankFileOf(path) };
    const compared = await compareCurrencies(context, asked);
    print(context, values.json, { serviceProvider: code, date: day, reconciliations: compared });
    return compared.some(({ openBreaks }) => openBreaks.length > 0) ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ComparisonRejected || error instanceof UnreadableMessage)) throw error;
    const subject = { serviceProvider: code, date: day };
    return printRejection(context, { message: error.message, isJson: values.json, subject });
  }
}

async function compareCurrencies(context: OperationContext, asked: AskedDay) {
  const { database, initiator } = context;
  const { code, day } = asked;
  const positions = await positionsToCompare(database.reader, asked);
  const logger = pino({ level: 'silent' });
  const compared = [];
  for (const [index, position] of positions.entries()) {
    context.progressed?.(index, positions.length);
    const reconciliation = await compareForPerson({ database, logger }, asked, position, initiator);
    const filter = { provider: code, currency: position.currency, day, status: 'open' } as const;
    const { rows } = await listBreaks(database.reader, filter, FIRST_PAGE);
    compared.push(shownDay(reconciliation, rows));
  }
  return compared;
}

const FIRST_PAGE = { size: BREAKS_SHOWN_MAX, offset: 0 };

function bankFileOf(path: string): BankFile {
  return async function* () {
    try {
      yield* createReadStream(path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
        throw new ActionableError(`${path} cannot be read: ${error.code}.`, { cause: error });
      }
      throw error;
    }
  };
}

function shownDay(day: Reconciliation, open: readonly ReconciliationBreak[]) {
  const { id, currency, status } = day;
  const side = (credits: bigint, creditMinor: bigint, debits: bigint, debitMinor: bigint) => ({
    creditCount: Number(credits),
    creditAmount: formatAmount(creditMinor, currency),
    debitCount: Number(debits),
    debitAmount: formatAmount(debitMinor, currency),
  });
  return {
    id,
    currency,
    status,
    statement: side(day.providerCreditCount, day.providerCreditMinor, day.providerDebitCount, day.providerDebitMinor),
    ledger: side(day.ledgerCreditCount, day.ledgerCreditMinor, day.ledgerDebitCount, day.ledgerDebitMinor),
    openBreaks: open.map(({ id: breakId, kind, ourReference, resourceId, expected, actual }) => ({
      id: breakId,
      kind,
      reference: ourReference,
      resourceId,
      expected: expected && formatAmount(BigInt(expected.amountMinor), currency),
      actual: actual && formatAmount(BigInt(actual.amountMinor), currency),
    })),
  };
}

interface Result {
  readonly serviceProvider: string;
  readonly date: LocalDate;
  readonly reconciliations: readonly ReturnType<typeof shownDay>[];
}

function print(context: OperationContext, json: boolean, result: Result): void {
  if (json) {
    context.print(JSON.stringify(result));
    return;
  }
  for (const { currency, status, statement, ledger, openBreaks } of result.reconciliations) {
    context.print(`${result.serviceProvider}  ${currency}  ${result.date}  ${status}`);
    for (const [name, side] of Object.entries({ statement, ledger })) {
      context.print(
        `  ${name}: ${side.creditCount} in, ${side.creditAmount}; ${side.debitCount} out, ${side.debitAmount}`,
      );
    }
    for (const { id, kind, reference, expected, actual } of openBreaks) {
      context.print(
        `  ${kind}  ${reference ?? ''}  expected ${expected ?? 'nothing'}, actual ${actual ?? 'nothing'}  (${id})`,
      );
    }
  }
  if (result.reconciliations.length === 0) context.print('We have no money there.');
}
