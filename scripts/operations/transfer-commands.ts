import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { reportOf } from '../../activities/outgoing-transfers/activities.ts';
import { ProviderUnavailable } from '../../activities/providers/port.ts';
import type { Configuration } from '../../config/configuration.ts';
import type { Database, Transaction } from '../../db/driver/client.ts';
import { lookUpIn } from '../../db/driver/queries/rows.ts';
import { outgoingTransfers } from '../../db/frame/schema.ts';
import {
  bookLookedUpReturns,
  type Commanded,
  failOutgoingTransfer,
  moveToNextWindow,
  requestLookUp,
  retrySubmission,
} from '../../db/outgoing-transfers/operator-commands.ts';
import { asId, type OutgoingTransferId } from '../../domain/frame/ids.ts';
import { checkText } from '../../domain/frame/parties/names.ts';
import { idWritten } from '../../domain/frame/payment-references.ts';
import { isSettledAtProvider } from '../../domain/outgoing-transfers/look-ups.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import { configuredProviders } from '../frame/configured-providers.ts';
import { RemedyError } from '../frame/remedy.ts';
import type { Operation, OperationContext } from './operations.ts';
import { showRefusal } from './refusals.ts';
import { readServiceRules } from './service-rules.ts';

/** Commands that move one outgoing transfer. Each decides under the transfer's lock and leaves an audit entry. */

const REASON_LENGTH_MAX = 200;

/** A round of submissions that is under way ends first, and takes about a minute; then the look-up has as long. */
const ANSWER_MS_MAX = 150_000;
const POLL_MS = 250;

export const retrySubmissionOperation: Operation = {
  summary: 'ID: submits a payment again that a look-up has just found unknown to its provider.',
  run: (context) =>
    command(context, [], async ({ id, rules, write, show }) => {
      const { transfer } = await write((tx) => retrySubmission(tx, id, rules, context.initiator));
      show(
        { ...shown(transfer), result: 'submitted-again' },
        `It is submitted again, as attempt ${transfer.submissionAttempt}.`,
      );
      return 0;
    }),
};

export const failTransferOperation: Operation = {
  summary: 'ID --reason TEXT: fails a transfer that no provider can have paid; callers see the reason.',
  run: (context) =>
    command(context, ['reason'], async ({ id, rules, write, show, reason }) => {
      const checked = checkText(reason ?? '', REASON_LENGTH_MAX);
      if (typeof checked === 'string')
        throw new RemedyError(`Give --reason a line of up to ${REASON_LENGTH_MAX} characters.`);
      const given = { id, reason: checked.value };
      const { transfer, changed } = await write((tx) => failOutgoingTransfer(tx, given, rules, context.initiator));
      show(
        { ...shown(transfer), result: changed ? 'failed' : 'unchanged' },
        changed ? 'It is failed.' : 'An operator failed it before; that reason stays.',
      );
      return 0;
    }),
};

export const nextWindowOperation: Operation = {
  summary: 'ID: moves a pending transfer to the window after the present one.',
  run: (context) =>
    command(context, [], async ({ id, rules, write, show }) => {
      const { transfer, changed } = await write((tx) => moveToNextWindow(tx, id, rules, context.initiator));
      const until = transfer.cutOffAt === null ? '' : `, cut-off ${transfer.cutOffAt.toISOString()}`;
      const text = `Its date is ${changed ? 'now' : 'already'} ${transfer.transferDate}${until}.`;
      show({ ...shown(transfer), result: changed ? 'moved' : 'unchanged' }, text);
      return 0;
    }),
};

export const lookUpOperation: Operation = {
  summary: 'ID: asks the provider how a payment went, and waits for the answer.',
  run: (context) =>
    command(context, [], async (asked) => {
      const { id, rules, write, show } = asked;
      const present = await context.database.reader.find(TRANSFER, id);
      if (present !== null && isSettledAtProvider(present)) return lookUpReturns(context, asked, present);
      const { transfer } = await write((tx) => requestLookUp(tx, id, rules, context.initiator));
      const answered = await answerTo(context.database, transfer, context.patienceMs ?? ANSWER_MS_MAX);
      if (answered === null) {
        const text = 'It is asked for, and there is no answer yet. See why it waits, and ask again.';
        show({ ...shown(transfer), result: 'no-answer' }, text);
        return 2;
      }
      show({ ...shown(answered), result: resultOf(transfer, answered) }, answerText(transfer, answered));
      return 0;
    }),
};

