import type { CheckedType } from '../../db/compliance/checks.ts';
import { type CheckedTransfer, isInReview } from '../../domain/compliance/checks.ts';
import { FOLDERS } from './review.ts';

interface Props {
  readonly type: CheckedType;
  readonly transfer: Pick<CheckedTransfer, 'complianceCheckStatus' | 'complianceRule'> & { readonly id: string };
}

/** To the review of a transfer whose check is open, whatever else it waits for. */
export function ReviewLink({ type, transfer }: Props) {
  if (!isInReview(transfer)) return null;
  const { complianceRule } = transfer;
  return (
    <p>
      Its compliance check is open{complianceRule === null ? '' : `: the rule ${complianceRule.name} has stopped it`}.{' '}
      <a href={`/reviews/${FOLDERS[type]}/${transfer.id}`}>Review it</a>
    </p>
  );
}
