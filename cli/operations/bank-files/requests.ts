import { type HeldPayment, listHeldPayments } from '../../../db/bank-files/by-hand/held.ts';
import {
  askToCloseRestore,
  askToRelease,
  type BankFileRequest,
  listWaitingRequests,
  rejectRequest,
  signRequest,
} from '../../../db/bank-files/by-hand/requests.ts';
import { BANK_WORDS, WORD_MEANINGS } from '../../../domain/bank-files/by-hand/requests.ts';
import { asId, type BankFileRequestId, isUuid } from '../../../domain/common/ids.ts';
import { formatAmount } from '../../../domain/common/money.ts';
import { parseWrittenId } from '../../../domain/common/payment-references.ts';
import { minuteInUtc } from '../../../domain/common/waits.ts';
import { ActionableError } from '../../common/actionable-error.ts';
import { textTable } from '../../common/text-table.ts';
import { operate } from '../why/commands.ts';
import { bankOf, plainCell, type Request, reasoned } from './arguments.ts';

const LISTED_MAX = 1_000;

/** `held [--bank B]`: payments that no file takes, with why. */
export async function listHeld({ database, options, isJson, print }: Request): Promise<0> {
  const held = await listHeldPayments(database.reader, options.bank ?? null, { before: null, size: LISTED_MAX });
  if (isJson) {
    const heldPayments = held.map(({ provider, amountMinor, ...payment }) => ({
      ...payment,
      bank: provider,
      amount: formatAmount(amountMinor, payment.currency),
    }));
    print(JSON.stringify({ heldPayments }));
  } else print(held.length === 0 ? 'No payment is held.' : textTable([HELD_HEADER, ...held.map(heldCells)]));
  return 0;
}

const HELD_HEADER = ['payment', 'bank', 'instruction', 'amount', 'why', 'the bank’s word'];

function heldCells({ transferId, provider, instructionId, amountMinor, currency, reason, bankSays }: HeldPayment) {
  const amount = `${formatAmount(amountMinor, currency)} ${currency}`;
  return [transferId, provider, instructionId, amount, plainCell(reason), bankSays ?? '-'];
}

/** `release --bank B --says WORD [--payment ID…] --reason TEXT`: held payments go on, or end, as the bank says. */
export async function releaseByWord(request: Request): Promise<0> {
  const { database, options, show } = request;
  const initiator = reasoned(request);
  const provider = bankOf(request);
  const bankSays = BANK_WORDS.find((known) => known === options.says);
  if (bankSays === undefined) throw new ActionableError(`Give --says as one of ${BANK_WORDS.join(', ')}.`);
  const named = options.payment.map((text) => {
    const id = parseWrittenId(text);
    if (id === null) throw new ActionableError('Give --payment the id or payment reference of a held payment.');
    return id;
  });
  const asked = { provider, bankSays, transferIds: named.length === 0 ? null : named };
  const requestId = await database.transaction((tx) => askToRelease(tx, asked, initiator));
  const text = `Of each, ${WORD_MEANINGS[bankSays]}, when another person signs within 24 hours: ${operate(`bank-files sign ${requestId} --reason TEXT`)}`;
  show({ requestId, result: 'asked' }, text);
  return 0;
}

/** `close-restore --bank B --reason TEXT`: no one waits any more for what a bank tells that is no longer configured. */
export async function closeRestoreByWord(request: Request): Promise<0> {
  const { database, options, settings, show } = request;
  const initiator = reasoned(request);
  const { bank = '' } = options;
  const requestId = await database.transaction((tx) => askToCloseRestore(tx, bank, initiator, settings.fileExchanges));
  const text = `Nothing waits any more for what ${bank} tells, and what is held there stays held, when another person signs within 24 hours: ${operate(`bank-files sign ${requestId} --reason TEXT`)}`;
  show({ requestId, result: 'asked' }, text);
  return 0;
}

/** `requests`: what waits for a second signature. */
export async function listRequests({ database, isJson, print }: Request): Promise<0> {
  const waiting = await listWaitingRequests(database.reader, LISTED_MAX);
  if (isJson) print(JSON.stringify({ requests: waiting }));
  else print(waiting.length === 0 ? 'Nothing waits for a signature.' : textTable([HEADER, ...waiting.map(cellsOf)]));
  return 0;
}

const HEADER = ['request', 'what', 'bank', 'file or payments', 'sum', 'asked by', 'until', 'reason'];

function cellsOf({
  id,
  kind,
  provider,
  fileId,
  transferIds,
  sums,
  bankSays,
  askedBy,
  expiresAt,
  reason,
}: BankFileRequest) {
  const what = bankSays === null ? kind : `${kind}: ${bankSays}`;
  const subject = fileId ?? (transferIds.length === 1 ? (transferIds[0] ?? '') : `${transferIds.length} payments`);
  const sum = Object.entries(sums).map(([currency, minor]) => `${formatAmount(BigInt(minor), currency)} ${currency}`);
  return [
    id,
    what,
    provider,
    subject,
    sum.join(', ') || '-',
    askedBy,
    minuteInUtc(expiresAt.toISOString()),
    plainCell(reason),
  ];
}

function requestId({ operands }: Request): BankFileRequestId {
  const id = (operands[0] ?? '').toLowerCase();
  if (!isUuid(id)) throw new ActionableError('Give REQUEST as an id that “requests” shows.');
  return asId<BankFileRequestId>(id);
}

/** `sign REQUEST --reason TEXT`: the second signature, which does what was asked for. */
export async function signNow(request: Request): Promise<0 | 1> {
  const { database, settings, show } = request;
  // In a container one person may be any of these.
  if (request.initiator.actor.startsWith('uid ')) {
    throw new ActionableError(
      'A user without a name signs nothing: sign as a user of this system, or ask and sign in the console.',
    );
  }
  const id = requestId(request);
  const initiator = reasoned(request);
  const { asked, done } = await database.transaction((tx) => signRequest(tx, id, initiator, settings.fileExchanges));
  const left = asked - done;
  const more = left === 0 ? '' : ` ${left} had moved on since, and are left as they are.`;
  show({ id, result: 'signed', asked, done }, `Signed: ${done} of ${asked} done.${more}`);
  return left === 0 ? 0 : 1;
}

/** `reject REQUEST --reason TEXT` */
export async function rejectNow(request: Request): Promise<0> {
  const { database, show } = request;
  const id = requestId(request);
  const initiator = reasoned(request);
  await database.transaction((tx) => rejectRequest(tx, id, initiator));
  show({ id, result: 'rejected' }, 'Rejected: nothing is done.');
  return 0;
}
