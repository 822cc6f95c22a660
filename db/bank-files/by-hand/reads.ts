import type { BankFileState } from '../../../domain/bank-files/by-hand/files.ts';
import type { InstructionState } from '../../../domain/bank-files/exchange/progress.ts';
import type { BankFileId } from '../../../domain/common/ids.ts';
import type { Reader } from '../../query/database.ts';
import { LOOKED_AT_MAX } from '../../query/newest-lists.ts';

// Files as people see them.

export interface ShownFile {
  readonly id: BankFileId;
  readonly provider: string;
  readonly direction: 'out' | 'in';
  readonly message: string | null;
  readonly name: string;
  readonly messageId: string | null;
  /** Null: it could not be read, and its bytes are not here. */
  readonly digest: string | null;
  readonly size: number;
  readonly state: BankFileState;
  readonly reason: string | null;
  readonly tries: number;
  readonly items: number;
  readonly unknownItems: number;
  readonly handedOutBy: string | null;
  readonly createdAt: Date;
  readonly renameBeganAt: Date | null;
  readonly handedOutAt: Date | null;
  readonly deliveredAt: Date | null;
  readonly takenAt: Date | null;
  readonly archivedAt: Date | null;
  readonly settledAt: Date | null;
}

const COLUMNS = `id, provider, direction, message, name, message_id AS "messageId", encode(digest, 'hex') AS digest, size, state, reason, tries, items,
  unknown_items AS "unknownItems", handed_out_by AS "handedOutBy", created_at AS "createdAt", rename_began_at AS "renameBeganAt",
  handed_out_at AS "handedOutAt", delivered_at AS "deliveredAt", taken_at AS "takenAt", archived_at AS "archivedAt", settled_at AS "settledAt"`;
const FIND = `SELECT ${COLUMNS} FROM bank_files WHERE id = $1::uuid`;

export async function findShownFile(reader: Reader, id: BankFileId): Promise<ShownFile | null> {
  const [found] = await reader.statement<ShownFile>(FIND, [id]);
  return found ?? null;
}

const BY_NAME = `SELECT ${COLUMNS} FROM bank_files WHERE name = $1 ORDER BY id DESC LIMIT 10`;

/** The files of a name, the newest first: banks use theirs again. */
export function findFilesNamed(reader: Reader, name: string): Promise<ShownFile[]> {
  return reader.statement<ShownFile>(BY_NAME, [name]);
}

export interface FileFilter {
  readonly provider?: string | undefined;
  readonly direction?: 'out' | 'in' | undefined;
  readonly state?: BankFileState | undefined;
  readonly since?: Date | undefined;
}

/** Files before `before` (an id; null: from the newest on), newest first. */
export function listNewestFiles(
  reader: Reader,
  { provider, direction, state, since }: FileFilter,
  { before, size }: { readonly before: string | null; readonly size: number },
): Promise<ShownFile[]> {
  const values: unknown[] = [];
  const conditions = (
    [
      ['provider = $', provider],
      ['direction = $', direction],
      ['state = $', state],
      ['created_at >= $', since],
      ['id < $', before ?? undefined],
    ] as const
  ).flatMap(([condition, value]) => {
    if (value === undefined) return [];
    values.push(value);
    return [`${condition}${values.length}`];
  });
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return reader.statement<ShownFile>(
    `SELECT ${COLUMNS} FROM bank_files ${where} ORDER BY id DESC LIMIT ${size}`,
    values,
  );
}

/** A payment of a file, and what has come of it. */
export interface FilePayment {
  readonly transferId: string;
  readonly transactionNumber: string | null;
  readonly instructionId: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly state: InstructionState;
  readonly statusCode: string | null;
  readonly reasons: readonly string[];
  /** Of money in: the transfer is an incoming one. */
  readonly isReturn: boolean;
  /** Of the transfer. */
  readonly status: string | null;
}

