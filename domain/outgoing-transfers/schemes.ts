import { DomainError, type Problem, refusal } from '../frame/errors.ts';
import { formatAmount } from '../frame/money.ts';
import type { PlanBankAccount, PlanFacts, TransferRequest } from './plans.ts';
import { checkSchemeAttributes } from './requests/scheme-attributes.ts';

const ENTITY = 'outgoingTransfer';

/** Throws unless the scheme can carry the payment to the bank account. */
export function checkScheme(request: TransferRequest, bankAccount: PlanBankAccount, facts: PlanFacts): void {
  const scheme = request.scheme ?? '';
  const { schemes } = facts;
  if (!schemes.knows(scheme) || !facts.offeredSchemes.includes(scheme) || !schemes.carries(request)) {
    throw unavailable('scheme', scheme, `The scheme does not carry ${request.currency} from this account.`);
  }
  checkBankData(request, bankAccount, facts);
  const limitMinor = schemes.amountLimitMinor(request);
  if (limitMinor !== null && request.amountMinor > limitMinor) {
    const { currency, amountMinor } = request;
    const message = `${scheme} carries at most ${formatAmount(limitMinor, currency)} ${currency}.`;
    throw refusal('transfer.amount.limit_exceeded', [ENTITY, 'amount', formatAmount(amountMinor, currency)], message);
  }
  const [first, ...rest] = reasonProblems(request, facts);
  if (first !== undefined) throw new DomainError([first, ...rest]);
}

/** A scheme that identifies accounts by IBAN pays where the IBAN says, whatever country the record has. */
function checkBankData(request: TransferRequest, bankAccount: PlanBankAccount, { schemes }: PlanFacts): void {
  const { id, iban, accountNumber, routingCodes, country } = bankAccount;
  const scheme = request.scheme ?? '';
  const needed = schemes.accountsAreNamedBy(request);
  const field = 'destination.beneficiaryBankAccountId';
  if (needed === 'iban') {
    if (iban === null) throw unavailable(field, id, `${scheme} pays to an IBAN, which the bank account has not.`);
    const ibanCountry = iban.slice(0, 2);
    if (schemes.reaches(request, ibanCountry)) return;
    throw unavailable(field, id, `${scheme} does not reach an IBAN of ${ibanCountry}.`);
  }
  if (!schemes.reaches(request, country)) {
    throw unavailable('scheme', scheme, `The scheme does not carry ${request.currency} to ${country}.`);
  }
  if (needed === 'bic' && routingCodes?.bic === undefined) {
    throw unavailable(field, id, `${scheme} pays to a bank by its BIC, which the bank account has not.`);
  }
  const hasSortCode = routingCodes?.['sort-code'] !== undefined && accountNumber !== null;
  if (needed === 'sort-code' && !hasSortCode && !iban?.startsWith('GB')) {
    const message = `${scheme} pays to a sort code and account number, or a British IBAN, which the bank account has not.`;
    throw unavailable(field, id, message);
  }
}

function unavailable(field: string, value: string, message: string): Error {
  return refusal('transfer.scheme.unavailable', [ENTITY, field, value], message);
}

function reasonProblems(request: TransferRequest, { reasons, tradeNames }: PlanFacts): Problem[] {
  const { transferReasonId, transferCustomReason } = request;
  if (reasons.length > 0 && transferReasonId === null && transferCustomReason === null) {
    const message = 'Transfers to this country need transferReasonId or transferCustomReason.';
    return [{ code: 'common.validation.field_required', message, messageParameters: [ENTITY, 'transferReasonId', ''] }];
  }
  return checkSchemeAttributes(request.schemeAttributes ?? {}, {
    currency: request.currency,
    reasonCode: reasons.find(({ id }) => id === transferReasonId)?.code ?? null,
    tradeNames,
  });
}
