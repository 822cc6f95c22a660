import type { Problem } from '../common/errors.ts';
import { isCurrency } from '../common/money.ts';
import { weightedSum } from '../common/numbers/check-digits.ts';
import { isCountry } from '../common/parties/countries.ts';
import { checkText } from '../common/parties/names.ts';
import { isIban, normalIban } from './identifiers/ibans.ts';
import { UK_ACCOUNT_NUMBER_RULE, ukAccountNumber } from './identifiers/uk-account-numbers.ts';

/** A bank account's identifiers (specification 2.1), stored as `checkBankAccount` returns them. */
export interface BankAccountDetails {
  readonly country: string;
  readonly currency: string;
  readonly accountNumber: string | null;
  readonly iban: string | null;
  readonly routingCodes: Readonly<Record<string, string>>;
}

export type RoutingCodes = Readonly<Record<string, string>>;

export const ROUTING_CODES_MAX = 10;
export const BENEFICIARY_BANK_ACCOUNTS_MAX = 3;

const OTHER_ROUTING_CODE_KIND = /^[a-z0-9-]{1,40}$/;
const OTHER_ROUTING_CODE_LENGTH_MAX = 34;

const IBAN_PATTERN = '^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$';
/** Sterling payments within Britain need a sort code and number, which only a British IBAN contains. */
const UK_IBAN_PATTERN = '^GB[0-9]{2}[A-Z]{4}[0-9]{14}$';
const ACCOUNT_NUMBER_PATTERN = '^[A-Za-z0-9][A-Za-z0-9/-]{0,33}$';
/** Only a few banks have numbers of nine or ten digits. */
const UK_ACCOUNT_NUMBER_PATTERN = '^([0-9]{6,10}|[0-9]{2}-[0-9]{8})$';

interface RoutingCodeRule {
  readonly pattern: string;
  /** Checks the pattern cannot express, on the normalized code: check digits, a country that exists. */
  readonly holds?: (code: string) => boolean;
}

/** The kinds with checks. Any other kind is stored as sent. */
const ROUTING_CODE_RULES: ReadonlyMap<string, RoutingCodeRule> = new Map<string, RoutingCodeRule>([
  ['bic', { pattern: '^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$', holds: (code) => isCountry(code.slice(4, 6)) }],
  ['sort-code', { pattern: '^[0-9]{2}-?[0-9]{2}-?[0-9]{2}$' }],
  ['aba', { pattern: '^[0-9]{9}$', holds: (code) => weightedSum(code, [3, 7, 1]) % 10 === 0 && Number(code) > 0 }],
  ['bsb-code', { pattern: '^[0-9]{3}-?[0-9]{3}$' }],
  ['ifsc', { pattern: '^[A-Z]{4}0[A-Z0-9]{6}$' }],
  ['cnaps', { pattern: '^[0-9]{12}$' }],
  [
    'clabe',
    { pattern: '^[0-9]{18}$', holds: (code) => weightedSum(code, [3, 7, 1], (product) => product % 10) % 10 === 0 },
  ],
  ['bank-code', { pattern: '^[A-Za-z0-9]{1,11}$' }],
  ['branch-code', { pattern: '^[A-Za-z0-9]{1,11}$' }],
]);

export type Requirement = 'none' | 'optional' | 'required';

export interface FieldRequirement {
  readonly requirement: Requirement;
  readonly pattern: string | null;
}

/**
 * The requirements for a bank account of this currency in this country. Fields are `accountNumber`, `iban` and
 * `routingCodes.<kind>`. Besides the required fields, one of the sets in `alternatives` must be complete.
 */
export interface BankAccountRequirements {
  readonly currency: string;
  readonly country: string;
  readonly fields: Readonly<Record<string, FieldRequirement>>;
  readonly alternatives: readonly (readonly string[])[];
}

/** The national codes that identify banks in these countries, besides the BIC. */
const LOCAL_ROUTING_CODE_KINDS: Readonly<Record<string, readonly string[]>> = {
  AU: ['bsb-code'],
  CA: ['bank-code', 'branch-code'],
  CN: ['cnaps'],
  GB: ['sort-code'],
  IN: ['ifsc'],
  MX: ['clabe'],
  US: ['aba'],
};

export function isSterlingInBritain(place: { readonly currency: string; readonly country: string }): boolean {
  return place.currency === 'GBP' && place.country === 'GB';
}

