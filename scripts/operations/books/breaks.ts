import { parseArgs } from 'node:util';
import { stringify } from 'lossless-json';
import { NOTE_LENGTH_MAX, presentBreak } from '../../../api/reconciliation/schemas.ts';
import {
  type BreakFilter,
  listBreaks,
  type ReconciliationBreak,
  resolveBreak,
} from '../../../db/reconciliation/breaks.ts';
import { asId, isUuid, type ReconciliationBreakId } from '../../../domain/frame/ids.ts';
import { checkText } from '../../../domain/frame/parties/names.ts';
import { isDate } from '../../../domain/frame/time/dates.ts';
import { minuteInUtc } from '../../../domain/frame/waits.ts';
import { BREAK_KINDS, BREAK_STATUSES } from '../../../domain/reconciliation/reconciliation.ts';
import { aligned } from '../../frame/aligned.ts';
import { RemedyError } from '../../frame/remedy.ts';
import type { OperationContext } from '../operations.ts';
import { showRefusal } from '../refusals.ts';
import { amountOf } from '../why/breaks.ts';

const SHOWN_MAX = 1_000;

/**
 * `breaks [--provider P] [--status open|resolved] [--kind K] [--day D] [--json]`: differences between providers' books and ours, open
 * ones unless asked otherwise, in the order in which they were found. Exit status 1 if any of those shown is open.
 */
export async function showBreaks({ database, arguments: given, print }: OperationContext): Promise<0 | 1> {
  const { filter, isJson } = readFilter(given);
  const { rows, totalElements } = await listBreaks(database.reader, filter, { size: SHOWN_MAX, offset: 0 });
  if (isJson) print(`${stringify({ total: totalElements, reconciliationBreaks: rows.map(presentBreak) })}`);
  else {
    print(rows.length === 0 ? 'No such break.' : aligned([HEADER, ...rows.map(cellsOf)]));
    if (totalElements > rows.length) print(`${totalElements - rows.length} more are not shown.`);
  }
  return rows.some(({ status }) => status === 'open') ? 1 : 0;
}

const HEADER = ['id', 'status', 'kind', 'provider', 'day', 'found', 'ours', 'provider’s', 'reference'];

function cellsOf(found: ReconciliationBreak): string[] {
  const { id, status, kind, provider, day, foundAt, expected, actual, ourReference } = found;
  const sides = [expected, actual].map((facts) => amountOf(facts) ?? '-');
  // References come from providers, and the file of a bank: nothing of them may reach a terminal as a command.
  const reference = (ourReference ?? '-').replaceAll(/[^\p{L}\p{N}\p{P}\p{S}\p{Zs}]/gu, '?');
  return [id, status, kind, provider, day ?? '-', minuteInUtc(foundAt.toISOString()), ...sides, reference];
}

function readFilter(given: readonly string[]): { filter: BreakFilter; isJson: boolean } {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...given],
    options: { provider: text, status: text, kind: text, day: text, json: { type: 'boolean', default: false } },
  });
  const { provider, day } = values;
  const status = oneOf('--status', BREAK_STATUSES, values.status ?? 'open');
  const kind = values.kind === undefined ? undefined : oneOf('--kind', BREAK_KINDS, values.kind);
  if (day !== undefined && !isDate(day)) throw new RemedyError('Give --day as YYYY-MM-DD.');
  return { filter: { provider, status, kind, day }, isJson: values.json };
}

function oneOf<Known extends string>(option: string, known: readonly Known[], given: string): Known {
  const found = known.find((one) => one === given);
  if (found === undefined) throw new RemedyError(`Give ${option} as one of ${known.join(', ')}.`);
  return found;
}

/** `resolve-break ID --note TEXT [--json]`: a person has looked into a break, as PATCH /reconciliation-breaks/{id}. */
export async function resolveOneBreak({
  database,
  initiator,
  arguments: given,
  print,
}: OperationContext): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    args: [...given],
    options: { note: { type: 'string' }, json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [sent = '', ...more] = positionals;
  const id = sent.toLowerCase();
  if (!isUuid(id) || more.length > 0) throw new RemedyError('Give ID as the id of a break.');
  const note = checkText(values.note ?? '', NOTE_LENGTH_MAX);
  if (typeof note === 'string') throw new RemedyError(`Give --note a line of up to ${NOTE_LENGTH_MAX} characters.`);
  try {
    const resolved = await database.transaction((tx) =>
      resolveBreak(tx, asId<ReconciliationBreakId>(id), note.value, initiator),
    );
    print(values.json ? `${stringify({ reconciliationBreak: presentBreak(resolved) })}` : `${id} is resolved.`);
    return 0;
  } catch (error) {
    return showRefusal({ print }, { error, isJson: values.json, subject: { id } });
  }
}
