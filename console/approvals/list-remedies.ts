import { countItemResults } from '../../db/approvals/remedy-list-items.ts';
import {
  findRemedyList,
  type RemedyList,
  rejectRemedyList,
  signRemedyList,
  stopRemedyList,
} from '../../db/approvals/remedy-lists.ts';
import type { Initiator } from '../../db/common/audit-entries.ts';
import { requireRejectable, requireSignable, requireStoppable } from '../../domain/approvals/remedy-lists.ts';
import { rejection } from '../../domain/common/errors.ts';
import { asId, type RemedyListId } from '../../domain/common/ids.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { amountText } from '../look/values.tsx';
import { hasRole, type PageContext } from '../page/page.ts';
import { decided } from '../remedies/decided.ts';
import type { Preview, Remedy } from '../remedies/remedy.ts';
import { offReason } from '../remedies/remedy-pages.tsx';
import { findRemedyForMany, SIGNERS, signersOf } from './many.ts';

export const LIST_PAGE = '/remedy-lists/:id';

/** The list's sums as its currencies write them. */
export function sumsInWords({ sums }: Pick<RemedyList, 'sums'>): string {
  return Object.entries(sums)
    .map(([currency, sum]) => amountText(BigInt(sum), currency))
    .join(' and ');
}

/** What a list does, in the words of its remedy. */
export function titleOf({ remedy, itemCount }: Pick<RemedyList, 'remedy' | 'itemCount'>): string {
  return `${findRemedyForMany(remedy)?.label ?? remedy} for ${itemCount.toLocaleString('en-GB')}`;
}

function idOf({ params }: PageContext): RemedyListId {
  return asId<RemedyListId>(params.id ?? '');
}

/** The role by which this person may sign the list. Throws if there is none, or the remedy is turned off here. */
function signingRole({ services, person }: PageContext, { remedy: kind }: RemedyList): Role {
  const remedy = findRemedyForMany(kind);
  const role = remedy === null ? undefined : signersOf(remedy).find((one) => person.roles.includes(one));
  if (remedy === null || role === undefined) {
    const needed = remedy === null ? 'of another console' : signersOf(remedy).join(' or ');
    throw denied(`This list is for the role ${needed}.`);
  }
  const off = offReason(remedy, { services, person: { ...person, roles: remedy.roles } });
  if (off !== null) throw denied(off);
  return role;
}

function denied(message: string) {
  return rejection('common.security.access_denied', ['remedyList', 'status', 'running'], message);
}

function previewOf(
  consequences: (list: RemedyList) => readonly string[],
  check: (context: PageContext, list: RemedyList) => void,
  title: string,
): Remedy['preview'] {
  return async (context): Promise<Preview | null> => {
    const list = await findRemedyList(context.services.database.reader, idOf(context));
    if (list === null) return null;
    const decision = decided(() => check(context, list));
    return {
      title: `${title}: ${titleOf(list)}`,
      consequences: consequences(list),
      ...('rejected' in decision ? { unavailable: decision.rejected } : {}),
    };
  };
}

/** The list of the page, and who acts on it, by the role that `roleFor` finds or rejects. */
async function signerOf(
  context: PageContext,
  initiator: Initiator,
  roleFor: (context: PageContext, list: RemedyList) => Role,
) {
  const id = idOf(context);
  const list = await findRemedyList(context.services.database.reader, id);
  if (list === null) throw new Error('the list of this page is gone');
  return { id, signer: { ...initiator, role: roleFor(context, list), reason: initiator.reason ?? '' } };
}

const signList: Remedy = {
  kind: 'sign-list',
  label: 'Sign',
  resource: 'remedy-list',
  page: LIST_PAGE,
  roles: SIGNERS,
  movesMoney: true,
  isDangerous: true,
  preview: previewOf(
    (list) => [
      `${titleOf(list)} transfers, together ${sumsInWords(list)}: exactly those of the list, for the reason “${list.reason}”.`,
      'It begins at once. Each is done by the rules of the single act; one that is rejected stops no other.',
    ],
    (context, list) => {
      requireSignable(list, context.person.id, context.services.now());
      signingRole(context, list);
    },
    'Sign',
  ),
  async act(context, _, initiator) {
    const { services } = context;
    const { id, signer } = await signerOf(context, initiator, signingRole);
    await services.database.transaction((tx) => signRemedyList(tx, id, signer, services.now()));
    return { state: 'unknown', text: 'It is signed, and being done. The results appear below.' };
  },
};

const rejectList: Remedy = {
  kind: 'reject-list',
  label: 'Reject',
  resource: 'remedy-list',
  page: LIST_PAGE,
  roles: SIGNERS,
  movesMoney: false,
  preview: previewOf(
    () => ['The list ends, and nothing of it is done.'],
    (context, list) => {
      requireRejectable(list);
      requireSigner(context, list);
    },
    'Reject',
  ),
  async act(context, _, initiator) {
    const { id, signer } = await signerOf(context, initiator, requireSigner);
    await context.services.database.transaction((tx) => rejectRemedyList(tx, id, signer));
    return { state: 'done', text: 'It is rejected: nothing of it is done.' };
  },
};

const stopList: Remedy = {
  kind: 'stop-list',
  label: 'Stop',
  resource: 'remedy-list',
  page: LIST_PAGE,
  roles: SIGNERS,
  movesMoney: false,
  isDangerous: true,
  async preview(context) {
    const preview = await previewOf(
      () => [],
      (_, list) => {
        requireStoppable(list);
        requireSigner(context, list);
      },
      'Stop',
    )(context);
    if (preview === null) return null;
    const results = await countItemResults(context.services.database.reader, idOf(context));
    const left = results.find(({ result }) => result === 'open')?.count ?? 0;
    const done = results.reduce((sum, { count }) => sum + count, 0) - left;
    return {
      ...preview,
      consequences: [
        `${left.toLocaleString('en-GB')} that are left stay undone, for good. One that is under way just now is finished.`,
        `The ${done.toLocaleString('en-GB')} that have their result keep it.`,
      ],
    };
  },
  async act(context, _, initiator) {
    const { id, signer } = await signerOf(context, initiator, requireSigner);
    await context.services.database.transaction((tx) => stopRemedyList(tx, id, signer));
    return {
      state: 'done',
      text: 'It is stopped: nothing more of it is begun. What is still open below stays undone.',
    };
  },
};

/** Also where the remedy is turned off: a list can always be ended. */
function requireSigner({ person }: PageContext, { remedy: kind }: RemedyList): Role {
  const remedy = findRemedyForMany(kind);
  const roles = remedy === null ? SIGNERS : signersOf(remedy);
  const role = roles.find((one) => hasRole(person, [one]));
  if (role === undefined) throw denied(`This list is for the role ${roles.join(' or ')}.`);
  return role;
}

export const REMEDY_LIST_REMEDIES: readonly Remedy[] = [signList, rejectList, stopList];