/** The table behind both the validator and the requirements endpoint. */
export function bankAccountRequirements(place: {
  readonly currency: string;
  readonly country: string;
}): BankAccountRequirements {
  const sterling = isSterlingInBritain(place);
  const euro = place.currency === 'EUR';
  const local = LOCAL_ROUTING_CODE_KINDS[place.country] ?? [];
  const fields: Record<string, FieldRequirement> = {
    accountNumber: {
      requirement: 'optional',
      pattern: sterling ? UK_ACCOUNT_NUMBER_PATTERN : ACCOUNT_NUMBER_PATTERN,
    },
    iban: { requirement: euro ? 'required' : 'optional', pattern: sterling ? UK_IBAN_PATTERN : IBAN_PATTERN },
  };
  for (const [kind, { pattern }] of ROUTING_CODE_RULES) {
    const requirement = kind === 'bic' ? (sterling || euro ? 'optional' : 'required') : 'optional';
    fields[`routingCodes.${kind}`] =
      kind === 'bic' || local.includes(kind) ? { requirement, pattern } : { requirement: 'none', pattern: null };
  }
  if (euro) return { ...place, fields, alternatives: [] };
  const alternatives = sterling
    ? [['routingCodes.sort-code', 'accountNumber'], ['iban']]
    : [['accountNumber'], ['iban']];
  return { ...place, fields, alternatives };
}

/** Where the request holds the details: the entity's label and the prefix of the field names. */
export interface FieldLocation {
  readonly entity: string;
  readonly prefix: string;
}

/**
 * Returns the details as stored (IBAN in upper case without spaces, sort code of six digits, UK account number of eight)
 * and every problem with them.
 */
export function checkBankAccount(
  details: {
    readonly country: string;
    readonly currency: string;
    readonly accountNumber?: string | null | undefined;
    readonly iban?: string | null | undefined;
    readonly routingCodes?: RoutingCodes | null | undefined;
  },
  location: FieldLocation,
): { readonly details: BankAccountDetails; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  if (!isCountry(details.country)) {
    problems.push(invalid(location, 'country', details.country, 'The country must be an ISO 3166-1 alpha-2 code.'));
  }
  if (!isCurrency(details.currency)) {
    problems.push(invalid(location, 'currency', details.currency, 'The currency must be an active ISO 4217 code.'));
  }
  const formats = checkAccountFormats(details, location);
  problems.push(...formats.problems);
  const checked = { country: details.country, currency: details.currency, ...formats.details };
  if (problems.length === 0) problems.push(...missingFields(checked, location), ...ibanProblems(checked, location));
  return { details: checked, problems };
}

/** Checks formats but not completeness, as a partial change requires. */
export function checkAccountFormats(
  details: {
    readonly country: string;
    readonly currency: string;
    readonly accountNumber?: string | null | undefined;
    readonly iban?: string | null | undefined;
    readonly routingCodes?: RoutingCodes | null | undefined;
  },
  location: FieldLocation,
): {
  readonly details: Pick<BankAccountDetails, 'accountNumber' | 'iban' | 'routingCodes'>;
  readonly problems: readonly Problem[];
} {
  const problems: Problem[] = [];
  const iban = typeof details.iban === 'string' ? normalIban(details.iban) : null;
  if (iban !== null && !isIban(iban)) {
    problems.push(invalid(location, 'iban', details.iban ?? '', 'The IBAN has the wrong length or check digits.'));
  }
  const codes = checkRoutingCodes(details.routingCodes ?? {}, location);
  const written = details.accountNumber ?? null;
  const number = written === null ? null : normalNumber(written, codes.routingCodes, details);
  if (written !== null && number === null) {
    const rule = isSterlingInBritain(details) ? UK_ACCOUNT_NUMBER_RULE : 'The account number has the wrong format.';
    problems.push(invalid(location, 'accountNumber', written, rule));
  }
  problems.push(...codes.problems);
  const { accountNumber, routingCodes } = number ?? { accountNumber: null, routingCodes: codes.routingCodes };
  return { details: { accountNumber, iban, routingCodes }, problems };
}

function missingFields(details: BankAccountDetails, location: FieldLocation): Problem[] {
  const { fields, alternatives } = bankAccountRequirements(details);
  const given = (field: string) => fieldOf(details, field) !== null;
  const required = Object.keys(fields).filter((field) => fields[field]?.requirement === 'required');
  const missing = required.filter((field) => !given(field));
  if (alternatives.length > 0 && !alternatives.some((set) => set.every(given))) {
    // Report what is missing from the set that the caller began, else from the first.
    const begun = alternatives.find((set) => set.some(given)) ?? alternatives[0] ?? [];
    missing.push(...begun.filter((field) => !given(field)));
  }
  return missing.map((field) => ({
    code: 'common.validation.field_required',
    message: `A ${details.currency} bank account in ${details.country} requires ${field}${orElse(alternatives)}.`,
    messageParameters: [location.entity, location.prefix + field, ''],
  }));
}

