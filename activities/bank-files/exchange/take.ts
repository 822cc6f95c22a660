import {
  type BankFile,
  listOpenFiles,
  markTaken,
  noteFailedTry,
  readContent,
  readPlain,
  setAside,
  storeOpened,
} from '../../../db/bank-files/files.ts';
import { storeStatedDays } from '../../../db/bank-files/statements.ts';
import { DatabaseUnavailable, LockTimeout } from '../../../db/postgres/failures.ts';
import { type BankMessage, type StatedDay, UnreadableMessage } from '../../../domain/bank-files/messages.ts';
import { PgpUnusable } from '../pgp/library.ts';
import { type BankServices, LeaseLost } from './bank.ts';
import { sumItems, waitingSumItems } from './entries/batch-sums.ts';
import { entryItems } from './entries/booked-entries.ts';
import { cancellationItems, type Item, statusItems } from './statuses.ts';

/** Statements applied at a time. */
const LANES = 4;

/** Both throw once another process has the exchange; the second makes no call. */
export interface HeldLease {
  renew(): Promise<void>;
  requireHeld(): void;
}

/** Applies what the fetched files tell, the oldest first. Every statement is applied once, in any order of the files. */
export async function takeFiles(services: BankServices, lease: HeldLease): Promise<number> {
  const { database, bank } = services;
  const files = await listOpenFiles(database.reader, bank.provider, 'in');
  for (const file of files) {
    await lease.renew();
    await takeFile(services, file, lease).catch(async (error: unknown) => {
      if (isPassing(error)) throw error;
      // One file holds up no other; its bytes are kept.
      const reason = `could not be taken: ${error instanceof Error ? error.name : 'failure'}`;
      await tryAgain(services, file, reason);
    });
  }
  return files.length;
}

/** After a crash half-way the file is taken again from its beginning: what was applied has no second effect. */
async function takeFile(services: BankServices, file: BankFile, lease: HeldLease): Promise<void> {
  const { database, logger, bank } = services;
  const aside = { provider: bank.provider, file: file.name, id: file.id };
  let message: BankMessage;
  try {
    const content = await openedContent(services, file);
    if (content === null) return;
    message = await bank.readBankMessage(content);
  } catch (error) {
    if (!(error instanceof UnreadableMessage)) throw error;
    await database.transaction((tx) => setAside(tx, file.id, error.message));
    logger.error({ ...aside, reason: error.message }, 'a file of the bank cannot be read');
    return;
  }
  const occurredAt = message.createdAt ?? file.createdAt;
  const items = await itemsOf(services, file, message, occurredAt);
  // Reading a large file may have taken longer than the lease.
  await lease.renew();
  const { unknownItems, failures: ofItems } = await applyAll(items, lease, LANES);
  // Two sums may be of one batch: one after the other.
  const { failures: ofSums } = await applyAll(sumItems(services, message, occurredAt), lease, 1);
  const failures = [...ofItems, ...ofSums];
  await bookWaitingSums(services, lease, occurredAt);
  if (failures.length > 0) {
    await tryAgain(services, file, `${failures.length} of ${items.length} could not be applied: ${failures[0]}`);
    return;
  }
  const reason =
    unknownItems === 0 ? null : `${unknownItems} of ${items.length} statements are about nothing that we know`;
  const taken = { message: message.message, messageId: message.messageId, items: items.length, unknownItems };
  const days = statedDays(message);
  await database.transaction(async (tx) => {
    if (days.length > 0) await storeStatedDays(tx, { provider: bank.provider, fileId: file.id, days });
    await markTaken(tx, file.id, taken, reason);
  });
  if (reason !== null) logger.error({ ...aside, reason }, 'a file of the bank is set aside');
}

/** What the file has told may have made known which payments a sum is. One that cannot be booked holds up no file. */
async function bookWaitingSums(services: BankServices, lease: HeldLease, occurredAt: Date): Promise<void> {
  const { failures } = await applyAll(await waitingSumItems(services, occurredAt), lease, 1);
  const { provider } = services.bank;
  for (const error of failures) services.logger.error({ provider, error }, 'the sum of a batch could not be booked');
}

/** The days that a camt.053 covers; those of its entries if it says neither period nor balances. */
function statedDays(message: BankMessage): readonly StatedDay[] {
  if (message.message !== 'camt.053') return [];
  const { covered = [], entries } = message;
  if (covered.length > 0) return covered;
  const unknown = { openingMinor: null, closingMinor: null };
  const booked = entries.filter(({ isPending }) => !isPending);
  return booked.map(({ account, currency, bookedOn }) => ({ account, currency, day: bookedOn, ...unknown }));
}

/** The message in a file, stored once it is decrypted, as keys change. Null if another file has brought the same message. */
async function openedContent({ database, bank }: BankServices, { id }: BankFile): Promise<Buffer | null> {
  const before = await readPlain(database.reader, id);
  if (before !== null) return before;
  const content = await readContent(database.reader, id);
  const message = (await bank.pgp?.open(content)) ?? content;
  const plain = message.equals(content) ? null : message;
  return (await database.transaction((tx) => storeOpened(tx, id, plain))) ? message : null;
}

/** What a file told and could not be applied is tried again from its beginning; then a person sees to it. Its bytes are kept. */
async function tryAgain({ database, logger, bank }: BankServices, file: BankFile, reason: string): Promise<void> {
  const isSetAside = await database.transaction((tx) => noteFailedTry(tx, file.id, reason));
  const message = isSetAside ? 'a file of the bank is set aside' : 'a file of the bank could not be applied';
  logger.error({ provider: bank.provider, file: file.name, reason }, message);
}

async function itemsOf(
  services: BankServices,
  file: BankFile,
  message: BankMessage,
  occurredAt: Date,
): Promise<readonly Item[]> {
  switch (message.message) {
    case 'pain.002':
      return statusItems(services, message, occurredAt);
    case 'camt.029':
      return cancellationItems(services, message, occurredAt);
    default:
      return entryItems(services, message, { fileId: file.id, message: message.message, occurredAt });
  }
}

interface Applied {
  readonly unknownItems: number;
  /** What kept statements from being applied, by name: none of them holds up another. */
  readonly failures: readonly string[];
}

const RENEWAL_INTERVAL = 200;

async function applyAll(items: readonly Item[], lease: HeldLease, lanes: number): Promise<Applied> {
  let unknownItems = 0;
  const failures: string[] = [];
  const waiting = items.entries();
  const lane = async () => {
    for (const [index, item] of waiting) {
      if (index % RENEWAL_INTERVAL === RENEWAL_INTERVAL - 1) await lease.renew();
      lease.requireHeld();
      try {
        if (!(await item())) unknownItems += 1;
      } catch (error) {
        // Nothing is wrong with the statement: the file is taken again.
        if (isPassing(error)) throw error;
        failures.push(error instanceof Error ? error.name : 'failure');
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: lanes }, lane));
  for (const lost of ended) if (lost.status === 'rejected') throw lost.reason;
  return { unknownItems, failures };
}

/** Nothing is wrong with what was to be applied: it is tried again. */
export function isPassing(error: unknown): boolean {
  const isOurs = error instanceof LeaseLost || error instanceof PgpUnusable;
  return isOurs || error instanceof DatabaseUnavailable || error instanceof LockTimeout;
}
