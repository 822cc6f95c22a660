import type { BookedEntry } from '../../domain/bank-files/messages.ts';
import { elementsAt, type MessageElement } from '../common/iso20022/elements.ts';

/** What a transaction says of those who pay and are paid, and what for. Personal data. */
export type Parties = Pick<BookedEntry, 'debtor' | 'creditorIban' | 'remittanceText'>;

/** Ten lines of 140 characters: more than schemes carry. */
const REMITTANCE_LENGTH_MAX = 1_400;

export const NO_PARTIES: Parties = {
  debtor: { name: null, iban: null, accountNumber: null, bic: null },
  creditorIban: null,
  remittanceText: null,
};

/** Later versions have a party in an element of its own (`Pty`) and write `BICFI` for `BIC`. */
export function partiesOf(transaction: MessageElement): Parties {
  const first = (...paths: string[]) => firstText(transaction, paths);
  const bank = 'RltdAgts/DbtrAgt/FinInstnId';
  return {
    debtor: {
      name: first('RltdPties/Dbtr/Pty/Nm', 'RltdPties/Dbtr/Nm', 'RltdPties/Dbtr/Agt/FinInstnId/Nm'),
      iban: compact(first('RltdPties/DbtrAcct/Id/IBAN')),
      accountNumber: first('RltdPties/DbtrAcct/Id/Othr/Id'),
      bic: first(`${bank}/BICFI`, `${bank}/BIC`),
    },
    creditorIban: compact(first('RltdPties/CdtrAcct/Id/IBAN')),
    remittanceText: remittanceOf(transaction) ?? first('RmtInf/Strd/CdtrRefInf/Ref'),
  };
}

function firstText(parent: MessageElement, paths: readonly string[]): string | null {
  for (const path of paths) {
    const text = elementsAt(parent, path).find((element) => element.text !== '')?.text;
    if (text !== undefined) return text;
  }
  return null;
}

function compact(iban: string | null): string | null {
  return iban?.replaceAll(/\s/g, '') ?? null;
}

function remittanceOf(transaction: MessageElement): string | null {
  const lines = elementsAt(transaction, 'RmtInf/Ustrd').map(({ text }) => text);
  const text = lines.join(' ').trim();
  return text === '' ? null : text.slice(0, REMITTANCE_LENGTH_MAX);
}
