import type { Standing } from '../../domain/approvals/remedy-lists.ts';
import { asId, type IncomingTransferId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import type { TransferRules } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { begin } from '../incoming-transfers/holds.ts';
import { lockSituation } from '../outgoing-transfers/situations.ts';
import type { Transaction } from '../query/database.ts';
import { WAIT } from '../transfers/waits.ts';

const standingIn = (direction: 'outgoing' | 'incoming') =>
  `SELECT ${WAIT} AS "waitingFor", account_id AS "accountId" FROM ${direction}_transfers WHERE id = $1::uuid`;

const OUTGOING = standingIn('outgoing');
const INCOMING = standingIn('incoming');

/** Locks a transfer as its transitions do, its accounts first, and reads where it stands. */
export async function lockStanding(
  tx: Transaction,
  { resource, id, rules }: { readonly resource: string; readonly id: string; readonly rules: TransferRules },
): Promise<Standing> {
  const isOutgoing = resource === 'outgoing-transfer';
  if (isOutgoing) await lockSituation(tx, asId<OutgoingTransferId>(id), rules);
  else await begin(tx, asId<IncomingTransferId>(id));
  const [standing] = await tx.statement<Standing>(isOutgoing ? OUTGOING : INCOMING, [id]);
  if (standing === undefined) throw new Error(`the ${resource} that was locked is gone`);
  return standing;
}
