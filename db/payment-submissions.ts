import { eq } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { recordNotFound } from '../domain/errors.ts';
import type { IncomingTransferId, OutgoingTransferId } from '../domain/ids.ts';
import type { Reader } from './client.ts';
import { accounts, incomingTransfers, outgoingTransfers } from './schema.ts';

/**
 * What a provider is told of a payment. A sub-account is unknown to the provider: it pays from its main account. The
 * beneficiary is the one that was stored with the transfer, whatever has become of it since.
 */
export async function readSubmission(reader: Reader, id: OutgoingTransferId) {
  const mainAccounts = alias(accounts, 'main_accounts');
  const [found] = await reader.drizzle
    .select({ transfer: outgoingTransfers, account: accounts, mainAccount: mainAccounts })
    .from(outgoingTransfers)
    .innerJoin(accounts, eq(accounts.id, outgoingTransfers.accountId))
    .leftJoin(mainAccounts, eq(mainAccounts.id, accounts.mainAccountId))
    .where(eq(outgoingTransfers.id, id));
  if (found === undefined) throw recordNotFound('outgoingTransfer', 'id', id);
  const { transfer, account } = found;
  const debited = found.mainAccount ?? account;
  const { scheme, beneficiary } = transfer;
  const creditor = beneficiary?.account ?? null;
  if (scheme === null || beneficiary === null || creditor === null) {
    throw new Error(`outgoing transfer ${id} is not to be submitted: it has no scheme or no beneficiary`);
  }
  return {
    provider: transfer.provider,
    payment: {
      ourReference: transfer.id,
      amountMinor: transfer.amountMinor,
      currency: transfer.currency,
      scheme,
      debtor: {
        accountId: debited.id,
        name: account.accountHolderName,
        country: debited.country,
        iban: debited.iban,
        accountNumber: debited.accountNumber,
        routingCodes: debited.routingCodes ?? {},
      },
      creditor: {
        name: creditor.accountHolderName ?? beneficiary.fullName,
        country: creditor.country,
        iban: creditor.iban,
        accountNumber: creditor.accountNumber,
        routingCodes: creditor.routingCodes ?? {},
      },
      remittanceText: transfer.description ?? transfer.transactionNumber,
      attributes: textAttributes(transfer.schemeAttributes),
    },
  };
}

function textAttributes(stored: unknown): Record<string, string> {
  if (typeof stored !== 'object' || stored === null) return {};
  const texts = Object.entries(stored).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts);
}

/** What a provider is told of money that goes back to its payer. */
export async function readSendBack(reader: Reader, id: IncomingTransferId) {
  const [transfer] = await reader.drizzle.select().from(incomingTransfers).where(eq(incomingTransfers.id, id));
  if (transfer === undefined) throw recordNotFound('incomingTransfer', 'id', id);
  const { serviceProviderId } = transfer;
  if (serviceProviderId === null) throw new Error(`incoming transfer ${id} came from no provider`);
  return {
    provider: transfer.provider,
    due: transfer.sendBackStatus === 'due',
    request: {
      incomingTransferId: transfer.id,
      serviceProviderId,
      amountMinor: transfer.amountMinor,
      currency: transfer.currency,
    },
  };
}