const PAYMENTS = `
  SELECT instruction.transfer_id AS "transferId", coalesce(transfer.transaction_number, returned.transaction_number) AS "transactionNumber",
    instruction.is_return AS "isReturn", instruction.instruction_id AS "instructionId",
    instruction.amount_minor AS "amountMinor", instruction.currency, instruction.state, instruction.status_code AS "statusCode", instruction.reasons,
    coalesce(transfer.status, returned.status) AS status
  FROM bank_instructions instruction LEFT JOIN outgoing_transfers transfer ON transfer.id = instruction.transfer_id
    LEFT JOIN incoming_transfers returned ON returned.id = instruction.transfer_id`;
const OF_FILE = `${PAYMENTS} WHERE instruction.file_id = $1::uuid ORDER BY instruction.transfer_id LIMIT $2`;

function listPaymentsOf(reader: Reader, fileId: BankFileId, size: number): Promise<FilePayment[]> {
  return reader.statement<FilePayment>(OF_FILE, [fileId, size]);
}

const COUNTS = `
  SELECT state, currency, count(*)::integer AS count, sum(amount_minor)::bigint AS "amountMinor" FROM bank_instructions WHERE file_id = $1::uuid
  GROUP BY state, currency ORDER BY state, currency`;

export interface PaymentCount {
  readonly state: InstructionState;
  readonly currency: string;
  readonly count: number;
  readonly amountMinor: bigint;
}

/** The payments of a file by what has come of them: a file has at most ten thousand. */
function countPaymentsOf(reader: Reader, fileId: BankFileId): Promise<PaymentCount[]> {
  return reader.statement<PaymentCount>(COUNTS, [fileId]);
}

/** A movement of money that a file told first. */
export interface ToldEntry {
  readonly key: string;
  readonly direction: 'debit' | 'credit';
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly bookedOn: string;
  readonly kind: string;
  readonly outcome: string;
  readonly transferId: string | null;
  /** It returns money in: the transfer is an incoming one. */
  readonly isReturn: boolean;
  /** Of money that came in, once it is received. */
  readonly incomingTransferId: string | null;
}

const ENTRIES = `
  SELECT entry.key, entry.direction, entry.amount_minor AS "amountMinor", entry.currency, entry.booked_on AS "bookedOn", entry.kind, entry.outcome,
    entry.transfer_id AS "transferId", EXISTS (SELECT FROM incoming_transfers WHERE id = entry.transfer_id) AS "isReturn", CASE entry.kind WHEN 'received' THEN (
      SELECT received.id FROM incoming_transfers received WHERE received.provider = entry.provider AND received.service_provider_id = entry.key
      LIMIT 1) END AS "incomingTransferId"
  FROM bank_entries entry WHERE entry.file_id = $1::uuid ORDER BY entry.key LIMIT $2`;

function listEntriesOf(reader: Reader, fileId: BankFileId, size: number): Promise<ToldEntry[]> {
  return reader.statement<ToldEntry>(ENTRIES, [fileId, size]);
}

const ENTRY_COUNTS = `
  SELECT kind, outcome, count(*)::integer AS count FROM (
    SELECT kind, outcome FROM bank_entries WHERE file_id = $1::uuid LIMIT ${LOOKED_AT_MAX}) AS told GROUP BY kind, outcome ORDER BY kind, outcome`;

/** What a file told first, by what it turned out to be. */
function countEntriesOf(reader: Reader, fileId: BankFileId): Promise<EntryCount[]> {
  return reader.statement<EntryCount>(ENTRY_COUNTS, [fileId]);
}

export interface EntryCount {
  readonly kind: string;
  readonly outcome: string;
  readonly count: number;
}

export interface FileEffects {
  readonly counts: readonly PaymentCount[];
  readonly payments: readonly FilePayment[];
  readonly entryCounts: readonly EntryCount[];
  readonly entries: readonly ToldEntry[];
}

/** What a file did: its payments and the movements that it told first, at most `size` of each, and how many there are. */
export async function readFileEffects(reader: Reader, id: BankFileId, size: number): Promise<FileEffects> {
  const [counts, payments, entryCounts, entries] = await Promise.all([
    countPaymentsOf(reader, id),
    listPaymentsOf(reader, id, size),
    countEntriesOf(reader, id),
    listEntriesOf(reader, id, size),
  ]);
  return { counts, payments, entryCounts, entries };
}
