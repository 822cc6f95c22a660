import type { PartyAccount } from '../domain/incoming-transfers.ts';

/** An account of the service as a transfer shows it (specification 2.1). */
export function partyAccountOf(account: PartyAccount): PartyAccount {
  return {
    accountHolderName: account.accountHolderName,
    alias: account.alias,
    ledgerNumber: account.ledgerNumber,
    accountNumber: account.accountNumber,
    iban: account.iban,
    country: account.country,
    currency: account.currency,
    routingCodes: account.routingCodes,
  };
}
