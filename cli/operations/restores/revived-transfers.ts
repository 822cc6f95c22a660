import { ProviderUnavailable } from '../../../activities/providers/port.ts';
import type { Configuration } from '../../../config/configuration.ts';
import { endAfterRestore } from '../../../db/outgoing-transfers/operator-commands.ts';
import { confirmResume, listUnpaid, type UnpaidTransfer } from '../../../db/providers/restores.ts';
import { DomainError } from '../../../domain/common/errors.ts';
import type { OutgoingTransferId } from '../../../domain/common/ids.ts';
import { resourceIdOf, workflowId } from '../../../workflows/common/messages.ts';
import type { OperationContext } from '../operation.ts';
import { isRunning, pagesOf } from '../workflows/stuck-work.ts';

type Context = Pick<OperationContext, 'database' | 'temporal' | 'initiator' | 'print'> & {
  readonly providers: NonNullable<OperationContext['providers']>;
  readonly configuration: Configuration;
};

/** What an operator has decided about transfers that had ended before the restore and are open again. */
export interface Decisions {
  readonly end: readonly OutgoingTransferId[];
  readonly resume: readonly OutgoingTransferId[];
}

const DECIDE =
  'submissions stay closed. Find out how each ended, and run it again with --end ID for each that was cancelled or failed, and --resume ID for each other one.';

const NOT_ENDED =
  'submissions stay closed. Run it again with the same --end once its provider answers. Without --end, one that is still open continues and is paid.';

/** The restored instant, and the beginning of the window that it has lost. */
interface Restore {
  readonly since: Date;
  readonly from: Date;
}

/**
 * Carries out the decisions, each on its own, and prints the transfers that are still to be decided. True if none is left, and no
 * decision was rejected.
 */
export async function decideRevived(context: Context, restore: Restore, decisions: Decisions): Promise<boolean> {
  const { database, initiator, print } = context;
  const ended = await endedRuns(context, restore.from);
  let rejected = 0;
  for (const id of decisions.end) if (!(await endAgain(context, { id, since: restore.since, ended }))) rejected += 1;
  for (const id of decisions.resume) {
    const [transfer] = await listUnpaid(database.reader, [id], restore.since);
    if (transfer === undefined || transfer.isResumed) {
      print(`nothing to decide: outgoing-transfer/${id}`);
      continue;
    }
    await database.transaction(async (tx) => confirmResume(tx, id, restore.since, initiator));
    print(`continues: outgoing-transfer/${id}  ${transfer.status}`);
  }
  let undecided = 0;
  for (const ids of pagesOf([...ended].sort())) {
    for (const transfer of await listUnpaid(database.reader, ids, restore.since)) {
      if (transfer.isResumed) continue;
      const { id, status, transferDate } = transfer;
      const state = (await askProvider(context, transfer)) ?? 'no provider pays it';
      print(`ended after the backup, and open again: outgoing-transfer/${id}  ${status}  ${transferDate}  ${state}`);
      undecided += 1;
    }
  }
  if (undecided > 0) print(`${undecided} to decide: ${DECIDE}`);
  else if (rejected > 0) print(`${rejected} not ended: ${NOT_ENDED}`);
  return undecided === 0 && rejected === 0;
}

/**
 * The transfers whose workflows ended in the lost window: they were cancelled or failed, settled within the service, or reported by
 * their callers or banks. Only Temporal remembers that, and not if its database is new or the workflow had no time to end.
 */
async function endedRuns({ temporal: { client } }: Context, from: Date): Promise<ReadonlySet<string>> {
  const query = `WorkflowType = 'outgoing-transfer' AND ExecutionStatus = 'Completed' AND CloseTime >= '${from.toISOString()}'`;
  const ended = new Set<string>();
  for await (const execution of client.workflow.list({ query })) ended.add(resourceIdOf(execution.workflowId));
  return ended;
}

interface End {
  readonly id: OutgoingTransferId;
  readonly since: Date;
  readonly ended: ReadonlySet<string>;
}

/** Ends it unless it has ended, its provider may pay or have paid it, or the rules forbid it. False if it is open or paid. */
async function endAgain(context: Context, { id, since, ended }: End): Promise<boolean> {
  const { database, temporal, configuration, initiator, print } = context;
  const [transfer] = await listUnpaid(database.reader, [id], since);
  const state = transfer === undefined ? null : await askProvider(context, transfer);
  if (state !== null && !NEVER_PAID.has(state)) {
    print(`not ended: outgoing-transfer/${id}  ${state}: its provider has it, or does not say.`);
    return false;
  }
  const hasEnded = ended.has(id) && !(await isRunning(temporal.client, workflowId('outgoing-transfer', id)));
  const given = { id, since, neverPaid: hasEnded && state === 'not-found' };
  try {
    const { transfer: after, changed } = await database.transaction((tx) =>
      endAfterRestore(tx, given, configuration, initiator),
    );
    const isPaid = after.status === 'completed';
    const result = isPaid ? 'not ended' : changed ? 'ended again' : 'had ended';
    print(`${result}: outgoing-transfer/${id}  ${after.status}`);
    return !isPaid;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    print(`not ended: outgoing-transfer/${id}  ${error.problems[0].message}`);
    return false;
  }
}

/** A provider's answers for a payment that it has not made and will not make. */
const NEVER_PAID: ReadonlySet<string> = new Set(['not-found', 'rejected']);

/** The provider's current answer; null if no provider pays it. */
async function askProvider(
  { providers, configuration }: Context,
  { id, paidBy }: UnpaidTransfer,
): Promise<string | null> {
  if (paidBy === null) return null;
  const provider = providers.get(paidBy);
  if (provider === undefined) return 'not-configured';
  try {
    const { outcome } = await provider.lookUpPayment(id, {});
    // A bank with files is answered for by our own rows, which the restore has set back as well.
    return configuration.fileExchanges.has(paidBy) && NEVER_PAID.has(outcome) ? 'no-answer' : outcome;
  } catch (error) {
    if (error instanceof ProviderUnavailable) return 'no-answer';
    throw error;
  }
}
