import { ProviderUnavailable } from '../../activities/providers/port.ts';
import type { Configuration } from '../../config/configuration.ts';
import { endAfterRestore } from '../../db/outgoing-transfers/operator-commands.ts';
import { letGoOn, listUnpaid, type UnpaidTransfer } from '../../db/providers/restores.ts';
import { DomainError } from '../../domain/frame/errors.ts';
import type { OutgoingTransferId } from '../../domain/frame/ids.ts';
import { resourceIdOf } from '../../workflows/frame/messages.ts';
import { RemedyError } from '../frame/remedy.ts';
import type { OperationContext } from './operations.ts';
import { pagesOf } from './stuck-work.ts';

type Context = Pick<OperationContext, 'database' | 'temporal' | 'initiator' | 'print'> & {
  readonly providers: NonNullable<OperationContext['providers']>;
  readonly configuration: Configuration;
};

/** What an operator has decided about transfers that had ended before the restore and are open again. */
export interface Decisions {
  readonly end: readonly OutgoingTransferId[];
  readonly goOn: readonly OutgoingTransferId[];
}

const DECIDE =
  'submissions stay closed. Find out how each ended, and run it again with --end ID for each that was cancelled or failed, and --go-on ID for each other one.';

/**
 * Carries out the decisions, each by itself, and prints the transfers that are still to be decided. True if none is, and no
 * decision was refused. `restore` is the restored instant and the beginning of the lost window.
 */
export async function decideRevived(
  context: Context,
  restore: { readonly since: Date; readonly from: Date },
  decisions: Decisions,
): Promise<boolean> {
  const { database, initiator, print } = context;
  let refused = 0;
  for (const id of decisions.end) if (!(await endAgain(context, id, restore.since))) refused += 1;
  for (const id of decisions.goOn) {
    const [transfer] = await listUnpaid(database.reader, [id], restore.since);
    if (transfer === undefined || transfer.goesOn) {
      print(`nothing to decide: outgoing-transfer/${id}`);
      continue;
    }
    await database.transaction(async (tx) => letGoOn(tx, id, restore.since, initiator));
    print(`goes on: outgoing-transfer/${id}  ${transfer.status}`);
  }
  let undecided = 0;
  for await (const transfer of revived(context, restore)) {
    const { id, status, transferDate } = transfer;
    const state = (await askProvider(context, transfer)) ?? 'no provider pays it';
    print(`ended after the backup, and open again: outgoing-transfer/${id}  ${status}  ${transferDate}  ${state}`);
    undecided += 1;
  }
  if (undecided > 0) print(`${undecided} to decide: ${DECIDE}`);
  else if (refused > 0)
    print(`${refused} not ended: submissions stay closed. Look at each, and run it again without its --end.`);
  return undecided === 0 && refused === 0;
}

/**
 * The transfers that wait or go out again although their workflows ended in the lost window: they were cancelled or failed,
 * settled within the service, or reported by their callers. Temporal alone remembers that; it says nothing if its database is
 * new, or of a workflow that had no time to end.
 */
async function* revived(
  { database, temporal }: Context,
  { since, from }: { readonly since: Date; readonly from: Date },
): AsyncGenerator<UnpaidTransfer> {
  const query = `WorkflowType = 'outgoing-transfer' AND ExecutionStatus = 'Completed' AND CloseTime >= '${from.toISOString()}'`;
  const ended = new Set<string>();
  for await (const execution of temporal.client.workflow.list({ query })) ended.add(resourceIdOf(execution.workflowId));
  for (const ids of pagesOf([...ended].sort())) {
    for (const transfer of await listUnpaid(database.reader, ids, since)) if (!transfer.goesOn) yield transfer;
  }
}

/** Ends it unless it has ended, its provider may pay or have paid it, or the rules refuse. False if it stays open. */
async function endAgain(context: Context, id: OutgoingTransferId, since: Date): Promise<boolean> {
  const { database, configuration, initiator, print } = context;
  const [transfer] = await listUnpaid(database.reader, [id], since);
  const state = transfer === undefined ? null : await askProvider(context, transfer);
  if (state !== null && !NEVER_PAID.has(state)) {
    print(`not ended: outgoing-transfer/${id}  ${state}: its provider has it, or does not say.`);
    return false;
  }
  try {
    const ended = await database.transaction((tx) => endAfterRestore(tx, id, configuration, initiator));
    print(`${ended.changed ? 'ended again' : 'had ended'}: outgoing-transfer/${id}  ${ended.transfer.status}`);
    return true;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    print(`not ended: outgoing-transfer/${id}  ${error.problems[0].message}`);
    return false;
  }
}

/** What a provider may say of a payment that it has not made and will not make. */
const NEVER_PAID: ReadonlySet<string> = new Set(['not-found', 'refused']);

/** What the provider says of it now; null if none pays it. */
async function askProvider({ providers }: Context, { id, paidBy }: UnpaidTransfer): Promise<string | null> {
  if (paidBy === null) return null;
  const provider = providers.get(paidBy);
  if (provider === undefined) throw new RemedyError(`${paidBy} is no provider of the configuration.`);
  try {
    return (await provider.lookUpPayment(id, {})).outcome;
  } catch (error) {
    if (error instanceof ProviderUnavailable) return 'no-answer';
    throw error;
  }
}
