import type { Initiator } from '../../db/common/audit-entries.ts';
import { assignment, moneyReturn } from '../../db/incoming-transfers/requested-changes.ts';
import { type IncomingSituation, readAccount, readIncomingSituation } from '../../db/incoming-transfers/situations.ts';
import type { Transaction } from '../../db/query/database.ts';
import { changeUnderLocks } from '../../db/transfers/requested-changes.ts';
import { rejection } from '../../domain/common/errors.ts';
import { type AccountId, asId, type IncomingTransferId, isUuid } from '../../domain/common/ids.ts';
import type { IncomingTransfer } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { decideReturn, requireAssignableBy } from '../../domain/incoming-transfers/operator-commands.ts';
import { amountText } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import { decided } from '../remedies/decided.ts';
import type { Outcome, Remedy, RemedyField } from '../remedies/remedy.ts';
import { type Assignment, assignmentTo, type Candidate, readCandidates } from './candidates.ts';
import { previewOfReturn, returnCompleted } from './returns.tsx';

const PAGE = '/incoming-transfers/:id';

function readSituationOf({ services, params }: PageContext): Promise<IncomingSituation | null> {
  return readIncomingSituation(services.database.reader, idOf(params));
}

function idOf(params: Readonly<Record<string, string>>): IncomingTransferId {
  return asId<IncomingTransferId>(params.id ?? '');
}

const money = ({ amountMinor, currency }: IncomingTransfer) => amountText(amountMinor, currency);

/** What assigning does to the account, in numbers. */
function assignmentText(transfer: IncomingTransfer, accountId: string, assignment: Assignment): string {
  if ('rejected' in assignment) return `To account ${accountId}: not possible. ${assignment.rejected}`;
  const { change, availableAfterMinor } = assignment;
  const fee = transfer.feeMinor === 0n ? '' : ` less a fee of ${amountText(transfer.feeMinor, transfer.currency)}`;
  const available = amountText(availableAfterMinor, transfer.currency);
  return change.incoming.after.status === 'completed'
    ? `To account ${accountId}: ${money(transfer)}${fee} is credited at once, and ${available} is then available there.`
    : `To account ${accountId}: ${money(transfer)} is its own from now on, and credited once ${transfer.provider} releases it.`;
}

async function previewAssignment(context: PageContext) {
  const situation = await readSituationOf(context);
  if (situation === null) return null;
  const { transfer, now } = situation;
  const { reader } = context.services.database;
  const actor = context.person.id;
  const title = `Assign ${transfer.transactionNumber}`;
  const open = decided(() => requireAssignableBy(transfer, actor));
  if ('rejected' in open) return { title, consequences: ['It stays as it is.'], unavailable: open.rejected };
  const { candidates } = await readCandidates(reader, transfer, actor, now);
  const asked = context.query.get('account') ?? '';
  const isNear = candidates.some(({ near }) => near.id === asked);
  const other = !isNear && isUuid(asked) ? asId<AccountId>(asked) : null;
  const shown = candidates.filter(({ near }) => asked === '' || near.id === asked);
  const texts = [
    ...shown.map(({ near, assignment }) => assignmentText(transfer, near.id, assignment)),
    ...(other === null
      ? []
      : [assignmentText(transfer, other, assignmentTo(transfer, await readAccount(reader, other), actor, now))]),
  ];
  const possible = candidates.filter(({ assignment }) => 'change' in assignment);
  return {
    title,
    consequences: [
      ...(texts.length === 0 ? [`${money(transfer)} is credited to the account that you give.`] : texts),
      'It cannot be taken back here: a wrong owner may spend it.',
    ],
    fields: [
      ...(possible.length === 0 ? [] : [nearField(context, possible, isNear ? asked : '')]),
      {
        name: 'other',
        label: possible.length === 0 ? 'The account’s id' : 'Or another account’s id',
        kind: 'text',
        isOptional: possible.length > 0,
        initial: other ?? '',
      } satisfies RemedyField,
    ],
  };
}

