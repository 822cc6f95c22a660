import type { Logger } from 'pino';
import { auditorOf, type Initiator } from '../../db/common/audit-entries.ts';
import { readClock } from '../../db/common/clock.ts';
import type { Database, Reader } from '../../db/query/database.ts';
import { findReconciliation, type Reconciliation, readProgress } from '../../db/reconciliation/days.ts';
import { anyBelongToClients } from '../../db/reconciliation/references.ts';
import type { Position } from '../../db/reconciliation/schema.ts';
import { listCurrencies } from '../../db/reconciliation/statements.ts';
import { addDays, type LocalDate } from '../../domain/common/time/dates.ts';
import { FileSurvey, type SurveyedCurrency } from '../../domain/reconciliation/files/survey.ts';
import { lastComparableDay } from '../../domain/reconciliation/movements.ts';
import type { Provider } from '../providers/port.ts';
import { readBankStatement } from './camt-053.ts';
import { statementOfFile } from './camt-sources.ts';
import { compareDay } from './daily-reconciliation.ts';
import { type StatementSource, statementOf } from './statement-sources.ts';

const audit = auditorOf('reconciliation');

/** Why a comparison cannot start. */
export class ComparisonRejected extends Error {}

/** A bank's file, from its beginning each time. */
export type BankFile = () => AsyncIterable<string>;

export interface AskedDay {
  readonly code: string;
  readonly provider: Provider;
  readonly day: LocalDate;
  /** Null: the provider's own statement. */
  readonly file: BankFile | null;
}

interface Dependencies {
  readonly database: Database;
  readonly logger: Logger;
}

/**
 * The positions that a person's comparison of a day covers: the provider's, or those of the file. Reads the whole file, so that one with
 * an error is rejected before anything is recorded. Throws ComparisonRejected, or UnreadableMessage.
 */
export async function positionsToCompare(
  reader: Reader,
  { code, provider, day, file }: AskedDay,
): Promise<readonly Position[]> {
  const known = await listCurrencies(reader, code);
  const inFile = file === null ? null : await survey(file, day);
  // There is no position in which to record what our books do not have.
  const foreign = [...(inFile ?? [])].filter(([currency, { hasMoney }]) => hasMoney && !known.includes(currency));
  if (foreign.length > 0) {
    throw new ComparisonRejected(`We have no money in ${foreign.map(([currency]) => currency).join(', ')} at ${code}.`);
  }
  const positions = known
    .filter((currency) => inFile === null || inFile.get(currency)?.isOfDay === true)
    .map((currency): Position => ({ provider: code, currency }));
  if (inFile !== null && positions.length === 0) {
    throw new ComparisonRejected(
      `The file has no booked entry of ${day}, and no statement that covers it and says in which currency.`,
    );
  }
  for (const position of positions) {
    await requireComparable(reader, position, day);
    if (file === null && (await provider.hasStatementOf?.({ currency: position.currency, day }, {})) === false) {
      throw new ComparisonRejected(`${code} has not sent its statement of ${day} in ${position.currency} yet.`);
    }
    await requireWholePosition(reader, position, [...(inFile?.get(position.currency)?.accounts ?? [])]);
  }
  return positions;
}

/** Compares one position's day as the schedule does, and records who asked for it. */
export async function compareForPerson(
  { database, logger }: Dependencies,
  { provider, day, file }: AskedDay,
  position: Position,
  initiator: Initiator,
): Promise<Reconciliation> {
  const source: StatementSource =
    file === null
      ? statementOf(provider, position.currency)
      : statementOfFile(database.reader, position, () => readBankStatement(file()));
  const { id } = await compareDay({ database, logger }, { position, day, source, provider }, {});
  const reconciliation = await findReconciliation(database.reader, id);
  if (reconciliation === null) throw new Error('the compared day is gone');
  const after = { date: day, source: source.kind, openBreakCount: Number(reconciliation.openBreakCount) };
  await database.transaction(async (tx) => audit(tx, id, { action: 'compared', initiator, after }));
  return reconciliation;
}

/** A day cannot be compared before it has ended, nor before an earlier day that is due: that one would be skipped. */
async function requireComparable(reader: Reader, position: Position, day: LocalDate): Promise<void> {
  const now = await readClock(reader);
  if (day > lastComparableDay(now))
    throw new ComparisonRejected(
      `${day} cannot be compared yet: a day can be compared from ten minutes after its end (UTC).`,
    );
  const { lastDay } = await readProgress(reader, position);
  if (lastDay !== null && day > addDays(lastDay, 1)) {
    throw new ComparisonRejected(
      `Compare ${addDays(lastDay, 1)} first, or wait for the schedule: the days of ${position.currency} follow one another.`,
    );
  }
}

/** A file of some clients' accounts lacks the payments of the others, which would be missing, and its totals would count for the whole day. */
async function requireWholePosition(reader: Reader, position: Position, accounts: readonly string[]): Promise<void> {
  if (!(await anyBelongToClients(reader, position, accounts))) return;
  throw new ComparisonRejected(
    `The file covers only some clients' accounts in ${position.currency}: give the statement of our whole account at ${position.provider}.`,
  );
}

async function survey(file: BankFile, day: LocalDate): Promise<ReadonlyMap<string, SurveyedCurrency>> {
  const found = new FileSurvey(day);
  for await (const items of readBankStatement(file())) for (const item of items) found.add(item);
  return found.currencies;
}
