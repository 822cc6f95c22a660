import type { Address } from '../common/parties/addresses.ts';
import type { LocalDate } from '../common/time/dates.ts';

/** A payment as it stands in a file for a bank: a pain.001 `CdtTrfTxInf`. */
export interface PaymentInstruction {
  /** `InstrId`: the payment reference followed by the number of the submission, so that no answer is about another submission. */
  readonly id: string;
  /** `EndToEndId`, at most 35 characters: the transfer's payment reference, the same for every submission of it. */
  readonly paymentReference: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly scheme: string;
  /** `ReqdExctnDt`. */
  readonly executionDate: LocalDate;
  /** The client for whom the account's owner pays: `UltmtDbtr`. */
  readonly ultimateDebtorName: string;
  readonly creditor: InstructedCreditor;
  /** `RmtInf/Ustrd`. */
  readonly remittanceText: string;
  /** Scheme attributes of specification 4.9, such as a purpose code. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** A submission's number fits the id of an instruction: a reference of 32 characters and three digits. */
export const ATTEMPTS_MAX = 999;

/** The `InstrId` of a submission. */
export function instructionIdOf(paymentReference: string, attempt: number): string {
  return `${paymentReference}${attempt}`;
}

/** The number of the submission that an `InstrId` names; null if it is none of this payment. */
export function attemptIn(instructionId: string, paymentReference: string): number | null {
  if (!instructionId.startsWith(paymentReference)) return null;
  const attempt = Number(instructionId.slice(paymentReference.length));
  return Number.isInteger(attempt) && attempt > 0 && attempt <= ATTEMPTS_MAX ? attempt : null;
}

export interface InstructedCreditor {
  readonly name: string;
  readonly country: string | null;
  readonly iban: string | null;
  readonly accountNumber: string | null;
  /** By kind, such as `bic` and `sort-code`. */
  readonly routingCodes: Readonly<Record<string, string>>;
  /** Written if the bank's profile takes addresses. */
  readonly address?: Address | null;
}

/** The account that a file debits, and who sends the file. */
export interface InstructingParty {
  /** `InitgPty/Nm` and `Dbtr/Nm`. */
  readonly name: string;
  /** The bank's id of the sender, `InitgPty/Id/OrgId/Othr/Id`; null if it gave none. */
  readonly id: string | null;
  readonly country: string;
  readonly iban: string | null;
  readonly accountNumber: string | null;
  readonly routingCodes: Readonly<Record<string, string>>;
}

/** A pain.001 to be written: a batch (`PmtInf`) per scheme and execution date. */
export interface PaymentFile {
  /** `MsgId`, at most 35 characters. */
  readonly messageId: string;
  readonly createdAt: Date;
  readonly party: InstructingParty;
  readonly batches: readonly PaymentBatch[];
}

export interface PaymentBatch {
  /** `PmtInfId`, at most 35 characters. */
  readonly id: string;
  readonly scheme: string;
  readonly executionDate: LocalDate;
  /** At least one. */
  readonly instructions: readonly PaymentInstruction[];
}

/** A request to cancel payments of earlier files: a camt.055. */
export interface CancellationFile {
  readonly messageId: string;
  readonly createdAt: Date;
  readonly party: InstructingParty;
  readonly cancellations: readonly RequestedCancellation[];
}

export interface RequestedCancellation {
  /** `CxlId`, at most 35 characters, by which a camt.029 answers. */
  readonly id: string;
  /** The file and batch that carried the payment. */
  readonly originalMessageId: string;
  readonly originalMessageCreatedAt: Date;
  readonly originalBatchId: string;
  readonly originalInstruction: Pick<PaymentInstruction, 'id' | 'paymentReference' | 'amountMinor' | 'currency'>;
  /** ISO 20022's reason, such as CUST or DUPL. */
  readonly reason: string;
}
