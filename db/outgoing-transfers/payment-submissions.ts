import { eq } from 'drizzle-orm';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { AccountId, IncomingTransferId, OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { BeneficiaryShown } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import type { Reader } from '../driver/client.ts';
import { LISTED_IDS } from '../driver/values.ts';
import { incomingTransfers } from '../frame/schema.ts';
import { SUBMISSIONS_CLOSED } from '../providers/restores.ts';

interface Submission {
  readonly id: OutgoingTransferId;
  readonly isDue: boolean;
  readonly attempt: number;
  readonly provider: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly scheme: string | null;
  readonly beneficiary: BeneficiaryShown | null;
  readonly description: string | null;
  readonly transactionNumber: string;
  readonly schemeAttributes: unknown;
  readonly accountHolderName: string;
  readonly debitedId: AccountId;
  readonly country: string;
  readonly iban: string | null;
  readonly accountNumber: string | null;
  readonly routingCodes: Record<string, string> | null;
  readonly areSubmissionsClosed: boolean;
}

const READ_SUBMISSION = `
  SELECT transfer.id, transfer.submission_attempt AS attempt,
    transfer.status = 'processing' AND transfer.method = 'built-in' AND transfer.submission_status = 'unresolved' AS "isDue",
    transfer.provider, transfer.amount_minor AS "amountMinor", transfer.currency, transfer.scheme,
    transfer.beneficiary, transfer.description, transfer.transaction_number AS "transactionNumber",
    transfer.scheme_attributes AS "schemeAttributes", account.account_holder_name AS "accountHolderName",
    debited.id AS "debitedId", debited.country, debited.iban, debited.account_number AS "accountNumber",
    debited.routing_codes AS "routingCodes",
    ${SUBMISSIONS_CLOSED} AS "areSubmissionsClosed"
  FROM outgoing_transfers transfer JOIN accounts account ON account.id = transfer.account_id
    JOIN accounts debited ON debited.id = coalesce(account.main_account_id, account.id)
  WHERE transfer.id = ANY (${LISTED_IDS})`;

/**
 * The payment to submit, or null unless exactly this attempt is due: the money is reserved, and no answer to the attempt is
 * recorded. Providers do not know sub-accounts, so a sub-account pays from its main account. The beneficiary is the one
 * stored with the transfer, whatever has changed since.
 */
export async function readDueSubmission(reader: Reader, id: OutgoingTransferId, attempt: number) {
  const found = await reader.find<Submission>(READ_SUBMISSION, id);
  if (found === null || !found.isDue || found.attempt !== attempt) return null;
  const { scheme, beneficiary } = found;
  const creditor = beneficiary?.account ?? null;
  if (scheme === null || beneficiary === null || creditor === null) {
    throw new Error(`outgoing transfer ${id} is not to be submitted: it has no scheme or no beneficiary`);
  }
  return {
    provider: found.provider,
    areSubmissionsClosed: found.areSubmissionsClosed,
    payment: {
      ourReference: found.id,
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
      creditor: {
        name: creditor.accountHolderName ?? beneficiary.fullName,
        country: creditor.country,
        iban: creditor.iban,
        accountNumber: creditor.accountNumber,
        routingCodes: creditor.routingCodes ?? {},
      },
      remittanceText: found.description ?? found.transactionNumber,
      attributes: textAttributes(found.schemeAttributes),
    },
  };
}

const READ_PROVIDER = `SELECT id, provider FROM outgoing_transfers WHERE id = ANY (${LISTED_IDS})`;

/** The code of the provider that carries out a transfer. */
export async function readProviderOf(reader: Reader, id: OutgoingTransferId): Promise<string> {
  const found = await reader.find<{ id: string; provider: string }>(READ_PROVIDER, id);
  if (found === null) throw recordNotFound('outgoingTransfer', 'id', id);
  return found.provider;
}

function textAttributes(stored: unknown): Record<string, string> {
  if (typeof stored !== 'object' || stored === null) return {};
  const texts = Object.entries(stored).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts);
}

/** The instruction to a provider to return money to its payer. */
export async function readReturn(reader: Reader, id: IncomingTransferId) {
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
