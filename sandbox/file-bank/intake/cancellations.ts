import type { Bank } from '../../bank/bank.ts';
import { findPayment } from '../../bank/payments/payments.ts';
import { recall } from '../../bank/payments/recalls.ts';
import { BankError } from '../../bank/wire.ts';
import type { CancellationRequest } from '../messages/cancellation-file.ts';
import { placeOf } from '../payment-teller.ts';
import type { CancellationNotice, ReceivedFile } from '../records.ts';
import { ourReferenceOf, withdraw } from './submissions.ts';

/** Takes one request of a camt.055. The books ask the payee's bank; what waits here is withdrawn at once. */
export async function takeCancellation(bank: Bank, file: ReceivedFile, request: CancellationRequest): Promise<void> {
  const { customer } = file;
  const { cancellationId, messageId, version, batchId, instructionId, endToEndId } = request;
  const asked = { messageId, version, batchId, instructionId, endToEndId };
  const answer = (isAccepted: boolean, reason: string | null, place: CancellationNotice['place'] = asked) =>
    bank.commit({
      put: {
        notices: [
          {
            id: `cancellation ${file.id} ${cancellationId ?? ''} ${instructionId ?? ''} ${endToEndId ?? ''}`,
            customer,
            dueAtMs: bank.now().getTime(),
            fileId: file.id,
            round: 0,
            kind: 'cancellation',
            cancellationId,
            place,
            isAccepted,
            reason,
          },
        ],
      },
    });

  const instruction = [...bank.books.instructions.values()].find(
    (one) =>
      one.customer === customer &&
      (endToEndId === null ? one.instructionId === instructionId : one.endToEndId === endToEndId),
  );
  // NOOR: there is no such payment.
  if (instruction === undefined || instruction.messageId !== messageId) return answer(false, 'NOOR');
  if (instruction.hold !== null) {
    await withdraw(bank, instruction, 'DS02');
    return answer(true, null, placeOf(instruction));
  }
  const payment = findPayment(bank, ourReferenceOf(customer, instruction.endToEndId));
  if (payment === null || payment.status === 'rejected') return answer(false, 'NOOR');
  try {
    const result = await recall(bank, payment, { recallReference: cancellationId ?? file.id });
    // ARDT: the money is back already.
    if ('category' in result) await answer(false, result.code);
  } catch (error) {
    if (!(error instanceof BankError)) throw error;
    // Another request has no answer yet.
    await answer(false, 'LEGL');
  }
}
