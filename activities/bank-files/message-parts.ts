import { UnreadableMessage } from '../../domain/bank-files/messages.ts';
import {
  elementsAt,
  hintAt,
  instantOf,
  type MessageElement,
  MessageLocation,
  textAt,
} from '../common/iso20022/elements.ts';

/** The bank's own id of a message and when it was made, as `GrpHdr` or `Assgnmt` has them. */
export interface StatedHead {
  readonly messageId: string;
  readonly createdAt: Date | null;
}

export function headOf(part: MessageElement, id: string): StatedHead {
  const location = new MessageLocation(`The message’s ${part.name}`);
  const created = textAt(part, ['CreDtTm'], location);
  return {
    messageId: requiredText(part, id, location),
    createdAt: created === null ? null : instantOf(created, location.in('CreDtTm')),
  };
}

export function requireHead(head: StatedHead | null, name: string): StatedHead {
  if (head === null) throw new UnreadableMessage(`The message cannot be read: ${name} is missing.`);
  return head;
}

export function requiredText(part: MessageElement, path: string, location: MessageLocation): string {
  return textAt(part, [path], location) ?? location.in(path).reject('is missing');
}

/** A status code of ISO 20022, or null. */
export function statusAt(part: MessageElement, path: string, location: MessageLocation): string | null {
  const status = textAt(part, [path], location);
  if (status === null || /^[A-Z]{4}$/.test(status)) return status;
  return location.in(path).reject('is no code of four capital letters');
}

/** Codes as banks write them. Anything else may be a text about a person, and is told as `NARR`, ISO 20022's code of a narrative. */
const REASON_CODE = /^[A-Z0-9]{1,8}$/;
/** Texts by which banks say that they have had a file or payment before: taken for a plain rejection, it would be paid and failed. */
const REPETITION_CODE = /^(AM05|DUPL|DU0[1-5])\b/;
const REPETITION_WORD = /\b(dupli|doubl|doppel)/i;

export function reasonsOf(part: MessageElement, path: string, location: MessageLocation): readonly string[] {
  return elementsAt(part, path).flatMap((reason) => {
    const code = hintAt(reason, ['Rsn/Cd', 'Rsn/Prtry'], location.in(path));
    return code === null ? [] : [REASON_CODE.test(code) ? code : codeIn(code)];
  });
}

function codeIn(prose: string): string {
  return REPETITION_CODE.exec(prose)?.[1] ?? (REPETITION_WORD.test(prose) ? 'DUPL' : 'NARR');
}

/** A reference of ours that a bank repeats. `NOTPROVIDED` means that it does not. */
export function repeatedReference(part: MessageElement, path: string, location: MessageLocation): string | null {
  const reference = hintAt(part, [path], location);
  return reference === 'NOTPROVIDED' ? null : reference;
}
