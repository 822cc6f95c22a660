import type { OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type { Reader } from '../driver/client.ts';
import { lookUpIn } from '../driver/queries/rows.ts';
import { outgoingTransfers } from '../frame/schema.ts';

const TRANSFER = lookUpIn(outgoingTransfers);

const FACTS = `
  SELECT source.posted_minor - source.reserved_minor AS "availableMinor",
    ARRAY(SELECT account.id || ' is ' || account.status FROM accounts account
        WHERE account.status <> 'active' AND account.id IN (source.id, source.main_account_id, destination.id, destination.main_account_id)
      UNION ALL SELECT client.id || ' is ' || client.status FROM clients client
        WHERE client.status <> 'active' AND client.id IN (source.client_id, destination.client_id)) AS "notActive", service_now() AS now
  FROM outgoing_transfers transfer
    JOIN accounts source ON source.id = transfer.account_id
    LEFT JOIN accounts destination ON destination.id = transfer.destination_account_id
  WHERE transfer.id = $1`;

/** What a transfer's wait depends on, beside its row. */
export interface WaitFacts {
  readonly availableMinor: bigint;
  /** Of its accounts, their main accounts and clients, those that are not active, with their status. */
  readonly notActive: readonly string[];
  readonly now: Date;
}

/** A transfer with what its wait depends on, for a person; null if there is no such transfer. Read without locks. */
export async function readWaitFacts(
  reader: Reader,
  id: OutgoingTransferId,
): Promise<{ readonly transfer: OutgoingTransfer; readonly facts: WaitFacts } | null> {
  const [transfer, [facts]] = await Promise.all([reader.find(TRANSFER, id), reader.statement<WaitFacts>(FACTS, [id])]);
  return transfer === null || facts === undefined ? null : { transfer, facts };
}

/** Money of a payment that came back, and where it is. */
export interface ReturnedMoney {
  readonly id: string;
  readonly status: string;
  readonly amountMinor: bigint;
  readonly accountId: string | null;
  readonly waitingFor: string | null;
  readonly sendBackStatus: 'none' | 'due' | 'done';
}

// The release before knows a return by the transfer's own link alone.
const RETURNED = `
  SELECT id, status, amount_minor AS "amountMinor", account_id AS "accountId", waiting_for AS "waitingFor", send_back_status AS "sendBackStatus"
  FROM incoming_transfers
  WHERE return_of = $1 OR id = (SELECT incoming_transfer_id FROM outgoing_transfers WHERE id = $1 AND returned)
  ORDER BY id LIMIT $2`;

/** Incoming transfers that are money of a payment which came back, oldest first. */
export function listReturnedMoney(reader: Reader, id: OutgoingTransferId, limit: number): Promise<ReturnedMoney[]> {
  return reader.statement<ReturnedMoney>(RETURNED, [id, limit]);
}

const RELEASED_BEFORE = `
  SELECT count(*)::integer AS count FROM (
    SELECT FROM outgoing_transfers
    WHERE waiting_for IN ('date', 'retry') AND waiting_until = $1::timestamptz AND id < $2 LIMIT $3
  ) AS earlier`;

/**
 * How many transfers that wait for this instant were created before this one, and so are released before it; `limit` if there are
 * more. Those whose wait begins in a transaction at the same moment are not seen, which moves it by as many places.
 */
export async function countReleasedBefore(reader: Reader, until: string, id: string, limit: number): Promise<number> {
  const [row] = await reader.statement<{ count: number }>(RELEASED_BEFORE, [until, id, limit]);
  return row?.count ?? 0;
}
