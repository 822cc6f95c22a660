import type { ErrorCode, Problem } from '../../common/errors.ts';
import type { LocalDate } from '../../common/time/dates.ts';
import { type ProfileProblem, type ProfileRule, problemOf, REFERENCE_LENGTH_MAX } from '../profile-rules.ts';
import type { BankProfile } from '../profiles.ts';

/** A payment as its caller orders it. */
export interface Order {
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly scheme: string | null;
  readonly description: string | null;
  readonly schemeAttributes: Readonly<Record<string, string>> | null;
  readonly bankAccountId: string;
  readonly creditor: {
    readonly name: string;
    readonly country: string | null;
    readonly iban: string | null;
    readonly accountNumber: string | null;
    readonly routingCodes: Readonly<Record<string, string>> | null;
  };
  readonly transferDate: LocalDate;
  /** The account that pays, and the name that files have as that of their ultimate debtor. */
  readonly source: { readonly id: string; readonly accountHolderName: string };
}

const ENTITY = 'outgoingTransfer';
export const SOURCE_FIELD = 'source.accountId';
const HOLDER_UNWRITABLE =
  'The bank’s files cannot have the name of the account’s holder, so nothing can be paid from this account by them: ';

const CODES: Readonly<Record<ProfileRule, ErrorCode>> = {
  scheme: 'transfer.scheme.unavailable',
  account: 'transfer.scheme.unavailable',
  bic: 'transfer.scheme.unavailable',
  characters: 'common.validation.field_invalid',
  length: 'common.validation.field_invalid',
  'structured-address': 'common.validation.field_invalid',
  amount: 'common.validation.field_invalid',
  'purpose-code': 'transfer.attribute.invalid',
  attribute: 'transfer.attribute.invalid',
};

/** Why the bank would not take the payment by file, in the caller's words, or null. Known before the payment is accepted. */
export function problemOfOrder(order: Order, profile: BankProfile): Problem | null {
  const { amountMinor, currency, scheme, description, schemeAttributes, creditor, transferDate, source } = order;
  // References are ours: configuration has checked that the bank takes them.
  const reference = '0'.repeat(REFERENCE_LENGTH_MAX);
  const found = problemOf(
    {
      id: reference,
      paymentReference: reference,
      amountMinor,
      currency,
      scheme: scheme ?? '',
      executionDate: transferDate,
      ultimateDebtorName: source.accountHolderName,
      creditor: { ...creditor, routingCodes: creditor.routingCodes ?? {} },
      // Without a description, our own number of the transfer.
      remittanceText: description ?? '',
      attributes: schemeAttributes ?? {},
    },
    profile,
  );
  if (found === null) return null;
  const [field, value] = namedByCaller(found, order);
  const why = field === SOURCE_FIELD ? HOLDER_UNWRITABLE : '';
  const message = `${why}${found.message} Its rule for ${found.field} is ${found.rule}.`;
  return { code: CODES[found.rule], message, messageParameters: [ENTITY, field, value] };
}

/** The caller's field, and what it has. Names and texts are not repeated. */
function namedByCaller({ field }: ProfileProblem, order: Order): readonly [field: string, value: string] {
  if (field.startsWith('creditor.')) return ['destination.beneficiaryBankAccountId', order.bankAccountId];
  if (field === 'ultimateDebtorName') return [SOURCE_FIELD, order.source.id];
  if (field === 'scheme') return ['scheme', order.scheme ?? ''];
  if (field === 'remittanceText') return ['description', ''];
  const [, attribute] = field.split('attributes.');
  return attribute === undefined ? [field, ''] : [`schemeAttributes.${attribute}`, ''];
}
