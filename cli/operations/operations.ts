import { parseArgs } from 'node:util';
import { readCalendarFile } from '../../config/calendars/calendar-files.ts';
import { ConfigurationError } from '../../config/files.ts';
import { assignment, moneyReturn } from '../../db/incoming-transfers/requested-changes.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import { type AccountId, asId, type IncomingTransferId } from '../../domain/common/ids.ts';
import { parseWrittenId } from '../../domain/common/payment-references.ts';
import { ActionableError } from '../common/actionable-error.ts';
import { resolveOneBreak, showBreaks } from './accounting/breaks.ts';
import { showPositions } from './accounting/positions.ts';
import { reconcileDayNow } from './accounting/reconcile.ts';
import { sweepFeesNow } from './accounting/sweep-fees.ts';
import { bankFiles } from './bank-files/bank-files.ts';
import { operateMachineUsers } from './machine-user-operation.ts';
import type { Operation } from './operation.ts';
import { submissions } from './submissions.ts';
import { decideCheck } from './transfers/decide.ts';
import {
  failTransferOperation,
  lookUpOperation,
  nextWindowOperation,
  retrySubmissionOperation,
} from './transfers/transfer-commands.ts';
import { searchOperation } from './why/search.ts';
import { whyOperation } from './why/why.ts';
import { restartWorkflow } from './workflows/restart-workflow.ts';
import { workerVersions } from './workflows/worker-versions.ts';
import { afterRestore, parked, restartWorkflows, stuck } from './workflows/workflow-operations.ts';

const assignIncoming: Operation = {
  async run({ database, initiator, arguments: given, print }) {
    const { ids, isJson } = readIds(given, ['INCOMING_TRANSFER', 'ACCOUNT']);
    const [id, accountId] = [asId<IncomingTransferId>(ids[0] ?? ''), asId<AccountId>(ids[1] ?? '')];
    await database.transaction((tx) => changeUnderLocks(tx, assignment({ id, accountId, initiator })));
    print(isJson ? JSON.stringify({ id, accountId, result: 'assigned' }) : `${id} is assigned to ${accountId}.`);
    return 0;
  },
};

const returnIncoming: Operation = {
  async run({ database, initiator, arguments: given, print }) {
    const { ids, isJson } = readIds(given, ['INCOMING_TRANSFER']);
    const id = asId<IncomingTransferId>(ids[0] ?? '');
    await database.transaction((tx) => changeUnderLocks(tx, moneyReturn({ id, initiator })));
    print(isJson ? JSON.stringify({ id, result: 'to-be-returned' }) : `${id} will be returned.`);
    return 0;
  },
};

const checkCalendar: Operation = {
  async run({ arguments: [path], print }) {
    if (path === undefined) throw new ActionableError('Give FILE, the path of a calendar file.');
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

function readIds(given: readonly string[], names: readonly string[]): { ids: string[]; isJson: boolean } {
  const { values, positionals } = parseArgs({
    args: [...given],
    options: { json: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  if (positionals.length > names.length) throw new ActionableError(`Give ${names.join(' and ')}, and nothing else.`);
  const ids = names.map((name, index) => {
    const id = parseWrittenId(positionals[index] ?? '');
    if (id === null) throw new ActionableError(`Give ${name} as its id.`);
    return id;
  });
  return { ids, isJson: values.json };
}

/** Every command, one line each. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  why: whyOperation,
  search: searchOperation,
  'retry-submission': retrySubmissionOperation,
  'look-up': lookUpOperation,
  'fail-transfer': failTransferOperation,
  'next-window': nextWindowOperation,
  'restart-workflow': restartWorkflow,
  'restart-workflows': restartWorkflows,
  'after-restore': afterRestore,
  'worker-versions': workerVersions,
  submissions,
  parked,
  stuck,
  'assign-incoming': assignIncoming,
  'return-incoming': returnIncoming,
  decide: { run: decideCheck },
  'machine-user': { run: operateMachineUsers },
  'sweep-fees': { run: sweepFeesNow },
  positions: { run: showPositions },
  reconcile: { run: reconcileDayNow },
  breaks: { run: showBreaks },
  'resolve-break': { run: resolveOneBreak },
  'check-calendar': checkCalendar,
  'bank-files': bankFiles,
};
