import {
  assignCancellations,
  type DueCancellation,
  lockQueuedCancellations,
} from '../../../db/bank-files/cancellations.ts';
import { buildFile, type NewFile } from '../../../db/bank-files/files.ts';
import {
  type Assigned,
  assignInstructions,
  type DueInstruction,
  endUnwantedInstructions,
  lockQueuedInstructions,
  type PayingAccount,
} from '../../../db/bank-files/instructions.ts';
import { readClock } from '../../../db/common/clock.ts';
import { newId } from '../../../db/common/ids.ts';
import type { Transaction } from '../../../db/query/database.ts';
import { writeCancellationFile } from '../../../domain/bank-files/cancellation-file.ts';
import { dueFiles, grouped } from '../../../domain/bank-files/exchange/assembly.ts';
import type { InstructingParty, PaymentBatch } from '../../../domain/bank-files/instructions.ts';
import { writePaymentFile } from '../../../domain/bank-files/payment-file.ts';
import type { BankFileId } from '../../../domain/common/ids.ts';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import type { Bank, BankServices } from './bank.ts';

/** Looked at in one transaction; what is left comes with the next look. */
const INSTRUCTIONS_AT_ONCE = 10_000;
const CANCELLATIONS_AT_ONCE = 1_000;
/** For writing ten thousand payments. */
const DEADLINE_MS = 60_000;

type Queued = DueInstruction & { readonly accountKey: string };

/**
 * Writes the files that are due, each with the assignment of its payments in one transaction: a payment is in one file or in none.
 * Returns how many files it has written.
 */
export async function assembleFiles({ database, configuration, logger, bank }: BankServices): Promise<number> {
  const { provider, profile, settings } = bank;
  return database.transaction(
    async (tx) => {
      for (const transferId of await endUnwantedInstructions(tx, provider))
        logger.error({ provider, transferId }, 'no file takes a payment whose transfer has ended');
      const queued = await lockQueuedInstructions(tx, provider, INSTRUCTIONS_AT_ONCE);
      const cancellations = await lockQueuedCancellations(tx, provider, CANCELLATIONS_AT_ONCE);
      const now = await readClock(tx);
      const named = queued.map((instruction) => ({ ...instruction, accountKey: keyOf(instruction) }));
      const files = dueFiles(named, { ...settings, payeeCheck: profile.payeeCheck }, now);
      const dateOf = (of: Queued) => configuration.schemes.nextAvailableDate(of, now);
      for (const batches of files) {
        const write = (groups: typeof batches) => writePayments(tx, bank, groups, dateOf, now);
        const unwritable = await writeTogetherOrApart(batches.flat(), {
          together: () => write(batches),
          apart: (payment) => write([[payment]]),
        });
        for (const { transferId } of unwritable)
          logger.error({ provider, transferId }, 'a payment cannot be written into a file for its bank');
      }
      const asked = grouped(cancellations, keyOf);
      for (const ofAccount of asked) {
        const write = (requests: typeof ofAccount) => writeCancellations(tx, bank, requests, now);
        const unwritable = await writeTogetherOrApart(ofAccount, {
          together: () => write(ofAccount),
          apart: (request) => write([request]),
        });
        for (const { cancellationId } of unwritable)
          logger.error({ provider, cancellationId }, 'a recall cannot be written into a file for its bank');
      }
      return files.length + asked.length;
    },
    { deadlineMs: DEADLINE_MS },
  );
}

/** The message's text could not be made of what it was given: nothing has been stored. */
class UnwritableFile extends Error {}

/** One file of all; if it cannot be written, one of each. Returns those that cannot be written: they stay, and hold up no other. */
async function writeTogetherOrApart<Item>(
  items: readonly Item[],
  write: { readonly together: () => Promise<void>; readonly apart: (item: Item) => Promise<void> },
): Promise<Item[]> {
  if (await isWritten(write.together)) return [];
  const unwritable: Item[] = [];
  for (const item of items) if (!(await isWritten(() => write.apart(item)))) unwritable.push(item);
  return unwritable;
}