/** Rejects an IBAN that contradicts the other fields: verifying one and paying the other would pay the wrong person. */
function ibanProblems(
  { iban, accountNumber, routingCodes, ...where }: BankAccountDetails,
  location: FieldLocation,
): Problem[] {
  if (iban === null) return [];
  if (isSterlingInBritain(where) && !new RegExp(UK_IBAN_PATTERN).test(iban)) {
    return [invalid(location, 'iban', iban, 'A sterling account in the United Kingdom must have a British IBAN.')];
  }
  const sortCode = routingCodes['sort-code'];
  const isOther =
    iban.startsWith('GB') &&
    ((sortCode !== undefined && sortCode !== iban.slice(8, 14)) ||
      (where.country === 'GB' && accountNumber !== null && accountNumber !== iban.slice(14)));
  if (!isOther) return [];
  return [
    invalid(location, 'iban', iban, 'The IBAN identifies a different account than the sort code and account number.'),
  ];
}

function orElse(alternatives: readonly (readonly string[])[]): string {
  return alternatives.length === 0 ? '' : ` (${alternatives.map((set) => set.join(' and ')).join(', or ')})`;
}

function fieldOf(details: BankAccountDetails, field: string): string | null {
  if (field === 'iban') return details.iban;
  if (field === 'accountNumber') return details.accountNumber;
  const kind = field.replace('routingCodes.', '');
  return Object.hasOwn(details.routingCodes, kind) ? (details.routingCodes[kind] ?? null) : null;
}

export function checkRoutingCodes(
  routingCodes: RoutingCodes,
  location: FieldLocation,
): { readonly routingCodes: RoutingCodes; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const checked: [string, string][] = [];
  const entries = Object.entries(routingCodes);
  if (entries.length > ROUTING_CODES_MAX) {
    problems.push({
      code: 'common.validation.limit_exceeded',
      message: `At most ${ROUTING_CODES_MAX} routing codes are allowed.`,
      messageParameters: [location.entity, `${location.prefix}routingCodes`, String(entries.length)],
    });
    return { routingCodes: {}, problems };
  }
  for (const [kind, code] of entries) {
    const normal = normalRoutingCode(kind, code);
    if (normal === null) {
      problems.push(
        invalid(location, `routingCodes.${kind}`, code, 'The routing code has the wrong format or check digit.'),
      );
    } else checked.push([kind, normal]);
  }
  return { routingCodes: Object.fromEntries(checked), problems };
}

/** The code as stored; null for an unsupported kind or an invalid code. */
export function normalRoutingCode(kind: string, code: string): string | null {
  const rule = ROUTING_CODE_RULES.get(kind);
  if (rule === undefined) {
    const text = checkText(code, OTHER_ROUTING_CODE_LENGTH_MAX);
    return OTHER_ROUTING_CODE_KIND.test(kind) && typeof text !== 'string' ? text.value : null;
  }
  if (!new RegExp(rule.pattern).test(code)) return null;
  const normal = code.replaceAll('-', '');
  return rule.holds === undefined || rule.holds(normal) ? normal : null;
}

/** The number and routing codes as stored; some numbers change the sort code. Null for a wrong format. */
export function normalNumber(
  accountNumber: string,
  routingCodes: RoutingCodes,
  place: { readonly currency: string; readonly country: string },
): { readonly accountNumber: string; readonly routingCodes: RoutingCodes } | null {
  if (!isSterlingInBritain(place)) {
    const compact = accountNumber.replaceAll(' ', '');
    return new RegExp(ACCOUNT_NUMBER_PATTERN).test(compact) ? { accountNumber: compact, routingCodes } : null;
  }
  const uk = ukAccountNumber(accountNumber, routingCodes['sort-code'] ?? null);
  if (uk === null) return null;
  const changed = uk.sortCode === null ? {} : { 'sort-code': uk.sortCode };
  return { accountNumber: uk.accountNumber, routingCodes: { ...routingCodes, ...changed } };
}

function invalid(location: FieldLocation, field: string, value: string, message: string): Problem {
  return {
    code: 'common.validation.field_invalid',
    message,
    messageParameters: [location.entity, location.prefix + field, value],
  };
}
