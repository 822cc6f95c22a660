import { type BankAccountDetails, checkBankAccount } from '../accounts/bank-accounts.ts';
import { DomainError, type ErrorCode, type Problem, refusal } from '../frame/errors.ts';
import { type Currency, parseAmountMinor } from '../frame/money.ts';
import { dateInUtc, yearsLater } from '../frame/time/dates.ts';
import type { ConsentContent, CreditorAccount, PaymentContent } from './consents.ts';

/** How a creditor's account is named (OBIE). */
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

/** What decides about a request beside its content. */
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
  return invalid('instructedAmount', value, 'must be above zero, with no more decimals than its currency has');
}

/** Nothing is exchanged, so an international payment arrives in the currency in which it is instructed. */
function conversionProblems({ paymentScope, instructedCurrency, currencyOfTransfer }: PaymentContentSent): Problem[] {
  if (paymentScope === 'domestic') {
    if (currencyOfTransfer === undefined) return [];
    return [invalid('currencyOfTransfer', currencyOfTransfer, 'belongs to an international payment')];
  }
  if (currencyOfTransfer === undefined) {
    return [invalid('currencyOfTransfer', '', 'is required for an international payment', REQUIRED)];
  }
  if (currencyOfTransfer === instructedCurrency) return [];
  return [invalid('currencyOfTransfer', currencyOfTransfer, 'must be the instructed currency: nothing is exchanged')];
}

function executionProblems(
  type: PaymentContent['paymentType'],
  at: Date | null,
  { now, transferDateYearsMax }: RequestRules,
): Problem[] {
  const field = 'requestedExecutionDateTime';
  if (type === 'standard') return at === null ? [] : [invalid(field, '', 'belongs to a scheduled payment')];
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
      invalid('creditorAccount.identification', account.identification, 'must be 14 digits: sort code and number'),
    ];
  }
  const [problem] = checkBankAccount(details, { entity: 'consent', prefix: '' }).problems;
  if (problem === undefined) return [];
  const rule = `names no account that ${currency} can be sent to: ${problem.message.replace(/\.$/, '')}`;
  return [invalid('creditorAccount.identification', account.identification, rule)];
}

/** The bank account that a consent names, as it is stored; its problems were refused when the consent was requested. */
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

/** A payment as a third party sends it, to be compared with what was consented to. */
export interface PaymentSent {
  readonly instructedAmount: string;
  readonly instructedCurrency: string;
  readonly creditorAccount: CreditorAccount;
}

/** The payment is the one that the account holder has approved, to the last field. */
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
  const message = `data.payment.${other[0]} is not what the account holder has consented to.`;
  throw refusal('consent.content.mismatch', ['payment', other[0], ''], message);
}
