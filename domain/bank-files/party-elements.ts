import type { Address } from '../common/parties/addresses.ts';
import type { InstructedCreditor, InstructingParty } from './instructions.ts';
import type { BankProfile, SchemeProfile } from './profiles.ts';
import { writableText } from './texts.ts';
import { element, nested, type XmlElement } from './xml.ts';

/** Clearing systems of ISO's external code set, with the kind of routing code that names their members. */
const MEMBER_KINDS: Readonly<Record<string, string>> = {
  AUBSB: 'bsb-code',
  CNAPS: 'cnaps',
  GBDSC: 'sort-code',
  INFSC: 'ifsc',
  USABA: 'aba',
};
export const CLEARING_SYSTEMS = Object.keys(MEMBER_KINDS);

type AccountHolder = Pick<InstructedCreditor | InstructingParty, 'iban' | 'accountNumber' | 'routingCodes'>;

/** A bank's number in a clearing system and the account's number there; null if the account has none. */
export function clearingAccountOf(
  { iban, accountNumber, routingCodes }: AccountHolder,
  clearingSystem: string,
): { readonly member: string; readonly number: string } | null {
  const member = routingCodes[MEMBER_KINDS[clearingSystem] ?? ''];
  if (member !== undefined && accountNumber !== null)
    return { member: member.replaceAll('-', ''), number: accountNumber };
  // A British IBAN contains both.
  const [, sortCode, number] = /^GB\d\d[A-Z]{4}(\d{6})(\d{8})$/.exec(iban ?? '') ?? [];
  if (clearingSystem !== 'GBDSC' || sortCode === undefined || number === undefined) return null;
  return { member: sortCode, number };
}

/** `DbtrAgt` or `CdtrAgt`: the bank by its number in the clearing system, else by its BIC; null if neither is known. */
export function agentElement(
  name: string,
  holder: AccountHolder,
  { clearingSystem }: SchemeProfile,
  { paymentMessage }: BankProfile,
): XmlElement | null {
  const clearing = clearingSystem === null ? null : clearingAccountOf(holder, clearingSystem);
  const bic = holder.routingCodes.bic ?? null;
  const member = element('ClrSysMmbId', [
    nested('ClrSysId/Cd', clearingSystem),
    nested('MmbId', clearing?.member ?? null),
  ]);
  const institution = [
    clearing === null ? nested(paymentMessage === 'pain.001.001.03' ? 'BIC' : 'BICFI', bic) : null,
    clearing === null ? null : member,
  ];
  return element(name, [element('FinInstnId', institution)]);
}

/** `DbtrAcct` or `CdtrAcct`. */
export function accountElement(
  name: string,
  holder: AccountHolder,
  { clearingSystem }: SchemeProfile,
): XmlElement | null {
  const clearing = clearingSystem === null ? null : clearingAccountOf(holder, clearingSystem);
  const number = clearing?.number ?? (holder.iban === null ? holder.accountNumber : null);
  const id = number === null ? nested('IBAN', holder.iban) : nested('Othr/Id', number);
  return element(name, [element('Id', [id])]);
}

/** The lines of an address without a form: what is known of street and town. */
export function addressLines(address: Address): readonly string[] {
  const { street, houseNumber, refinement, postalCode, city, region } = address;
  return [words(street, houseNumber, refinement), words(postalCode, city, region)].filter((line) => line !== '');
}

/** The lines next to town and country. */
export function hybridLines({ street, houseNumber, refinement }: Address): readonly string[] {
  return [words(street, houseNumber), words(refinement)].filter((line) => line !== '');
}

/** `PstlAdr` in the form that the bank takes; null without an address, or if it takes none. */
export function addressElement(
  address: Address | null | undefined,
  { addresses, characters }: BankProfile,
): XmlElement | null {
  if (address == null || addresses === undefined) return null;
  const text = (name: string, value: string | null) =>
    element(name, value === null || value === '' ? null : writableText(value, characters));
  const country = element('Ctry', address.country);
  const lines = (values: readonly string[]) => values.map((line) => text('AdrLine', line));
  if (addresses === 'lines') return element('PstlAdr', [country, ...lines(addressLines(address))]);
  const { street, houseNumber, refinement, postalCode, city, region } = address;
  const place = [text('PstCd', postalCode), text('TwnNm', city), text('CtrySubDvsn', region), country];
  if (addresses === 'hybrid') return element('PstlAdr', [...place, ...lines(hybridLines(address))]);
  const building = [text('StrtNm', street), text('BldgNb', houseNumber), text('Room', refinement)];
  return element('PstlAdr', [...building, ...place]);
}

function words(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(' ');
}
