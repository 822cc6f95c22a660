import { rejection } from '../../common/errors.ts';
import type { TransferSituation } from '../transfer-changes.ts';

/** Only the bank's word ends a payment that it may have: what it has told since a restore is read first. */
export function requireNotAtBank({ transfer, mayBeAtBank }: TransferSituation, to: 'cancelled' | 'failed'): void {
  if (!mayBeAtBank) return;
  const { id, provider } = transfer;
  const message = `Outgoing transfer ${id} cannot become ${to} yet: the database was restored, and files of ${provider} are still to be read, which may say that it is paid.`;
  throw rejection('common.state.illegal_transition', ['outgoingTransfer', 'status', to], message);
}
