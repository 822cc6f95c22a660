import { DomainError, type Problem } from '../common/errors.ts';
import type { Address } from '../common/parties/addresses.ts';
import type { Identification } from '../common/parties/identifications.ts';
import { fullNameOf } from '../common/parties/names.ts';
import type { Beneficiary, BeneficiaryContact, BeneficiaryIdentity } from './beneficiaries.ts';

/** A partial change of a beneficiary: absent fields stay, null clears. Address and identifications are replaced whole. */
export interface BeneficiaryChange {
  readonly identity?: BeneficiaryIdentityChange | undefined;
  readonly fullName?: string | undefined;
  readonly title?: string | null | undefined;
  readonly contact?: BeneficiaryContactChange | null | undefined;
}

export interface BeneficiaryIdentityChange {
  readonly type?: 'individual' | 'corporate' | undefined;
  readonly givenName?: string | undefined;
  readonly familyName?: string | undefined;
  readonly birthDate?: string | null | undefined;
  readonly country?: string | null | undefined;
  readonly legalName?: string | undefined;
  readonly identifications?: readonly Identification[] | null | undefined;
}

export interface BeneficiaryContactChange {
  readonly phone?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly address?: Address | null | undefined;
}

/** Where the request holds the identity: the entity's label and the prefix of the field names. */
export interface IdentityLocation {
  readonly entity: string;
  readonly prefix: string;
}

const FOREIGN_FIELDS = {
  individual: ['legalName'],
  corporate: ['givenName', 'familyName', 'birthDate', 'country'],
} as const satisfies Record<string, readonly (keyof BeneficiaryIdentityChange)[]>;

/**
 * The changed beneficiary; throws every problem with the change. A type never changes: a party of the other type is another
 * beneficiary. One known only by its full name may receive a complete identity, which then determines its full name.
 */
export function applyBeneficiaryChange(
  before: Beneficiary,
  change: BeneficiaryChange,
  place: IdentityLocation,
): Pick<Beneficiary, 'identity' | 'fullName' | 'title' | 'contact'> {
  const { identity, problems } = changedIdentity(before.identity, change.identity, place);
  const [first, ...rest] = [...problems, ...fullNameProblems(before, change)];
  if (first !== undefined) throw new DomainError([first, ...rest]);
  return {
    identity,
    fullName: identity === null ? (change.fullName ?? before.fullName) : fullNameOf(identity),
    title: change.title === undefined ? before.title : change.title,
    contact: changedContact(before.contact, change.contact),
  };
}

/** If there are problems, the identity is unchanged. */
interface ChangedIdentity {
  readonly identity: BeneficiaryIdentity | null;
  readonly problems: readonly Problem[];
}

function changedIdentity(
  before: BeneficiaryIdentity | null,
  change: BeneficiaryIdentityChange | undefined,
  place: IdentityLocation,
): ChangedIdentity {
  if (change === undefined) return { identity: before, problems: [] };
  const type = before?.type ?? change.type;
  if (type === undefined) {
    return {
      identity: before,
      problems: [problem('field_required', place, 'type', '', 'A new identity requires a type.')],
    };
  }
  const problems: Problem[] = [];
  if (change.type !== undefined && change.type !== type) {
    problems.push(problem('field_invalid', place, 'type', change.type, 'The type of an identity cannot change.'));
  }
  for (const field of FOREIGN_FIELDS[type]) {
    const value = change[field];
    if (value === undefined) continue;
    problems.push(
      problem('field_unexpected', place, field, value ?? '', `An identity of type ${type} must not have ${field}.`),
    );
  }
  const { identity, missing } = type === 'individual' ? individual(before, change) : corporate(before, change);
  problems.push(
    ...missing.map((field) =>
      problem('field_required', place, field, '', `A new identity of type ${type} requires ${field}.`),
    ),
  );
  return problems.length > 0 ? { identity: before, problems } : { identity, problems };
}

/** If a field is missing, which only a new identity allows, the identity is unchanged. */
interface Merged {
  readonly identity: BeneficiaryIdentity | null;
  readonly missing: readonly string[];
}

function individual(before: BeneficiaryIdentity | null, change: BeneficiaryIdentityChange): Merged {
  const known = before?.type === 'individual' ? before : null;
  const givenName = change.givenName ?? known?.givenName;
  const familyName = change.familyName ?? known?.familyName;
  if (givenName === undefined || familyName === undefined) {
    const missing = Object.entries({ givenName, familyName }).filter(([, name]) => name === undefined);
    return { identity: before, missing: missing.map(([field]) => field) };
  }
  const birthDate = change.birthDate === undefined ? (known?.birthDate ?? null) : change.birthDate;
  const country = change.country === undefined ? (known?.country ?? null) : change.country;
  const identifications = changedIdentifications(known, change);
  return { identity: { type: 'individual', givenName, familyName, birthDate, country, identifications }, missing: [] };
}

function corporate(before: BeneficiaryIdentity | null, change: BeneficiaryIdentityChange): Merged {
  const known = before?.type === 'corporate' ? before : null;
  const legalName = change.legalName ?? known?.legalName;
  if (legalName === undefined) return { identity: before, missing: ['legalName'] };
  return {
    identity: { type: 'corporate', legalName, identifications: changedIdentifications(known, change) },
    missing: [],
  };
}

function changedIdentifications(known: BeneficiaryIdentity | null, { identifications }: BeneficiaryIdentityChange) {
  return identifications === undefined ? (known?.identifications ?? []) : (identifications ?? []);
}

/** A full name is allowed only without an identity, which would determine it (specification 2.4). */
function fullNameProblems(before: Beneficiary, { identity, fullName }: BeneficiaryChange): Problem[] {
  if (fullName === undefined || (before.identity === null && identity === undefined)) return [];
  const message = 'The full name is derived from the identity. Change the identity instead.';
  return [problem('mutually_exclusive', { entity: 'beneficiary', prefix: '' }, 'fullName', fullName, message)];
}

function changedContact(
  before: BeneficiaryContact | null,
  change: BeneficiaryContactChange | null | undefined,
): BeneficiaryContact | null {
  if (change === undefined || change === null) return change === null ? null : before;
  const { phone = before?.phone ?? null, email = before?.email ?? null, address = before?.address ?? null } = change;
  const isEmpty = phone === null && email === null && address === null;
  // Nothing was added to a beneficiary without a contact.
  return before === null && isEmpty ? null : { phone, email, address };
}

function problem(
  code: 'field_required' | 'field_invalid' | 'field_unexpected' | 'mutually_exclusive',
  { entity, prefix }: IdentityLocation,
  field: string,
  value: string,
  message: string,
): Problem {
  return { code: `common.validation.${code}`, message, messageParameters: [entity, `${prefix}${field}`, value] };
}
