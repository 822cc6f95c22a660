import { type CancellationAnswer, UnreadableMessage } from '../../domain/bank-files/messages.ts';
import type { HeldElement, PartReader } from '../common/iso20022/document-reader.ts';
import { hintAt, type MessageElement, MessageLocation } from '../common/iso20022/elements.ts';
import { headOf, reasonsOf, repeatedReference, requireHead, type StatedHead, statusAt } from './message-parts.ts';

/** Since version 03 a cancellation is answered payment by payment. */
export const CANCELLATION_ANSWERS = { name: 'camt.029', versions: [3, 14] } as const;

type Answer = CancellationAnswer['answers'][number];
/** Null: as the part around it says. */
type OpenAnswer = Omit<Answer, 'status'> & { readonly status: string | null };

const ROOT = 'RsltnOfInvstgtn';
const [HEAD, CASE, STATUS, DETAILS] = ['Assgnmt', 'RslvdCase', 'Sts', 'CxlDtls'].map((name) => `${ROOT}/${name}`);
const BATCH = `${DETAILS}/OrgnlPmtInfAndSts`;
const PAYMENTS = [`${BATCH}/TxInfAndSts`, `${DETAILS}/TxInfAndSts`];

/** Reads a camt.029. */
export class CancellationAnswerReader implements PartReader {
  readonly #version: string;
  readonly #answers: OpenAnswer[] = [];
  #head: StatedHead | null = null;
  #caseId: string | null = null;
  #status: string | null = null;
  /** Of the payments read since the batch, or the details, began. */
  #ofBatch: OpenAnswer[] = [];
  #ofDetails: OpenAnswer[] = [];

  constructor(version: string) {
    this.#version = version;
  }

  begin(path: string): boolean {
    if (path === BATCH) this.#ofBatch = [];
    if (path === DETAILS) this.#ofDetails = [];
    return [HEAD, CASE, STATUS, DETAILS, BATCH, ...PAYMENTS].includes(path);
  }

  end(path: string, element: HeldElement): void {
    const location = new MessageLocation(`The message’s ${path.slice(ROOT.length + 1)}`);
    if (path === HEAD) this.#head = headOf(element, 'Id');
    else if (path === CASE) this.#caseId = hintAt(element, ['Id'], location);
    else if (path === STATUS) this.#status = statusAt(element, 'Conf', location);
    else if (path === BATCH) this.#endBatch(element, location);
    else if (path === DETAILS) this.#endDetails(element, location);
    else (path === PAYMENTS[0] ? this.#ofBatch : this.#ofDetails).push(paymentOf(element, location));
  }

  finish(): CancellationAnswer {
    const head = requireHead(this.#head, 'Assgnmt');
    const stated = this.#answers.length > 0 ? this.#answers : [this.#whole()];
    const answers = stated.map((answer): Answer => {
      const status = answer.status ?? this.#status;
      if (status === null) throw new UnreadableMessage('The message cannot be read: Sts/Conf is missing.');
      return { ...answer, status };
    });
    return { message: 'camt.029', version: this.#version, ...head, answers };
  }

  /** An answer without details names the request by its case. */
  #whole(): OpenAnswer {
    if (this.#caseId === null) {
      throw new UnreadableMessage('The message cannot be read: it names no payment and no case.');
    }
    return {
      cancellationId: this.#caseId,
      instructionId: null,
      paymentReference: null,
      status: this.#status,
      reasons: [],
    };
  }

  #endBatch(element: MessageElement, location: MessageLocation): void {
    const status = statusAt(element, 'PmtInfCxlSts', location);
    const reasons = reasonsOf(element, 'CxlStsRsnInf', location);
    const id = hintAt(element, ['RslvdCase/Id', 'OrgnlPmtInfCxlId'], location);
    if (this.#ofBatch.length > 0) this.#ofDetails.push(...within(this.#ofBatch, status, reasons));
    else if (id !== null) {
      this.#ofDetails.push({ cancellationId: id, instructionId: null, paymentReference: null, status, reasons });
    }
  }

  #endDetails(element: MessageElement, location: MessageLocation): void {
    const status = statusAt(element, 'OrgnlGrpInfAndSts/GrpCxlSts', location);
    const reasons = reasonsOf(element, 'OrgnlGrpInfAndSts/CxlStsRsnInf', location);
    this.#answers.push(...within(this.#ofDetails, status, reasons));
  }
}

function paymentOf(element: MessageElement, location: MessageLocation): OpenAnswer {
  const answer = {
    cancellationId: hintAt(element, ['RslvdCase/Id', 'CxlStsId'], location),
    instructionId: repeatedReference(element, 'OrgnlInstrId', location),
    paymentReference: repeatedReference(element, 'OrgnlEndToEndId', location),
  };
  if (Object.values(answer).every((id) => id === null)) location.reject('names no payment and no case');
  return {
    ...answer,
    status: statusAt(element, 'TxCxlSts', location),
    reasons: reasonsOf(element, 'CxlStsRsnInf', location),
  };
}

/** What the part around the answers says holds for those that say nothing of their own. */
function within(answers: readonly OpenAnswer[], status: string | null, reasons: readonly string[]): OpenAnswer[] {
  return answers.map((answer) => ({
    ...answer,
    status: answer.status ?? status,
    reasons: answer.reasons.length > 0 ? answer.reasons : reasons,
  }));
}
