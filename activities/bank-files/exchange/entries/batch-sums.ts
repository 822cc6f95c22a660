import {
  findEntry,
  listDebitsOfBatch,
  listWaitingSums,
  markPartsStated,
  settleSum,
  storeEntry,
  type ToldEntry,
} from '../../../../db/bank-files/entries.ts';
import { holdQueued } from '../../../../db/bank-files/holds.ts';
import { type Instruction, listInstructionsOfBatch } from '../../../../db/bank-files/instructions.ts';
import type { Reader } from '../../../../db/query/database.ts';
import { type PartsOfSum, partKey, partsOfSum } from '../../../../domain/bank-files/exchange/batch-sums.ts';
import type { BankMessage } from '../../../../domain/bank-files/messages.ts';
import type { BankServices } from '../bank.ts';
import { applyNews, contradict, paidBy, type Told } from '../instruction-news.ts';
import type { Item } from '../statuses.ts';

// A bank may book a batch of ours as one sum and tell none of its payments. What it tells of them otherwise says which they are.

/** The sums of batches that a message tells, once all else that it tells is applied. */
export function sumItems(services: BankServices, message: BankMessage, occurredAt: Date): readonly Item[] {
  if (!('entries' in message)) return [];
  const sums = message.entries.filter(({ isPending, batch }) => !isPending && batch?.originalBatchId != null);
  return sums.map(({ key }) => async () => {
    const sum = await findEntry(services.database.reader, services.bank.provider, key);
    if (sum !== null) await bookSum(services, sum, occurredAt);
    return true;
  });
}

/** The sums that waited, as any message may have told what they are. */
export async function waitingSumItems(services: BankServices, occurredAt: Date): Promise<readonly Item[]> {
  const waiting = await listWaitingSums(services.database.reader, services.bank.provider);
  return waiting.map((sum) => async () => {
    await bookSum(services, sum, occurredAt);
    return true;
  });
}

/** The payments that a sum of a batch may have paid; null if the sum is of no batch of ours. */
export async function readPartsOfSum(
  reader: Reader,
  provider: string,
  sum: ToldEntry,
): Promise<PartsOfSum<Instruction> | null> {
  const { kind, direction, batchId } = sum;
  if (kind !== 'batch' || direction !== 'debit' || batchId === null) return null;
  const batch = await listInstructionsOfBatch(reader, provider, batchId);
  return partsOfSum(sum, batch, await listDebitsOfBatch(reader, provider, batchId));
}

/** Books the payments of a sum, each once: after a crash half-way the same ones are its payments. */
async function bookSum(services: BankServices, sum: ToldEntry, occurredAt: Date): Promise<void> {
  const { database, bank } = services;
  const { provider } = bank;
  const parts = await readPartsOfSum(database.reader, provider, sum);
  if (parts === null || sum.outcome === 'break') return;
  if (parts.isTooMuch) {
    for (const own of parts.others) await contradictPart(services, sum, own, occurredAt);
    await database.transaction((tx) => settleSum(tx, provider, sum.key, 'break'));
  }
  if (!parts.isTheirs) return;
  for (const own of parts.untold) {
    await storePart(services, sum, own, await applyNews(services, own, partOf(sum, own, occurredAt)));
  }
  // A statement that tells the sum tells its details.
  if (sum.isStated) for (const own of parts.told) await applyNews(services, own, partOf(sum, own, occurredAt));
  await database.transaction(async (tx) => {
    await settleSum(tx, provider, sum.key, 'applied');
    await markPartsStated(tx, provider, sum.key);
  });
}

/** More than can be paid by it: one that was rejected or paid before is in it, and the next submission would pay again. */
async function contradictPart(
  services: BankServices,
  sum: ToldEntry,
  own: Instruction,
  occurredAt: Date,
): Promise<void> {
  await contradict(services, own, partOf(sum, own, occurredAt));
  await services.database.transaction((tx) => holdQueued(tx, own.transferId));
}

function partOf(sum: ToldEntry, { instructionId, amountMinor, currency }: Instruction, occurredAt: Date): Told {
  const part = { key: partKey(sum.key, instructionId), amountMinor, currency, bankReference: sum.reference };
  return paidBy(part, { message: sum.isStated ? 'camt.053' : 'camt.054', occurredAt });
}

async function storePart(
  { database, bank }: BankServices,
  sum: ToldEntry,
  { instructionId, transferId, amountMinor, currency }: Instruction,
  outcome: ToldEntry['outcome'],
): Promise<void> {
  const { fileId, isStated: _, ...shared } = sum;
  const part = {
    key: partKey(sum.key, instructionId),
    amountMinor,
    currency,
    reference: null,
    entryReference: sum.reference,
  };
  const own = { kind: 'payment', transferId, batchId: null, batchCount: null, chargesMinor: null, outcome } as const;
  await database.transaction((tx) => storeEntry(tx, bank.provider, fileId, { ...shared, ...part, ...own }));
}
