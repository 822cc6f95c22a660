import { and, count, eq, getTableColumns, type SQL } from 'drizzle-orm';
import type { OutgoingTransferId } from '../domain/ids.ts';
import {
  type BeneficiaryShown,
  type OutgoingTransferStatus,
  presentOutgoingTransfer,
} from '../domain/outgoing-transfers.ts';
import type { Reader } from './client.ts';
import { contains, type PageOf, type PageRequest, type TransferFilter, transferConditions } from './filters.ts';
import { partyAccountOf } from './party-accounts.ts';
import { accounts, clients, outgoingTransfers } from './schema.ts';

const SELECTION = {
  transfer: getTableColumns(outgoingTransfers),
  destination: getTableColumns(accounts),
  destinationIdentity: clients.identity,
};

/** Also for events, which show a transfer as it was: the same rows with what an event tells laid over them. */
export function transfersWithDestination(reader: Reader) {
  return reader.drizzle
    .select(SELECTION)
    .from(outgoingTransfers)
    .leftJoin(accounts, eq(accounts.id, outgoingTransfers.destinationAccountId))
    .leftJoin(clients, eq(clients.id, accounts.clientId));
}

type Found = Awaited<ReturnType<typeof transfersWithDestination>>[number];

/** The transfer as GET and lists show it, with its beneficiary; an internal one is the receiving account's holder. */
export function shown({ transfer, destination, destinationIdentity }: Found) {
  const beneficiary: BeneficiaryShown | null =
    destination === null
      ? transfer.beneficiary
      : {
          fullName: destination.accountHolderName,
          identity: destinationIdentity === null ? null : { ...destinationIdentity },
          address: null,
          account: partyAccountOf(destination),
          title: null,
        };
  return { ...presentOutgoingTransfer(transfer), beneficiary };
}

export type OutgoingTransferShown = ReturnType<typeof shown>;

export async function findOutgoingTransfer(
  reader: Reader,
  id: OutgoingTransferId,
): Promise<OutgoingTransferShown | null> {
  const [found] = await transfersWithDestination(reader).where(eq(outgoingTransfers.id, id));
  return found === undefined ? null : shown(found);
}

/** Filters of specification 4.9. */
export interface OutgoingTransferFilter extends TransferFilter<OutgoingTransferStatus> {
  readonly description?: string | undefined;
}

function conditions(filter: OutgoingTransferFilter): SQL | undefined {
  const { description } = filter;
  return and(
    ...transferConditions(outgoingTransfers, filter),
    ...(description === undefined ? [] : [contains(outgoingTransfers.description, description)]),
  );
}

/** A page of transfers by creation (ids are made in its order), and how many there are in all. */
export async function listOutgoingTransfers(
  reader: Reader,
  filter: OutgoingTransferFilter,
  page: PageRequest,
): Promise<PageOf<OutgoingTransferShown>> {
  const where = conditions(filter);
  const [rows, [total]] = await Promise.all([
    transfersWithDestination(reader).where(where).orderBy(outgoingTransfers.id).limit(page.size).offset(page.offset),
    reader.drizzle.select({ total: count() }).from(outgoingTransfers).where(where),
  ]);
  return { rows: rows.map(shown), totalElements: total?.total ?? 0 };
}
