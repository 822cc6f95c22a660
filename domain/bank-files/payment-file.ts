import { formatAmountInFull, minorUnits } from '../common/money.ts';
import type { InstructingParty, PaymentBatch, PaymentFile, PaymentInstruction } from './instructions.ts';
import { accountElement, addressElement, agentElement } from './party-elements.ts';
import { PURPOSE_CODE, problemOf, REFERENCE_LENGTH_MAX } from './profile-rules.ts';
import type { BankProfile, SchemeProfile } from './profiles.ts';
import { isWritableReference, writableText } from './texts.ts';
import { element, nested, writeDocument, type XmlElement } from './xml.ts';

/**
 * A pain.001, in the profile's version: the same file is always the same bytes. Throws for a payment that `problemOf` rejects: it must
 * have been rejected before it was accepted.
 */
export function writePaymentFile(file: PaymentFile, profile: BankProfile): Buffer {
  const instructions = file.batches.flatMap((batch) => batch.instructions);
  for (const id of [file.messageId, ...file.batches.map((batch) => batch.id)]) requireReference(id);
  for (const instruction of instructions) {
    const problem = problemOf(instruction, profile);
    if (problem !== null) throw new RangeError(`payment ${instruction.id} cannot be written: ${problem.message}`);
  }
  const head = element('GrpHdr', [
    nested('MsgId', file.messageId),
    nested('CreDtTm', dateTime(file.createdAt)),
    ...controlFigures(instructions),
    senderElement('InitgPty', file.party, profile),
  ]);
  const message = element('CstmrCdtTrfInitn', [
    head,
    ...file.batches.map((batch) => batchElement(batch, file, profile)),
  ]);
  return writeDocument(`urn:iso:std:iso:20022:tech:xsd:${profile.paymentMessage}`, message);
}

/** Our own ids: one that a bank would not take is a mistake of ours. */
export function requireReference(id: string): void {
  if (id.length > REFERENCE_LENGTH_MAX || !isWritableReference(id))
    throw new RangeError(`${id} is no reference for a bank`);
}

/** To the second, in UTC. */
export function dateTime(instant: Date): string {
  return `${instant.toISOString().slice(0, 19)}Z`;
}

/** Who sends a file: by name, and by the bank's id if it gave one. */
export function senderElement(
  name: string,
  { name: sender, id }: InstructingParty,
  profile: BankProfile,
): XmlElement | null {
  return element(name, [nested('Nm', writable(sender, profile)), nested('Id/OrgId/Othr/Id', id)]);
}

/** `NbOfTxs` and `CtrlSum`: the sum of the amounts as numbers, whatever their currencies. */
export function controlFigures(
  payments: readonly Pick<PaymentInstruction, 'amountMinor' | 'currency'>[],
): readonly (XmlElement | null)[] {
  if (payments.length === 0) throw new RangeError('a file needs a payment');
  const units = Math.max(...payments.map(({ currency }) => minorUnits(currency)));
  const sum = payments.reduce(
    (total, { amountMinor, currency }) => total + amountMinor * 10n ** BigInt(units - minorUnits(currency)),
    0n,
  );
  const digits = sum.toString().padStart(units + 1, '0');
  const fraction = units === 0 ? '' : `.${digits.slice(-units)}`;
  return [
    nested('NbOfTxs', String(payments.length)),
    nested('CtrlSum', digits.slice(0, digits.length - units) + fraction),
  ];
}

function batchElement(batch: PaymentBatch, { party }: PaymentFile, profile: BankProfile): XmlElement | null {
  const scheme = schemeOf(batch.scheme, profile);
  const agent = agentElement('DbtrAgt', party, scheme, profile);
  const date = profile.paymentMessage === 'pain.001.001.03' ? 'ReqdExctnDt' : 'ReqdExctnDt/Dt';
  return element('PmtInf', [
    nested('PmtInfId', batch.id),
    nested('PmtMtd', 'TRF'),
    // Each payment booked on its own: the account's messages then tell them one by one.
    nested('BtchBookg', 'false'),
    ...controlFigures(batch.instructions),
    element('PmtTpInf', [nested('SvcLvl/Cd', scheme.serviceLevel), nested('LclInstrm/Cd', scheme.localInstrument)]),
    nested(date, batch.executionDate),
    element('Dbtr', [nested('Nm', writable(party.name, profile))]),
    accountElement('DbtrAcct', party, scheme),
    // Mandatory in the schema: the word by which banks mean that only the account is named.
    agent ?? nested('DbtrAgt/FinInstnId/Othr/Id', 'NOTPROVIDED'),
    nested('ChrgBr', scheme.chargeBearer),
    ...batch.instructions.map((instruction) => paymentElement(instruction, scheme, profile)),
  ]);
}

function paymentElement(
  { id, paymentReference, amountMinor, currency, creditor, ...payment }: PaymentInstruction,
  scheme: SchemeProfile,
  profile: BankProfile,
): XmlElement | null {
  const { ultimateDebtorName, remittanceText, attributes } = payment;
  const name = (text: string) => nested('Nm', writable(text, profile));
  return element('CdtTrfTxInf', [
    element('PmtId', [nested('InstrId', id), nested('EndToEndId', paymentReference)]),
    element('Amt', [element('InstdAmt', formatAmountInFull(amountMinor, currency), { Ccy: currency })]),
    element('UltmtDbtr', [ultimateDebtorName === '' ? null : name(ultimateDebtorName)]),
    agentElement('CdtrAgt', creditor, scheme, profile),
    element('Cdtr', [name(creditor.name), addressElement(creditor.address, profile)]),
    accountElement('CdtrAcct', creditor, scheme),
    nested('Purp/Cd', attributes[PURPOSE_CODE] ?? null),
    nested('RmtInf/Ustrd', remittanceText === '' ? null : writable(remittanceText, profile)),
  ]);
}

function schemeOf(scheme: string, profile: BankProfile): SchemeProfile {
  const found = profile.schemes[scheme];
  if (found === undefined) throw new RangeError(`the profile ${profile.code} does not offer ${scheme}`);
  return found;
}

function writable(text: string, { characters }: BankProfile): string {
  const written = writableText(text, characters);
  if (written === null) throw new RangeError('a name has characters that the bank does not take');
  return written;
}
