import {
  findEntry,
  isPaidByAnother,
  markStated,
  markStatedBySum,
  type StoredEntry,
  storeEntry,
} from '../../../db/bank-files/entries.ts';
import { noteHeardOf } from '../../../db/bank-files/files.ts';
import { holdQueued } from '../../../db/bank-files/holds.ts';
import {
  findNamedInstruction,
  type Instruction,
  listInstructionsOfBatch,
  moveInstruction,
  noteHeardOfBatch,
} from '../../../db/bank-files/instructions.ts';
import { isIban } from '../../../domain/accounts/identifiers/ibans.ts';
import { TOLD_BEFORE } from '../../../domain/bank-files/exchange/holds.ts';
import { depositSchemeOf, isPooledAccount } from '../../../domain/bank-files/exchange/receipts.ts';
import type { AccountReport, BookedEntry } from '../../../domain/bank-files/messages.ts';
import { idsNamedIn } from '../../../domain/common/payment-references.ts';
import { receivedPayment } from '../../providers/iso20022/statement.ts';
import type { ProviderEvent } from '../../providers/port.ts';
import { recordContradiction } from '../../providers/reports/events.ts';
import type { BankServices } from './bank.ts';
import { asPartOfItsSum, endSum, isOfReceivedSum, isSharedCharge, partOf, toldByDetails } from './entry-sums.ts';
import { applyNews, applyOnce, contradict, recoverLost, type Told } from './instruction-news.ts';
import { type Item, namesOf } from './statuses.ts';

interface Report {
  readonly fileId: string;
  readonly message: AccountReport['message'];
  readonly occurredAt: Date;
}

type Found = Pick<StoredEntry, 'kind' | 'transferId' | 'code' | 'outcome'>;

const UNKNOWN: Found = { kind: 'unknown', transferId: null, code: null, outcome: 'waiting' };

/** The items of a camt.054 or camt.053: each movement of money, once, whichever of them tells it first. */
export function entryItems(services: BankServices, report: AccountReport, of: Report): readonly Item[] {
  const inTurn = turns();
  // Not booked yet: the same movement comes again when it is.
  const booked = report.entries.filter(({ isPending }) => !isPending);
  return booked.map((entry) => async () => {
    const own = await ownInstruction(services, entry);
    return inTurn(own?.transferId ?? null, () => takeEntry(services, entry, of));
  });
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
  // A bank that uses its references again: whether this is other money, a person decides.
  if (known !== null && known.bookedOn !== told.bookedOn) return false;
  const entry = await asPartOfItsSum(services, told);
  const found = await foundIn(services, entry, of);
  await store(services, entry, found, of);
  await database.transaction(async (tx) => {
    if (of.message === 'camt.053') await markStated(tx, bank.provider, entry.key, of.fileId);
    else if (entry.entryReference !== undefined) await markStatedBySum(tx, bank.provider, entry.key);
  });
  const { kind, outcome, transferId } = found;
  // Booked though it was rejected: the next submission would pay again. One that comes later is held from its beginning.
  if (kind === 'payment' && outcome === 'break' && transferId !== null) {
    await database.transaction((tx) => holdQueued(tx, transferId));
  }
  await endSum(services, entry, of);
  return found.kind !== 'unknown';
}

async function foundIn(services: BankServices, entry: BookedEntry, of: Report): Promise<Found> {
  const { bank, configuration } = services;
  const provider = configuration.providers.find(({ code }) => code === bank.provider);
  if (!isPooledAccount(provider, entry.account)) return UNKNOWN;
  const told = await toldByDetails(services, entry);
  if (told !== null) return told;
  return entry.direction === 'debit' ? debit(services, entry, of) : credit(services, entry, of);
}

async function store(services: BankServices, entry: BookedEntry, found: Found, { fileId }: Report): Promise<void> {
  const { key, direction, amountMinor, currency, bookedOn } = entry;
  const entryReference = entry.entryReference ?? null;
  // Details may repeat the reference of their entry, which is the entry's own.
  const isOfAnother = entry.bankReference === entryReference || isSharedCharge(entry);
  const reference = isOfAnother ? null : entry.bankReference;
  const stored = { key, direction, amountMinor, currency, bookedOn, reference, entryReference, ...found };
  await services.database.transaction((tx) => storeEntry(tx, services.bank.provider, fileId, stored));
}

async function debit(services: BankServices, entry: BookedEntry, of: Report): Promise<Found> {
  // Money that came in and is taken back is no payment of ours: a person finds whose it is.
  if (entry.isReversal || entry.returnReason !== null) return UNKNOWN;
  const own = await paidInstruction(services, entry);
  if (own !== null) return debited(services, own, withoutCharges(entry), of);
  const batchId = entry.batch?.originalBatchId ?? null;
  return batchId === null ? UNKNOWN : bookedTogether(services, entry, batchId, of);
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
    const outcome = await contradict(services, own, bookedBy(entry, of));
    return { kind: 'payment', transferId: own.transferId, code: null, outcome };
  }
  return booked(services, own, entry, of);
}