async function isWritten(write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof UnwritableFile) return false;
    throw error;
  }
}

function written(write: () => Buffer): Buffer {
  try {
    return write();
  } catch (error) {
    throw new UnwritableFile('a file cannot be written', { cause: error });
  }
}

/** A file is of one account and one currency. */
function keyOf({ account, currency }: { readonly account: PayingAccount; readonly currency: string }): string {
  const { iban, accountNumber, routingCodes } = account;
  return JSON.stringify([currency, iban, accountNumber, Object.entries(routingCodes).sort()]);
}

interface Head {
  readonly id: BankFileId;
  readonly messageId: string;
  readonly name: string;
}

function newHead(message: 'pain.001' | 'camt.055'): Head {
  const id = newId<BankFileId>();
  const messageId = paymentReferenceOf(id);
  return { id, messageId, name: `${message.replace('.', '')}-${messageId}.xml` };
}

async function writePayments(
  tx: Transaction,
  bank: Bank,
  groups: readonly (readonly Queued[])[],
  dateOf: (of: Queued) => string,
  createdAt: Date,
): Promise<void> {
  const { provider, profile, settings } = bank;
  const { id, messageId, name } = newHead('pain.001');
  const [first] = groups.flat();
  if (first === undefined) return;
  const batches: PaymentBatch[] = [];
  const assigned: Assigned[] = [];
  for (const [index, group] of groups.entries()) {
    const id = `${messageId}${index + 1}`;
    const [head = first] = group;
    const { scheme } = head;
    const executionDate = dateOf(head);
    const instructions = group.map(({ instructionId, ...instruction }) => ({
      ...instruction,
      id: instructionId,
      executionDate,
    }));
    batches.push({ id, scheme, executionDate, instructions });
    assigned.push(...group.map(({ transferId, attempt }) => ({ transferId, attempt, batchId: id, executionDate })));
  }
  const party = partyOf(settings.party, first.account);
  const message = written(() => writePaymentFile({ messageId, createdAt, party, batches }, profile));
  await buildFile(tx, { id, provider, message: 'pain.001', messageId, ...(await wrapped(bank, name, message)) });
  await assignInstructions(tx, id, assigned);
}

async function writeCancellations(
  tx: Transaction,
  bank: Bank,
  requests: readonly DueCancellation[],
  createdAt: Date,
): Promise<void> {
  const { provider, profile, settings } = bank;
  const [first] = requests;
  if (first === undefined) return;
  const { id: fileId, messageId, name } = newHead('camt.055');
  const cancellations = requests.map(({ cancellationId, instructionId, paymentReference, ...request }) => ({
    id: cancellationId,
    originalMessageId: request.originalMessageId,
    originalMessageCreatedAt: request.originalMessageCreatedAt,
    originalBatchId: request.originalBatchId,
    originalInstruction: {
      id: instructionId,
      paymentReference,
      amountMinor: request.amountMinor,
      currency: request.currency,
    },
    reason: 'CUST',
  }));
  const party = partyOf(settings.party, first.account);
  const message = written(() => writeCancellationFile({ messageId, createdAt, party, cancellations }, profile));
  await buildFile(tx, {
    id: fileId,
    provider,
    message: 'camt.055',
    messageId,
    ...(await wrapped(bank, name, message)),
  });
  await assignCancellations(tx, { fileId, provider, ids: requests.map(({ cancellationId }) => cancellationId) });
}

/** The file as it lies at the bank: made once, as an encryption is another each time. */
async function wrapped(
  { pgp }: Bank,
  name: string,
  message: Buffer,
): Promise<Pick<NewFile, 'name' | 'content' | 'plain'>> {
  if (pgp === undefined) return { name, content: message, plain: null };
  return { name: `${name}.pgp`, content: await pgp.seal(message), plain: message };
}

function partyOf(party: Bank['settings']['party'], account: PayingAccount): InstructingParty {
  return { ...party, ...account };
}
