import { PAID_BEFORE } from '../../domain/bank-files/exchange/holds.ts';
import type { Transaction } from '../query/database.ts';

// Stronger than a restore's reason. What was said of the other reason is void.
const HOLD = `UPDATE bank_instructions SET held_reason = $2, bank_says = NULL WHERE transfer_id = $1::uuid AND state = 'queued'`;

/** No file takes the transfer's waiting submission until a person has decided; the alarm of silent payments tells of it. */
export async function holdQueued(tx: Transaction, transferId: string, reason: string = PAID_BEFORE): Promise<void> {
  await tx.statement(HOLD, [transferId, reason]);
}
