import type { BankAccountDetails, Place } from '../../domain/accounts/bank-accounts.ts';
import { modulusProblems } from '../../domain/accounts/uk-modulus-check.ts';
import { DomainError, type Problem } from '../../domain/frame/errors.ts';
import type { Services } from '../frame/services.ts';

export interface PlacedBankAccount extends Place {
  readonly account: BankAccountDetails;
}

/**
 * The UK modulus check of bank accounts that a caller sent: refuses them, or tells in `metadata.warnings` of the answer
 * what is wrong, as the configuration says.
 */
export function modulusMetadata(
  { configuration }: Pick<Services, 'configuration'>,
  accounts: readonly PlacedBankAccount[],
): { readonly warnings?: readonly Problem[] } {
  const { modulusCheck } = configuration;
  if (modulusCheck === null) return {};
  const problems = accounts.flatMap(({ account, ...place }) => modulusProblems(modulusCheck.table, account, place));
  const [first, ...rest] = problems;
  if (first === undefined) return {};
  if (modulusCheck.onFailure === 'reject') throw new DomainError([first, ...rest]);
  return { warnings: problems };
}
