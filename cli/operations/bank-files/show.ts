import { open } from 'node:fs/promises';
import { noteContentShown } from '../../../db/bank-files/by-hand/files.ts';
import {
  type FileFilter,
  type FilePayment,
  listNewestFiles,
  readFileEffects,
  type ShownFile,
  type ToldEntry,
} from '../../../db/bank-files/by-hand/reads.ts';
import { listRequestsOf } from '../../../db/bank-files/by-hand/requests.ts';
import { readContent } from '../../../db/bank-files/files.ts';
import { BANK_FILE_STATES } from '../../../domain/bank-files/by-hand/files.ts';
import { formatAmount } from '../../../domain/common/money.ts';
import { minuteInUtc } from '../../../domain/common/waits.ts';
import { ActionableError } from '../../common/actionable-error.ts';
import { textTable } from '../../common/text-table.ts';
import { fileNamed, plainCell, type Request } from './arguments.ts';
import { bankWord, reportedStatements, summaryOf } from './reported-statements.ts';

const LISTED_MAX = 1_000;
const SHOWN_MAX = 1_000;

/** `list [--bank B] [--direction out|in] [--state S] [--since INSTANT]`: files, the newest first. */
export async function listFiles({ database, options, isJson, print }: Request): Promise<0> {
  const found = await listNewestFiles(database.reader, filterOf(options), { before: null, size: LISTED_MAX + 1 });
  const files = found.slice(0, LISTED_MAX);
  const isMore = found.length > LISTED_MAX;
  if (isJson) print(JSON.stringify({ isMore, bankFiles: files.map(presentFile) }));
  else {
    print(files.length === 0 ? 'No such file.' : textTable([HEADER, ...files.map(cellsOf)]));
    if (isMore) print(`More than ${LISTED_MAX} are found: narrow the list.`);
  }
  return 0;
}

function filterOf({ bank, direction, state, since }: Request['options']): FileFilter {
  const way = (['out', 'in'] as const).find((known) => known === direction);
  const known = BANK_FILE_STATES.find((one) => one === state);
  const instant = since === undefined ? undefined : new Date(since);
  if (direction !== undefined && way === undefined) throw new ActionableError('Give --direction as out or in.');
  if (state !== undefined && known === undefined)
    throw new ActionableError(`Give --state as one of ${BANK_FILE_STATES.join(', ')}.`);
  if (instant !== undefined && Number.isNaN(instant.getTime()))
    throw new ActionableError('Give --since an instant, such as 2026-01-31T12:00:00Z.');
  return { provider: bank, direction: way, state: known, since: instant };
}

const HEADER = ['id', 'bank', 'way', 'state', 'message', 'size', 'since', 'name', 'reason'];

function cellsOf({ id, provider, direction, state, message, size, createdAt, name, reason }: ShownFile): string[] {
  const written = minuteInUtc(createdAt.toISOString());
  return [id, provider, direction, state, message ?? '-', String(size), written, plainCell(name), plainCell(reason)];
}

