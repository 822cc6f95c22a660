import type { Provider } from '../../activities/providers/port.ts';
import { readCalendarFile } from '../../config/calendars/calendar-files.ts';
import { ConfigurationError } from '../../config/files.ts';
import type { Database } from '../../db/driver/client.ts';
import type { Initiator } from '../../db/frame/audit-entries.ts';
import { assignIncomingTransfer, returnIncomingTransfer } from '../../db/incoming-transfers/incoming-transfers.ts';
import { type AccountId, asId, type Id, type IncomingTransferId } from '../../domain/frame/ids.ts';
import { idWritten } from '../../domain/frame/payment-references.ts';
import type { TemporalClient } from '../../loops/temporal.ts';
import { RemedyError } from '../frame/remedy.ts';
import { resolveOneBreak, showBreaks } from './books/breaks.ts';
import { showPositions } from './books/positions.ts';
import { reconcileDayNow } from './books/reconcile.ts';
import { sweepFeesNow } from './books/sweep-fees.ts';
import { decideCheck } from './decide.ts';
import { operateMachineUsers } from './machine-user-operation.ts';
import { restartWorkflow } from './restart-workflow.ts';
import { submissions } from './submissions.ts';
import {
  failTransferOperation,
  lookUpOperation,
  nextWindowOperation,
  retrySubmissionOperation,
} from './transfer-commands.ts';
import { whyOperation } from './why/why.ts';
import { afterRestore, parked, restartWorkflows, stuck } from './workflow-operations.ts';

/** What an operator's command needs. */
export interface Operation {
  readonly summary: string;
  /** Returns the exit status: 0, 1 if it refused or found something to follow up, or 2 if its outcome is unknown. */
  run(context: OperationContext): Promise<0 | 1 | 2>;
}

export interface OperationContext {
  readonly database: Database;
  readonly temporal: Pick<TemporalClient, 'client' | 'connection'>;
  /** The operator, for the audit log. */
  readonly initiator: Initiator;
  /** Arguments after the command's name. */
  readonly arguments: readonly string[];
  /** How long to wait for Temporal's or a provider's answer; each command has its own limit. */
  readonly patienceMs?: number;
  /** Providers to ask, for tests; otherwise those of the configuration. */
  readonly providers?: ReadonlyMap<string, Provider>;
  print(line: string): void;
}

const assignIncoming: Operation = {
  summary: 'INCOMING_TRANSFER ACCOUNT: assigns a payment that matched no account, or several, to one.',
  async run({ database, initiator, arguments: given, print }) {
    const id = readId<IncomingTransferId>(given, 0, 'INCOMING_TRANSFER');
    const accountId = readId<AccountId>(given, 1, 'ACCOUNT');
    await database.transaction((tx) => assignIncomingTransfer(tx, id, accountId, initiator));
    print(`${id} is assigned to ${accountId}.`);
    return 0;
  },
};

const returnIncoming: Operation = {
  summary: 'INCOMING_TRANSFER: sends money that is on hold back to where it came from.',
  async run({ database, initiator, arguments: given, print }) {
    const id = readId<IncomingTransferId>(given, 0, 'INCOMING_TRANSFER');
    await database.transaction((tx) => returnIncomingTransfer(tx, id, initiator));
    print(`${id} goes back.`);
    return 0;
  },
};

const machineUser: Operation = {
  summary: 'register | add-key | revoke | list: registers the first machine user, and any other.',
  run: operateMachineUsers,
};

const sweepFees: Operation = {
  summary: '[DATE]: moves fee revenue to settlement now, counted to the date (default: today).',
  run: sweepFeesNow,
};

const positions: Operation = {
  summary:
    'what each provider owes to clients, what is held for nobody, what came into it, and what internal transfers make others owe it.',
  run: showPositions,
};

const reconcile: Operation = {
  summary: 'PROVIDER DATE [--camt-053 FILE]: compares a day of the statement, or of a bank’s file, with the ledger.',
  run: reconcileDayNow,
};

const breaks: Operation = {
  summary: '[--provider P] [--status S] [--kind K] [--day D]: open differences between providers’ books and ours.',
  run: showBreaks,
};

const resolveBreak: Operation = {
  summary: 'ID --note TEXT: resolves a break that a person has looked into.',
  run: resolveOneBreak,
};

const checkCalendar: Operation = {
  summary: 'FILE: checks a calendar file before it takes the place of the present one.',
  async run({ arguments: [path], print }) {
    if (path === undefined) throw new RemedyError('Give FILE, the path of a calendar file.');
    try {
      const { from, publishedUntil, until, closedDates } = readCalendarFile(path).calendar;
      print(`Sound: ${closedDates.size} closed dates from ${from} to ${until}, published until ${publishedUntil}.`);
      return 0;
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      print(error.message);
      return 1;
    }
  },
};

const decide: Operation = {
  summary: 'KIND ID RESULT: decides the compliance check of an incoming-transfer or outgoing-transfer.',
  run: decideCheck,
};

function readId<Branded extends Id<string>>(given: readonly string[], index: number, name: string): Branded {
  const id = idWritten(given[index] ?? '');
  if (id === null) throw new RemedyError(`Give ${name} as its id.`);
  return asId<Branded>(id);
}

/** Every command, one line each. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  why: whyOperation,
  'retry-submission': retrySubmissionOperation,
  'look-up': lookUpOperation,
  'fail-transfer': failTransferOperation,
  'next-window': nextWindowOperation,
  'restart-workflow': restartWorkflow,
  'restart-workflows': restartWorkflows,
  'after-restore': afterRestore,
  submissions,
  parked,
  stuck,
  'assign-incoming': assignIncoming,
  'return-incoming': returnIncoming,
  decide,
  'machine-user': machineUser,
  'sweep-fees': sweepFees,
  positions,
  reconcile,
  breaks,
  'resolve-break': resolveBreak,
  'check-calendar': checkCalendar,
};
