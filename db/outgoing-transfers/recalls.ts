import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import {
  decideRecallAnswer,
  decideRecallRejection,
} from '../../domain/outgoing-transfers/outcomes/recall-decisions.ts';
import type { RecallReport } from '../../domain/outgoing-transfers/outcomes/recalls.ts';
import type { OutgoingTransferStep } from '../../domain/outgoing-transfers/statuses.ts';
import type { TransferRules } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { outgoingTransfers } from '../common/schema.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { lookUpIn } from '../query/rows.ts';
import { applyUnderLocks } from '../transfers/transfer-changes.ts';
import type { PaymentNotification } from './outgoing-transfers.ts';
import { lockSituation } from './situations.ts';

const TRANSFER = lookUpIn(outgoingTransfers);

/** The provider to ask for exactly this recall; null unless the row still has it due. */
export async function readDueRecall(reader: Reader, id: OutgoingTransferId, number: number): Promise<string | null> {
  const found = await reader.find(TRANSFER, id);
  return found !== null && found.recallStatus === 'due' && found.recallNumber === number ? found.provider : null;
}

/** Records the provider's answer to a recall; a late or repeated call only returns the next step. */
export async function recordRecallAnswer(
  tx: Transaction,
  id: OutgoingTransferId,
  report: RecallReport,
  rules: TransferRules,
): Promise<OutgoingTransferStep> {
  const { change, step } = decideRecallAnswer(await lockSituation(tx, id, rules), report);
  applyUnderLocks(tx, [change]);
  return step;
}

/** Applies a rejection that the provider reports by callback. */
export async function applyRecallRejection(
  tx: Transaction,
  { id, provider }: PaymentNotification,
  number: number,
  rules: TransferRules,
): Promise<'applied' | 'no-effect' | 'break'> {
  const situation = await lockSituation(tx, id, rules);
  const { scope, ...transfer } = situation.transfer;
  if (scope !== 'external' || transfer.provider !== provider || number > transfer.recallNumber) return 'break';
  const change = decideRecallRejection(situation, number);
  applyUnderLocks(tx, [change]);
  return change === null ? 'no-effect' : 'applied';
}
