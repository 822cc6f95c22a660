import type { OutgoingTransferId } from '../../domain/frame/ids.ts';
import {
  decideRecall,
  decideRecallAnswer,
  decideRecallRefusal,
} from '../../domain/outgoing-transfers/outcomes/recall-decisions.ts';
import type { RecallReport } from '../../domain/outgoing-transfers/outcomes/recalls.ts';
import type { OutgoingTransferStep } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import type { TransferRules } from '../../domain/outgoing-transfers/transfer-changes.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { lookUpIn } from '../driver/queries/rows.ts';
import { appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { outgoingTransfers } from '../frame/schema.ts';
import { applyUnderLocks } from '../ledger/transfer-changes.ts';
import type { PaymentNotification } from './outgoing-transfers.ts';
import { lockSituation } from './situations.ts';

/**
 * Asks for a released payment back; its workflow does the asking. Throws unless the transfer can be recalled. `isOffered`: whether the
 * provider of a transfer takes recalls.
 */
export async function recallOutgoingTransfer(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules,
  { initiator, isOffered }: { readonly initiator: Initiator; readonly isOffered: (provider: string) => boolean },
): Promise<void> {
  const situation = await lockSituation(tx, id, rules);
  const { transfer } = situation;
  const change = decideRecall(situation, isOffered(transfer.provider));
  const { recallNumber, recallStatus } = change.outgoing?.after ?? transfer;
  appendAuditEntry(tx, {
    initiator,
    resource: 'outgoing-transfer',
    resourceId: id,
    action: 'recalled',
    before: { recallNumber: transfer.recallNumber, recallStatus: transfer.recallStatus },
    after: { recallNumber, recallStatus },
  });
  applyUnderLocks(tx, [change]);
}

const TRANSFER = lookUpIn(outgoingTransfers);

/** The provider to ask for exactly this recall; null unless the row still wants it asked. */
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

/** Applies a refusal that the provider reports by callback. */
export async function applyRecallRefusal(
  tx: Transaction,
  { id, provider }: PaymentNotification,
  number: number,
  rules: TransferRules,
): Promise<'applied' | 'no-effect' | 'break'> {
  const situation = await lockSituation(tx, id, rules);
  const { scope, ...transfer } = situation.transfer;
  if (scope !== 'external' || transfer.provider !== provider || number > transfer.recallNumber) return 'break';
  const change = decideRecallRefusal(situation, number);
  applyUnderLocks(tx, [change]);
  return change === null ? 'no-effect' : 'applied';
}
