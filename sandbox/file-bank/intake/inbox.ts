import { createHash, randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { Bank } from '../../bank/bank.ts';
import { openCustomer, settingsOf } from '../customers.ts';
import { absent, type CustomerFolders } from '../folders.ts';
import { CANCELLATION_VERSIONS, readCancellationFile } from '../messages/cancellation-file.ts';
import {
  type FileBatch,
  type FilePayment,
  PAYMENT_VERSIONS,
  type PaymentFile,
  readPaymentFile,
} from '../messages/payment-file.ts';
import type { BankPgp } from '../messages/seals.ts';
import { InvalidMessage, type ReadMessage, readMessage } from '../messages/xml.ts';
import type { Notice, ReceivedFile } from '../records.ts';
import { takeCancellation } from './cancellations.ts';
import { fileBreach } from './payment-rules.ts';
import { takePayment } from './submissions.ts';

const FILE_BYTES_MAX = 64 * 1024 * 1024;
/** Taken at once: their lines of the journal share its writes. */
const PAYMENTS_AT_ONCE = 500;

/**
 * Takes a file that stands in a customer's folder, once: the row of a file that was begun says how far it is, and the file stays in its
 * folder until it has been taken whole.
 */
export async function takeFile(
  { bank, folders, pgp }: { readonly bank: Bank; readonly folders: CustomerFolders; readonly pgp: BankPgp },
  customer: string,
  fileName: string,
): Promise<void> {
  const bytes = await bytesOf(folders.path(customer, 'in', fileName));
  if (bytes === null) return;
  await openCustomer(bank, customer);
  const digest = digestOf(bytes);
  const begun = [...bank.books.receivedFiles.values()].find(
    (one) => one.customer === customer && one.fileName === fileName && one.digest === digest && !one.isArchived,
  );
  const head = begun ?? newFile(bank, customer, fileName, digest);
  const ended = begun === undefined || begun.outcome === 'reading' ? await read({ bank, pgp }, head, bytes) : begun;
  await folders.archive(customer, fileName, ended.id);
  await bank.commit({ put: { receivedFiles: [{ ...ended, isArchived: true }] } });
}

/** Files that were begun and are no longer there, archived or taken away: what has been read of them stands. */
export async function endLeftOver(bank: Bank, folders: CustomerFolders): Promise<void> {
  for (const file of [...bank.books.receivedFiles.values()].filter(({ isArchived }) => !isArchived)) {
    const bytes = await bytesOf(folders.path(file.customer, 'in', file.fileName));
    if (bytes !== null && digestOf(bytes) === file.digest) continue;
    const outcome = file.outcome === 'reading' ? 'taken' : file.outcome;
    await bank.commit({ put: { receivedFiles: [{ ...file, outcome, isArchived: true }] } });
  }
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function bytesOf(path: string): Promise<Buffer | null> {
  try {
    if ((await stat(path)).size > FILE_BYTES_MAX) return Buffer.alloc(0);
    return await readFile(path);
  } catch (error) {
    absent(error);
    return null;
  }
}

function newFile(bank: Bank, customer: string, fileName: string, digest: string): ReceivedFile {
  return {
    id: randomUUID(),
    customer,
    fileName,
    digest,
    receivedAt: bank.now().toISOString(),
    version: null,
    messageId: null,
    count: null,
    controlSum: null,
    outcome: 'reading',
    code: null,
    problem: null,
    isArchived: false,
  };
}

async function read(
  { bank, pgp }: { readonly bank: Bank; readonly pgp: BankPgp },
  file: ReceivedFile,
  bytes: Buffer,
): Promise<ReceivedFile> {
  let message: ReadMessage;
  try {
    const settings = settingsOf(bank, file.customer);
    message = readMessage(settings.pgp === 'none' ? bytes : await pgp.open(bytes, settings));
  } catch (error) {
    if (!(error instanceof InvalidMessage)) throw error;
    const { version, messageId } = error;
    return rejected(bank, { ...file, version, messageId }, 'FF01', error.message);
  }
  if (PAYMENT_VERSIONS.includes(message.version)) return readPayments(bank, file, readPaymentFile(message));
  if (CANCELLATION_VERSIONS.includes(message.version)) {
    const { version, messageId, requests } = readCancellationFile(message);
    const known = { ...file, version, messageId };
    if (isRepeated(bank, known)) return duplicate(bank, known);
    await bank.commit({ put: { receivedFiles: [known] } });
    for (const request of requests) await takeCancellation(bank, known, request);
    return end(bank, known, 'taken');
  }
  const { version } = message;
  return rejected(bank, { ...file, version }, 'FF01', `The bank does not take ${version}.`);
}

async function readPayments(bank: Bank, head: ReceivedFile, file: PaymentFile): Promise<ReceivedFile> {
  const { version, messageId, count, controlSum } = file;
  const known: ReceivedFile = { ...head, version, messageId, count, controlSum };
  if (isRepeated(bank, known)) return duplicate(bank, known);
  const breach = fileBreach(file);
  if (breach !== null) return rejected(bank, known, breach.code, breach.problem);
  await bank.commit({ put: { receivedFiles: [known] } });
  const payments = file.batches.flatMap((batch) => batch.payments.map((payment) => [batch, payment] as const));
  for (let from = 0; from < payments.length; from += PAYMENTS_AT_ONCE) {
    await takeTogether(bank, known, payments.slice(from, from + PAYMENTS_AT_ONCE));
  }
  return end(bank, known, 'taken');
}

async function takeTogether(
  bank: Bank,
  file: ReceivedFile,
  payments: readonly (readonly [FileBatch, FilePayment])[],
): Promise<void> {
  await Promise.all(payments.map(([batch, payment]) => takePayment(bank, file, batch, payment)));
}

/** A message's id is used once by a customer, unless its file was rejected as a whole. */
function isRepeated({ books }: Bank, { id, customer, messageId }: ReceivedFile): boolean {
  return [...books.receivedFiles.values()].some(
    (one) =>
      one.id !== id &&
      one.customer === customer &&
      one.messageId === messageId &&
      ['taken', 'reading'].includes(one.outcome),
  );
}

/** The same file again pays nothing, and is answered as what it is. */
function duplicate(bank: Bank, file: ReceivedFile): Promise<ReceivedFile> {
  return rejected(bank, file, 'DU01', 'The bank has a file with this MsgId.', 'duplicate');
}

async function rejected(
  bank: Bank,
  file: ReceivedFile,
  code: string,
  problem: string,
  outcome: 'rejected' | 'duplicate' = 'rejected',
): Promise<ReceivedFile> {
  const ended: ReceivedFile = { ...file, outcome, code, problem };
  const notice: Notice = {
    id: `rejected ${file.id}`,
    customer: file.customer,
    dueAtMs: bank.now().getTime(),
    fileId: file.id,
    round: 0,
    kind: 'file',
    code,
    problem,
  };
  await bank.commit({ put: { receivedFiles: [ended], notices: [notice] } });
  return ended;
}

async function end(bank: Bank, file: ReceivedFile, outcome: 'taken'): Promise<ReceivedFile> {
  const ended: ReceivedFile = { ...file, outcome };
  await bank.commit({ put: { receivedFiles: [ended] } });
  return ended;
}
