import { ActionableError } from '../../common/actionable-error.ts';
import { type Operation, showRejection } from '../operation.ts';
import {
  deliverByHand,
  fetchByHand,
  markDeliveredNow,
  markUndelivered,
  setAsideNow,
  settleNow,
  takeAgainNow,
} from './acts.ts';
import { type Request, readRequest } from './arguments.ts';
import { closeRestoreByWord, listHeld, listRequests, rejectNow, releaseByWord, signNow } from './requests.ts';
import { listFiles, showFile } from './show.ts';

/** By its name: what it does, and how many operands it takes. */
const COMMANDS: Readonly<Record<string, readonly [run: (request: Request) => Promise<0 | 1>, operands: 0 | 1]>> = {
  list: [listFiles, 0],
  show: [showFile, 1],
  deliver: [deliverByHand, 1],
  'mark-delivered': [markDeliveredNow, 1],
  'mark-undelivered': [markUndelivered, 1],
  fetch: [fetchByHand, 1],
  'set-aside': [setAsideNow, 1],
  settle: [settleNow, 1],
  'take-again': [takeAgainNow, 1],
  held: [listHeld, 0],
  release: [releaseByWord, 0],
  'close-restore': [closeRestoreByWord, 0],
  requests: [listRequests, 0],
  sign: [signNow, 1],
  reject: [rejectNow, 1],
};

/** `bank-files COMMAND`: what people do about files of banks, above all while a bank's server is away. */
export const bankFiles: Operation = {
  async run(context) {
    const [name, request] = readRequest(context);
    const [run, count] = (Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined) ?? [null, 0];
    if (run === null) throw new ActionableError(`Give one of ${Object.keys(COMMANDS).join(', ')}.`);
    if (request.operands.length !== count) {
      throw new ActionableError(count === 0 ? `${name} takes options only.` : `${name} takes one operand.`);
    }
    try {
      return await run(request);
    } catch (error) {
      const { isJson, operands } = request;
      return showRejection(context, { error, isJson, subject: { command: name, operands } });
    }
  },
};
