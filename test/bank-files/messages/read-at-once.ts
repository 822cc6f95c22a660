import { readInPieces } from '../../../activities/bank-files/read-bank-message.ts';
import type { BankMessage } from '../../../domain/bank-files/messages.ts';

/** Reads a bank's file without pauses. Throws UnreadableMessage. */
export function readAtOnce(bytes: Uint8Array): BankMessage {
  const reading = readInPieces(bytes);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
  }
}
