import { randomUUID } from 'node:crypto';
import { dateInZone } from '../../../domain/common/time/zones.ts';
import type { Bank } from '../../bank/bank.ts';
import { complete, fail, findPayment, type PaymentRequest, submitPayment } from '../../bank/payments/payments.ts';
import { BankError } from '../../bank/wire.ts';
import { settingsOf } from '../customers.ts';
import type { FileBatch, FilePayment } from '../messages/payment-file.ts';
import { placeOf } from '../payment-teller.ts';
import type { Instruction, InstructionPlace, Notice, ReceivedFile } from '../records.ts';
import { checkPayee } from './payee-check.ts';
import { paymentBreach, routingCodesOf, schemeOf } from './payment-rules.ts';

/** A payment's key in the books: two customers may choose the same end-to-end identification. */
export function ourReferenceOf(customer: string, endToEndId: string): string {
  return `${customer} ${endToEndId}`;
}

/** Before all other news. */
const PAYEE_CHECK_ROUND = -1;

export type Batch = Omit<FileBatch, 'payments'>;

/**
 * Takes one payment of a file: once, however often the file is begun. An end-to-end identification pays once; after a rejection another
 * instruction of it is another attempt.
 */
export async function takePayment(
  bank: Bank,
  file: ReceivedFile,
  batch: FileBatch,
  payment: FilePayment,
): Promise<void> {
  const { customer } = file;
  const place = placeIn(file, batch, payment);
  const ourReference = ourReferenceOf(customer, payment.endToEndId);
  const earlier = bank.books.instructions.get(ourReference);
  if (earlier !== undefined && isSameInstruction(earlier, place)) {
    // Begun before a crash: continued, which the books do once.
    if (earlier.hold === null) await submit(bank, earlier);
    return;
  }
  const breach = paymentBreach(payment, batch, settingsOf(bank, customer), place.version);
  if (breach !== null) return reject(bank, place, breach.code, breach.problem);
  const known = bank.books.payments.get(ourReference);
  const isOpenOrPaid = earlier !== undefined && known?.status !== 'rejected' && earlier.hold !== 'cancelled';
  if (isOpenOrPaid) return reject(bank, place, 'DU04', 'Another payment has this EndToEndId.');
  const instruction = instructionOf(bank, place, batch, payment, earlier);
  await bank.commit({ put: { instructions: [instruction], notices: checkNotices(bank, instruction) } });
  if (instruction.hold === null) await submit(bank, instruction);
}

function placeIn(file: ReceivedFile, { id }: Batch, { instructionId, endToEndId }: FilePayment): InstructionPlace {
  const { customer, messageId, version } = file;
  return {
    customer,
    fileId: file.id,
    messageId: messageId ?? '',
    version: version ?? '',
    batchId: id,
    instructionId,
    endToEndId,
  };
}

function isSameInstruction(one: InstructionPlace, other: InstructionPlace): boolean {
  return one.fileId === other.fileId && one.batchId === other.batchId && one.instructionId === other.instructionId;
}

/** The key is the place in the file, so that a file that is begun again tells it once. */
async function reject(bank: Bank, place: InstructionPlace, code: string, problem: string): Promise<void> {
  const { customer, fileId, batchId, instructionId, endToEndId } = place;
  const notice: Notice = {
    id: `rejected ${fileId} ${batchId} ${instructionId ?? ''} ${endToEndId}`,
    customer,
    dueAtMs: bank.now().getTime(),
    fileId,
    round: 0,
    kind: 'status',
    place,
    status: 'RJCT',
    reasons: [code],
    additional: problem,
    bankReference: null,
  };
  await bank.commit({ put: { notices: [notice] } });
}

function instructionOf(
  bank: Bank,
  place: InstructionPlace,
  batch: Batch & Pick<FileBatch, 'payments'>,
  payment: FilePayment,
  earlier: Instruction | undefined,
): Instruction {
  const { creditorName, country, iban, accountNumber } = payment;
  const isChecked = isPayeeChecked(bank, place, batch, payment);
  const payeeCheck = isChecked ? checkPayee(creditorName ?? '') : null;
  const isFuture = isToCome(bank, { executionDate: batch.executionDate, currency: payment.currency });
  const isUnclear = isChecked && payeeCheck?.answer !== 'RCVC';
  return {
    ...placeOf(place),
    ourReference: ourReferenceOf(place.customer, place.endToEndId),
    account: batch.account,
    currency: payment.currency,
    amount: payment.amount ?? '',
    scheme: schemeOf(payment),
    debtorName: batch.debtorName,
    creditor: { name: creditorName ?? '', country, iban, accountNumber, routingCodes: routingCodesOf(payment) },
    remittanceText: payment.remittanceText,
    executionDate: batch.executionDate,
    attempt: (earlier?.attempt ?? 0) + 1,
    hold: isUnclear ? 'payee-check' : isFuture ? 'execution-date' : null,
    payeeCheck,
  };
}

/** By the bank's own day: in Brussels of euros, in London of all others. */
function isToCome(bank: Bank, { executionDate, currency }: Pick<Instruction, 'executionDate' | 'currency'>): boolean {
  return executionDate > dateInZone(bank.now(), currency === 'EUR' ? 'Europe/Brussels' : 'Europe/London');
}

