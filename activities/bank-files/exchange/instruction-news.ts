import { isDebited, readEventOutcome } from '../../../db/bank-files/entries.ts';
import { markDelivered } from '../../../db/bank-files/files.ts';
import { holdNamed, holdQueued } from '../../../db/bank-files/holds.ts';
import {
  findNamedInstruction,
  type Heard,
  type Instruction,
  moveInstruction,
} from '../../../db/bank-files/instructions.ts';
import { recoverInstruction } from '../../../db/bank-files/restores.ts';
import { adoptReturnDecision, EXCHANGE } from '../../../db/incoming-transfers/incoming-transfers.ts';
import { wakeIncoming } from '../../../db/incoming-transfers/work.ts';
import { adoptPayment } from '../../../db/outgoing-transfers/outgoing-transfers.ts';
import type { CallbackOutcome } from '../../../db/providers/callbacks.ts';
import { RESTORED, TOLD_BEFORE } from '../../../domain/bank-files/exchange/holds.ts';
import {
  type InstructionNews,
  type InstructionState,
  type PaymentNews,
  progressAfter,
  rejectionCode,
} from '../../../domain/bank-files/exchange/progress.ts';
import { attemptIn } from '../../../domain/bank-files/instructions.ts';
import type { AccountReport, BookedEntry } from '../../../domain/bank-files/messages.ts';
import { asId, type IncomingTransferId, type OutgoingTransferId } from '../../../domain/common/ids.ts';
import { parseWrittenId, paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import { rejectionOf } from '../../providers/iso20022/rejections.ts';
import type { ProviderEvent } from '../../providers/port.ts';
import { applyEvent, recordContradiction } from '../../providers/reports/events.ts';
import type { BankServices } from './bank.ts';

/** What a message has told about an instruction. */
export interface Told {
  readonly news: InstructionNews;
  /** Null: our own listing says so. */
  readonly heard: Heard | null;
  readonly occurredAt: Date;
  /** The movement of money that told it: its key, and its amount, which must be ours. */
  readonly entry?: { readonly key: string; readonly amountMinor: bigint; readonly currency: string };
}

/** A movement has paid it. */
export function paidBy(
  {
    key,
    amountMinor,
    currency,
    bankReference,
  }: Pick<BookedEntry, 'key' | 'amountMinor' | 'currency' | 'bankReference'>,
  { message, occurredAt }: { readonly message: AccountReport['message']; readonly occurredAt: Date },
): Told {
  return {
    news: { kind: 'booked', by: message },
    heard: { statusCode: null, reasons: [], payeeCheck: null, matchedName: null, bankReference },
    occurredAt,
    entry: { key, amountMinor, currency },
  };
}

/** How often a concurrent change of an instruction is read again. */
const TRIES = 10;

/**
 * Applies news to an instruction: first to the payment, once, then to the instruction itself. After a crash in between, the same news leads to
 * the same. Returns what it did to the payment.
 */
export async function applyNews(
  services: BankServices,
  instruction: Instruction,
  told: Told,
): Promise<CallbackOutcome> {
  const { database, bank } = services;
  let current = instruction;
  if (told.heard !== null && current.state === 'assigned' && current.fileId !== null) {
    // The bank speaks of it, so its file has arrived, whatever a listing showed.
    const { fileId } = current;
    await database.transaction((tx) => markDelivered(tx, fileId, bank.profile.silenceHours));
    current = await again(services, current);
  }
  for (let tries = 0; tries < TRIES; tries += 1) {
    const progress = progressAfter(current.state, told.news, bank.profile, current.heldReason === RESTORED);
    const { news, isContradiction } = progress;
    if (isContradiction || (await mayBeOfEarlier(services, current, news))) {
      await holdIfQueued(services, current);
      const { kind } = told.news;
      const type = kind === 'status' ? 'payment-rejected' : 'payment-completed';
      await recordContradiction(services, bank.provider, eventOf(current, told, type, 'contradiction'));
      return 'break';
    }
    const outcome = await applyToPayment(services, current, told, news);
    const isKept = outcome === 'break' || outcome === 'waiting';
    if (isKept) await holdIfQueued(services, current);
    if (await move(services, current, isKept ? current.state : progress.state, told.heard)) return outcome;
    current = await again(services, current);
  }
  throw new Error(`instruction ${instruction.instructionId} changes too often`);
}

/** A restore may have lost the file that carried it, and which of its submissions was debited: a rejection may be of an earlier one, and gives no money back. */
async function mayBeOfEarlier(
  { database }: BankServices,
  { fileId, transferId }: Instruction,
  news: PaymentNews | null,
): Promise<boolean> {
  if (fileId !== null || (news !== 'rejected' && news !== 'failed')) return false;
  return isDebited(database.reader, transferId);
}

/**
 * Moves an instruction on; false if it has changed meanwhile. A return that the bank has not made is one that it rejected, whatever it said
 * before: its transfer is woken with the same commit, and holds the next attempt for people.
 */
function move(
  { database, bank }: BankServices,
  instruction: Instruction,
  to: InstructionState,
  heard: Heard | null,
): Promise<boolean> {
  const { isReturn, transferId } = instruction;
  const next = isReturn && to === 'failed' ? 'rejected' : to;
  return database.transaction(async (tx) => {
    const isMoved = await moveInstruction(tx, instruction, next, heard, bank.profile.silenceHours);
    if (isMoved && isReturn && next === 'rejected') wakeIncoming(tx, asId<IncomingTransferId>(transferId));
    return isMoved;
  });
}

/** The bank has one that no file of ours has carried: whether another file may carry it, a person decides. */
export async function holdIfQueued(
  { database }: BankServices,
  { state, transferId }: Pick<Instruction, 'state' | 'transferId'>,
): Promise<void> {
  if (state === 'queued') await database.transaction((tx) => holdQueued(tx, transferId, TOLD_BEFORE));
}

/** The bank speaks of a payment that is not known, under our id of one that waits for its file: a person may have had it paid otherwise. */
export async function holdAllNamed(
  { database }: BankServices,
  transferIds: readonly (string | null | undefined)[],
): Promise<void> {
  const named = new Set(transferIds.filter((id) => typeof id === 'string'));
  for (const id of named) await database.transaction((tx) => holdNamed(tx, id));
}

interface BankNames {
  readonly instructionId: string | null;
  readonly paymentReference: string | null;
}

const REFERENCE_LENGTH = 32;

/**
 * The payment that the bank says it has carried out, whose submission a restore has lost: from now on it is known, and its transfer can be
 * cancelled no longer, whatever it still waited for. Null if the restore has lost no such payment.
 */
export async function recoverLost(
  { database, bank, configuration }: BankServices,
  { instructionId, paymentReference }: BankNames,
): Promise<Instruction | null> {
  const { provider } = bank;
  const transferId = parseWrittenId(paymentReference ?? instructionId?.slice(0, REFERENCE_LENGTH) ?? '');
  if (transferId === null) return null;
  const reference = paymentReferenceOf(transferId);
  const attempt = attemptIn(instructionId ?? '', reference);
  const lost = { provider, transferId, paymentReference: reference, attempt };
  const recovered = await database.transaction(async (tx) => {
    const found = await recoverInstruction(tx, lost, bank.profile.silenceHours);
    if (found === null) return null;
    if (found.isReturn) {
      await adoptReturnDecision(tx, asId<IncomingTransferId>(transferId), EXCHANGE);
      return found;
    }
    const claim = { amountMinor: found.amountMinor.toString(), currency: found.currency, returned: null };
    const report = { serviceProviderId: found.instructionId, serviceProviderReference: null, code: null, claim };
    const id = asId<OutgoingTransferId>(transferId);
    await adoptPayment(tx, { id, provider }, { outcome: 'released', ...report }, configuration);
    return found;
  });
  if (recovered === null) return null;
  return findNamedInstruction(database.reader, provider, { instructionId: recovered.instructionId, transferId: null });
}

/** Records that what was told cannot be true of the payment, and changes nothing. */
export async function contradict(services: BankServices, instruction: Instruction, told: Told): Promise<'break'> {
  const event = eventOf(instruction, told, 'payment-completed', 'contradiction');
  await recordContradiction(services, services.bank.provider, event);
  return 'break';
}

async function again({ database, bank }: BankServices, { instructionId }: Instruction): Promise<Instruction> {
  const found = await findNamedInstruction(database.reader, bank.provider, { instructionId, transferId: null });
  if (found === null) throw new Error(`instruction ${instructionId} is gone`);
  return found;
}

async function applyToPayment(
  services: BankServices,
  instruction: Instruction,
  told: Told,
  news: PaymentNews | null,
): Promise<CallbackOutcome> {
  const { entry } = told;
  const isOtherAmount =
    entry !== undefined && (entry.amountMinor !== instruction.amountMinor || entry.currency !== instruction.currency);
  // A movement of another amount is compared even if the payment has ended: it is a break.
  const said = news ?? (isOtherAmount ? 'completed' : null);
  // Of a return only its end changes the transfer.
  if (said === null || (instruction.isReturn && said !== 'completed')) return 'no-effect';
  return applyOnce(services, eventOf(instruction, told, TYPES[said], said));
}

/** What applying an event has led to, by now or before. */
export async function applyOnce(services: BankServices, event: ProviderEvent): Promise<CallbackOutcome> {
  const { database, bank } = services;
  const outcome = await applyEvent(services, bank.provider, event);
  if (outcome !== 'no-effect') return outcome;
  return (await readEventOutcome(database.reader, bank.provider, event.providerEventId)) ?? outcome;
}

const TYPES = {
  released: 'payment-released',
  completed: 'payment-completed',
  rejected: 'payment-rejected',
  failed: 'payment-failed',
} as const satisfies Record<PaymentNews, ProviderEvent['type']>;

function eventOf(
  { transferId, attempt, instructionId, amountMinor, currency, bankReference, isReturn }: Instruction,
  { heard, occurredAt, entry }: Told,
  type: (typeof TYPES)[PaymentNews],
  said: PaymentNews | 'contradiction',
): ProviderEvent {
  const claim = {
    // What the bank said, not the file that said it: a movement by its key.
    providerEventId: `${instructionId}:${said}${entry === undefined ? '' : `:${entry.key}`}`,
    occurredAt,
    ourReference: transferId,
    amountMinor: entry?.amountMinor ?? amountMinor,
    currency: entry?.currency ?? currency,
  };
  if (isReturn) return { type: 'payment-in-sent-back', isInstructed: true, ...claim };
  const serviceProviderReference = heard?.bankReference ?? bankReference;
  const shared = { ...claim, serviceProviderId: instructionId, serviceProviderReference };
  const code = rejectionCode(heard?.reasons ?? []);
  switch (type) {
    case 'payment-rejected':
      return { type, attempt, error: rejectionOf(code), ...shared };
    case 'payment-failed':
      return { type, code, ...shared };
    default:
      return { type, ...shared };
  }
}
