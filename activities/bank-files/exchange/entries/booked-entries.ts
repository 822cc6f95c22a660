import { findFileOfBatch, noteHeardOfBatch } from '../../../../db/bank-files/batches.ts';
import {
  findEntry,
  isPaidByAnother,
  markStated,
  markStatedBySum,
  storeEntry,
  type ToldEntry,
} from '../../../../db/bank-files/entries.ts';
import { noteHeardOf } from '../../../../db/bank-files/files.ts';
import { holdContradicted, holdReturnsOf } from '../../../../db/bank-files/holds.ts';
import { findNamedInstruction, type Instruction, moveInstruction } from '../../../../db/bank-files/instructions.ts';
import { isPooledAccount } from '../../../../domain/bank-files/exchange/receipts.ts';
import type { AccountReport, BookedEntry } from '../../../../domain/bank-files/messages.ts';
import { idsNamedIn } from '../../../../domain/common/payment-references.ts';
import type { BankServices } from '../bank.ts';
import {
  applyNews,
  applyOnce,
  contradict,
  holdAllNamed,
  holdIfQueued,
  paidBy,
  recoverLost,
} from '../instruction-news.ts';
import { type Item, namesOf } from '../statuses.ts';
import { asPartOfItsSum, asTellsItsSum, endSum, isOfReceivedSum, isSharedCharge, toldByDetails } from './entry-sums.ts';
import { type Found, type Report, UNKNOWN } from './found.ts';
import { contradictReceived, isOfOtherPayer, receivedEvent } from './received-money.ts';
import { cameBack, takenBack } from './taken-back.ts';

/** The items of a camt.054 or camt.053: each movement of money, once, whichever of them tells it first. */
export function entryItems(services: BankServices, report: AccountReport, of: Report): readonly Item[] {
  const inTurn = turns();
  // Not booked yet: the same movement comes again when it is.
  const booked = report.entries.filter(({ isPending }) => !isPending);
  const take = async (entry: BookedEntry) => {
    const own = await ownInstruction(services, entry);
    return inTurn(own?.transferId ?? null, () => takeEntry(services, entry, of));
  };
  // What comes in is known before a debit is looked at, which may take it back.
  const comingIn: Promise<boolean>[] = [];
  let known: Promise<unknown> | null = null;
  const first = booked.filter(comesIn).map((entry) => () => {
    const taken = take(entry);
    comingIn.push(taken);
    return taken;
  });
  const later = booked
    .filter((entry) => !comesIn(entry))
    .map((entry) => async () => {
      // Items are begun in their order: by now all of the first are.
      known ??= Promise.allSettled(comingIn);
      await known;
      return take(entry);
    });
  return [...first, ...later];
}

function comesIn({ direction, isReversal, returnReason }: BookedEntry): boolean {
  return direction === 'credit' && !isReversal && returnReason === null;
}

/** Runs what is about one payment one after the other: of two debits of it, the second must see the first. */
function turns() {
  const latest = new Map<string, Promise<unknown>>();
  return <Result>(transferId: string | null, work: () => Promise<Result>): Promise<Result> => {
    if (transferId === null) return work();
    const turn = (latest.get(transferId) ?? Promise.resolve()).then(work, work);
    latest.set(transferId, turn);
    return turn;
  };
}

async function takeEntry(services: BankServices, told: BookedEntry, of: Report): Promise<boolean> {
  const { database, bank } = services;
  const known = await findEntry(database.reader, bank.provider, told.key);
  if (known !== null && (await isOtherMoney(services, known, told, of)))
    return contradictKnown(services, known, told, of);
  const entry = known === null ? await asPartOfItsSum(services, told) : told;
  const stored = entry === told ? known : await findEntry(database.reader, bank.provider, entry.key);
  const found = await foundIn(services, entry, await asTellsItsSum(services, entry, of), stored);
  await store(services, entry, found, of.fileId);
  await database.transaction(async (tx) => {
    if (of.message === 'camt.053') await markStated(tx, bank.provider, entry.key, of.fileId);
    else if (entry.entryReference !== undefined) await markStatedBySum(tx, bank.provider, entry.key);
  });
  const { kind, outcome, transferId } = found;
  // Booked though it was rejected: the next submission would pay again. One that comes later is held from its beginning.
  if (kind === 'payment' && outcome === 'break' && transferId !== null) {
    await database.transaction((tx) => holdContradicted(tx, transferId));
  }
  if (kind === 'unknown') {
    await holdAllNamed(services, [namesOf(entry).transferId, ...(entry.references ?? []).flatMap(idsNamedIn)]);
  }
  if (kind === 'unknown' && entry.direction === 'debit') {
    const amountsMinor = [entry.amountMinor, withoutCharges(entry).amountMinor];
    await database.transaction((tx) => holdReturnsOf(tx, bank.provider, { currency: entry.currency, amountsMinor }));
  }
  await endSum(services, entry);
  return found.kind !== 'unknown';
}

