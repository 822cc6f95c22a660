/** The documents that a party may be identified by. The deprecated map and the list are two views of the same data. */
export const IDENTIFICATION_TYPES = [
  'registration-number',
  'passport',
  'identity-card',
  'driving-licence',
  'national-id-number',
  'tax-identification-number',
  'vat-number',
  'lei',
  'residence-permit',
  'other',
] as const;

export type IdentificationType = (typeof IDENTIFICATION_TYPES)[number];

export interface Identification {
  readonly type: IdentificationType;
  readonly identificationNumber: string;
  readonly issuingCountry: string | null;
  readonly issueDate: string | null;
  readonly expirationDate: string | null;
}

/** The deprecated view: type to number. */
export type IdentificationNumbers = { readonly [Type in IdentificationType]?: string | undefined };

export const IDENTIFICATION_NUMBER_LENGTH_MAX = 64;

export function isIdentificationType(text: string): text is IdentificationType {
  return (IDENTIFICATION_TYPES as readonly string[]).includes(text);
}

/** The map shows the first of several of one type: a map has no room for two. */
export function identificationNumbersOf(identifications: readonly Identification[]): IdentificationNumbers {
  const numbers: Partial<Record<IdentificationType, string>> = {};
  for (const { type, identificationNumber } of identifications) numbers[type] ??= identificationNumber;
  return numbers;
}

/**
 * The list that a request means by giving a list, the map, or both. An entry of the map that the list already holds is
 * the same identification; others are added after the list.
 */
export function identificationsOf(
  identifications: readonly Identification[],
  numbers: IdentificationNumbers,
): Identification[] {
  const all = [...identifications];
  for (const type of IDENTIFICATION_TYPES) {
    const identificationNumber = numbers[type];
    if (identificationNumber === undefined) continue;
    if (all.some((held) => held.type === type && held.identificationNumber === identificationNumber)) continue;
    all.push({ type, identificationNumber, issuingCountry: null, issueDate: null, expirationDate: null });
  }
  return all;
}

/**
 * A change through the map alone: numbers given are set, types left out are removed, and an identification whose number
 * stays keeps its country and dates.
 */
export function identificationsChangedByNumbers(
  identifications: readonly Identification[],
  numbers: IdentificationNumbers,
): Identification[] {
  const kept = identifications.filter(({ type, identificationNumber }) => numbers[type] === identificationNumber);
  return identificationsOf(kept, numbers);
}
