import { rejectionCode } from '../../../domain/bank-files/exchange/progress.ts';
import type { ProviderRejection } from '../ports/common.ts';

/** The reason of a payment that a bank's profile does not take: field and rule follow it. It is in no file. */
export const NOT_TAKEN = 'bank-file.invalid';

/** A bank's rejection in the words of the port. Codes only: its texts may contain personal data. */
export function rejectionOf(code: string): ProviderRejection {
  const message = `The bank has rejected the payment: ${code}.`;
  return { category: 'functional', origin: 'provider', code, message, attributes: {} };
}

/** The rejection for the reasons of an instruction. */
export function statedRejection(reasons: readonly string[]): ProviderRejection {
  const [code, field, rule] = reasons;
  if (code !== NOT_TAKEN || field === undefined || rule === undefined) return rejectionOf(rejectionCode(reasons));
  const message = `The bank takes no such payment by file: ${field} breaks its rule ${rule}.`;
  return { ...rejectionOf(code), message, attributes: { field, rule } };
}
