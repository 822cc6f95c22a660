import { parseArgs } from 'node:util';
import { type Configuration, loadConfiguration } from '../../../config/configuration.ts';
import type { Reader } from '../../../db/driver/client.ts';
import { refusal } from '../../../domain/frame/errors.ts';
import { asId } from '../../../domain/frame/ids.ts';
import { idWritten } from '../../../domain/frame/payment-references.ts';
import { RemedyError } from '../../frame/remedy.ts';
import type { Operation } from '../operations.ts';
import { findOpenBreaks } from './breaks.ts';
import { explainConsent } from './consents.ts';
import { type Explained, type Explanation, linesOf } from './explanation.ts';
import { explainAccount, explainIncomingTransfer, explainWebhookDelivery } from './other-resources.ts';
import { explainOutgoingTransfer, OUTCOMES } from './outgoing-transfers.ts';
import { findPendingWakeup, findWorkflowState, notBegun, wakeupObstacles } from './workflows.ts';

/** `why ID`: what a resource waits for, since when, until when, and what would release it. It reads only. */
export const whyOperation: Operation = {
  summary:
    'ID: what a transfer, consent, account or webhook delivery waits for, until when, and what would release it.',
  async run({ database: { reader }, temporal, arguments: given, print, patienceMs }) {
    const { values, positionals } = parseArgs({
      args: [...given],
      options: { json: { type: 'boolean', default: false } },
      allowPositionals: true,
    });
    const [sent = '', ...more] = positionals;
    const id = idWritten(sent);
    if (id === null || more.length > 0) {
      throw new RemedyError(
        'Give ID as the id of a transfer, which may be its payment reference, a consent, an account or a webhook delivery.',
      );
    }
    const found = await explain(reader, id, loadConfiguration(process.env));
    if (found === null) {
      const message = `No transfer, consent, account or webhook delivery has the id ${id}.`;
      if (!values.json) throw refusal('common.coding.internal.record_not_found', ['resource', 'id', id], message);
      print(JSON.stringify({ id, refused: message }));
      return 1;
    }
    const { firstSubmissionSince: since, money = [], ...rest } = found;
    const wakeup = await findPendingWakeup(reader, found.workflowId);
    const workflow = await findWorkflowState(temporal, found.workflowId, patienceMs);
    const submission = since === undefined ? undefined : (notBegun(since, wakeup, workflow) ?? OUTCOMES.unresolved);
    const explanation: Explained = {
      ...rest,
      obstacles: [...found.obstacles, ...wakeupObstacles(wakeup)],
      attempts: [...found.attempts, ...(submission === undefined ? [] : [`submission, attempt 1: ${submission}`])],
      money,
      breaks: await findOpenBreaks(reader, id),
    };
    if (values.json) print(JSON.stringify({ ...explanation, workflow: workflow.state, workflowText: workflow.text }));
    else for (const line of linesOf(explanation, workflow)) print(line);
    return 0;
  },
};

/** Null if no resource has the id. */
async function explain(reader: Reader, id: string, rules: Configuration): Promise<Explanation | null> {
  return (
    (await explainOutgoingTransfer(reader, asId(id), rules)) ??
    (await explainIncomingTransfer(reader, asId(id))) ??
    (await explainConsent(reader, asId(id))) ??
    (await explainAccount(reader, asId(id))) ??
    (await explainWebhookDelivery(reader, asId(id)))
  );
}
