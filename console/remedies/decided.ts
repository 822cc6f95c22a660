import { DomainError } from '../../domain/common/errors.ts';
import { IllegalTransition } from '../../domain/common/transitions.ts';

/**
 * What a decision of domain/ would be now, without making it: its change, or the sentence with which it is rejected. So a button is off for
 * the very reason for which the act would be rejected.
 */
export function decided<Change>(decide: () => Change): { readonly change: Change } | { readonly rejected: string } {
  try {
    return { change: decide() };
  } catch (error) {
    if (error instanceof DomainError) return { rejected: error.problems[0].message };
    // A bug where something is changed; here it is only asked whether it could be.
    if (error instanceof IllegalTransition) return { rejected: `It is ${error.from}, and cannot become ${error.to}.` };
    throw error;
  }
}
