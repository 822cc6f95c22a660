import type { FileExchange } from '../../../config/schema/file-exchange.ts';
import { writeCancellationFile } from '../../../domain/bank-files/cancellation-file.ts';
import type { CancellationFile, PaymentFile } from '../../../domain/bank-files/instructions.ts';
import type { BankMessage } from '../../../domain/bank-files/messages.ts';
import { writePaymentFile } from '../../../domain/bank-files/payment-file.ts';
import type { BankProfile } from '../../../domain/bank-files/profiles.ts';
import type { EventServices } from '../../providers/reports/events.ts';
import type { Pgp } from '../pgp/pgp.ts';
import { readBankMessage } from '../read-bank-message.ts';
import type { OpenTransport } from './transport.ts';

/** How messages are written and read. */
export interface MessageFormats {
  writePaymentFile(file: PaymentFile, profile: BankProfile): Buffer;
  writeCancellationFile(file: CancellationFile, profile: BankProfile): Buffer;
  /** Throws UnreadableMessage. */
  readBankMessage(bytes: Uint8Array): BankMessage;
}

export const ISO_20022: MessageFormats = { writePaymentFile, writeCancellationFile, readBankMessage };

/** A bank with which files are exchanged. */
export interface Bank {
  readonly provider: string;
  readonly profile: BankProfile;
  readonly settings: FileExchange;
  readonly formats: MessageFormats;
  /** Signs, encrypts and opens files; absent: files are as they are. */
  readonly pgp?: Pgp;
}

/** What the steps of an exchange need. */
export interface BankServices extends EventServices {
  readonly bank: Bank;
  readonly openTransport: OpenTransport;
}

/** Another process has taken over the exchange with the bank, as after a long stop of this one. */
export class LeaseLost extends Error {}