/** A completed payment has no workflow left to ask: the command asks by itself, and books what has come back. */
async function lookUpReturns(
  { database, initiator, providers = configuredProviders() }: OperationContext,
  { id, rules, show }: Command,
  present: OutgoingTransfer,
): Promise<0 | 1 | 2> {
  const provider = providers.get(present.provider);
  if (provider === undefined) throw new RemedyError(`${present.provider} is no provider of the configuration.`);
  const state = await provider.lookUpPayment(id, {}).catch((error: unknown) => {
    if (error instanceof ProviderUnavailable) return null;
    throw error;
  });
  if (state === null) {
    show({ ...shown(present), result: 'no-answer' }, 'The provider gives no answer. Ask again.');
    return 2;
  }
  if (state.outcome === 'not-found') {
    const text =
      'The provider does not know this payment, which is booked as paid. Nothing is changed: ask the provider.';
    show({ ...shown(present), result: 'not-found' }, text);
    return 1;
  }
  const given = { id, found: reportOf(id, state) };
  const booked = await database.transaction((tx) => bookLookedUpReturns(tx, given, rules, initiator));
  const { transfer, changed, outcome } = booked;
  if (outcome === 'break') {
    const text = `The provider says something else than is booked, which is a break now.${changed ? ' What is new is booked.' : ''}`;
    show({ ...shown(transfer), result: 'break' }, text);
    return 1;
  }
  const text = changed ? 'What has come back is booked.' : 'Nothing has come back that is not booked.';
  show({ ...shown(transfer), result: changed ? 'returned' : 'no-news' }, text);
  return 0;
}

/** The transfer once its look-up is recorded, or something faster has moved it; null after the limit. */
async function answerTo(
  database: Database,
  asked: OutgoingTransfer,
  limitMs: number,
): Promise<OutgoingTransfer | null> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline) {
    const present = await database.reader.find(TRANSFER, asked.id);
    if (present === null) return null;
    if (present.lookUpCount > asked.lookUpCount || present.status !== asked.status) return present;
    await sleep(POLL_MS);
  }
  return null;
}

const TRANSFER = lookUpIn(outgoingTransfers);

function resultOf(asked: OutgoingTransfer, answered: OutgoingTransfer): string {
  if (answered.status !== asked.status) return 'moved';
  return answered.submissionStatus === 'not-found' ? 'not-found' : 'no-news';
}

function answerText(asked: OutgoingTransfer, answered: OutgoingTransfer): string {
  switch (resultOf(asked, answered)) {
    case 'moved':
      return `It was ${asked.status} and is ${answered.status}.`;
    case 'not-found':
      return `The provider does not know the payment. It is submitted again in a minute, or now: retry-submission ${asked.id}.`;
    default:
      return 'The provider has no result yet.';
  }
}

interface Command {
  readonly id: OutgoingTransferId;
  readonly reason: string | undefined;
  readonly rules: Configuration;
  write(change: (tx: Transaction) => Promise<Commanded>): Promise<Commanded>;
  /** Prints the outcome, as JSON with `--json`. */
  show(outcome: object, text: string): void;
}

/** Reads the arguments; with `--json` a refusal is JSON on standard output too. */
async function command(
  { database, arguments: given, print }: OperationContext,
  options: readonly string[],
  run: (command: Command) => Promise<0 | 1 | 2>,
): Promise<0 | 1 | 2> {
  const { values, positionals } = parseArgs({
    args: [...given],
    options: { json: { type: 'boolean', default: false }, reason: { type: 'string' } },
    allowPositionals: true,
  });
  const [sent = '', ...more] = positionals;
  const id = idWritten(sent);
  if (id === null || more.length > 0) {
    throw new RemedyError('Give ID as the id or payment reference of the outgoing transfer, and nothing else.');
  }
  if (values.reason !== undefined && !options.includes('reason'))
    throw new RemedyError('This command takes no --reason.');
  try {
    return await run({
      id: asId<OutgoingTransferId>(id),
      reason: values.reason,
      rules: await readServiceRules(database.reader),
      write: (change) => database.transaction(change),
      show: (outcome, text) => print(values.json ? JSON.stringify(outcome) : `outgoing-transfer ${id}: ${text}`),
    });
  } catch (error) {
    return showRefusal({ print }, { error, isJson: values.json, subject: { id } });
  }
}

function shown({ id, status, transferDate, submissionAttempt }: OutgoingTransfer) {
  return { id, status, transferDate, submissionAttempt };
}
