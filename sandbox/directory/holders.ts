import type { Bank } from '../bank/bank.ts';
import type { Identifiers } from '../bank/books.ts';
import { type ClientOfBank, findClientByReference } from '../bank/existing-clients/existing-clients.ts';
import type { HolderType, NamedParty } from './name-matching.ts';

export interface Holder extends NamedParty {
  readonly identifications: ClientOfBank['identifications'];
}

/** The holder of the sandbox bank's open account that `fits`; null if there is none. Who has no known type has the requested one. */
export function holderOf(
  bank: Bank,
  fits: (identifiers: Identifiers) => boolean,
  askedType: HolderType,
): Holder | null {
  for (const { status, identifiers, accountHolderName, clientReference } of bank.books.accounts.values()) {
    if (status !== 'open' || identifiers === null || !fits(identifiers)) continue;
    const client = findClientByReference(bank, clientReference);
    const identifications = client?.identifications ?? [];
    return { name: accountHolderName, type: client?.identityType ?? askedType, identifications };
  }
  return null;
}
