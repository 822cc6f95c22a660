import { and, type SQL, sql } from 'drizzle-orm';
import type { FrozenItem } from '../../domain/approvals/remedy-lists.ts';
import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import { statusReason } from '../../domain/common/texts/status-reasons.ts';
import type { HolderIdentity, PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { type BeneficiaryShown, presentBeneficiaryShown } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import { presentOutgoingTransfer, SHOWN_OUTGOING_FIELDS } from '../../domain/outgoing-transfers/rows.ts';
import type { OutgoingTransferStatus, OutgoingTransferWait } from '../../domain/outgoing-transfers/statuses.ts';
import { partyAccountOf, shownPartyAccount } from '../accounts/party-accounts.ts';
import { contains, type TransferFilter, transferConditions } from '../common/filters.ts';
import { incomingTransfers, outgoingTransfers } from '../common/schema.ts';
import type { Reader } from '../query/database.ts';
import type { PageOf, PageRequest } from '../query/lists.ts';
import { embedded, type Given, named, prepared, type QueryBuilder, type RowOf } from '../query/queries.ts';
import { isListed } from '../query/values.ts';
import { newestIds } from '../transfers/newest-transfers.ts';
import { readTransferPage } from '../transfers/transfer-counts.ts';
import { WAIT } from '../transfers/waits.ts';

function selectShown(db: QueryBuilder) {
  const destination = shownPartyAccount(db, 'destination', outgoingTransfers.destinationPartyAccountId);
  return db
    .select({
      ...named(outgoingTransfers, [...SHOWN_OUTGOING_FIELDS, 'beneficiary', 'returnOf', 'returnCode', 'waitingFor']),
      destination: sql<PartyAccount | null>`${destination.account}`.as('destination'),
      destinationHolder: sql<HolderIdentity | null>`${destination.holderIdentity}`.as('destinationHolder'),
      // A payment that is returned in parts has several; its own row names the latest.
      returningIncomingTransferIds: sql<string[]>`
        CASE WHEN ${outgoingTransfers.returned} THEN ARRAY(
          SELECT ${incomingTransfers.id} FROM ${incomingTransfers} WHERE ${incomingTransfers.returnOf} = ${outgoingTransfers.id}
          ORDER BY ${incomingTransfers.id}) ELSE '{}' END`.as('returningIncomingTransferIds'),
    })
    .from(outgoingTransfers)
    .leftJoinLateral(destination, sql`true`);
}

/** Transfers with what answers and events show in addition. */
export const SHOWN_TRANSFERS = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  selectShown(db).where(isListed(outgoingTransfers.id, given.ids)),
);

/** As text: a page is selected by the statement that finds it. */
const SELECT = embedded(selectShown);

type Row = RowOf<typeof SHOWN_TRANSFERS>;

/** The transfer as answers and events show it. An internal transfer's beneficiary is the holder of the receiving account. */
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
  const { returnOf: returnedIncomingTransferId, returnCode } = transfer;
  const returnReason = statusReason(returnCode, null);
  return { ...presentOutgoingTransfer(transfer), beneficiary, returnedIncomingTransferId, returnReason };
}

/** Answers also show what holds now. Events do not: they show the transfer as it was. */
function answered(transfer: Row) {
  const { waitingFor, returningIncomingTransferIds } = transfer;
  return { ...shown(transfer), waitingFor, returningIncomingTransferIds };
}

export type OutgoingTransferShown = ReturnType<typeof answered>;

export async function findOutgoingTransfer(
  reader: Reader,
  id: OutgoingTransferId,
): Promise<OutgoingTransferShown | null> {
  const row = await reader.find(SHOWN_TRANSFERS, id);
  return row === null ? null : answered(row);
}

export interface OutgoingTransferFilter extends TransferFilter<OutgoingTransferStatus, OutgoingTransferWait> {
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
  return { rows: rows.map(answered), totalElements };
}

/** All transfers that a filter finds, the newest first and `limit` at most, as a list of them is frozen. */
export function findTransfersToFreeze(
  reader: Reader,
  filter: OutgoingTransferFilter,
  limit: number,
): Promise<FrozenItem[]> {
  const where = conditions(filter) ?? sql`true`;
  const ids = newestIds({ direction: 'outgoing', filter: { ...filter }, where, before: null, size: limit });
  const { id, transactionNumber, amountMinor, currency, accountId } = outgoingTransfers;
  return reader.execute<FrozenItem>(sql`
    SELECT ${id} AS id, ${transactionNumber} AS "transactionNumber", ${amountMinor} AS "amountMinor", ${currency} AS currency,
      ${sql.raw(WAIT)} AS "waitingFor", ${accountId} AS "accountId"
    FROM ${outgoingTransfers} WHERE ${id} = ANY (ARRAY(${ids})) ORDER BY ${id}`);
}

/** Transfers before `before` (an id; null: from the newest on), newest first. Reads only what it returns. */
export async function listNewestOutgoingTransfers(
  reader: Reader,
  filter: OutgoingTransferFilter,
  { before, size }: { readonly before: string | null; readonly size: number },
): Promise<OutgoingTransferShown[]> {
  const where = conditions(filter) ?? sql`true`;
  const page = newestIds({ direction: 'outgoing', filter: { ...filter }, where, before, size });
  const rows = await reader.execute<Row>(
    sql`${SELECT} WHERE ${outgoingTransfers.id} = ANY (ARRAY(${page})) ORDER BY ${outgoingTransfers.id} DESC`,
  );
  return rows.map(answered);
}
