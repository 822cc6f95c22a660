import { parseArgs } from 'node:util';
import { stringify } from 'lossless-json';
import { presentBreak } from '../../../api/reconciliation/schemas.ts';
import {
  type BreakFilter,
  listBreaks,
  type ReconciliationBreak,
  resolveBreak,
} from '../../../db/reconciliation/breaks.ts';
import { asId, isUuid, type ReconciliationBreakId } from '../../../domain/common/ids.ts';
import { checkText } from '../../../domain/common/parties/names.ts';
import { isDate } from '../../../domain/common/time/dates.ts';
import { minuteInUtc } from '../../../domain/common/waits.ts';
import { NOTE_LENGTH_MAX } from '../../../domain/reconciliation/break-resolutions.ts';
import { BREAK_KINDS, BREAK_STATUSES } from '../../../domain/reconciliation/reconciliation.ts';
import { ActionableError } from '../../common/actionable-error.ts';
import { textTable } from '../../common/text-table.ts';
import { type OperationContext, showRejection } from '../operation.ts';
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
    print(rows.length === 0 ? 'No such break.' : textTable([HEADER, ...rows.map(cellsOf)]));
    if (totalElements > rows.length) print(`${totalElements - rows.length} more are not shown.`);
  }
  return rows.some(({ status }) => status === 'open') ? 1 : 0;
}

const HEADER = ['id', 'status', 'kind', 'provider', 'day', 'found', 'ours', 'provider’s', 'reference'];

function cellsOf(found: ReconciliationBreak): string[] {
  const { id, status, kind, provider, day, foundAt, expected, actual, ourReference } = found;
  const sides = [expected, actual].map((facts) => amountOf(facts) ?? '-');
  // References come from providers and banks' files: none of their control characters may reach a terminal.
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
  if (day !== undefined && !isDate(day)) throw new ActionableError('Give --day as YYYY-MM-DD.');
  return { filter: { provider, status, kind, day }, isJson: values.json };
}

function oneOf<Known extends string>(option: string, known: readonly Known[], given: string): Known {
  const found = known.find((one) => one === given);
  if (found === undefined) throw new ActionableError(`Give ${option} as one of ${known.join(', ')}.`);
  return found;
}

/** `resolve-break ID --note TEXT [--json]`: a person has looked into a break, as PATCH /reconciliation-breaks/{id}. */
export async function resolveOneBreak({
  database,
  initiator,
  arguments: given,
  reject,
  print,
}: OperationContext): Promise<0 | 1> {
  const { values, positionals } = parseArgs({
    args: [...given],
    options: { note: { type: 'string' }, json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [sent = '', ...more] = positionals;
  const id = sent.toLowerCase();
  if (!isUuid(id) || more.length > 0) throw new ActionableError('Give ID as the id of a break.');
  const note = checkText(values.note ?? '', NOTE_LENGTH_MAX);
  if (typeof note === 'string') throw new ActionableError(`Give --note a line of up to ${NOTE_LENGTH_MAX} characters.`);
  try {
    const resolved = await database.transaction((tx) =>
      resolveBreak(tx, asId<ReconciliationBreakId>(id), note.value, initiator),
    );
    print(values.json ? `${stringify({ reconciliationBreak: presentBreak(resolved) })}` : `${id} is resolved.`);
    return 0;
  } catch (error) {
    return showRejection({ print, reject }, { error, isJson: values.json, subject: { id } });
  }
}
