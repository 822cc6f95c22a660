import { eq } from 'drizzle-orm';
import type { IncomingTransferId, OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { BeneficiaryShown } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import type { PaymentReport } from '../../domain/outgoing-transfers/reports.ts';
import type { Transaction } from '../driver/client.ts';
import { incomingTransfers } from '../frame/schema.ts';
import type { LockedAccount } from '../ledger/ledger.ts';
import { createIncomingTransfer } from './work.ts';

/** What came back of a payment, completed at once; money for an account that is gone is held. */
export async function createReturn(
  tx: Transaction,
  outgoing: {
    id: OutgoingTransferId;
    transactionNumber: string;
    amountMinor: bigint;
    currency: string;
    scheme: string | null;
    provider: string;
    method: 'built-in' | 'plug-in';
    beneficiary: BeneficiaryShown | null;
  },
  account: LockedAccount,
  now: Date,
  report: PaymentReport,
): Promise<IncomingTransferId> {
  const usable = account.status !== 'closed' && account.status !== 'declined';
  const returned = report.claim?.returned ?? null;
  const row = await createIncomingTransfer(
    tx,
    {
      provider: outgoing.provider,
      method: outgoing.method,
      account: usable ? account : null,
      hold: null,
      amountMinor: returned === null ? outgoing.amountMinor : BigInt(returned.amountMinor),
      feeMinor: 0n,
      currency: outgoing.currency,
      scope: 'external',
      scheme: outgoing.scheme,
      provisionedAccountCreditId: null,
      serviceProviderId: null,
      serviceProviderReference: report.serviceProviderReference,
      returnReference: returned?.reference ?? null,
      senderInformation: `Return of ${outgoing.transactionNumber}${report.code === null ? '' : `: ${report.code}`}`,
      senderName: outgoing.beneficiary?.fullName ?? null,
      senderAccount: outgoing.beneficiary?.account ?? null,
      receiverAccount: null,
    },
    now,
  );
  return row.id;
}

/** Whether a payment's return is the one that is booked. What a source does not say, and what was booked without it, agree. */
export async function isBookedReturn(
  tx: Transaction,
  incomingTransferId: IncomingTransferId | null,
  { claim }: PaymentReport,
): Promise<boolean> {
  const returned = claim?.returned ?? null;
  if (returned === null || incomingTransferId === null) return true;
  const [booked] = await tx.drizzle
    .select()
    .from(incomingTransfers)
    .where(eq(incomingTransfers.id, incomingTransferId));
  if (booked === undefined || booked.amountMinor !== BigInt(returned.amountMinor)) return false;
  return booked.returnReference === null || booked.returnReference === returned.reference;
}
