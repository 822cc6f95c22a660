import { createReadStream } from 'node:fs';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import type { Provider } from '../../../activities/providers/port.ts';
import { CamtProblem, readBankStatement } from '../../../activities/reconciliation/camt-053.ts';
import { statementOfFile } from '../../../activities/reconciliation/camt-sources.ts';
import { compareDay } from '../../../activities/reconciliation/daily-reconciliation.ts';
import { type StatementSource, statementOf } from '../../../activities/reconciliation/statement-sources.ts';
import { auditorOf } from '../../../db/frame/audit-entries.ts';
import { readClock } from '../../../db/frame/clock.ts';
import { listBreaks, type ReconciliationBreak } from '../../../db/reconciliation/breaks.ts';
import { findReconciliation, readProgress } from '../../../db/reconciliation/days.ts';
import { areOfSomeClients } from '../../../db/reconciliation/references.ts';
import { listCurrencies, type Position } from '../../../db/reconciliation/statements.ts';
import { formatAmount } from '../../../domain/frame/money.ts';
import { addDays, isDate, type LocalDate } from '../../../domain/frame/time/dates.ts';
import type { StatementItem } from '../../../domain/reconciliation/bank-statements.ts';
import { FileSurvey, type SurveyedCurrency } from '../../../domain/reconciliation/files/survey.ts';
import { lastComparableDay } from '../../../domain/reconciliation/movements.ts';
import { configuredProviders } from '../../frame/configured-providers.ts';
import { RemedyError } from '../../frame/remedy.ts';
import type { OperationContext } from '../operations.ts';

const BREAKS_SHOWN_MAX = 1_000;
const audit = auditorOf('reconciliation');

interface Request {
  readonly code: string;
  readonly provider: Provider;
  readonly day: LocalDate;
  /** The path of a bank's file; undefined: the provider's own statement. */
  readonly file: string | undefined;
}

/** Says why the comparison does not begin. */
class Refused extends Error {}

/**
 * `reconcile PROVIDER DATE [--camt-053 FILE]`: compares a day with the ledger, per currency, and records the result and the
 * breaks as the daily comparison does. Exit status 1 if breaks are open, or the service refuses.
 */
export async function reconcileDayNow(context: OperationContext): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    args: [...context.arguments],
    options: { 'camt-053': { type: 'string' }, json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [code, day, ...more] = positionals;
  if (code === undefined || more.length > 0) throw new RemedyError('Give PROVIDER and DATE.');
  if (day === undefined || !isDate(day)) throw new RemedyError('Give DATE as YYYY-MM-DD (UTC).');
  const provider = (context.providers ?? configuredProviders()).get(code);
  try {
    if (provider === undefined) throw new Refused(`${code} is no provider whose statements are compared.`);
    const compared = await compareCurrencies(context, { code, provider, day, file: values['camt-053'] });
    print(context, values.json, { serviceProvider: code, date: day, reconciliations: compared });
    return compared.some(({ openBreaks }) => openBreaks.length > 0) ? 1 : 0;
  } catch (error) {
    if (!(error instanceof Refused || error instanceof CamtProblem)) throw error;
    const refused = { serviceProvider: code, date: day, refused: error.message };
    context.print(values.json ? JSON.stringify(refused) : error.message);
    return 1;
  }
}

async function compareCurrencies(context: OperationContext, request: Request) {
  const { database, initiator } = context;
  const { code, provider, day, file } = request;
  const known = await listCurrencies(database.reader, code);
  const inFile = file === undefined ? null : await survey(file, day);
  // No position could record what of it is not in our books.
  const foreign = [...(inFile ?? [])].filter(([currency, { hasMoney }]) => hasMoney && !known.includes(currency));
  if (foreign.length > 0) {
    throw new Refused(`We have no money in ${foreign.map(([currency]) => currency).join(', ')} at ${code}.`);
  }
  const positions = known
    .filter((currency) => inFile === null || inFile.get(currency)?.isOfDay === true)
    .map((currency): Position => ({ provider: code, currency }));
  if (inFile !== null && positions.length === 0) {
    throw new Refused(
      `The file has no booked entry of ${day}, and no statement that covers it and says in which currency.`,
    );
  }
  for (const position of positions) {
    await requireTurn(context, position, day);
    await requireWholePosition(context, position, [...(inFile?.get(position.currency)?.accounts ?? [])]);
  }
  const logger = pino({ level: 'silent' });
  const compared = [];
  for (const position of positions) {
    const source: StatementSource =
      file === undefined
        ? statementOf(provider, position.currency)
        : statementOfFile(database.reader, position, () => itemsOf(file));
    const { id } = await compareDay({ database, logger }, { position, day, source, provider }, {});
    const [reconciliation, { rows }] = await Promise.all([
      findReconciliation(database.reader, id),
      listBreaks(database.reader, { provider: code, currency: position.currency, day, status: 'open' }, FIRST_PAGE),
    ]);
    if (reconciliation === null) throw new Error('the compared day is gone');
    const { openBreakCount } = reconciliation;
    const after = { date: day, source: source.kind, openBreakCount: Number(openBreakCount) };
    await database.transaction(async (tx) => audit(tx, id, { action: 'compared', initiator, after }));
    compared.push(shownDay(reconciliation, rows));
  }
  return compared;
}

const FIRST_PAGE = { size: BREAKS_SHOWN_MAX, offset: 0 };

/** A day that has not ended, or comes before another that is due, cannot be compared: the other one would be skipped. */
async function requireTurn({ database }: OperationContext, position: Position, day: LocalDate): Promise<void> {
  const now = await readClock(database.reader);
  if (day > lastComparableDay(now))
    throw new Refused(`${day} cannot be compared yet: a day is, ten minutes after its end (UTC).`);
  const { lastDay } = await readProgress(database.reader, position);
  if (lastDay !== null && day > addDays(lastDay, 1)) {
    throw new Refused(
      `Compare ${addDays(lastDay, 1)} first, or wait for the schedule: the days of ${position.currency} follow one another.`,
    );
  }
}

/** What the file of one client lacks of the others would seem to be missing, and what it says would stand for the whole day. */
async function requireWholePosition({ database }: OperationContext, position: Position, accounts: readonly string[]) {
  if (!(await areOfSomeClients(database.reader, position, accounts))) return;
  throw new Refused(
    `The file has the ${position.currency} of some clients' accounts alone: give the statement of our whole account at ${position.provider}.`,
  );
}

function itemsOf(file: string): AsyncIterable<readonly StatementItem[]> {
  return readBankStatement(createReadStream(file, 'utf8'));
}

/** Reads all of the file, so that one with an error is refused before anything is recorded. */
async function survey(file: string, day: LocalDate): Promise<ReadonlyMap<string, SurveyedCurrency>> {
  const found = new FileSurvey(day);
  try {
    for await (const items of itemsOf(file)) for (const item of items) found.add(item);
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
      throw new RemedyError(`${file} cannot be read: ${error.code}.`, { cause: error });
    }
    throw error;
  }
  return found.currencies;
}

function shownDay(
  day: NonNullable<Awaited<ReturnType<typeof findReconciliation>>>,
  open: readonly ReconciliationBreak[],
) {
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