function nearField({ privacy }: PageContext, possible: readonly Candidate[], initial: string): RemedyField {
  return {
    name: 'account',
    label: 'Which account?',
    kind: 'choice',
    isOptional: true,
    initial,
    choices: possible.map(({ near, holder, common }) => [
      near.id,
      `${privacy.name(holder?.accountHolderName ?? null)}, ${near.id}: has the ${common}`,
    ]),
  };
}

const WRONG_CHOICE = 'Choose one account: one of the near ones, or another by its id.';

/** The account that the form names, once. */
function chosenAccount({ account = '', other = '' }: Readonly<Record<string, string>>): AccountId {
  const chosen = (account === '' ? other : account).toLowerCase();
  if ((account !== '' && other !== '') || !isUuid(chosen)) {
    throw rejection('common.validation.field_invalid', ['incomingTransfer', 'accountId', chosen], WRONG_CHOICE);
  }
  return asId<AccountId>(chosen);
}

export const assignRemedy: Remedy = {
  kind: 'assign-incoming',
  label: 'Assign to an account',
  resource: 'incoming-transfer',
  page: PAGE,
  roles: ['operator'],
  movesMoney: true,
  isDangerous: true,
  preview: previewAssignment,
  async act({ services: { database }, params }, { fields }, initiator) {
    const accountId = chosenAccount(fields);
    const { transfer } = await database.transaction((tx) =>
      changeUnderLocks(tx, assignment({ id: idOf(params), accountId, initiator })),
    );
    const text =
      transfer.status === 'completed'
        ? `${money(transfer)} is credited to the account ${accountId}.`
        : `${money(transfer)} belongs to the account ${accountId}, and is credited once ${transfer.provider} releases it.`;
    return { state: 'done', text };
  },
};

async function returnOne(tx: Transaction, id: IncomingTransferId, initiator: Initiator): Promise<Outcome> {
  const { transfer } = await changeUnderLocks(tx, moneyReturn({ id, initiator }));
  return transfer.sendBackStatus === 'due'
    ? {
        state: 'unknown',
        text: `${money(transfer)} is on its way back; ${transfer.provider}’s answer is not known yet.`,
      }
    : { state: 'done', text: `${money(transfer)} is marked as returned: the caller that holds it sends it back.` };
}

export const returnRemedy: Remedy = {
  kind: 'return-incoming',
  label: 'Return to its payer',
  resource: 'incoming-transfer',
  page: PAGE,
  roles: ['operator'],
  movesMoney: true,
  isDangerous: true,
  async preview(context) {
    const situation = await readSituationOf(context);
    if (situation === null) return null;
    const { transfer, now } = situation;
    if (transfer.status === 'completed') return previewOfReturn(context, transfer);
    const account = transfer.accountId === null ? null : situation.account;
    const decision = decided(() => decideReturn(transfer, account, now));
    const title = `Return ${transfer.transactionNumber}`;
    if ('rejected' in decision) {
      return { title, consequences: ['It stays as it is.'], unavailable: decision.rejected };
    }
    const payer = context.privacy.name(transfer.senderName);
    const isSentBack = decision.change.incoming.after.sendBackStatus === 'due';
    return {
      title,
      consequences: [
        isSentBack
          ? `${money(transfer)} goes back to its payer ${payer} through ${transfer.provider}, in full, for good.`
          : `The transfer of ${money(transfer)} ends as failed, for good; the caller that holds the money sends it back.`,
        ...(transfer.receivableMinor === 0n
          ? []
          : [
              `The account ${transfer.accountId} no longer expects ${amountText(transfer.receivableMinor, transfer.currency)}.`,
            ]),
      ],
    };
  },
  async act(context, { fields }, initiator) {
    const { services, params } = context;
    // Only the form for completed money has fields. The transition rejects what the transfer is no longer.
    if (fields.code !== undefined) return returnCompleted(context, idOf(params), fields, initiator);
    return services.database.transaction((tx) => returnOne(tx, idOf(params), initiator));
  },
  forEach: ({ tx }, id, initiator) => returnOne(tx, asId<IncomingTransferId>(id), initiator),
};

export const INCOMING_TRANSFER_REMEDIES: readonly Remedy[] = [assignRemedy, returnRemedy];
