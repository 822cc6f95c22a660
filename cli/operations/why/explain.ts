import type { Configuration } from '../../../config/configuration.ts';
import type { Reader } from '../../../db/query/database.ts';
import { findBreak } from '../../../db/reconciliation/breaks.ts';
import type { FoundKind, FoundRow } from '../../../db/search/search.ts';
import { asId } from '../../../domain/common/ids.ts';
import type { TemporalClient } from '../../../loops/temporal.ts';
import { findOpenBreaks, type OpenBreak, openBreakOf } from './breaks.ts';
import { explainConsent } from './consents.ts';
import type { Explained, Explanation, WorkflowState } from './explanation.ts';
import { explainAccount, explainIncomingTransfer, explainWebhookDelivery } from './other-resources.ts';
import { explainOutgoingTransfer, OUTCOMES } from './outgoing-transfers.ts';
import { explainClient, explainInvitation, explainStill, explainSubscription, explainUser } from './parties.ts';
import { amountOf } from './search.ts';
import { findPendingWakeup, findWorkflowState, notBegun, wakeupObstacles } from './workflows.ts';

interface Sources {
  readonly reader: Reader;
  readonly temporal: Pick<TemporalClient, 'client' | 'connection'>;
  readonly rules: Configuration;
  /** How long to wait for Temporal. */
  readonly answerTimeoutMs?: number | undefined;
}

/**
 * Why a resource is where it is, and whether its workflow runs, for the command `why` and for the console. It reads only. Without
 * Temporal it says all but the state of the workflow.
 */
export async function explain(
  { reader, temporal, rules, answerTimeoutMs }: Sources,
  row: FoundRow,
): Promise<{ readonly explanation: Explained; readonly workflow: WorkflowState }> {
  const found = (await EXPLAIN[row.kind]?.(reader, row, rules)) ?? explainStill(row);
  const { firstSubmissionSince: since, money = [], ...rest } = found;
  const [wakeup, breaks] = await Promise.all([findPendingWakeup(reader, found.workflowId), breaksOf(reader, row)]);
  const workflow = await findWorkflowState(temporal, found.workflowId, answerTimeoutMs);
  const submission = since === undefined ? undefined : (notBegun(since, wakeup, workflow) ?? OUTCOMES.unresolved);
  const explanation = {
    ...rest,
    what: [row.name, amountOf(row)].filter((part) => part !== '').join(', '),
    obstacles: [...found.obstacles, ...wakeupObstacles(wakeup)],
    attempts: [...found.attempts, ...(submission === undefined ? [] : [`submission, attempt 1: ${submission}`])],
    money,
    breaks,
  };
  return { explanation, workflow };
}

type Explain = (reader: Reader, row: FoundRow, rules: Configuration) => Promise<Explanation | null> | Explanation;

/** Kinds that may wait for something; a row of any other kind is only shown. */
const EXPLAIN: Readonly<Partial<Record<FoundKind, Explain>>> = {
  'outgoing-transfer': (reader, { id }, rules) => explainOutgoingTransfer(reader, asId(id), rules),
  'incoming-transfer': (reader, { id }) => explainIncomingTransfer(reader, asId(id)),
  consent: (reader, { id }) => explainConsent(reader, asId(id)),
  account: (reader, { id }) => explainAccount(reader, asId(id)),
  'webhook-delivery': (reader, { id }) => explainWebhookDelivery(reader, asId(id)),
  'webhook-subscription': explainSubscription,
  client: (_, row) => explainClient(row),
  user: explainUser,
  'user-invitation': explainInvitation,
};

async function breaksOf(reader: Reader, { kind, id }: FoundRow): Promise<readonly OpenBreak[]> {
  if (kind !== 'reconciliation-break') return findOpenBreaks(reader, id);
  const found = await findBreak(reader, asId(id));
  return found?.status === 'open' ? [openBreakOf(found)] : [];
}
