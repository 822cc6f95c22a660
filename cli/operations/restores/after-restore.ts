import { parseArgs } from 'node:util';
import { WorkflowNotFoundError } from '@temporalio/client';
import { pino } from 'pino';
import { createProviders } from '../../../activities/providers/providers.ts';
import { compareStatements } from '../../../activities/reconciliation/reconciliation.ts';
import { catchUpWithProviders } from '../../../activities/restores.ts';
import { loadConfiguration } from '../../../config/configuration.ts';
import { readEnvironment } from '../../../config/environment.ts';
import { holdForRestore } from '../../../db/bank-files/restores.ts';
import { appendAuditEntry } from '../../../db/common/audit-entries.ts';
import { readClock } from '../../../db/common/clock.ts';
import { beginAfterRestore, listServiceProcesses } from '../../../db/providers/restores.ts';
import { type Closure, closureInWords, openAfterRestore } from '../../../db/providers/submissions.ts';
import { listOpenBreaks } from '../../../db/reconciliation/statements.ts';
import { asId, type OutgoingTransferId } from '../../../domain/common/ids.ts';
import { parseWrittenId } from '../../../domain/common/payment-references.ts';
import { CHANGED_SIGNAL } from '../../../workflows/common/messages.ts';
import { ActionableError } from '../../common/actionable-error.ts';
import type { OperationContext } from '../operation.ts';
import { operate } from '../why/commands.ts';
import { findStuckWork } from '../workflows/stuck-work.ts';
import { printHeldAtBanks } from './held-at-banks.ts';
import { type Decisions, decideRevived } from './revived-transfers.ts';

/** Allows for clock skew between providers and us. */
const CLOCK_MARGIN_MS = 5 * 60_000;
/** More events than any lost window contains. */
const POSITION_GAP = 10_000_000;
const BREAKS_SHOWN_MAX = 1_000;

/**
 * Completes the restore of an older Postgres (docs/runbook/postgres.md): closes submissions, jumps ahead in numbering, rereads
 * the lost window from the providers, has the operator decide about transfers that had ended without a provider, and only then
 * opens submissions and restarts every workflow. If it fails before it reports them open, submissions stay closed until it runs again. Exit status 1:
 * transfers or differences need a person, or an operator keeps submissions closed.
 */
export async function catchUpAfterRestore(context: OperationContext, restart: () => Promise<0 | 1>): Promise<0 | 1> {
  const { database, initiator, print } = context;
  const { since, positionGap, decisions } = readOptions(context.arguments);
  const configuration = loadConfiguration(process.env);
  const providers = createProviders(configuration, { ...readEnvironment(process.env), database });
  const connected = await listServiceProcesses(database.reader);
  if (connected.length > 0) {
    throw new ActionableError(`Stop every process of the service first: still connected: ${connected.join(', ')}.`);
  }

  const entry = { resource: 'restore', resourceId: since.toISOString(), initiator } as const;
  await database.transaction(async (tx) => {
    appendAuditEntry(tx, { ...entry, action: 'begun', after: { submissions: 'closed', positionGap } });
    await beginAfterRestore(tx, positionGap);
    await holdForRestore(tx, [...configuration.fileExchanges.keys()], since);
  });
  print('Submissions to providers are closed; positions of events and given numbers have jumped ahead.');
  const now = await readClock(database.reader);
  const window = { from: new Date(since.getTime() - CLOCK_MARGIN_MS), to: new Date(now.getTime() + CLOCK_MARGIN_MS) };
  const { received, adopted } = await catchUpWithProviders({ database, providers, configuration, initiator }, window);
  print(`Read again from the providers: ${received} payments in, ${adopted} payments out.`);
  // With the service stopped, no payment is between the two sets of books.
  const asked = new Map([...providers].filter(([code]) => !configuration.fileExchanges.has(code)));
  const { failed } = await compareStatements({ database, providers: asked, logger: pino({ level: 'silent' }) }, {}, 0);
  if (failed > 0)
    throw new ActionableError('A provider’s statement could not be compared. Run it again when it answers.');
  if (!(await decideRevived({ ...context, providers, configuration }, { since, from: window.from }, decisions))) {
    await printBreaks(context);
    return 1;
  }
  const closure = await database.transaction(async (tx) => {
    const left = await openAfterRestore(tx);
    const submissions = left === null ? 'open' : 'closed';
    appendAuditEntry(tx, { ...entry, action: 'caught-up', after: { submissions, received, adopted } });
    return left;
  });
  print(closure === null ? 'Submissions are open.' : stillClosed(closure));
  const held = await printHeldAtBanks(context, configuration);
  const restarted = await restart();
  await wakeOrphans(context);
  const breaks = await printBreaks(context);
  return restarted === 0 && breaks === 0 && held === 0 && closure === null ? 0 : 1;
}

/** Prints the open breaks, and returns their number. */
async function printBreaks({ database, print }: OperationContext): Promise<number> {
  const breaks = await listOpenBreaks(database.reader, BREAKS_SHOWN_MAX);
  for (const { kind, provider, reference } of breaks) print(`to look at: ${kind}  ${provider}  ${reference ?? ''}`);
  const count = breaks.length < BREAKS_SHOWN_MAX ? `${breaks.length}` : `At least ${breaks.length}`;
  print(breaks.length === 0 ? 'The books of the providers and ours agree.' : `${count} differences are open.`);
  return breaks.length;
}

function stillClosed(closure: Closure): string {
  return `Caught up, but ${closureInWords(closure)}. To end that: ${operate('submissions open --reason TEXT')}.`;
}

/** Wakes workflows whose rows are gone or final in the restored database: each checks once more and ends. */
async function wakeOrphans({ database, temporal: { client } }: OperationContext): Promise<void> {
  const { workflowsWithoutRow } = await findStuckWork(database, client);
  for (const id of workflowsWithoutRow) {
    try {
      await client.workflow.getHandle(id).signal(CHANGED_SIGNAL);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
}

interface Options {
  readonly since: Date;
  readonly positionGap: number;
  readonly decisions: Decisions;
}

function readOptions(given: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...given],
    options: {
      since: { type: 'string' },
      'position-gap': { type: 'string', default: String(POSITION_GAP) },
      end: { type: 'string', multiple: true, default: [] },
      resume: { type: 'string', multiple: true, default: [] },
    },
  });
  const since = new Date(values.since ?? '');
  if (Number.isNaN(since.getTime())) {
    throw new ActionableError(
      'Give --since the instant that the restored database shows, such as 2026-01-31T12:00:00Z.',
    );
  }
  const positionGap = Number(values['position-gap']);
  if (!Number.isSafeInteger(positionGap) || positionGap < 1) {
    throw new ActionableError('--position-gap must be a whole number above 0.');
  }
  const decisions = { end: idsOf(values.end), resume: idsOf(values.resume) };
  const both = decisions.end.find((id) => decisions.resume.includes(id));
  if (both !== undefined) throw new ActionableError(`${both} is given with both --end and --resume: give it once.`);
  return { since, positionGap, decisions };
}

function idsOf(given: readonly string[]): OutgoingTransferId[] {
  return given.map((text) => {
    const id = parseWrittenId(text);
    if (id === null)
      throw new ActionableError('Give --end and --resume the id of an outgoing transfer, once for each.');
    return asId<OutgoingTransferId>(id);
  });
}
