import { and, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { IncomingTransferId } from '../../domain/common/ids.ts';
import type {
  IncomingTransferStatus,
  IncomingTransferWait,
  PartyAccount,
} from '../../domain/incoming-transfers/incoming-transfers.ts';
import { presentIncomingTransfer } from '../../domain/incoming-transfers/presentation.ts';
import { presentReturn, type ReturnShown } from '../../domain/outgoing-transfers/requests/return-terms.ts';
import { partyAccountOf, shownPartyAccount } from '../accounts/party-accounts.ts';
import { partyAccounts } from '../accounts/schema.ts';
import { contains, type TransferFilter, transferConditions } from '../common/filters.ts';
import { incomingTransfers, outgoingTransfers } from '../common/schema.ts';
import type { Reader } from '../query/database.ts';
import type { PageOf, PageRequest } from '../query/lists.ts';
import { embedded, type Given, named, prepared, type QueryBuilder, type RowOf } from '../query/queries.ts';
import { isListed } from '../query/values.ts';
import { newestIds } from '../transfers/newest-transfers.ts';
import { readTransferPage } from '../transfers/transfer-counts.ts';

/** JSON numbers would lose digits. */
type ReturnText = Omit<ReturnShown, 'amountMinor'> & { readonly amountMinor: string };

function selectShown(db: QueryBuilder) {
  const { senderPartyAccountId, receiverPartyAccountId } = incomingTransfers;
  const sender = shownPartyAccount(db, 'sender', senderPartyAccountId);
  const receiver = shownPartyAccount(db, 'receiver', receiverPartyAccountId);
  return db
    .select({
      ...named(incomingTransfers, [
        'id',
        'transactionNumber',
        'clientId',
        'accountId',
        'status',
        'scope',
        'scheme',
        'currency',
        'amountMinor',
        'feeMinor',
        'transferDate',
        'outgoingTransferId',
        'returnOf',
        'provisionedAccountCreditId',
        'provider',
        'serviceProviderId',
        'serviceProviderReference',
        'senderInformation',
        'senderName',
        'holdReason',
        'failureCode',
        'senderAccount',
        'receiverAccount',
        'waitingFor',
      ]),
      sender: sql<PartyAccount | null>`${sender.account}`.as('sender'),
      receiver: sql<PartyAccount | null>`${receiver.account}`.as('receiver'),
      returns: sql<ReturnText[]>`
        CASE WHEN ${incomingTransfers.returnIds} = '{}' THEN '[]' ELSE (
          SELECT json_agg(json_build_object('id', ${outgoingTransfers.id}, 'amountMinor', ${outgoingTransfers.amountMinor}::text,
            'returnCode', ${outgoingTransfers.returnCode}, 'status', ${outgoingTransfers.status}) ORDER BY ${outgoingTransfers.id})
          FROM ${outgoingTransfers} WHERE ${outgoingTransfers.id} = ANY (${incomingTransfers.returnIds})) END`.as(
        'returns',
      ),
    })
    .from(incomingTransfers)
    .leftJoinLateral(sender, sql`true`)
    .leftJoinLateral(receiver, sql`true`);
}

/** Transfers with what GET, lists and events show in addition. */
export const SHOWN_TRANSFERS = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  selectShown(db).where(isListed(incomingTransfers.id, given.ids)),
);

/** As text: a page is selected by the statement that finds it. */
const SELECT = embedded(selectShown);

type Row = RowOf<typeof SHOWN_TRANSFERS>;

export function shown(transfer: Row) {
  const { sender: from, receiver: to } = transfer;
  return presentIncomingTransfer(
    transfer,
    transfer.senderAccount ?? (from === null ? null : partyAccountOf(from)),
    transfer.receiverAccount ?? (to === null ? null : partyAccountOf(to)),
  );
}

/** Answers also show what holds now: the wait and the returns. Events do not: they show the transfer as it was. */
function answered(transfer: Row) {
  const { currency, waitingFor } = transfer;
  const returns = transfer.returns.map(({ amountMinor, ...one }) =>
    presentReturn({ ...one, amountMinor: BigInt(amountMinor) }, currency),
  );
  return { ...shown(transfer), waitingFor, returns };
}

export type IncomingTransferShown = ReturnType<typeof answered>;

export async function findIncomingTransfer(
  reader: Reader,
  id: IncomingTransferId,
): Promise<IncomingTransferShown | null> {
  const row = await reader.find(SHOWN_TRANSFERS, id);
  return row === null ? null : answered(row);
}

export interface IncomingTransferFilter extends TransferFilter<IncomingTransferStatus, IncomingTransferWait> {
  readonly senderInformation?: string | undefined;
  readonly senderName?: string | undefined;
}

const sender = alias(partyAccounts, 'sender');
const SENDER = sql`
  LEFT JOIN ${partyAccounts} AS ${sender} ON ${sender.id} = ${incomingTransfers.senderPartyAccountId}`;

function conditions(filter: IncomingTransferFilter): SQL | undefined {
  const { senderInformation, senderName } = filter;
  const shownName = sql`coalesce(${incomingTransfers.senderName}, ${sender.accountHolderName})`;
  return and(
    ...transferConditions(incomingTransfers, filter),
    ...(senderInformation === undefined ? [] : [contains(incomingTransfers.senderInformation, senderInformation)]),
    ...(senderName === undefined ? [] : [contains(shownName, senderName)]),
  );
}

/** One page of transfers in order of creation (which is the order of ids), and the total. */
export async function listIncomingTransfers(
  reader: Reader,
  filter: IncomingTransferFilter,
  page: PageRequest,
): Promise<PageOf<IncomingTransferShown>> {
  const where = conditions(filter) ?? sql`true`;
  const joined = filter.senderName === undefined ? undefined : SENDER;
  const asked = { direction: 'incoming', filter: { ...filter }, where, joined, page } as const;
  const { rows, totalElements } = await readTransferPage<Row>(reader, asked, SELECT);
  return { rows: rows.map(answered), totalElements };
}

/** Transfers before `before` (an id; null: from the newest on), newest first. Reads only what it returns. */
export async function listNewestIncomingTransfers(
  reader: Reader,
  filter: Omit<IncomingTransferFilter, 'senderName'>,
  { before, size }: { readonly before: string | null; readonly size: number },
): Promise<IncomingTransferShown[]> {
  const where = conditions(filter) ?? sql`true`;
  const page = newestIds({ direction: 'incoming', filter: { ...filter }, where, before, size });
  const rows = await reader.execute<Row>(
    sql`${SELECT} WHERE ${incomingTransfers.id} = ANY (ARRAY(${page})) ORDER BY ${incomingTransfers.id} DESC`,
  );
  return rows.map(answered);
}
