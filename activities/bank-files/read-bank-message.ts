import { type BankMessage, UnreadableMessage } from '../../domain/bank-files/messages.ts';
import { DocumentReader, type PartReader, type ReadableMessage } from '../common/iso20022/document-reader.ts';
import { ACCOUNT_REPORTS } from '../common/iso20022/entry-items.ts';
import { withPauses } from '../common/pauses.ts';
import { AccountReportReader } from './account-reports.ts';
import { CANCELLATION_ANSWERS, CancellationAnswerReader } from './cancellation-answers.ts';
import { STATUS_REPORTS, StatusReportReader } from './status-reports.ts';

/** Some 20,000 payments with all their data; a larger day is read as a stream, by the reconciliation. */
export const BANK_MESSAGE_BYTES_MAX = 32 * 1024 * 1024;

export interface MessageReader extends PartReader {
  /** What is still to be made of the parts that have ended, in pieces. */
  settle?(): Generator<void>;
  /** The message, once its document has ended and all is settled. */
  finish(): BankMessage;
}

const READERS: readonly (readonly [ReadableMessage, (version: string) => MessageReader])[] = [
  [STATUS_REPORTS, (version) => new StatusReportReader(version)],
  [ACCOUNT_REPORTS['camt.053'].message, (version) => new AccountReportReader('camt.053', version)],
  [ACCOUNT_REPORTS['camt.054'].message, (version) => new AccountReportReader('camt.054', version)],
  [CANCELLATION_ANSWERS, (version) => new CancellationAnswerReader(version)],
];

/** The messages that can be read, with their versions. */
export const READABLE_MESSAGES: readonly ReadableMessage[] = READERS.map(([message]) => message);

/** Reads a bank's file, whole or not at all. Throws `UnreadableMessage`, which names the element and the rule. */
export function readBankMessage(bytes: Uint8Array): Promise<BankMessage> {
  return withPauses(readInPieces(bytes));
}

/** As `readBankMessage`: a large file takes seconds. */
export function* readInPieces(bytes: Uint8Array): Generator<void, BankMessage> {
  if (bytes.length > BANK_MESSAGE_BYTES_MAX) {
    throw new UnreadableMessage(`The file has more than ${BANK_MESSAGE_BYTES_MAX / 1024 / 1024} MiB.`);
  }
  const begun: MessageReader[] = [];
  const names = READABLE_MESSAGES.map(({ name }) => name).join(', ');
  const reader = new DocumentReader({
    messages: READABLE_MESSAGES,
    noXml: `The file is no XML. Only messages of ISO 20022 can be read: ${names}.`,
    begin(message, version) {
      if (begun.length > 0) throw new UnreadableMessage('The file has more than one message.');
      const [, begin] = READERS.find(([one]) => one === message) ?? [];
      if (begin === undefined) throw new Error(`no reader of ${message.name}`);
      const parts = begin(version);
      begun.push(parts);
      return parts;
    },
  });
  for (const _slice of reader.write(textOf(bytes))) {
    for (const parts of begun) yield* parts.settle?.() ?? [];
    yield;
  }
  reader.close();
  const [message] = begun;
  if (message === undefined) throw new UnreadableMessage('The file has no message.');
  return message.finish();
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnreadableMessage('The file is not UTF-8.');
  }
}