/** `show FILE [--content PATH]`: a file, when it came into its states, and what it did. */
export async function showFile({ database, initiator, operands, options, isJson, print }: Request): Promise<0> {
  const { reader } = database;
  const file = await fileNamed(reader, operands[0]);
  if (options.content !== undefined) {
    await database.transaction((tx) => noteContentShown(tx, file.id, initiator));
    await writeNew(options.content, await readContent(reader, file.id));
  }
  const [{ counts, payments, entryCounts, entries }, told, requests] = await Promise.all([
    readFileEffects(reader, file.id, SHOWN_MAX),
    reportedStatements(reader, file, SHOWN_MAX),
    listRequestsOf(reader, file.id),
  ]);
  const summary = file.state === 'carried' ? await summaryOf(reader, file) : [];
  if (isJson) {
    const sums = counts.map(({ amountMinor, ...count }) => ({
      ...count,
      amount: formatAmount(amountMinor, count.currency),
    }));
    const shown = {
      paymentCounts: sums,
      payments: payments.map(amountShown),
      entryCounts,
      entries: entries.map(amountShown),
    };
    print(JSON.stringify({ bankFile: presentFile(file), ...shown, statements: told.statements, summary, requests }));
    return 0;
  }
  print([...factsOf(file), ...summary].join('\n'));
  for (const { id, kind, status, askedBy, reason } of requests)
    print(`asked: ${kind}, ${status}, by ${askedBy}: ${reason} (request ${id})`);
  for (const { state, count, amountMinor, currency } of counts)
    print(`payments ${state}: ${count}, ${formatAmount(amountMinor, currency)} ${currency}`);
  if (payments.length > 0) print(textTable([PAYMENT_HEADER, ...payments.map(paymentCells)]));
  for (const { kind, outcome, count } of entryCounts) print(`movements told first here: ${count} ${kind}, ${outcome}`);
  if (entries.length > 0) print(textTable([ENTRY_HEADER, ...entries.map(entryCells)]));
  for (const { about, says, transferId, state } of told.statements)
    print(
      `says of ${about}${transferId === null ? '' : ` ${transferId}`}: ${says}${state === null ? '' : `; it is ${state} now`}`,
    );
  return 0;
}

/** Writes bytes that hold personal data: for this user only, and never over a file. */
export async function writeNew(path: string, content: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

function amountShown<Row extends { readonly amountMinor: bigint; readonly currency: string }>({
  amountMinor,
  ...row
}: Row) {
  return { ...row, amount: formatAmount(amountMinor, row.currency) };
}

export function presentFile({ provider, ...file }: ShownFile) {
  return { ...file, bank: provider };
}

function factsOf(file: ShownFile): string[] {
  const times = [
    ['written', file.direction === 'out' ? file.createdAt : null],
    ['came in', file.direction === 'in' ? file.createdAt : null],
    ['its upload was about to get its name', file.renameBeganAt],
    [`handed out to ${file.handedOutBy}`, file.handedOutAt],
    ['delivered', file.deliveredAt],
    ['taken', file.takenAt],
    ['moved to the bank’s archive', file.archivedAt],
    ['settled', file.settledAt],
  ] as const;
  return [
    `${file.direction === 'out' ? 'our file' : 'a file of the bank'} ${plainCell(file.name)} (${file.id}), ${file.provider}: ${file.state}`,
    `message ${file.message ?? 'not read yet'}, ${plainCell(file.messageId)}; ${file.size} bytes`,
    `digest ${file.digest ?? 'not read'}`,
    ...(file.reason === null ? [] : [`why: ${plainCell(file.reason)}`]),
    ...(file.direction === 'in' && file.takenAt !== null
      ? [`statements: ${file.items}, about nothing that we know: ${file.unknownItems}`]
      : []),
    ...times.flatMap(([what, at]) => (at === null ? [] : [`${what} ${minuteInUtc(at.toISOString())}`])),
  ];
}

const PAYMENT_HEADER = ['payment', 'instruction', 'amount', 'state', 'the bank’s word', 'transfer'];

function paymentCells({
  transferId,
  instructionId,
  state,
  status,
  statusCode,
  reasons,
  ...money
}: FilePayment): string[] {
  const amount = `${formatAmount(money.amountMinor, money.currency)} ${money.currency}`;
  return [transferId, instructionId, amount, state, bankWord({ statusCode, reasons }) ?? '-', status ?? 'unknown'];
}

const ENTRY_HEADER = ['movement', 'day', 'amount', 'what', 'led to', 'transfer'];

function entryCells(entry: ToldEntry): string[] {
  const { key, direction, amountMinor, currency, bookedOn, kind, outcome, transferId, incomingTransferId } = entry;
  const amount = `${direction === 'debit' ? '-' : ''}${formatAmount(amountMinor, currency)} ${currency}`;
  return [plainCell(key), bookedOn, amount, kind, outcome, transferId ?? incomingTransferId ?? '-'];
}
