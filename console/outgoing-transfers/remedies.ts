import type { Initiator } from '../../db/common/audit-entries.ts';
import {
  failOutgoingTransfer,
  moveToNextWindow,
  requestLookUp,
  retrySubmission,
} from '../../db/outgoing-transfers/operator-commands.ts';
import {
  authorization,
  authorizationRejection,
  cancellation,
  paymentRecall,
  readOtherMakers,
} from '../../db/outgoing-transfers/requested-changes.ts';
import { readSituation } from '../../db/outgoing-transfers/situations.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import { asId, type OutgoingTransferId } from '../../domain/common/ids.ts';
import type { PageContext } from '../page/page.ts';
import { decided } from '../remedies/decided.ts';
import type { ItemContext, Outcome, Preview, Remedy } from '../remedies/remedy.ts';
import { resendWebhooks, restartWorkflow } from '../transfers/remedies.ts';
import { completedLookUp } from './completed-look-up.ts';
import { AUTHORIZE, CANCEL, FAIL, type Kind, LOOK_UP, NEXT_WINDOW, RECALL, REJECT, RETRY } from './kinds.ts';

const PAGE = '/outgoing-transfers/:id';

/** The preview of a remedy whose decision is a function of domain/. */
function previewOf({ title, decide, consequences }: Kind): Remedy['preview'] {
  return async ({ services, params, person }: PageContext): Promise<Preview | null> => {
    const { database, configuration } = services;
    const id = idOf(params);
    const [situation, otherMakers] = await Promise.all([
      readSituation(database.reader, id, configuration),
      readOtherMakers(database.reader, id),
    ]);
    if (situation === null) return null;
    const { transfer } = situation;
    const decision = decided(() => decide(situation, { services, person, otherMakers }));
    const after = 'change' in decision ? (decision.change?.outgoing?.after ?? null) : null;
    return {
      title: `${title} ${transfer.transactionNumber}`,
      consequences: consequences(transfer, after),
      ...('rejected' in decision ? { unavailable: decision.rejected } : {}),
    };
  };
}

function idOf(params: Readonly<Record<string, string>>): OutgoingTransferId {
  return asId<OutgoingTransferId>(params.id ?? '');
}

/** Acts by a transition of db/; its caller commits. */
type Act = (item: ItemContext, id: OutgoingTransferId, initiator: Initiator) => Promise<Outcome>;

function remedyOf(kind: Kind, act: Act, isForMany = false): Remedy {
  const { label, movesMoney, isDangerous = false, roles = ['operator'] } = kind;
  return {
    kind: kind.kind,
    label,
    movesMoney,
    isDangerous,
    resource: 'outgoing-transfer',
    page: PAGE,
    roles,
    preview: previewOf(kind),
    act: ({ services, params }, _, initiator) =>
      services.database.transaction((tx) => act({ tx, services }, idOf(params), initiator)),
    ...(isForMany ? { forEach: (item, id, initiator) => act(item, asId<OutgoingTransferId>(id), initiator) } : {}),
  };
}

const lookUp = remedyOf(
  LOOK_UP,
  async ({ tx, services }, id, initiator) => {
    const { changed } = await requestLookUp(tx, id, services.configuration, initiator);
    return changed
      ? { state: 'unknown', text: 'The bank is being asked. Its answer appears here when it comes.' }
      : { state: 'unchanged', text: 'The bank was asked a moment ago. Its answer appears here when it comes.' };
  },
  true,
);

const retry = remedyOf(
  RETRY,
  async ({ tx, services }, id, initiator) => {
    const { transfer } = await retrySubmission(tx, id, services.configuration, initiator);
    const text = `It is submitted again, as attempt ${transfer.submissionAttempt}; the bank’s answer is not known yet.`;
    return { state: 'unknown', text };
  },
  true,
);

const nextWindow = remedyOf(
  NEXT_WINDOW,
  async ({ tx, services }, id, initiator) => {
    const { transfer, changed } = await moveToNextWindow(tx, id, services.configuration, initiator);
    return { state: changed ? 'done' : 'unchanged', text: `Its date is ${transfer.transferDate}.` };
  },
  true,
);

const cancel = remedyOf(
  CANCEL,
  async ({ tx, services }, id, initiator) => {
    await changeUnderLocks(tx, cancellation({ id, initiator, rules: services.configuration }));
    return { state: 'done', text: 'It is cancelled, and what was reserved is available again.' };
  },
  true,
);

const fail = remedyOf(
  FAIL,
  async ({ tx, services }, id, initiator) => {
    const given = { id, reason: initiator.reason ?? '' };
    const { changed } = await failOutgoingTransfer(tx, given, services.configuration, initiator);
    return changed
      ? { state: 'done', text: 'It is failed, and what was reserved is available again.' }
      : { state: 'unchanged', text: 'An operator has already failed it; the first reason is kept.' };
  },
  true,
);

const recall = remedyOf(RECALL, async ({ tx, services }, id, initiator) => {
  const isOffered = (provider: string) => services.providers.get(provider)?.recallPayment !== undefined;
  const request = { id, initiator, rules: services.configuration };
  await changeUnderLocks(tx, paymentRecall(request, isOffered));
  return { state: 'unknown', text: 'The recall is on its way. The other bank’s answer may take days.' };
});

const authorize = remedyOf(AUTHORIZE, async ({ tx, services }, id, initiator) => {
  const request = { id, initiator, rules: services.configuration };
  const { waitingFor } = (await changeUnderLocks(tx, authorization(request))).transfer;
  const next = waitingFor === null ? 'It goes on.' : `Now it waits for ${waitingFor}.`;
  return { state: 'done', text: `It is authorized. ${next}` };
});

const reject = remedyOf(REJECT, async ({ tx, services }, id, initiator) => {
  await changeUnderLocks(tx, authorizationRejection({ id, initiator, rules: services.configuration }));
  return { state: 'done', text: 'It is rejected: the transfer is cancelled.' };
});

export const OUTGOING_TRANSFER_REMEDIES: readonly Remedy[] = [
  authorize,
  reject,
  lookUp,
  completedLookUp,
  retry,
  nextWindow,
  cancel,
  fail,
  recall,
  resendWebhooks('outgoing-transfer', PAGE),
  restartWorkflow('outgoing-transfer', PAGE),
];
