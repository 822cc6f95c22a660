import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { IncomingTransferId } from '../../domain/frame/ids.ts';
import {
  type IncomingTransferRecord,
  type IncomingTransferStatus,
  type PartyAccount,
  presentIncomingTransfer,
} from '../../domain/incoming-transfers/incoming-transfers.ts';
import { partyAccountIdInSql, partyAccountInSql, partyAccountOf } from '../accounts/party-accounts.ts';
import { partyAccounts } from '../accounts/party-accounts-schema.ts';
import type { Reader } from '../driver/client.ts';
import { camelCase, LISTED_IDS } from '../driver/values.ts';
import { contains, type PageOf, type PageRequest, type TransferFilter, transferConditions } from '../frame/filters.ts';
import { incomingTransfers } from '../frame/schema.ts';
import { readTransferPage } from '../ledger/transfer-counts.ts';

const sender = alias(partyAccounts, 'sender');
const receiver = alias(partyAccounts, 'receiver');

const SENDER_ID = partyAccountIdInSql(
  'incoming_transfers.sender_party_account_id',
  'incoming_transfers.sender_account_id',
);
const RECEIVER_ID = partyAccountIdInSql(
  'incoming_transfers.receiver_party_account_id',
  'incoming_transfers.account_id',
);

/** Also used for events, which lay their own data over these rows to show a transfer as it was. */
export function transfersWithAccounts(reader: Reader) {
  return reader.drizzle
    .select({
      transfer: getTableColumns(incomingTransfers),
      sender: getTableColumns(sender),
      receiver: getTableColumns(receiver),
    })
    .from(incomingTransfers)
    .leftJoin(sender, eq(sender.id, sql.raw(SENDER_ID)))
    .leftJoin(receiver, eq(receiver.id, sql.raw(RECEIVER_ID)));
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

interface Row extends IncomingTransferRecord {
  readonly senderAccount: PartyAccount | null;
  readonly receiverAccount: PartyAccount | null;
}

// As text: GETs and lists are too frequent to build a query and map its rows each time.
const SHOWN = [
  'id, transaction_number, client_id, account_id, status, scope, scheme, currency, amount_minor, fee_minor, transfer_date',
  'outgoing_transfer_id, provisioned_account_credit_id, provider, service_provider_id, service_provider_reference',
  'sender_information, sender_name, hold_reason, failure_code',
].flatMap((line) => line.split(', '));

const SELECT = `SELECT ${SHOWN.map((column) => `incoming_transfers.${column} AS "${camelCase(column)}"`).join(', ')},
    coalesce(incoming_transfers.sender_account, ${partyAccountInSql('sender')}) AS "senderAccount",
    coalesce(incoming_transfers.receiver_account, ${partyAccountInSql('receiver')}) AS "receiverAccount"
  FROM incoming_transfers LEFT JOIN party_accounts sender ON sender.id = ${SENDER_ID}
    LEFT JOIN party_accounts receiver ON receiver.id = ${RECEIVER_ID}`;

const FIND = `${SELECT} WHERE incoming_transfers.id = ANY (${LISTED_IDS})`;

export async function findIncomingTransfer(
  reader: Reader,
  id: IncomingTransferId,
): Promise<IncomingTransferShown | null> {
  const row = await reader.find<Row>(FIND, id);
  return row === null ? null : showRow(row);
}

function showRow(row: Row): IncomingTransferShown {
  const { senderAccount, receiverAccount } = row;
  return presentIncomingTransfer(
    row,
    senderAccount === null ? null : partyAccountOf(senderAccount),
    receiverAccount === null ? null : partyAccountOf(receiverAccount),
  );
}

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

/** One page of transfers in order of creation (which is the order of ids), and the total. */
export async function listIncomingTransfers(
  reader: Reader,
  filter: IncomingTransferFilter,
  page: PageRequest,
): Promise<PageOf<IncomingTransferShown>> {
  const where = conditions(filter) ?? sql`true`;
  const bySender = sql.raw(`LEFT JOIN party_accounts sender ON sender.id = ${SENDER_ID}`);
  const joined = filter.senderName === undefined ? undefined : bySender;
  const asked = { direction: 'incoming', filter: { ...filter }, where, joined, page } as const;
  const { rows, totalElements } = await readTransferPage<Row>(reader, asked, sql.raw(SELECT));
  return { rows: rows.map(showRow), totalElements };
}
