import type { CheckedType } from '../../db/compliance/checks.ts';
import { type ReviewToDecide, readReviewSituation } from '../../db/compliance/situations.ts';
import type { CheckedTransfer } from '../../domain/compliance/checks.ts';
import type { Direction } from '../../domain/compliance/rules.ts';
import type { PageContext } from '../page/page.ts';

/** A transfer whose check is to be decided, of either direction. */
export interface Review extends ReviewToDecide {
  readonly type: CheckedType;
  readonly id: string;
  readonly direction: Direction;
  readonly transfer: CheckedTransfer & {
    readonly transactionNumber: string;
    readonly status: string;
    readonly amountMinor: bigint;
    readonly currency: string;
    readonly clientId: string | null;
    readonly accountId: string | null;
    readonly scheme: string | null;
    readonly provider: string;
    readonly waitingFor: string | null;
    readonly waitingSince: Date | null;
    readonly createdAt: Date;
  };
  /** What the other party calls itself, and what it wrote. */
  readonly counterparty: string | null;
  readonly message: string | null;
}

/** Null: there is no such transfer. */
export async function readReview({ services, params }: PageContext, type: CheckedType): Promise<Review | null> {
  const id = params.id ?? '';
  const { database, configuration } = services;
  const found = await readReviewSituation(database.reader, { type, id }, configuration);
  if (found === null) return null;
  const { reviewed } = found;
  if (reviewed.side === 'outgoing') {
    const { transfer } = reviewed.situation;
    const { beneficiary, description } = transfer;
    const counterparty = beneficiary?.fullName ?? null;
    return { ...found, type, id, direction: 'outgoing', transfer, counterparty, message: description };
  }
  const transfer = reviewed.side === 'outside' ? reviewed.transfer : reviewed.situation.incoming?.after;
  if (transfer === undefined) return null;
  const { senderName, senderInformation } = transfer;
  return { ...found, type, id, direction: 'incoming', transfer, counterparty: senderName, message: senderInformation };
}

/** The folder of a review's page, as of its transfer's. */
export const FOLDERS = {
  'outgoing-transfer': 'outgoing-transfers',
  'incoming-transfer': 'incoming-transfers',
} as const satisfies Readonly<Record<CheckedType, string>>;
