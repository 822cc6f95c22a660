import { type CheckedType, decideScreenedCheck, readComplianceCheck } from '../../db/compliance/checks.ts';
import { PROCEDURE_RESULTS, type ProcedureResult } from '../../domain/compliance/procedures.ts';
import { decideReview, type ReviewChange } from '../../domain/outgoing-transfers/outcomes/reviews.ts';
import { type ComplianceMode, ruleFor } from '../../domain/outgoing-transfers/requirement-rules.ts';
import type { ConsoleServices } from '../http/services.ts';
import { amountText } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import { decided } from '../remedies/decided.ts';
import type { Preview, Remedy } from '../remedies/remedy.ts';
import { FOLDERS, type Review, readReview } from './review.ts';

/** The results that can be recorded now, each with what would follow. */
interface Possible {
  readonly result: ProcedureResult;
  readonly effect: string;
}

function preview(type: CheckedType): Remedy['preview'] {
  return async (context: PageContext): Promise<Preview | null> => {
    const review = await readReview(context, type);
    if (review === null) return null;
    const { possible, rejected } = possibleResults(review, {
      actor: context.person.id,
      mode: modeOf(context.services, type, review.transfer.currency),
    });
    const { transfer, direction } = review;
    const money = amountText(transfer.amountMinor, transfer.currency);
    return {
      title: `Decide about ${transfer.transactionNumber}`,
      consequences:
        possible.length === 0
          ? [`The check of ${money} ${direction === 'outgoing' ? 'out' : 'in'} stays as it is.`]
          : [...possible.map(({ result, effect }) => `${result}: ${effect}`), ...(rejected === null ? [] : [rejected])],
      ...(possible.length === 0 && rejected !== null ? { unavailable: rejected } : {}),
      fields: [
        {
          name: 'result',
          label: 'Result',
          kind: 'choice',
          choices: possible.map(({ result }) => [result, result] as const),
        },
      ],
    };
  };
}

function modeOf({ configuration }: ConsoleServices, type: CheckedType, currency: string): ComplianceMode {
  const { incoming, outgoing } = configuration.compliance;
  return ruleFor(type === 'incoming-transfer' ? incoming : outgoing, currency);
}

function possibleResults(
  { reviewed, involved }: Review,
  by: { readonly actor: string; readonly mode: ComplianceMode },
) {
  const possible: Possible[] = [];
  let rejected: string | null = null;
  for (const result of PROCEDURE_RESULTS) {
    const decision = decided(() => decideReview(reviewed, { result, involved, ...by }));
    if ('rejected' in decision) rejected ??= decision.rejected;
    else if (decision.change !== null) possible.push({ result, effect: effectOf(result, decision.change) });
  }
  return { possible, rejected };
}

const STOPS: readonly ProcedureResult[] = ['soft-stop', 'hard-stop'];

/** What the decision of domain/ would change, in a sentence. */
function effectOf(result: ProcedureResult, { outgoing, incoming }: ReviewChange): string {
  if (STOPS.includes(result)) return 'recorded; the transfer stays in review, and no money moves.';
  if (outgoing !== null) {
    const { status, amountMinor, currency, provider, waitingFor, reservedMinor } = outgoing.after;
    const money = amountText(amountMinor, currency);
    switch (status) {
      case 'pending':
        return `approved; ${money} goes out once its next requirement holds${waitingFor === null ? '' : ` (it then waits for ${waitingFor})`}.`;
      case 'processing':
        return `approved; ${amountText(reservedMinor, currency)} is reserved at once, and ${money} goes out through ${provider}.`;
      case 'failed':
        return `rejected; the transfer fails for good, and ${money} stays in the payer’s account.`;
      default:
        return `approved; ${money} is booked in the receiver’s account at once.`;
    }
  }
  if (incoming === null) return 'recorded.';
  const { status, amountMinor, currency, sendBackStatus, accountId, provider } = incoming.after;
  const money = amountText(amountMinor, currency);
  switch (status) {
    case 'completed':
      return `approved; ${money} is credited to the account ${accountId} at once.`;
    case 'failed':
      return sendBackStatus === 'due'
        ? `rejected; ${money} goes back to its payer through ${provider}, for good.`
        : `rejected; ${money} is not credited, for good.`;
    default:
      return `approved; ${money} is credited once nothing else holds it up (${status}).`;
  }
}

function decideRemedy(type: CheckedType, kind: string): Remedy {
  return {
    kind,
    label: 'Decide',
    resource: type,
    page: `/reviews/${FOLDERS[type]}/:id`,
    roles: ['compliance'],
    movesMoney: true,
    isDangerous: true,
    preview: preview(type),
    async act({ services, params }, { fields }, initiator) {
      const id = params.id ?? '';
      const result = PROCEDURE_RESULTS.find((known) => known === fields.result);
      if (result === undefined) throw new Error('the frame has checked the choice');
      const { before, after } = await services.database.transaction(async (tx) => {
        const present = await readComplianceCheck(tx, { type, id });
        const mode = modeOf(services, type, present.currency);
        await decideScreenedCheck(tx, { type, id }, { result, mode }, initiator, services.configuration);
        return { before: present, after: await readComplianceCheck(tx, { type, id }) };
      });
      const isSame = JSON.stringify(before.complianceCheck) === JSON.stringify(after.complianceCheck);
      const text = `The check is ${after.complianceCheck.status}, the transfer ${after.status}.`;
      return { state: isSame ? 'unchanged' : 'done', text };
    },
  };
}

export const REVIEW_REMEDIES: Readonly<Record<CheckedType, Remedy>> = {
  'outgoing-transfer': decideRemedy('outgoing-transfer', 'decide-outgoing-review'),
  'incoming-transfer': decideRemedy('incoming-transfer', 'decide-incoming-review'),
};
