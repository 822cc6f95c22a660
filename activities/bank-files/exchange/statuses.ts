import {
  answerCancellation,
  type Cancellation,
  findNamedCancellation,
  listCancellationsOf,
  noteHeardOfRequest,
} from '../../../db/bank-files/cancellations.ts';
import { type BankFile, findFileByMessage, markDelivered, noteHeardOf } from '../../../db/bank-files/files.ts';
import {
  findInstructionOfFile,
  type Heard,
  type Instruction,
  listInstructionsOf,
} from '../../../db/bank-files/instructions.ts';
import { inheritedStatus, isPartly, meaningOf, payeeCheckOf } from '../../../domain/bank-files/exchange/progress.ts';
import type { CancellationAnswer, PaymentStatusReport, StatedStatus } from '../../../domain/bank-files/messages.ts';
import { parseWrittenId } from '../../../domain/common/payment-references.ts';
import { recallReference } from '../../providers/ports/payment-port.ts';
import type { BankServices } from './bank.ts';
import { applyNews, applyOnce, holdAllNamed, recoverLost } from './instruction-news.ts';

/** One statement of a file, to be applied by itself. False: it is about nothing that we know, or says nothing that we understand. */
export type Item = () => Promise<boolean>;

/** The items of a pain.002. What names a payment is about it; what names a batch or file is about its other payments. */
export async function statusItems(
  services: BankServices,
  report: PaymentStatusReport,
  occurredAt: Date,
): Promise<Item[]> {
  const { database, bank } = services;
  const original = await findFileByMessage(database.reader, bank.provider, report.originalMessageId);
  if (original !== null) await database.transaction((tx) => noteHeardOf(tx, original.id));
  if (original?.message === 'camt.055') return [() => applyToCancellations(services, original, report, occurredAt)];
  const items: Item[] = [];
  const named = new Set<string>();
  for (const batch of report.batches) {
    for (const payment of batch.payments) {
      const names = namesOf(payment);
      const instruction = await findInstructionOfFile(database.reader, bank.provider, names, original?.id ?? null);
      if (instruction !== null) named.add(instruction.instructionId);
      const stated = { ...payment, ...inheritedStatus(payment, [batch, report.file]) };
      items.push(async () =>
        applyStated(services, instruction ?? (await lostOne(services, payment, stated)), stated, occurredAt),
      );
    }
  }
  if (original === null) return [...items, async () => items.length > 0 && report.file.status === null];
  // The bank speaks of the file, so it has arrived, whatever a listing showed.
  await database.transaction((tx) => markDelivered(tx, original.id, bank.profile.silenceHours));
  for (const batch of report.batches) {
    if (isPartly(batch.status) || batch.status === null) continue;
    const rest = await listInstructionsOf(database.reader, original.id, batch.originalBatchId);
    if (rest.length === 0) items.push(async () => false);
    const stated = inheritedStatus(batch, [report.file]);
    items.push(...itemsOf(services, unnamed(rest, named), stated, occurredAt));
  }
  if (isPartly(report.file.status) || report.file.status === null) return items;
  const rest = unnamed(await listInstructionsOf(database.reader, original.id, null), named);
  return [...items, ...itemsOf(services, rest, report.file, occurredAt)];
}

/** Those that no narrower statement names, which are named by this one from now on. */
function unnamed(instructions: readonly Instruction[], named: Set<string>): Instruction[] {
  const rest = instructions.filter(({ instructionId }) => !named.has(instructionId));
  for (const { instructionId } of rest) named.add(instructionId);
  return rest;
}

function itemsOf(
  services: BankServices,
  instructions: readonly Instruction[],
  stated: StatedStatus,
  occurredAt: Date,
): Item[] {
  return instructions.map((instruction) => () => applyStated(services, instruction, stated, occurredAt));
}

interface Names {
  readonly instructionId: string | null;
  readonly paymentReference: string | null;
}

