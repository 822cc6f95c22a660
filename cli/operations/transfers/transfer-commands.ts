import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Configuration } from '../../../config/configuration.ts';
import { outgoingTransfers } from '../../../db/common/schema.ts';
import {
  type CommandResult,
  failOutgoingTransfer,
  moveToNextWindow,
  requestLookUp,
  retrySubmission,
} from '../../../db/outgoing-transfers/operator-commands.ts';
import type { Transaction } from '../../../db/query/database.ts';
import { lookUpIn } from '../../../db/query/rows.ts';
import { asId, type OutgoingTransferId } from '../../../domain/common/ids.ts';
import { checkText, REASON_LENGTH_MAX } from '../../../domain/common/parties/names.ts';
import { parseWrittenId } from '../../../domain/common/payment-references.ts';
import { isSettledAtProvider } from '../../../domain/outgoing-transfers/look-ups.ts';
import type { OutgoingTransfer } from '../../../domain/outgoing-transfers/rows.ts';
import { ActionableError } from '../../common/actionable-error.ts';
import { configuredProviders } from '../../common/configured-providers.ts';
import { type Operation, type OperationContext, showRejection } from '../operation.ts';
import { readServiceRules } from '../service-rules.ts';
import { lookUpCompleted } from './completed-payments.ts';

/** Commands that move one outgoing transfer. Each decides under the transfer's lock and leaves an audit entry. */

/** The current round of submissions ends first, which takes about a minute; the look-up then may take as long. */
const ANSWER_MS_MAX = 150_000;
const POLL_MS = 250;

export const retrySubmissionOperation: Operation = {
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
  run: (context) =>
    command(context, ['reason'], async ({ id, rules, write, show, reason }) => {
      const checked = checkText(reason ?? '', REASON_LENGTH_MAX);
      if (typeof checked === 'string')
        throw new ActionableError(`Give --reason a line of up to ${REASON_LENGTH_MAX} characters.`);
      const given = { id, reason: checked.value };
      const { transfer, changed } = await write((tx) => failOutgoingTransfer(tx, given, rules, context.initiator));
      show(
        { ...shown(transfer), result: changed ? 'failed' : 'unchanged' },
        changed ? 'It is failed.' : 'An operator has already failed it; the first reason is kept.',
      );
      return 0;
    }),
};

export const nextWindowOperation: Operation = {
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
  run: (context) =>
    command(context, [], async (asked) => {
      const { id, rules, write, show } = asked;
      const present = await context.database.reader.find(TRANSFER, id);
      if (present !== null && isSettledAtProvider(present)) return lookUpReturns(context, asked, present);
      const { transfer } = await write((tx) => requestLookUp(tx, id, rules, context.initiator));
      const answered = await answerTo(context, transfer);
      if (answered === null) {
        const text = 'It is asked for, and there is no answer yet. See why it waits, and ask again.';
        show({ ...shown(transfer), result: 'no-answer' }, text);
        return 2;
      }
      show({ ...shown(answered), result: resultOf(transfer, answered) }, answerText(transfer, answered));
      return 0;
    }),
};

/** A completed payment has no workflow left to ask: the command asks the provider itself, and books what has come back. */
async function lookUpReturns(
  { database, initiator, providers = configuredProviders(database) }: OperationContext,
  { rules, show }: Command,
  present: OutgoingTransfer,
): Promise<0 | 1 | 2> {
  if (!providers.has(present.provider))
    throw new ActionableError(`${present.provider} is no provider of the configuration.`);
  const { transfer, result, text } = await lookUpCompleted({ database, providers, rules }, present, initiator);
  show({ ...shown(transfer), result }, text);
  if (result === 'no-answer') return 2;
  return result === 'returned' || result === 'no-news' ? 0 : 1;
}

/** The transfer once its look-up is recorded, or a faster change has moved it; null after the limit. */
async function answerTo(
  { database, answerTimeoutMs: limitMs = ANSWER_MS_MAX, progressed }: OperationContext,
  asked: OutgoingTransfer,
): Promise<OutgoingTransfer | null> {
  const startedMs = performance.now();
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs = performance.now() - startedMs) {
    progressed?.(Math.floor(waitedMs / 1_000), Math.ceil(limitMs / 1_000));
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
  write(change: (tx: Transaction) => Promise<CommandResult>): Promise<CommandResult>;
  /** Prints the outcome, as JSON with `--json`. */
  show(outcome: object, text: string): void;
}

/** Reads the arguments; with `--json` a rejection is JSON on standard output too. */
async function command(
  { database, arguments: given, print, reject }: OperationContext,
  options: readonly string[],
  run: (command: Command) => Promise<0 | 1 | 2>,
): Promise<0 | 1 | 2> {
  const { values, positionals } = parseArgs({
    args: [...given],
    options: { json: { type: 'boolean', default: false }, reason: { type: 'string' } },
    allowPositionals: true,
  });
  const [sent = '', ...more] = positionals;
  const id = parseWrittenId(sent);
  if (id === null || more.length > 0) {
    throw new ActionableError('Give ID as the id or payment reference of the outgoing transfer, and nothing else.');
  }
  if (values.reason !== undefined && !options.includes('reason'))
    throw new ActionableError('This command takes no --reason.');
  try {
    return await run({
      id: asId<OutgoingTransferId>(id),
      reason: values.reason,
      rules: await readServiceRules(database.reader),
      write: (change) => database.transaction(change),
      show: (outcome, text) => print(values.json ? JSON.stringify(outcome) : `outgoing-transfer ${id}: ${text}`),
    });
  } catch (error) {
    return showRejection({ print, reject }, { error, isJson: values.json, subject: { id } });
  }
}

function shown({ id, status, transferDate, submissionAttempt }: OutgoingTransfer) {
  return { id, status, transferDate, submissionAttempt };
}
