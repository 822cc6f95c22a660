import { and, type SQL, sql } from 'drizzle-orm';
import type { OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { HolderIdentity, PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import {
  type BeneficiaryShown,
  type OutgoingTransferStatus,
  presentBeneficiaryShown,
} from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import { presentOutgoingTransfer, SHOWN_OUTGOING_FIELDS } from '../../domain/outgoing-transfers/rows.ts';
import { partyAccountOf, shownPartyAccount } from '../accounts/party-accounts.ts';
import type { Reader } from '../driver/client.ts';
import type { PageOf, PageRequest } from '../driver/queries/lists.ts';
import { embedded, type Given, named, prepared, type QueryBuilder, type RowOf } from '../driver/queries/queries.ts';
import { isListed } from '../driver/values.ts';
import { contains, type TransferFilter, transferConditions } from '../frame/filters.ts';
import { outgoingTransfers } from '../frame/schema.ts';
import { readTransferPage } from '../ledger/transfer-counts.ts';

function selectShown(db: QueryBuilder) {
  const { destinationPartyAccountId, destinationAccountId } = outgoingTransfers;
  const destination = shownPartyAccount(db, 'destination', destinationPartyAccountId, destinationAccountId);
  return db
    .select({
      ...named(outgoingTransfers, [...SHOWN_OUTGOING_FIELDS, 'beneficiary']),
      destination: sql<PartyAccount | null>`${destination.account}`.as('destination'),
      destinationHolder: sql<HolderIdentity | null>`${destination.holderIdentity}`.as('destinationHolder'),
    })
    .from(outgoingTransfers)
    .leftJoinLateral(destination, sql`true`);
}

/** Transfers with what GET, lists and events show beside them. */
export const SHOWN_TRANSFERS = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  selectShown(db).where(isListed(outgoingTransfers.id, given.ids)),
);

/** As text: a page is read in the statement that finds it. */
const SELECT = embedded(selectShown);

type Row = RowOf<typeof SHOWN_TRANSFERS>;

/** The transfer as GET and lists show it. An internal transfer's beneficiary is the holder of the receiving account. */
export function shown(transfer: Row) {
  const { destination: to, destinationHolder: holder } = transfer;
  const beneficiary: BeneficiaryShown | null =
    to === null
      ? presentBeneficiaryShown(transfer.beneficiary)
      : {
          fullName: to.accountHolderName ?? '',
          identity: holder === null ? null : { ...holder },
          address: null,
          account: partyAccountOf(to),
          title: null,
        };
  return { ...presentOutgoingTransfer(transfer), beneficiary };
}

export type OutgoingTransferShown = ReturnType<typeof shown>;

export async function findOutgoingTransfer(
  reader: Reader,
  id: OutgoingTransferId,
): Promise<OutgoingTransferShown | null> {
  const row = await reader.find(SHOWN_TRANSFERS, id);
  return row === null ? null : shown(row);
}

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

/** One page of transfers in order of creation (which is the order of ids), and the total. */
export async function listOutgoingTransfers(
  reader: Reader,
  filter: OutgoingTransferFilter,
  page: PageRequest,
): Promise<PageOf<OutgoingTransferShown>> {
  const where = conditions(filter) ?? sql`true`;
  const asked = { direction: 'outgoing', filter: { ...filter }, where, page } as const;
  const { rows, totalElements } = await readTransferPage<Row>(reader, asked, SELECT);
  return { rows: rows.map(shown), totalElements };
}