function bookedBy({ key, amountMinor, currency, bankReference }: BookedEntry, of: Report): Told {
  return {
    news: { kind: 'booked', by: of.message },
    heard: { statusCode: null, reasons: [], payeeCheck: null, matchedName: null, bankReference },
    occurredAt: of.occurredAt,
    entry: { key, amountMinor, currency },
  };
}

async function booked(services: BankServices, own: Instruction, entry: BookedEntry, of: Report): Promise<Found> {
  const outcome = await applyNews(services, own, bookedBy(entry, of));
  return { kind: 'payment', transferId: own.transferId, code: null, outcome };
}

/**
 * A batch booked as one sum ends its payments only if it is their sum; otherwise their details, which come with another message, do. The sum
 * itself waits for them.
 */
async function bookedTogether(services: BankServices, entry: BookedEntry, batchId: string, of: Report): Promise<Found> {
  const { database, bank } = services;
  const all = await listInstructionsOfBatch(database.reader, bank.provider, batchId);
  if (all.length === 0) return UNKNOWN;
  const fileId = all[0]?.fileId ?? null;
  // Whatever the sum turns out to be: the bank has the file.
  if (fileId !== null) await database.transaction((tx) => noteHeardOf(tx, fileId));
  const paid = all.filter(({ state }) => state !== 'rejected' && state !== 'failed');
  const sum = paid.reduce((total, { amountMinor }) => total + amountMinor, 0n);
  const count = entry.batch?.count ?? null;
  const isTheirs =
    sum === entry.amountMinor &&
    (count === null || count === paid.length) &&
    paid.every(({ currency }) => currency === entry.currency);
  if (!isTheirs) {
    const told = { provider: bank.provider, batchId };
    await database.transaction((tx) => noteHeardOfBatch(tx, told, bank.profile.silenceHours));
    return { kind: 'batch', transferId: null, code: null, outcome: 'waiting' };
  }
  for (const own of paid) {
    const { instructionId, amountMinor, currency } = own;
    const part = { ...partOf(entry, instructionId), amountMinor, currency };
    await store(services, part, await debited(services, own, part, of), of);
  }
  return { kind: 'batch', transferId: null, code: null, outcome: 'applied' };
}

async function credit(services: BankServices, entry: BookedEntry, of: Report): Promise<Found> {
  if (!entry.isReversal && entry.returnReason === null) return receivedOrSum(services, entry, of);
  const own = await ownInstruction(services, entry);
  return own === null ? UNKNOWN : returned(services, own, entry, of);
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
  // The bank has had it: no file carries it again.
  if (outcome !== 'applied' && own.state === 'queued') {
    await services.database.transaction((tx) => holdQueued(tx, own.transferId, TOLD_BEFORE));
  }
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
  const event = receivedEvent(services, entry, of);
  const contradiction = { ...event, providerEventId: `${event.providerEventId}:contradiction` };
  await recordContradiction(services, services.bank.provider, contradiction);
  return { ...UNKNOWN, outcome: 'break' };
}

async function received(services: BankServices, entry: BookedEntry, of: Report): Promise<Found> {
  const outcome = await applyOnce(services, receivedEvent(services, entry, of));
  return { kind: 'received', transferId: null, code: null, outcome };
}

function receivedEvent({ bank, configuration }: BankServices, entry: BookedEntry, of: Report): ReceivedEvent {
  const { debtor, currency, amountMinor } = entry;
  const provider = configuration.providers.find(({ code }) => code === bank.provider);
  const account = entry.creditorIban ?? entry.account;
  return {
    type: 'payment-received',
    providerEventId: `entry:${entry.key}`,
    occurredAt: of.occurredAt,
    held: false,
    // Shortened and cleaned as every provider's texts are.
    ...receivedPayment({
      serviceProviderId: entry.key,
      serviceProviderReference: entry.bankReference,
      amountMinor,
      currency,
      scheme: depositSchemeOf(provider, currency),
      senderName: debtor.name,
      senderAccount: senderOf(entry),
      receiver: isIban(account)
        ? { iban: account, accountNumber: null, routingCodes: {} }
        : { iban: null, accountNumber: account, routingCodes: routingCodesOf(provider, currency) },
      remittanceText: entry.remittanceText,
    }),
  };
}

type ReceivedEvent = Extract<ProviderEvent, { readonly type: 'payment-received' }>;

function senderOf({ debtor, currency }: BookedEntry) {
  const { name, iban, accountNumber, bic } = debtor;
  if (iban === null && accountNumber === null) return null;
  const numbers = { iban, accountNumber, routingCodes: bic === null ? {} : { bic } };
  return { accountHolderName: name, alias: null, ledgerNumber: null, country: null, currency, ...numbers };
}

type Offering = BankServices['configuration']['providers'][number] | undefined;

/** An account number names an account together with the bank's own routing codes. */
function routingCodesOf(provider: Offering, currency: string): Readonly<Record<string, string>> {
  const offer = provider?.offers.find(({ currencies }) => currencies === null || currencies.includes(currency));
  return offer?.bank?.routingCodes ?? {};
}