/** A bank that uses its references again, or has changed what it told. */
async function isOtherMoney(services: BankServices, known: ToldEntry, told: BookedEntry, of: Report): Promise<boolean> {
  if (known.bookedOn !== told.bookedOn) return true;
  // Of money that came back the payer is known from before.
  return known.kind === 'received' && comesIn(told) && isOfOtherPayer(services, told, of);
}

/** Whether it is other money, a person decides: nothing changes. False: it has been about nothing that we know. */
async function contradictKnown(
  services: BankServices,
  { kind, transferId }: ToldEntry,
  told: BookedEntry,
  of: Report,
): Promise<boolean> {
  const { database, bank } = services;
  if (kind === 'received') {
    await contradictReceived(services, told, of);
    return true;
  }
  const own =
    transferId === null
      ? null
      : await findNamedInstruction(database.reader, bank.provider, { instructionId: null, transferId });
  if (own === null) return false;
  // Each day that is told so is another contradiction.
  await contradict(services, own, paidBy({ ...told, key: `${told.key}:${told.bookedOn}` }, of));
  return true;
}

/** What an entry is; `known`: what an earlier report of it has made of it. */
async function foundIn(services: BankServices, entry: BookedEntry, of: Report, known: Found | null): Promise<Found> {
  const { bank, configuration } = services;
  const provider = configuration.providers.find(({ code }) => code === bank.provider);
  if (!isPooledAccount(provider, entry.account)) return UNKNOWN;
  const told = await toldByDetails(services, entry);
  if (told !== null) return told;
  return entry.direction === 'debit' ? debit(services, entry, of, known) : credit(services, entry, of);
}

async function store(services: BankServices, entry: BookedEntry, found: Found, fileId: string): Promise<void> {
  const { key, account, direction, amountMinor, currency, bookedOn } = entry;
  const entryReference = entry.entryReference ?? null;
  // Details may repeat the reference of their entry, which is the entry's own.
  const isOfAnother = entry.bankReference === entryReference || isSharedCharge(entry);
  const reference = isOfAnother ? null : entry.bankReference;
  const batch = { batchId: entry.batch?.originalBatchId ?? null, batchCount: entry.batch?.count ?? null };
  const chargesMinor = entry.chargesMinor ?? null;
  const payerReference = found.kind === 'received' ? entry.paymentReference : null;
  const names = { reference, entryReference, payerReference };
  const movement = { key, account, direction, amountMinor, currency, bookedOn, ...names };
  await services.database.transaction((tx) =>
    storeEntry(tx, services.bank.provider, fileId, { ...movement, ...batch, chargesMinor, ...found }),
  );
}

async function debit(services: BankServices, entry: BookedEntry, of: Report, known: Found | null): Promise<Found> {
  // Money that came in and is taken back is no payment of ours: unless it waits for its return, a person finds whose it is.
  if (entry.isReversal || entry.returnReason !== null) return takenBack(services, withoutCharges(entry), of, known);
  const own = await paidInstruction(services, entry);
  if (own !== null) return debited(services, own, withoutCharges(entry), of);
  const batchId = entry.batch?.originalBatchId ?? null;
  if (batchId !== null) return bookedTogether(services, batchId);
  return takenBack(services, withoutCharges(entry), of, known);
}

/** The payment that an entry names, wherever the bank has put the reference. */
async function ownInstruction({ database, bank }: BankServices, entry: BookedEntry): Promise<Instruction | null> {
  const named = await findNamedInstruction(database.reader, bank.provider, namesOf(entry));
  if (named !== null) return named;
  for (const transferId of (entry.references ?? []).flatMap(idsNamedIn)) {
    const names = { instructionId: null, transferId };
    const found = await findNamedInstruction(database.reader, bank.provider, names);
    if (found !== null) return found;
  }
  return null;
}

