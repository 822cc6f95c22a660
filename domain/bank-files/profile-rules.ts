import type { LocalDate } from '../common/time/dates.ts';
import type { InstructingParty, PaymentInstruction } from './instructions.ts';
import { addressLines, clearingAccountOf, hybridLines } from './party-elements.ts';
import type { BankProfile, SchemeProfile } from './profiles.ts';
import { isWritableReference, writableText } from './texts.ts';

/** Why a bank would reject a payment in a file. */
export interface ProfileProblem {
  /** Of the payment: `creditor.name`, `remittanceText`, `attributes.purpose-code` … */
  readonly field: string;
  readonly rule: ProfileRule;
  /** For people; quotes nothing of the payment but its scheme. */
  readonly message: string;
}

export type ProfileRule =
  | 'scheme'
  | 'characters'
  | 'length'
  | 'account'
  | 'bic'
  | 'structured-address'
  | 'purpose-code'
  | 'attribute'
  | 'amount';

/** The scheme attribute with ISO 20022's code of a purpose, such as SALA. */
export const PURPOSE_CODE = 'purpose-code';

/** Since then European and SWIFT's rules take no address in lines only (the EPC's rulebooks of 2025; SWIFT's standards release of 2026). */
const STRUCTURED_ADDRESSES_FROM: LocalDate = '2026-11-22';
const ADDRESS_LENGTHS = { street: 70, houseNumber: 16, refinement: 70, postalCode: 16, city: 35, region: 35 } as const;
const ADDRESS_LINE_LENGTH_MAX = 70;
/** ISO 20022's. */
export const REFERENCE_LENGTH_MAX = 35;

/** The first reason for which the bank would reject the payment, or null: what it rejects is rejected before acceptance. */
export function problemOf(payment: PaymentInstruction, profile: BankProfile): ProfileProblem | null {
  const scheme = Object.hasOwn(profile.schemes, payment.scheme) ? profile.schemes[payment.scheme] : undefined;
  if (scheme === undefined) {
    const offered = Object.keys(profile.schemes).join(', ');
    return problem('scheme', 'scheme', `The bank does not take ${payment.scheme} by file; it takes ${offered}.`);
  }
  return (
    amountProblem(payment) ??
    referenceProblem('id', payment.id, profile) ??
    referenceProblem('paymentReference', payment.paymentReference, profile) ??
    accountProblem(payment.creditor, scheme, 'creditor.iban') ??
    textProblem('creditor.name', payment.creditor.name, profile.lengths.name, profile) ??
    optionalTextProblem('ultimateDebtorName', payment.ultimateDebtorName, profile.lengths.name, profile) ??
    optionalTextProblem('remittanceText', payment.remittanceText, profile.lengths.remittance, profile) ??
    addressProblem(payment, profile) ??
    attributeProblem(payment, profile)
  );
}

/**
 * The first reason for which the bank would reject every file of this sender, or null. For the configuration: it is checked before the
 * first payment.
 */
export function problemOfParty(party: InstructingParty, profile: BankProfile): ProfileProblem | null {
  const named =
    textProblem('name', party.name, profile.lengths.name, profile) ??
    (party.id === null ? null : referenceProblem('id', party.id, profile));
  if (named !== null) return named;
  for (const scheme of Object.values(profile.schemes)) {
    // The bank knows its own BIC.
    const found = accountProblem(party, { ...scheme, needsBic: false }, 'iban');
    if (found !== null && found.rule === 'account') return found;
  }
  return null;
}

function problem(field: string, rule: ProfileRule, message: string): ProfileProblem {
  return { field, rule, message };
}

function amountProblem({ amountMinor }: PaymentInstruction): ProfileProblem | null {
  return amountMinor > 0n ? null : problem('amountMinor', 'amount', 'The amount must be positive.');
}

function referenceProblem(field: string, reference: string, { lengths }: BankProfile): ProfileProblem | null {
  const lengthMax = Math.min(lengths.reference, REFERENCE_LENGTH_MAX);
  if (reference.length > lengthMax) {
    return problem(field, 'length', `The bank takes references of at most ${lengthMax} characters.`);
  }
  if (isWritableReference(reference)) return null;
  return problem(
    field,
    'characters',
    "A reference has letters, digits and / - ? : ( ) . , ' + only, and no empty part between slashes.",
  );
}

