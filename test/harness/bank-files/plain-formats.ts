import type { MessageFormats } from '../../../activities/bank-files/exchange/bank.ts';
import type { PaymentFile, PaymentInstruction } from '../../../domain/bank-files/instructions.ts';
import { type BankMessage, UnreadableMessage } from '../../../domain/bank-files/messages.ts';
import type { ProfileProblem } from '../../../domain/bank-files/profile-rules.ts';

/** Messages as JSON, so that tests of the exchange depend on no reader or writer of ISO 20022. */
export const PLAIN_FORMATS: MessageFormats = {
  writePaymentFile: (file) => Buffer.from(plain(file)),
  writeCancellationFile: (file) => Buffer.from(plain(file)),
  readBankMessage: (bytes) => {
    try {
      return reviveMessage(Buffer.from(bytes).toString());
    } catch {
      throw new UnreadableMessage('not a message of this bank');
    }
  },
};

/** This bank takes every character but one. */
export function plainProblemOf({ remittanceText }: Pick<PaymentInstruction, 'remittanceText'>): ProfileProblem | null {
  if (!remittanceText.includes('§')) return null;
  return { field: 'remittanceText', rule: 'characters', message: 'The bank takes no §.' };
}

const BIG = /^\d+n$/;
const INSTANT = /^\d{4}-\d\d-\d\dT/;

export function plain(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one));
}

function revived(text: string): ReturnType<typeof JSON.parse> {
  return JSON.parse(text, (_, one: unknown) => {
    if (typeof one !== 'string') return one;
    if (BIG.test(one)) return BigInt(one.slice(0, -1));
    return INSTANT.test(one) ? new Date(one) : one;
  });
}

function reviveMessage(text: string): BankMessage {
  const message = revived(text);
  if (typeof message.messageId !== 'string') throw new Error('no id');
  return message;
}

export function readPaymentFile(content: Buffer): PaymentFile {
  return revived(content.toString());
}
