import { and, count, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { IncomingTransferId } from '../domain/ids.ts';
import { type IncomingTransferStatus, presentIncomingTransfer } from '../domain/incoming-transfers.ts';
import type { Reader } from './client.ts';
import { contains, type PageOf, type PageRequest, type TransferFilter, transferConditions } from './filters.ts';
import { partyAccountOf } from './party-accounts.ts';
import { accounts, incomingTransfers } from './schema.ts';

const sender = alias(accounts, 'sender');
const receiver = alias(accounts, 'receiver');

/** Also for events, which show a transfer as it was: the same rows with what an event tells laid over them. */
export function transfersWithAccounts(reader: Reader) {
  return reader.drizzle
    .select({
      transfer: getTableColumns(incomingTransfers),
      sender: getTableColumns(sender),
      receiver: getTableColumns(receiver),
    })
    .from(incomingTransfers)
    .leftJoin(sender, eq(sender.id, incomingTransfers.senderAccountId))
    .leftJoin(receiver, eq(receiver.id, incomingTransfers.accountId));
}

type Found = Awaited<ReturnType<typeof transfersWithAccounts>>[number];

export function shown({ transfer, sender: from, receiver: to }: Found) {
  return presentIncomingTransfer(
    transfer,
    transfer.senderAccount ?? (from === null ? null : partyAccountOf(from)),
    transfer.receiverAccount ?? (to === null ? null : partyAccountOf(to)),
  );
}

export type IncomingTransferShown = ReturnType<typeof shown>;

export async function findIncomingTransfer(
  reader: Reader,
  id: IncomingTransferId,
): Promise<IncomingTransferShown | null> {
  const [found] = await transfersWithAccounts(reader).where(eq(incomingTransfers.id, id));
  return found === undefined ? null : shown(found);
}

/** Filters of specification 4.7. */
export interface IncomingTransferFilter extends TransferFilter<IncomingTransferStatus> {
  readonly senderInformation?: string | undefined;
  readonly senderName?: string | undefined;
}

function conditions(filter: IncomingTransferFilter): SQL | undefined {
  const { senderInformation, senderName } = filter;
  const shownName = sql`coalesce(${incomingTransfers.senderName}, ${sender.accountHolderName})`;
  return and(
    ...transferConditions(incomingTransfers, filter),
    ...(senderInformation === undefined ? [] : [contains(incomingTransfers.senderInformation, senderInformation)]),
    ...(senderName === undefined ? [] : [contains(shownName, senderName)]),
  );
}

/** A page of transfers by creation (ids are made in its order), and how many there are in all. */
export async function listIncomingTransfers(
  reader: Reader,
  filter: IncomingTransferFilter,
  page: PageRequest,
): Promise<PageOf<IncomingTransferShown>> {
  const where = conditions(filter);
  const [rows, [total]] = await Promise.all([
    transfersWithAccounts(reader).where(where).orderBy(incomingTransfers.id).limit(page.size).offset(page.offset),
    reader.drizzle
      .select({ total: count() })
      .from(incomingTransfers)
      .leftJoin(sender, eq(sender.id, incomingTransfers.senderAccountId))
      .where(where),
  ]);
  return { rows: rows.map(shown), totalElements: total?.total ?? 0 };
}
