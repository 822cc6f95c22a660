/** A party's identity documents. The deprecated map and the list are two views of the same data. */
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

/** The map holds one document per type and shows the first. */
export function identificationNumbersOf(identifications: readonly Identification[]): IdentificationNumbers {
  const numbers: Partial<Record<IdentificationType, string>> = {};
  for (const { type, identificationNumber } of identifications) numbers[type] ??= identificationNumber;
  return numbers;
}

/**
 * The list for a request that sends the list, the map, or both. A map entry that the list already contains is the
 * same document; others follow the list.
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

/** The deprecated view in a change: a number is set, null removes all of the type, an absent type stays. */
export type IdentificationNumbersChange = { readonly [Type in IdentificationType]?: string | null | undefined };

/** A change of identifications through either view or both; null clears. */
export interface IdentificationsChange {
  readonly identifications?: readonly Identification[] | null | undefined;
  readonly identificationNumbers?: IdentificationNumbersChange | null | undefined;
}

/**
 * The list after a change: a list replaces, a map is merged, null for either clears. A view that is sent back unchanged has no
 * effect, so a caller may change one view and return the whole identity. If both differ, new documents in either are kept.
 */
export function changedIdentifications(
  before: readonly Identification[],
  { identifications, identificationNumbers }: IdentificationsChange,
): readonly Identification[] {
  const numbers = numbersThatDiffer(before, identificationNumbers);
  if (identifications === undefined || isSameList(identifications ?? [], before)) {
    if (identificationNumbers === null) return [];
    return identificationsChangedByNumbers(before, numbers);
  }
  const added = Object.entries(numbers).filter(([, number]) => number !== null);
  return identificationsOf(identifications ?? [], Object.fromEntries(added));
}

function numbersThatDiffer(
  before: readonly Identification[],
  numbers: IdentificationNumbersChange | null | undefined,
): IdentificationNumbersChange {
  const shown = identificationNumbersOf(before);
  const differing = IDENTIFICATION_TYPES.filter((type) => numbers?.[type] !== shown[type]);
  return Object.fromEntries(differing.map((type) => [type, numbers?.[type]]));
}

function isSameList(one: readonly Identification[], other: readonly Identification[]): boolean {
  return one.length === other.length && one.every((item, index) => isSame(item, other[index]));
}

function isSame(one: Identification, other: Identification | undefined): boolean {
  return (
    one.type === other?.type &&
    one.identificationNumber === other.identificationNumber &&
    one.issuingCountry === other.issuingCountry &&
    one.issueDate === other.issueDate &&
    one.expirationDate === other.expirationDate
  );
}

/** A change through the map only. Details that the map does not show survive as long as the number does. */
export function identificationsChangedByNumbers(
  identifications: readonly Identification[],
  numbers: IdentificationNumbersChange,
): readonly Identification[] {
  return IDENTIFICATION_TYPES.reduce<readonly Identification[]>((list, type) => {
    const number = numbers[type];
    if (number === undefined) return list;
    return number === null ? list.filter((held) => held.type !== type) : withNumber(list, type, number);
  }, identifications);
}

/** Sets the number of the first document of a type, which the map shows. A different number is a different document. */
function withNumber(
  list: readonly Identification[],
  type: IdentificationType,
  identificationNumber: string,
): readonly Identification[] {
  const first = list.find((held) => held.type === type);
  if (first?.identificationNumber === identificationNumber) return list;
  const held = list.find((one) => one.type === type && one.identificationNumber === identificationNumber);
  const wanted = held ?? { type, identificationNumber, issuingCountry: null, issueDate: null, expirationDate: null };
  if (first === undefined) return [...list, wanted];
  return list.filter((one) => one !== held).map((one) => (one === first ? wanted : one));
}
