import { CONTRADICTED, DEBIT_NOT_KNOWN, PAID_BEFORE, TOLD_BEFORE } from '../../domain/bank-files/exchange/holds.ts';
import type { Transaction } from '../query/database.ts';

// Stronger than a restore's reason. What was said of the other reason is void.
const HOLD = `UPDATE bank_instructions SET held_reason = $2, bank_says = NULL WHERE transfer_id = $1::uuid AND state = 'queued'`;

/** No file takes the transfer's waiting submission until a person has decided; the alarm of silent payments tells of it. */
export async function holdQueued(tx: Transaction, transferId: string, reason: string = PAID_BEFORE): Promise<void> {
  await tx.statement(HOLD, [transferId, reason]);
}

const HOLD_NAMED = `
  UPDATE bank_instructions SET held_reason = coalesce(held_reason, '${TOLD_BEFORE}'), bank_says = nullif(bank_says, 'rejected')
  WHERE transfer_id = $1::uuid AND state = 'queued'`;

/** The bank speaks of the transfer, and not of a submission of ours. What holds it already says more; that it was rejected is asked again. */
export async function holdNamed(tx: Transaction, transferId: string): Promise<void> {
  await tx.statement(HOLD_NAMED, [transferId]);
}

// What people have said of it stands.
const HOLD_CONTRADICTED = `
  UPDATE bank_instructions SET held_reason = '${CONTRADICTED}'
  WHERE transfer_id = $1::uuid AND is_return AND held_reason IS NULL AND state IN ('delivered', 'received', 'confirmation', 'released')`;

/** A debit of the transfer is a break: nothing is paid again, and how a return ended that is at the bank, people say. */
export async function holdContradicted(tx: Transaction, transferId: string): Promise<void> {
  await holdQueued(tx, transferId);
  await tx.statement(HOLD_CONTRADICTED, [transferId]);
}

const HOLD_RETURNS = `
  UPDATE bank_instructions SET held_reason = '${DEBIT_NOT_KNOWN}'
  WHERE provider = $1 AND currency = $2 AND amount_minor = ANY ($3::bigint[]) AND is_return AND state = 'queued' AND held_reason IS NULL`;

/** A debit of any of these amounts (minor units) is not known: it may be the bank's own return of money that waits for its file. */
export async function holdReturnsOf(
  tx: Transaction,
  provider: string,
  { currency, amountsMinor }: { readonly currency: string; readonly amountsMinor: readonly bigint[] },
): Promise<void> {
  await tx.statement(HOLD_RETURNS, [provider, currency, amountsMinor]);
}
