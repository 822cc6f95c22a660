import { rejection } from '../../common/errors.ts';
import type { TransferSituation } from '../transfer-changes.ts';

/** Only the bank's word ends a payment that it may have: what it has told since a restore is read first, or could not be booked. */
export function requireNotAtBank({ transfer, mayBeAtBank }: TransferSituation, to: 'cancelled' | 'failed'): void {
  if (!mayBeAtBank) return;
  const { id, provider } = transfer;
  const message = `Outgoing transfer ${id} cannot become ${to} yet: the database was restored, and ${provider} may have paid it. Files of it are still to be read, settled or booked, or its statement of that day is still to come.`;
  throw rejection('common.state.illegal_transition', ['outgoingTransfer', 'status', to], message);
}
