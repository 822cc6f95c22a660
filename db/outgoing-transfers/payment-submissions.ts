import { eq, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { IncomingTransferId, OutgoingTransferId } from '../../domain/common/ids.ts';
import { paymentReferenceOf } from '../../domain/common/payment-references.ts';
import type { PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { textOfReturn } from '../../domain/outgoing-transfers/requests/returns.ts';
import { accounts, incomingTransfers, outgoingTransfers } from '../common/schema.ts';
import { SUBMISSIONS_CLOSED } from '../providers/submissions.ts';
import type { Reader } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import { lookUpIn } from '../query/rows.ts';
import { isListed } from '../query/values.ts';

const SUBMISSION = prepared((db, given: Given<{ ids: readonly string[] }>) => {
  const debited = alias(accounts, 'debited');
  const { id, status, method, submissionStatus, ...transfer } = outgoingTransfers;
  return db
    .select({
      id,
      isDue: sql<boolean>`${status} = 'processing' AND ${method} = 'built-in' AND ${submissionStatus} = 'unresolved'`,
      attempt: transfer.submissionAttempt,
      provider: transfer.provider,
      amountMinor: transfer.amountMinor,
      currency: transfer.currency,
      scheme: transfer.scheme,
      beneficiary: transfer.beneficiary,
      description: transfer.description,
      transactionNumber: transfer.transactionNumber,
      schemeAttributes: transfer.schemeAttributes,
      accountHolderName: accounts.accountHolderName,
      debitedId: debited.id,
      country: debited.country,
      iban: debited.iban,
      accountNumber: debited.accountNumber,
      routingCodes: debited.routingCodes,
      returnCode: transfer.returnCode,
      returnedId: incomingTransfers.serviceProviderId,
      payerAccount: incomingTransfers.senderAccount,
      areSubmissionsClosed: sql<boolean>`${sql.raw(SUBMISSIONS_CLOSED)}`,
    })
    .from(outgoingTransfers)
    .innerJoin(accounts, eq(accounts.id, transfer.accountId))
    .innerJoin(debited, eq(debited.id, sql`coalesce(${accounts.mainAccountId}, ${accounts.id})`))
    .leftJoin(incomingTransfers, eq(incomingTransfers.id, transfer.returnOf))
    .where(isListed(id, given.ids));
});

function partyOf(account: Omit<PartyAccount, 'alias' | 'ledgerNumber' | 'currency'> | null, name: string | null) {
  return {
    name: account?.accountHolderName ?? name ?? NO_NAME,
    country: account?.country ?? null,
    iban: account?.iban ?? null,
    accountNumber: account?.accountNumber ?? null,
    routingCodes: account?.routingCodes ?? {},
  };
}

/** What messages between banks say where a name must be and none is known. */
const NO_NAME = 'NOTPROVIDED';

/**
 * The payment to submit, or null unless exactly this attempt is due: the money is reserved, and no answer to the attempt is
 * recorded. Providers do not know sub-accounts, so a sub-account pays from its main account. The beneficiary is the one
 * stored with the transfer, whatever has changed since; of the payer of a return it may hold no account.
 */
export async function readDueSubmission(reader: Reader, id: OutgoingTransferId, attempt: number) {
  const found = await reader.find(SUBMISSION, id);
  if (found === null || !found.isDue || found.attempt !== attempt) return null;
  const { scheme, beneficiary, returnCode, returnedId, payerAccount } = found;
  const creditor = beneficiary?.account ?? payerAccount;
  if (scheme === null || (returnCode === null && (beneficiary === null || creditor === null))) {
    throw new Error(`outgoing transfer ${id} is not to be submitted: it has no scheme or no beneficiary`);
  }
  if (returnCode !== null && returnedId === null) {
    throw new Error(`outgoing transfer ${id} is not to be submitted: what it returns came from no provider`);
  }
  return {
    provider: found.provider,
    areSubmissionsClosed: found.areSubmissionsClosed,
    payment: {
      ourReference: found.id,
      paymentReference: paymentReferenceOf(found.id),
      amountMinor: found.amountMinor,
      currency: found.currency,
      scheme,
      debtor: {
        accountId: found.debitedId,
        name: found.accountHolderName,
        country: found.country,
        iban: found.iban,
        accountNumber: found.accountNumber,
        routingCodes: found.routingCodes ?? {},
      },
      creditor: partyOf(creditor, beneficiary?.fullName ?? null),
      remittanceText: found.description ?? found.transactionNumber,
      attributes: textAttributes(found.schemeAttributes),
      returnOf:
        returnCode === null || returnedId === null ? undefined : { serviceProviderId: returnedId, code: returnCode },
    },
  };
}

const PROVIDER = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  db
    .select({ id: outgoingTransfers.id, provider: outgoingTransfers.provider })
    .from(outgoingTransfers)
    .where(isListed(outgoingTransfers.id, given.ids)),
);

/** The code of the provider that carries out a transfer. */
export async function readProviderOf(reader: Reader, id: OutgoingTransferId): Promise<string> {
  const found = await reader.find(PROVIDER, id);
  if (found === null) throw recordNotFound('outgoingTransfer', 'id', id);
  return found.provider;
}

function textAttributes(stored: unknown): Record<string, string> {
  if (typeof stored !== 'object' || stored === null) return {};
  const texts = Object.entries(stored).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts);
}

const INCOMING = lookUpIn(incomingTransfers);

/** The instruction to a provider to return money to its payer. */
export async function readReturn(reader: Reader, id: IncomingTransferId) {
  const transfer = await reader.find(INCOMING, id);
  if (transfer === null) throw recordNotFound('incomingTransfer', 'id', id);
  const { serviceProviderId, receiverAccount } = transfer;
  if (serviceProviderId === null) throw new Error(`incoming transfer ${id} came from no provider`);
  return {
    provider: transfer.provider,
    due: transfer.sendBackStatus === 'due',
    request: {
      incomingTransferId: transfer.id,
      paymentReference: paymentReferenceOf(transfer.id),
      serviceProviderId,
      amountMinor: transfer.amountMinor,
      currency: transfer.currency,
      scheme: transfer.scheme,
      creditor: partyOf(transfer.senderAccount, transfer.senderName),
      receiver: {
        iban: receiverAccount?.iban ?? null,
        accountNumber: receiverAccount?.accountNumber ?? null,
        routingCodes: receiverAccount?.routingCodes ?? {},
      },
      remittanceText: textOfReturn(transfer),
    },
  };
}
