import { asId, type IncomingTransferId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import type { ReviewSituation } from '../../domain/outgoing-transfers/outcomes/reviews.ts';
import type { TransferRules } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { readIncomingSituation } from '../incoming-transfers/situations.ts';
import { readSituation } from '../outgoing-transfers/situations.ts';
import type { Reader } from '../query/database.ts';
import type { CheckedId } from './checks.ts';
import { readInvolved } from './involved.ts';

export interface ReviewToDecide {
  readonly reviewed: ReviewSituation;
  /** As a decision under locks would find them. */
  readonly involved: readonly string[];
}

/** What a decision about the check would be decided from now, without locks. Null: there is no such transfer. */
export async function readReviewSituation(
  reader: Reader,
  { type, id }: CheckedId,
  rules: TransferRules,
): Promise<ReviewToDecide | null> {
  if (type === 'outgoing-transfer') return ofOutgoing(reader, asId<OutgoingTransferId>(id), rules);
  const found = await readIncomingSituation(reader, asId<IncomingTransferId>(id));
  if (found === null) return null;
  const involved = await readInvolved(reader, found.transfer);
  const { outgoingTransferId } = found.transfer;
  if (outgoingTransferId === null) return { reviewed: { side: 'outside', ...found }, involved };
  const situation = await readSituation(reader, outgoingTransferId, rules);
  return situation && { reviewed: { side: 'receiver', situation }, involved };
}

async function ofOutgoing(
  reader: Reader,
  id: OutgoingTransferId,
  rules: TransferRules,
): Promise<ReviewToDecide | null> {
  const payment = { id, outgoingTransferId: id, provisionedAccountCreditId: null };
  const [situation, involved] = await Promise.all([readSituation(reader, id, rules), readInvolved(reader, payment)]);
  return situation && { reviewed: { side: 'outgoing', situation }, involved };
}
