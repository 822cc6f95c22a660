import { parseArgs } from 'node:util';
import type { SignalledDecision } from '../../../domain/compliance/procedures.ts';
import { ActionableError } from '../../common/actionable-error.ts';
import { type Operation, showRejection } from '../operation.ts';
import { type Result, type Row, restart, TemporalUnanswered } from './restart.ts';

/** `restart-workflow WORKFLOW_ID`: see `restart`. */
export const restartWorkflow: Operation = {
  async run(context) {
    const { values, positionals } = parseArgs({
      args: [...context.arguments],
      options: { json: { type: 'boolean', default: false }, anyway: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    const [given, ...more] = positionals;
    if (given === undefined || more.length > 0)
      throw new ActionableError('Give WORKFLOW_ID, such as outgoing-transfer/ID, and nothing else.');
    try {
      const { row, endedRunId, result, unrecorded } = await restart(context, {
        workflow: given,
        by: `npm run operate -- restart-workflow ${given}`,
        anyway: values.anyway,
      });
      const decisions = unrecorded.map(({ decisionId, result: decided, actor }) => ({
        decisionId,
        result: decided,
        actor,
      }));
      if (values.json) context.print(JSON.stringify({ id: row.workflowId, endedRunId, result, decisions }));
      else for (const line of linesOf(row, result, decisions)) context.print(line);
      return decisions.length === 0 ? 0 : 1;
    } catch (error) {
      if (error instanceof TemporalUnanswered)
        throw new ActionableError(`${error.message} Give the same command again once it does.`);
      return showRejection(context, { error, isJson: values.json, subject: { id: given } });
    }
  },
};

type Decisions = readonly Pick<SignalledDecision, 'decisionId' | 'result' | 'actor'>[];

const OUTCOMES: Readonly<Record<Result, string>> = {
  restarted: 'A fresh run continues from the row once a running API process has handed it to Temporal.',
  unchanged: 'Another command has restarted it.',
  'not-ended':
    'Its run continues: it has decisions that are not recorded. Record those that are valid, then repeat the command with --anyway.',
};

function linesOf({ type, id, workflowId: of }: Row, result: Result, decisions: Decisions): string[] {
  return [
    `${of}: ${OUTCOMES[result]}`,
    ...decisions.map(
      ({ decisionId, result: decided, actor }) =>
        `Decision ${decisionId} (${decided}) of ${actor} is not recorded. If it is valid: npm run -s operate -- decide ${type} ${id} ${decided}`,
    ),
  ];
}
