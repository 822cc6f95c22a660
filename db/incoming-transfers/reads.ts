import { and, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { IncomingTransferId } from '../../domain/frame/ids.ts';
import type { IncomingTransferStatus, PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { presentIncomingTransfer } from '../../domain/incoming-transfers/presentation.ts';
import { partyAccountId, partyAccountOf, shownPartyAccount } from '../accounts/party-accounts.ts';
import { partyAccounts } from '../accounts/party-accounts-schema.ts';
import type { Reader } from '../driver/client.ts';
import type { PageOf, PageRequest } from '../driver/queries/lists.ts';
import { embedded, type Given, named, prepared, type QueryBuilder, type RowOf } from '../driver/queries/queries.ts';
import { isListed } from '../driver/values.ts';
import { contains, type TransferFilter, transferConditions } from '../frame/filters.ts';
import { incomingTransfers } from '../frame/schema.ts';
import { readTransferPage } from '../ledger/transfer-counts.ts';

function selectShown(db: QueryBuilder) {
  const { senderPartyAccountId, senderAccountId, receiverPartyAccountId, accountId } = incomingTransfers;
  const sender = shownPartyAccount(db, 'sender', senderPartyAccountId, senderAccountId);
  const receiver = shownPartyAccount(db, 'receiver', receiverPartyAccountId, accountId);
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
      ]),
      sender: sql<PartyAccount | null>`${sender.account}`.as('sender'),
      receiver: sql<PartyAccount | null>`${receiver.account}`.as('receiver'),
    })
    .from(incomingTransfers)
    .leftJoinLateral(sender, sql`true`)
    .leftJoinLateral(receiver, sql`true`);
}

/** Transfers with what GET, lists and events show beside them. */
export const SHOWN_TRANSFERS = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  selectShown(db).where(isListed(incomingTransfers.id, given.ids)),
);

/** As text: a page is read in the statement that finds it. */
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

export type IncomingTransferShown = ReturnType<typeof shown>;

export async function findIncomingTransfer(
  reader: Reader,
  id: IncomingTransferId,
): Promise<IncomingTransferShown | null> {
  const row = await reader.find(SHOWN_TRANSFERS, id);
  return row === null ? null : shown(row);
}

export interface IncomingTransferFilter extends TransferFilter<IncomingTransferStatus> {
  readonly senderInformation?: string | undefined;
  readonly senderName?: string | undefined;
}

const sender = alias(partyAccounts, 'sender');
const { senderPartyAccountId, senderAccountId } = incomingTransfers;
const SENDER = sql`
  LEFT JOIN ${partyAccounts} AS ${sender} ON ${sender.id} = ${partyAccountId(senderPartyAccountId, senderAccountId)}`;

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
  return { rows: rows.map(shown), totalElements };
}
