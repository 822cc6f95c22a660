import { type BankMessage, UnreadableMessage } from '../../../domain/bank-files/messages.ts';

/** The bank's messages as JSON, so that tests of the exchange depend on no reader of ISO 20022. Throws UnreadableMessage. */
export async function readPlainMessage(bytes: Uint8Array): Promise<BankMessage> {
  try {
    return reviveMessage(Buffer.from(bytes).toString());
  } catch {
    throw new UnreadableMessage('not a message of this bank');
  }
}

const BIG = /^\d+n$/;
const INSTANT = /^\d{4}-\d\d-\d\dT/;

export function plain(message: BankMessage): string {
  return JSON.stringify(message, (_, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one));
}

function reviveMessage(text: string): BankMessage {
  const message: ReturnType<typeof JSON.parse> = JSON.parse(text, (_, one: unknown) => {
    if (typeof one !== 'string') return one;
    if (BIG.test(one)) return BigInt(one.slice(0, -1));
    return INSTANT.test(one) ? new Date(one) : one;
  });
  if (typeof message.messageId !== 'string') throw new Error('no id');
  return message;
}