/** The check is of euro payments to an IBAN. A file of one payment cannot do without it. */
function isPayeeChecked(bank: Bank, place: InstructionPlace, batch: FileBatch, payment: FilePayment): boolean {
  const { payeeCheck } = settingsOf(bank, place.customer);
  if (payeeCheck === 'none' || payment.currency !== 'EUR' || payment.iban === null) return false;
  const isSingle = bank.books.receivedFiles.get(place.fileId)?.count === '1' || batch.payments.length === 1;
  return payeeCheck === 'confirmed' || isSingle;
}

/** What is told before a payment is carried out: the payee check's answer, in a message of its own, and that it waits for its day. */
function checkNotices(bank: Bank, instruction: Instruction): readonly Notice[] {
  const { hold, payeeCheck, customer, fileId } = instruction;
  const tell = (round: number, status: string, additional: string | null): Notice => ({
    id: randomUUID(),
    customer,
    dueAtMs: bank.now().getTime(),
    fileId,
    round,
    kind: 'status',
    place: placeOf(instruction),
    status,
    reasons: [],
    additional,
    bankReference: null,
  });
  const isDayTold = hold === 'execution-date' && settingsOf(bank, customer).statusReports !== 'rejections';
  // A payee's bank that never answers leaves nothing to tell.
  const answer = payeeCheck === null ? [] : [tell(PAYEE_CHECK_ROUND, payeeCheck.answer, payeeCheck.matchedName)];
  return isDayTold ? [...answer, tell(0, 'ACCP', null)] : answer;
}

/** Hands the payment to the books, which take it once for each attempt. A bank's own outage is over by the third time. */
export async function submit(bank: Bank, instruction: Instruction): Promise<void> {
  const { creditor, account, debtorName, attempt, amount, currency, scheme, remittanceText } = instruction;
  const isIban = /^[A-Z]{2}\d{2}/.test(account);
  const request: PaymentRequest = {
    ourReference: instruction.ourReference,
    endToEndId: instruction.endToEndId,
    attempt,
    amount,
    currency,
    scheme,
    debtor: {
      name: debtorName,
      accountId: account,
      iban: isIban ? account : null,
      accountNumber: isIban ? null : account,
      routingCodes: {},
      country: null,
    },
    creditor,
    remittanceText,
    attributes: {},
    returnOf: null,
  };
  try {
    for (;;) {
      const { payment, answer } = await submitPayment(bank, request);
      // Told as completed before it is told as accepted.
      const completed = payment === null || answer !== 'after-callback' ? null : complete(bank, payment, 0);
      if (completed !== null) await bank.commit(completed);
      if (payment !== null) return;
    }
  } catch (error) {
    if (!(error instanceof BankError)) throw error;
    await reject(bank, placeOf(instruction), 'DU04', 'Another payment has this EndToEndId.');
  }
}

/** A person confirms at the bank that a payment goes on in spite of the payee check's answer. */
export async function confirm(bank: Bank, instruction: Instruction): Promise<void> {
  if (instruction.hold !== 'payee-check') {
    if (instruction.hold === null) return;
    throw new BankError(409, 'illegal-state', 'The payment does not wait for a confirmation.');
  }
  const confirmed: Instruction = { ...instruction, hold: isToCome(bank, instruction) ? 'execution-date' : null };
  await bank.commit({ put: { instructions: [confirmed] } });
  if (confirmed.hold === null) await submit(bank, confirmed);
}

/** What a crash has stopped between its instruction and its submission; a file that is being read is begun again anyhow. */
export async function submitLeftOver(bank: Bank): Promise<void> {
  for (const instruction of bank.books.instructions.values()) {
    const payment = bank.books.payments.get(instruction.ourReference);
    const isTaken = payment !== undefined && payment.status !== 'announced' && payment.attempt === instruction.attempt;
    const isBeingRead = bank.books.receivedFiles.get(instruction.fileId)?.outcome === 'reading';
    if (instruction.hold === null && !isTaken && !isBeingRead) await submit(bank, instruction);
  }
}

/** What has waited for its day. */
export async function submitDue(bank: Bank): Promise<void> {
  for (const instruction of bank.books.instructions.values()) {
    if (instruction.hold !== 'execution-date' || isToCome(bank, instruction)) continue;
    const due: Instruction = { ...instruction, hold: null };
    await bank.commit({ put: { instructions: [due] } });
    await submit(bank, due);
  }
}

/** Withdraws a payment that has not been carried out: the customer cancelled it, or a person at the bank rejected it. */
export async function withdraw(bank: Bank, instruction: Instruction, code: string): Promise<void> {
  if (instruction.hold === 'cancelled') return;
  if (instruction.hold === null) {
    const payment = findPayment(bank, instruction.ourReference);
    const change = payment === null ? null : fail(bank, payment, code);
    if (change !== null) await bank.commit(change);
    return;
  }
  const { customer, fileId } = instruction;
  await bank.commit({
    put: {
      instructions: [{ ...instruction, hold: 'cancelled' }],
      notices: [
        {
          id: randomUUID(),
          customer,
          dueAtMs: bank.now().getTime(),
          fileId,
          round: 0,
          kind: 'status',
          place: placeOf(instruction),
          status: 'RJCT',
          reasons: [code],
          additional: null,
          bankReference: null,
        },
      ],
    },
  });
}
