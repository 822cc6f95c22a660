import { listPendingAuthorizations, type PendingAuthorization } from '../../db/approvals/pending-authorizations.ts';
import { listWaitingRemedyLists, type RemedyList } from '../../db/approvals/remedy-lists.ts';
import { type BankFileRequest, listWaitingRequests } from '../../db/bank-files/by-hand/requests.ts';
import { type Actor, readActors } from '../../db/people/actors.ts';
import { SIGNERS as BANK_FILE_SIGNERS, requestTitle, sumsOf } from '../bank-files/requests.ts';
import { amountText } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import type { Approval, ApprovalKind } from './approval-kind.ts';
import { sumsInWords, titleOf } from './list-remedies.ts';
import { findRemedyForMany, SIGNERS, signersOf } from './many.ts';

const KINDS: Readonly<Record<Actor['kind'], string>> = {
  person: 'person',
  'machine-user': 'machine user',
  'third-party-provider': 'third party',
};

interface Kind<Found> extends Pick<ApprovalKind, 'title' | 'more' | 'empty'> {
  /** Those that wait, the first to expire first. */
  list(context: PageContext, size: number): Promise<readonly Found[]>;
  makers(found: Found): readonly (string | null)[];
  show(found: Found, inWords: (maker: string | null) => string, context: PageContext): Approval;
}

function kindOf<Found>({ list, makers, show, ...named }: Kind<Found>): ApprovalKind {
  return {
    ...named,
    async read(context, limit) {
      const found = await list(context, limit + 1);
      const shown = found.slice(0, limit);
      const actors = await readActors(context.services.database.reader, shown.flatMap(makers));
      const inWords = (id: string | null) => {
        const actor = actors.get(id ?? '');
        return actor === undefined ? (id ?? 'unknown') : `${actor.name} (${KINDS[actor.kind]})`;
      };
      return { approvals: shown.map((one) => show(one, inWords, context)), isMore: found.length > limit };
    },
  };
}

function payee({ beneficiary, destinationHolder }: PendingAuthorization, { privacy }: PageContext): string {
  const number = beneficiary?.account?.iban ?? beneficiary?.account?.accountNumber ?? null;
  const name = privacy.name(beneficiary?.fullName ?? destinationHolder);
  return number === null ? name : `${name}, ${privacy.number(number)}`;
}

/** Payments from the interface, whatever caused them. */
const authorizations = kindOf<PendingAuthorization>({
  title: 'Payments',
  more: '/waiting?waiting-for=authorization',
  empty: 'No payment waits for a second signature.',
  list: ({ services }, size) => listPendingAuthorizations(services.database.reader, { after: null, size }),
  makers: ({ createdBy, consentedBy }) => [createdBy, ...consentedBy],
  show(transfer, inWords, context) {
    const { id, createdBy, reviewedBy, consentedBy } = transfer;
    const page = `/outgoing-transfers/${id}`;
    const makers = [createdBy, ...consentedBy];
    return {
      what: `Payment ${transfer.transactionNumber}, ${transfer.scheme ?? 'internal'}, on ${transfer.transferDate}`,
      href: page,
      amount: amountText(transfer.amountMinor, transfer.currency),
      to: payee(transfer, context),
      madeBy: makers.map(inWords).join(', under the consent approved by '),
      since: transfer.createdAt,
      until: transfer.waitingUntil,
      zone: context.services.configuration.schemes.zone(transfer),
      untilMeans: 'then it moves to the next open date, or fails after too many moves',
      isYours: [...makers, ...reviewedBy].includes(context.person.id),
      signers: ['approver'],
      sign: `${page}/authorize`,
      reject: `${page}/reject-authorization`,
    };
  },
});

const remedyLists = kindOf<RemedyList>({
  title: 'Lists of remedies',
  more: '/remedy-lists',
  empty: 'No list waits for a second signature.',
  list: ({ services }, size) => listWaitingRemedyLists(services.database.reader, services.now(), size),
  makers: ({ createdBy }) => [createdBy],
  show(list, inWords, { person }) {
    const page = `/remedy-lists/${list.id}`;
    const remedy = findRemedyForMany(list.remedy);
    return {
      what: titleOf(list),
      href: page,
      amount: sumsInWords(list),
      to: list.reason,
      madeBy: inWords(list.createdBy),
      since: list.createdAt,
      until: list.expiresAt,
      untilMeans: 'then it has to be frozen again',
      isYours: list.createdBy === person.id,
      signers: remedy === null ? SIGNERS : signersOf(remedy),
      sign: `${page}/sign-list`,
      reject: `${page}/reject-list`,
    };
  },
});

/** Files that are sent again or read, and payments whose hold ends. */
const bankFileRequests = kindOf<BankFileRequest>({
  title: 'Bank files',
  more: '/bank-file-requests',
  empty: 'No request about bank files waits for a second signature.',
  list: ({ services }, size) => listWaitingRequests(services.database.reader, size),
  makers: ({ askedBy }) => [askedBy],
  show(request, inWords, { person }) {
    const page = `/bank-file-requests/${request.id}`;
    return {
      what: requestTitle(request),
      href: page,
      amount: sumsOf(request),
      to: request.reason,
      madeBy: request.askedRole === null ? `${request.askedBy} (command)` : inWords(request.askedBy),
      since: request.askedAt,
      until: request.expiresAt,
      untilMeans: 'then it has to be asked for again',
      isYours: request.askedBy === person.id,
      signers: BANK_FILE_SIGNERS,
      sign: `${page}/sign-bank-file-request`,
      reject: `${page}/reject-bank-file-request`,
    };
  },
});

/** Everything that waits for a second signature, from interface, command line and console alike. */
export const APPROVAL_KINDS: readonly ApprovalKind[] = [authorizations, remedyLists, bankFileRequests];