/** How a bank's message names a payment of ours. */
export function namesOf({ instructionId, paymentReference }: Names) {
  return { instructionId, transferId: paymentReference === null ? null : parseWrittenId(paymentReference) };
}

/** Only what the bank has accepted can have been paid. */
async function lostOne(services: BankServices, names: Names, stated: StatedStatus): Promise<Instruction | null> {
  const meaning = meaningOf(stated, services.bank.profile);
  if (meaning !== 'accepted' && meaning !== 'settled') return null;
  const lost = await recoverLost(services, names);
  if (lost === null) await holdAllNamed(services, [namesOf(names).transferId]);
  return lost;
}

type Stated = StatedStatus & { readonly bankReference?: string | null; readonly matchedName?: string | null };

async function applyStated(
  services: BankServices,
  instruction: Instruction | null,
  stated: Stated,
  occurredAt: Date,
): Promise<boolean> {
  if (instruction === null) return false;
  const meaning = meaningOf(stated, services.bank.profile);
  if (meaning === null) return stated.status === null;
  const heard: Heard = {
    statusCode: stated.status,
    reasons: stated.reasons,
    payeeCheck: payeeCheckOf(stated),
    matchedName: stated.matchedName ?? null,
    bankReference: stated.bankReference ?? null,
  };
  const outcome = await applyNews(services, instruction, { news: { kind: 'status', meaning }, heard, occurredAt });
  return outcome !== 'waiting';
}

/** A file of requests that the bank rejects rejects all of them; its acceptance says nothing of a single one. */
async function applyToCancellations(
  services: BankServices,
  original: BankFile,
  { file }: PaymentStatusReport,
  occurredAt: Date,
): Promise<boolean> {
  const { silenceHours } = services.bank.profile;
  await services.database.transaction((tx) => markDelivered(tx, original.id, silenceHours));
  if (file.status !== 'RJCT') return true;
  for (const cancellation of await listCancellationsOf(services.database.reader, original.id)) {
    await reject(services, cancellation, file.reasons, occurredAt);
  }
  return true;
}

const ACCEPTED: ReadonlySet<string> = new Set(['CNCL', 'ACCR', 'CANC']);
const REJECTED: ReadonlySet<string> = new Set(['RJCR', 'RJCT']);
const PENDING: ReadonlySet<string> = new Set(['PDCR', 'UWFW', 'PDNG']);

/** The items of a camt.029. An accepted cancellation moves no money: the return that follows does. */
export function cancellationItems(
  services: BankServices,
  { answers }: CancellationAnswer,
  occurredAt: Date,
): readonly Item[] {
  const { database, bank } = services;
  return answers.map((answer) => async () => {
    const { cancellationId, status, reasons } = answer;
    const names = { cancellationId, ...namesOf(answer) };
    const found = await findNamedCancellation(database.reader, bank.provider, names);
    if (found === null) return false;
    // By the payment alone it may be an earlier request that is answered.
    if (found.cancellationId === cancellationId) {
      await database.transaction((tx) => noteHeardOfRequest(tx, found, bank.profile.silenceHours));
    }
    if (PENDING.has(status)) return true;
    if (REJECTED.has(status)) {
      await reject(services, found, reasons, occurredAt);
      return true;
    }
    if (!ACCEPTED.has(status)) return false;
    await database.transaction((tx) => answerCancellation(tx, found, 'accepted', reasons));
    return true;
  });
}

async function reject(
  services: BankServices,
  cancellation: Cancellation,
  reasons: readonly string[],
  occurredAt: Date,
): Promise<void> {
  const { transferId, number, cancellationId } = cancellation;
  await applyOnce(services, {
    type: 'payment-recall-rejected',
    providerEventId: `${cancellationId}:rejected`,
    occurredAt,
    ourReference: transferId,
    recallReference: recallReference(transferId, number),
  });
  await services.database.transaction((tx) => answerCancellation(tx, cancellation, 'rejected', reasons));
}