/** `field` names the IBAN of the account. */
function accountProblem(
  holder: PaymentInstruction['creditor'] | InstructingParty,
  { clearingSystem, needsIban, needsBic }: SchemeProfile,
  field: string,
): ProfileProblem | null {
  const { iban, accountNumber, routingCodes } = holder;
  const nextTo = (name: string) => field.replace(/iban$/, name);
  if (clearingSystem !== null) {
    if (clearingAccountOf(holder, clearingSystem) !== null) return null;
    const message = `The bank needs the account's number and its bank's number in ${clearingSystem}.`;
    return problem(nextTo('accountNumber'), 'account', message);
  }
  if (iban === null && (needsIban === true || accountNumber === null)) {
    return problem(field, 'account', `The bank needs an IBAN${needsIban === true ? '' : ' or an account number'}.`);
  }
  if (routingCodes.bic !== undefined || (iban !== null && needsBic !== true)) return null;
  return problem(nextTo('routingCodes.bic'), 'bic', 'The bank needs the BIC of the account’s bank.');
}

function optionalTextProblem(
  field: string,
  text: string,
  lengthMax: number,
  profile: BankProfile,
): ProfileProblem | null {
  return text === '' ? null : textProblem(field, text, lengthMax, profile);
}

function textProblem(
  field: string,
  text: string,
  lengthMax: number,
  { characters }: Pick<BankProfile, 'characters'>,
): ProfileProblem | null {
  const written = writableText(text, characters);
  if (written === null) {
    const taken =
      characters === 'utf-8'
        ? 'no control characters'
        : 'Latin, Greek and Cyrillic letters, digits and common punctuation only';
    return problem(field, 'characters', `The bank takes ${taken}, and a letter or digit must be among them.`);
  }
  // Some letters are written as several.
  if ([...written].length <= lengthMax) return null;
  return problem(field, 'length', `The bank takes at most ${lengthMax} characters, as it writes them.`);
}

function addressProblem({ creditor, executionDate }: PaymentInstruction, profile: BankProfile): ProfileProblem | null {
  const { address } = creditor;
  if (address == null || profile.addresses === undefined) return null;
  const field = 'creditor.address';
  if (profile.addresses === 'lines') {
    if (executionDate >= STRUCTURED_ADDRESSES_FROM) {
      const message = `From ${STRUCTURED_ADDRESSES_FROM} on no bank takes an address in lines, the only form of this bank’s profile.`;
      return problem(field, 'structured-address', message);
    }
    return linesProblem(addressLines(address), profile);
  }
  if (address.city === null || address.city.trim() === '') {
    return problem(`${field}.city`, 'structured-address', 'An address needs its town next to its country.');
  }
  const inLines: readonly string[] = profile.addresses === 'hybrid' ? ['street', 'houseNumber', 'refinement'] : [];
  for (const [name, lengthMax] of Object.entries(ADDRESS_LENGTHS)) {
    const text = addressText(address, name);
    if (inLines.includes(name) || text === '') continue;
    const found = textProblem(`${field}.${name}`, text, lengthMax, profile);
    if (found !== null) return found;
  }
  return profile.addresses === 'hybrid' ? linesProblem(hybridLines(address), profile) : null;
}

function addressText(address: NonNullable<PaymentInstruction['creditor']['address']>, name: string): string {
  return Object.entries(address).find(([key]) => key === name)?.[1] ?? '';
}

function linesProblem(lines: readonly string[], profile: BankProfile): ProfileProblem | null {
  for (const line of lines) {
    const found = textProblem('creditor.address', line, ADDRESS_LINE_LENGTH_MAX, profile);
    if (found !== null) return found;
  }
  return null;
}

/** What has no place in the file would be lost, so it is rejected. */
function attributeProblem({ attributes }: PaymentInstruction, { purposeCodes }: BankProfile): ProfileProblem | null {
  for (const [key, value] of Object.entries(attributes)) {
    const field = `attributes.${key}`;
    if (key !== PURPOSE_CODE || purposeCodes !== true) {
      return problem(field, 'attribute', 'The bank’s files have no place for this attribute.');
    }
    if (!/^[A-Z0-9]{4}$/.test(value)) {
      return problem(field, 'purpose-code', 'A purpose is an ISO 20022 code of four capital letters or digits.');
    }
  }
  return null;
}
