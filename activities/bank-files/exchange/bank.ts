import type { FileExchange } from '../../../config/schema/file-exchange.ts';
import type { BankMessage } from '../../../domain/bank-files/messages.ts';
import type { BankProfile } from '../../../domain/bank-files/profiles.ts';
import type { EventServices } from '../../providers/reports/events.ts';
import type { Pgp } from '../pgp/pgp.ts';
import type { OpenTransport } from './transport.ts';

/** A bank with which files are exchanged. */
export interface Bank {
  readonly provider: string;
  readonly profile: BankProfile;
  readonly settings: FileExchange;
  /** Throws UnreadableMessage. */
  readBankMessage(bytes: Uint8Array): Promise<BankMessage>;
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
