import { type BankAccountDetails, checkBankAccount } from '../accounts/bank-accounts.ts';
import { DomainError, type ErrorCode, type Problem, rejection } from '../common/errors.ts';
import { type Currency, parseAmountMinor } from '../common/money.ts';
import { dateInUtc, yearsLater } from '../common/time/dates.ts';
import type { ConsentContent, CreditorAccount, PaymentContent } from './consents.ts';

/** The schemes that identify a creditor's account (OBIE). */
export const CREDITOR_SCHEMES = ['UK.OBIE.SortCodeAccountNumber', 'UK.OBIE.IBAN'] as const;

/** A request as it was sent, well-formed; the amount as its digits. */
export type ContentSent = { readonly scope: 'accounts' } | PaymentContentSent;

export interface PaymentContentSent {
  readonly scope: 'payments';
  readonly paymentScope: PaymentContent['paymentScope'];
  readonly paymentType: PaymentContent['paymentType'];
  readonly instructedAmount: string;
  readonly instructedCurrency: Currency;
  readonly creditorAccount: CreditorAccount;
  readonly currencyOfTransfer?: Currency | undefined;
  readonly requestedExecutionDateTime?: Date | undefined;
}

/** The rules for a request that do not depend on its content. */
export interface RequestRules {
  readonly now: Date;
  /** How many years ahead a transfer may be dated. */
  readonly transferDateYearsMax: number;
}

/** The content of a new consent; throws every problem with it at once. */
export function readContent(sent: ContentSent, rules: RequestRules): ConsentContent {
  if (sent.scope === 'accounts') return { scope: 'accounts' };
  const { paymentScope, paymentType, instructedCurrency, creditorAccount } = sent;
  const { currencyOfTransfer = null, requestedExecutionDateTime = null } = sent;
  const instructedAmountMinor = parseAmountMinor(sent.instructedAmount, instructedCurrency);
  const problems = [
    ...(typeof instructedAmountMinor === 'bigint' ? [] : [amountProblem(sent.instructedAmount)]),
    ...creditorProblems(creditorAccount, instructedCurrency),
    ...conversionProblems(sent),
    ...executionProblems(paymentType, requestedExecutionDateTime, rules),
  ];
  const [first, ...rest] = problems;
  if (first !== undefined || typeof instructedAmountMinor !== 'bigint') {
    throw new DomainError([first ?? amountProblem(sent.instructedAmount), ...rest]);
  }
  return {
    scope: 'payments',
    paymentScope,
    paymentType,
    instructedAmountMinor,
    instructedCurrency,
    creditorAccount,
    currencyOfTransfer,
    requestedExecutionAt: requestedExecutionDateTime,
  };
}

function amountProblem(value: string): Problem {
  return invalid('instructedAmount', value, 'must be above zero, with no more decimals than its currency');
}

/** There is no currency exchange: an international payment arrives in its instructed currency. */
function conversionProblems({ paymentScope, instructedCurrency, currencyOfTransfer }: PaymentContentSent): Problem[] {
  if (paymentScope === 'domestic') {
    if (currencyOfTransfer === undefined) return [];
    return [invalid('currencyOfTransfer', currencyOfTransfer, 'is allowed for international payments only')];
  }
  if (currencyOfTransfer === undefined) {
    return [invalid('currencyOfTransfer', '', 'is required for an international payment', REQUIRED)];
  }
  if (currencyOfTransfer === instructedCurrency) return [];
  return [
    invalid('currencyOfTransfer', currencyOfTransfer, 'must be the instructed currency: currencies are not exchanged'),
  ];
}

function executionProblems(
  type: PaymentContent['paymentType'],
  at: Date | null,
  { now, transferDateYearsMax }: RequestRules,
): Problem[] {
  const field = 'requestedExecutionDateTime';
  if (type === 'standard') return at === null ? [] : [invalid(field, '', 'is allowed for scheduled payments only')];
  if (at === null) return [invalid(field, '', 'is required for a scheduled payment', REQUIRED)];
  if (at.getTime() <= now.getTime()) return [invalid(field, '', 'must be in the future')];
  if (dateInUtc(at) <= yearsLater(dateInUtc(now), transferDateYearsMax)) return [];
  return [invalid(field, '', `must be at most ${transferDateYearsMax} years ahead`)];
}

const REQUIRED = 'common.validation.field_required';

function creditorProblems(account: CreditorAccount, currency: Currency): Problem[] {
  const details = detailsOf(account, currency);
  if (details === null) {
    return [
      invalid(
        'creditorAccount.identification',
        account.identification,
        'must be 14 digits: sort code and account number',
      ),
    ];
  }
  const [problem] = checkBankAccount(details, { entity: 'consent', prefix: '' }).problems;
  if (problem === undefined) return [];
  const rule = `is not an account to which ${currency} can be sent: ${problem.message.replace(/\.$/, '')}`;
  return [invalid('creditorAccount.identification', account.identification, rule)];
}

/** The bank account in a consent, as it is stored; it was validated when the consent was requested. */
export function creditorBankAccount(account: CreditorAccount, currency: Currency): BankAccountDetails {
  const details = detailsOf(account, currency);
  if (details === null) throw new Error('a consent names no creditor account');
  return checkBankAccount(details, { entity: 'consent', prefix: '' }).details;
}

const SORT_CODE_LENGTH = 6;

function detailsOf({ schemeName, identification }: CreditorAccount, currency: Currency) {
  if (schemeName === 'UK.OBIE.IBAN') {
    const iban = identification.replaceAll(' ', '').toUpperCase();
    return { country: iban.slice(0, 2), currency, iban };
  }
  if (!/^\d{14}$/.test(identification)) return null;
  const sortCode = identification.slice(0, SORT_CODE_LENGTH);
  const accountNumber = identification.slice(SORT_CODE_LENGTH);
  return { country: 'GB', currency, accountNumber, routingCodes: { 'sort-code': sortCode } };
}

function invalid(
  field: string,
  value: string,
  rule: string,
  code: ErrorCode = 'common.validation.field_invalid',
): Problem {
  const path = `content.${field}`;
  return { code, message: `data.consent.${path} ${rule}.`, messageParameters: ['consent', path, value] };
}

/** A payment as a third party sends it, to be compared with the consent. */
export interface PaymentSent {
  readonly instructedAmount: string;
  readonly instructedCurrency: string;
  readonly creditorAccount: CreditorAccount;
}

/** Every field of the payment must be as the account holder approved it. */
export function requireConsentedPayment(consented: PaymentContent, sent: PaymentSent): void {
  const { creditorAccount: to } = consented;
  const fields: readonly (readonly [field: string, isSame: boolean])[] = [
    ['instructedCurrency', sent.instructedCurrency === consented.instructedCurrency],
    [
      'instructedAmount',
      parseAmountMinor(sent.instructedAmount, consented.instructedCurrency) === consented.instructedAmountMinor,
    ],
    ['creditorAccount.schemeName', sent.creditorAccount.schemeName === to.schemeName],
    ['creditorAccount.identification', sent.creditorAccount.identification === to.identification],
    ['creditorAccount.name', sent.creditorAccount.name === to.name],
  ];
  const other = fields.find(([, isSame]) => !isSame);
  if (other === undefined) return;
  const message = `data.payment.${other[0]} differs from the content that the account holder approved.`;
  throw rejection('consent.content.mismatch', ['payment', other[0], ''], message);
}
