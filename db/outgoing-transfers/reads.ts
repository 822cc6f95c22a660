import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { HolderIdentity, PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import {
  type BeneficiaryShown,
  type OutgoingTransferStatus,
  presentBeneficiaryShown,
} from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import {
  type OutgoingTransferRecord,
  presentOutgoingTransfer,
  SHOWN_OUTGOING_FIELDS,
} from '../../domain/outgoing-transfers/rows.ts';
import { partyAccountIdInSql, partyAccountOf } from '../accounts/party-accounts.ts';
import { partyAccounts } from '../accounts/party-accounts-schema.ts';
import type { Reader } from '../driver/client.ts';
import { camelCase, LISTED_IDS } from '../driver/values.ts';
import { contains, type PageOf, type PageRequest, type TransferFilter, transferConditions } from '../frame/filters.ts';
import { outgoingTransfers } from '../frame/schema.ts';
import { readTransferPage } from '../ledger/transfer-counts.ts';

const DESTINATION_ID = partyAccountIdInSql(
  'outgoing_transfers.destination_party_account_id',
  'outgoing_transfers.destination_account_id',
);

/** For events, which lay their own data over these rows to show a transfer as it was. */
export function transfersWithDestination(reader: Reader) {
  return reader.drizzle
    .select({ transfer: getTableColumns(outgoingTransfers), destination: getTableColumns(partyAccounts) })
    .from(outgoingTransfers)
    .leftJoin(partyAccounts, eq(partyAccounts.id, sql.raw(DESTINATION_ID)));
}

/** A transfer and what GET and lists show beside it. */
interface Found {
  readonly transfer: OutgoingTransferRecord & { readonly beneficiary: BeneficiaryShown | null };
  readonly destination: (PartyAccount & { readonly holderIdentity: HolderIdentity | null }) | null;
}

/** The transfer as GET and lists show it. An internal transfer's beneficiary is the holder of the receiving account. */
export function shown({ transfer, destination }: Found) {
  const beneficiary: BeneficiaryShown | null =
    destination === null
      ? presentBeneficiaryShown(transfer.beneficiary)
      : {
          fullName: destination.accountHolderName ?? '',
          identity: destination.holderIdentity === null ? null : { ...destination.holderIdentity },
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
  const row = await reader.find<Row>(FIND, id);
  return row === null ? null : showRow(row);
}

type Row = Found['transfer'] & {
  readonly [Column in keyof PartyAccount as `destination_${Column}`]: PartyAccount[Column];
} & { readonly destination_holderIdentity: HolderIdentity | null };

// As text: GETs and lists are too frequent to build a query and map its rows each time.
const SHOWN = [...SHOWN_OUTGOING_FIELDS, 'beneficiary'] as const;
const DESTINATION_SHOWN = [
  'account_holder_name, holder_identity, alias, ledger_number, account_number, iban, country, currency, routing_codes',
].flatMap((line) => line.split(', '));

const SELECT = `SELECT ${[
  ...SHOWN.map((field) => `outgoing_transfers.${outgoingTransfers[field].name} AS "${field}"`),
  ...DESTINATION_SHOWN.map((column) => `destination.${column} AS "destination_${camelCase(column)}"`),
].join(', ')}
  FROM outgoing_transfers LEFT JOIN party_accounts destination ON destination.id = ${DESTINATION_ID}`;

const FIND = `${SELECT} WHERE outgoing_transfers.id = ANY (${LISTED_IDS})`;

function showRow(row: Row): OutgoingTransferShown {
  const destination: Found['destination'] =
    row.destinationAccountId === null
      ? null
      : {
          accountHolderName: row.destination_accountHolderName,
          holderIdentity: row.destination_holderIdentity,
          alias: row.destination_alias,
          ledgerNumber: row.destination_ledgerNumber,
          accountNumber: row.destination_accountNumber,
          iban: row.destination_iban,
          country: row.destination_country,
          currency: row.destination_currency,
          routingCodes: row.destination_routingCodes,
        };
  return shown({ transfer: row, destination });
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
  const { rows, totalElements } = await readTransferPage<Row>(reader, asked, sql.raw(SELECT));
  return { rows: rows.map(showRow), totalElements };
}
