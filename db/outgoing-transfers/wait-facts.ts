import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import { outgoingTransfers } from '../common/schema.ts';
import type { Reader } from '../query/database.ts';
import { lookUpIn } from '../query/rows.ts';

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

/** What a transfer's wait depends on, in addition to its row. */
export interface WaitFacts {
  readonly availableMinor: bigint;
  /** Those of its accounts, their main accounts and clients that are not active, with their status. */
  readonly notActive: readonly string[];
  readonly now: Date;
}

/** A transfer with the facts that its wait depends on, for a person; null if there is no such transfer. Read without locks. */
export async function readWaitFacts(
  reader: Reader,
  id: OutgoingTransferId,
): Promise<{ readonly transfer: OutgoingTransfer; readonly facts: WaitFacts } | null> {
  const [transfer, [facts]] = await Promise.all([reader.find(TRANSFER, id), reader.statement<WaitFacts>(FACTS, [id])]);
  return transfer === null || facts === undefined ? null : { transfer, facts };
}

/** Returned money of a payment, and where it is. */
export interface ReturnedMoney {
  readonly id: string;
  readonly status: string;
  readonly amountMinor: bigint;
  readonly accountId: string | null;
  readonly waitingFor: string | null;
  readonly sendBackStatus: 'none' | 'due' | 'done';
}

const RETURNED = `
  SELECT id, status, amount_minor AS "amountMinor", account_id AS "accountId", waiting_for AS "waitingFor", send_back_status AS "sendBackStatus"
  FROM incoming_transfers
  WHERE return_of = $1 ORDER BY id LIMIT $2`;

/** Incoming transfers that are a payment's returned money, oldest first. */
export function listReturnedMoney(reader: Reader, id: OutgoingTransferId, limit: number): Promise<ReturnedMoney[]> {
  return reader.statement<ReturnedMoney>(RETURNED, [id, limit]);
}

const RELEASED_BEFORE = `
  SELECT count(*)::integer AS count FROM (
    SELECT FROM outgoing_transfers
    WHERE waiting_for IN ('date', 'next-window', 'retry') AND waiting_until = $1::timestamptz AND id < $2 LIMIT $3
  ) AS earlier`;

/**
 * How many transfers that wait for this instant were created before this one, and so are released before it; `limit` if there are
 * more. Transfers whose wait begins in a concurrent transaction are not counted, which shifts the position by as many.
 */
export async function countReleasedBefore(reader: Reader, until: string, id: string, limit: number): Promise<number> {
  const [row] = await reader.statement<{ count: number }>(RELEASED_BEFORE, [until, id, limit]);
  return row?.count ?? 0;
}