/** The payment that was debited. If the bank has rejected what we know of it, a restore may have lost the submission that it means. */
async function paidInstruction(services: BankServices, entry: BookedEntry): Promise<Instruction | null> {
  const own = await ownInstruction(services, entry);
  const isNamed = own !== null && own.instructionId === entry.instructionId;
  if (own !== null && (isNamed || own.state !== 'rejected')) return own;
  const [reference] = (entry.references ?? []).flatMap(idsNamedIn);
  const names = { ...entry, paymentReference: own?.paymentReference ?? entry.paymentReference ?? reference ?? null };
  return (await recoverLost(services, names)) ?? own;
}

/** The payment's own amount: what the bank charged for it is another matter, which the comparison of the day shows. */
function withoutCharges(entry: BookedEntry): BookedEntry {
  return { ...entry, amountMinor: entry.amountMinor - (entry.chargesMinor ?? 0n) };
}

async function debited(services: BankServices, own: Instruction, entry: BookedEntry, of: Report): Promise<Found> {
  const { database } = services;
  if (await isPaidByAnother(database.reader, own.transferId, entry.key)) {
    const outcome = await contradict(services, own, paidBy(entry, of));
    return { kind: 'payment', transferId: own.transferId, code: null, outcome };
  }
  return booked(services, own, entry, of);
}

async function booked(services: BankServices, own: Instruction, entry: BookedEntry, of: Report): Promise<Found> {
  const outcome = await applyNews(services, own, paidBy(entry, of));
  return { kind: 'payment', transferId: own.transferId, code: null, outcome };
}

/** A batch of ours booked as one sum waits until it is known to be that of its payments. */
async function bookedTogether({ database, bank }: BankServices, batchId: string): Promise<Found> {
  const fileId = await findFileOfBatch(database.reader, bank.provider, batchId);
  if (fileId === null) return UNKNOWN;
  // Whatever the sum turns out to be: the bank has the file.
  await database.transaction(async (tx) => {
    await noteHeardOf(tx, fileId);
    await noteHeardOfBatch(tx, { provider: bank.provider, batchId }, bank.profile.silenceHours);
  });
  return { kind: 'batch', transferId: null, code: null, outcome: 'waiting' };
}

async function credit(services: BankServices, entry: BookedEntry, of: Report): Promise<Found> {
  if (!entry.isReversal && entry.returnReason === null) return receivedOrSum(services, entry, of);
  const own = await ownInstruction(services, entry);
  if (own === null) return UNKNOWN;
  return own.isReturn ? cameBack(services, own, entry, of) : returned(services, own, entry, of);
}

/** Says that the bank undid its own booking, if it gives no reason. */
const REVERSED = 'NARR';

async function returned(services: BankServices, own: Instruction, entry: BookedEntry, of: Report): Promise<Found> {
  const code = entry.returnReason ?? REVERSED;
  const outcome = await applyOnce(services, {
    type: 'payment-returned',
    providerEventId: `entry:${entry.key}`,
    occurredAt: of.occurredAt,
    ourReference: own.transferId,
    serviceProviderId: own.instructionId,
    serviceProviderReference: own.bankReference,
    amountMinor: own.amountMinor,
    // Another currency than the payment's is a break.
    currency: entry.currency,
    code,
    returnReference: entry.key,
    returnedMinor: entry.amountMinor,
  });
  if (outcome !== 'applied') await holdIfQueued(services, own);
  // What has come back had been paid.
  const isOpen = own.state !== 'completed' && own.state !== 'rejected' && own.state !== 'failed';
  if (outcome === 'applied' && isOpen) {
    await services.database.transaction((tx) =>
      moveInstruction(tx, own, 'completed', null, services.bank.profile.silenceHours),
    );
  }
  return { kind: 'return', transferId: own.transferId, code, outcome };
}

async function receivedOrSum(services: BankServices, entry: BookedEntry, of: Report): Promise<Found> {
  if (entry.batch !== null) return { kind: 'batch', transferId: null, code: null, outcome: 'waiting' };
  const { name, iban, accountNumber } = entry.debtor;
  const isNamed = entry.bankReference !== null || entry.entryReference !== undefined;
  // Nothing would tell it from a sum of details that are still to come.
  if (!isNamed && name === null && iban === null && accountNumber === null) return UNKNOWN;
  if (!(await isOfReceivedSum(services, entry))) return received(services, entry, of);
  await contradictReceived(services, entry, of);
  return { ...UNKNOWN, outcome: 'break' };
}

async function received(services: BankServices, entry: BookedEntry, of: Report): Promise<Found> {
  const outcome = await applyOnce(services, receivedEvent(services, entry, of));
  return { kind: 'received', transferId: null, code: null, outcome };
}
