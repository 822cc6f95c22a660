import type { BankAccountDetails, FieldLocation } from '../../domain/accounts/bank-accounts.ts';
import { modulusProblems } from '../../domain/accounts/uk-modulus-check.ts';
import { DomainError, type Problem } from '../../domain/common/errors.ts';
import type { Services } from '../http/services.ts';

export interface BankAccountAtPath extends FieldLocation {
  readonly account: BankAccountDetails;
}

/**
 * Runs the UK modulus check on a caller's bank accounts. As configured, a failure rejects the request or adds to
 * `metadata.warnings`.
 */
export function modulusMetadata(
  { configuration }: Pick<Services, 'configuration'>,
  accounts: readonly BankAccountAtPath[],
): { readonly warnings?: readonly Problem[] } {
  const { modulusCheck } = configuration;
  if (modulusCheck === null) return {};
  const problems = accounts.flatMap(({ account, ...place }) => modulusProblems(modulusCheck.table, account, place));
  const [first, ...rest] = problems;
  if (first === undefined) return {};
  if (modulusCheck.onFailure === 'reject') throw new DomainError([first, ...rest]);
  return { warnings: problems };
}
