import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_DIRECTORY } from '../../../tools/run/commands.ts';
import { makeServiceRelease, type ReleaseChange, type ServiceRelease } from './service-releases.ts';

/**
 * Two releases that differ in what matters to an upgrade. The later one has a table and a column more, changed functions, an activity that
 * writes to both, and a step at the start of each transfer's workflow that calls it. The earlier one knows that step, so that it can go on with
 * runs that took it, but takes it in none of its own: a step takes two releases (docs/upgrade.md).
 */
export interface TwoReleases {
  readonly before: ServiceRelease;
  readonly next: ServiceRelease;
  remove(): void;
}

export async function makeTwoReleases(): Promise<TwoReleases> {
  const [before, next] = await Promise.all([
    makeServiceRelease(withStep('1.0.0', "workflowInfo().unsafe.isReplaying && patched('a note')")),
    makeServiceRelease({
      ...withStep('1.1.0', "patched('a note')"),
      added: { 'db/migrations/9000_notes.sql': NOTES, ...changedFunctions() },
    }),
  ]);
  return {
    before,
    next,
    remove: () => {
      before.remove();
      next.remove();
    },
  };
}

const NOTES = `ALTER TABLE outgoing_transfers ADD COLUMN noted_by text;
CREATE TABLE transfer_notes (transfer_id uuid PRIMARY KEY, noted_at timestamptz NOT NULL DEFAULT clock_timestamp());
`;

/** Other texts of functions that every payment calls: they are replaced while it does. */
function changedFunctions(): Record<string, string> {
  const paths = ['db/functions/clock.sql', 'db/functions/straight-through.sql'];
  return Object.fromEntries(
    paths.map((path) => [path, `${readFileSync(join(PROJECT_DIRECTORY, path), 'utf8')}\n-- Of the next release.\n`]),
  );
}

const WORKFLOW =
  'export function outgoingTransfer(undecided: readonly ComplianceDecisionSignal[] = []): Promise<void> {';

function withStep(version: string, condition: string): ReleaseChange {
  return {
    version,
    replaced: {
      'workflows/outgoing-transfers/workflow.ts': [
        [
          "import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';",
          "import { patched, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';",
        ],
        [
          "import type { ComplianceDecisionSignal } from '../common/messages.ts';",
          "import { type ComplianceDecisionSignal, resourceIdOf } from '../common/messages.ts';",
        ],
        [
          WORKFLOW,
          `const { noteOutgoingTransfer } = proxyLocalActivities<OutgoingTransferTransitions>(TRANSITION);
           export async function outgoingTransfer(undecided: readonly ComplianceDecisionSignal[] = []): Promise<void> {
             if (${condition}) await noteOutgoingTransfer(resourceIdOf(workflowInfo().workflowId)).catch(() => {});
             return goOn(undecided);
           }
           function goOn(undecided: readonly ComplianceDecisionSignal[]): Promise<void> {`,
        ],
      ],
      'activities/outgoing-transfers/activities.ts': [
        [
          '    async recordOutgoingTransferRecall(',
          `    async noteOutgoingTransfer(id: string): Promise<void> {
             await database.transaction(async (tx) => {
               await tx.statement('INSERT INTO transfer_notes (transfer_id) VALUES ($1) ON CONFLICT DO NOTHING', [id]);
               await tx.statement("UPDATE outgoing_transfers SET noted_by = '${version}' WHERE id = $1", [id]);
             });
           },
           async recordOutgoingTransferRecall(`,
        ],
      ],
    },
  };
}
