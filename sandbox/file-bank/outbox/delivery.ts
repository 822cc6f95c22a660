import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bank } from '../../bank/bank.ts';
import { settingsOf } from '../customers.ts';
import type { FileFaultSwitch } from '../faults.ts';
import type { CustomerFolders } from '../folders.ts';
import type { BankPgp } from '../messages/seals.ts';
import type { OutgoingMessage } from '../records.ts';

const HALF_VISIBLE_MS = 1_000;

/**
 * Writes the messages into the customers' folders, each whole under its final name. One that a crash stops is written again with the
 * same name and bytes.
 */
export async function deliver(
  { bank, folders, pgp }: { readonly bank: Bank; readonly folders: CustomerFolders; readonly pgp: BankPgp },
  faults: FileFaultSwitch,
): Promise<void> {
  const { answers, answerDelayMs } = faults.now;
  if (answers === 'held') return;
  const dueMs = bank.now().getTime() - answerDelayMs;
  const due = [...bank.books.messagesDue.values()].filter(({ createdAt }) => Date.parse(createdAt) <= dueMs);
  if (answers === 'reversed') due.reverse();
  for (const one of due) {
    const message = await sealed(bank, pgp, one);
    const name = nameOf(message);
    folders.prepare(message.customer);
    if (answers === 'half-visible') await showHalf(message, folders, bank.closing.signal);
    if (answers === 'doubled') await writeWhole(message, folders, `2-${name}`);
    await writeWhole(message, folders, name);
    await bank.commit({ put: { messagesOut: [message] }, remove: { messagesDue: [message.id] } });
  }
}

/** Sealed in the books before it is written, so that a crash changes nothing of it. */
async function sealed(bank: Bank, pgp: BankPgp, message: OutgoingMessage): Promise<OutgoingMessage> {
  const settings = settingsOf(bank, message.customer);
  if (settings.pgp === 'none' || message.sealed !== undefined) return message;
  const changed = { ...message, sealed: await pgp.seal(message.content, settings) };
  await bank.commit({ put: { messagesDue: [changed] } });
  return changed;
}

function nameOf({ fileName, sealed: bytes }: OutgoingMessage): string {
  return bytes === undefined ? fileName : `${fileName}.pgp`;
}

async function writeWhole(message: OutgoingMessage, folders: CustomerFolders, name: string) {
  const { customer, content, sealed: bytes = content } = message;
  const unfinished = join(folders.unfinished, `${customer} ${name}`);
  await writeFile(unfinished, bytes);
  await rename(unfinished, folders.path(customer, 'out', name));
}

async function showHalf(message: OutgoingMessage, folders: CustomerFolders, signal: AbortSignal) {
  const { customer, content, sealed: whole = content } = message;
  const bytes = Buffer.from(whole);
  await writeFile(folders.path(customer, 'out', nameOf(message)), bytes.subarray(0, bytes.length / 2));
  await sleep(HALF_VISIBLE_MS, undefined, { signal });
}

/** Puts a file that the bank's books do not know into a customer's folder. */
export async function deliverStrange(folders: CustomerFolders, customer: string, name: string, content: string) {
  folders.prepare(customer);
  const unfinished = join(folders.unfinished, `${customer} ${name}`);
  await writeFile(unfinished, content);
  await rename(unfinished, folders.path(customer, 'out', name));
}
