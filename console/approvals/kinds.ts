import { listPendingAuthorizations, type PendingAuthorization } from '../../db/approvals/pending-authorizations.ts';
import { listWaitingRemedyLists } from '../../db/approvals/remedy-lists.ts';
import { listWaitingRequests } from '../../db/bank-files/by-hand/requests.ts';
import { type Actor, readActors } from '../../db/people/actors.ts';
import { isUuid } from '../../domain/common/ids.ts';
import { SIGNERS as BANK_FILE_SIGNERS, requestTitle, sumsOf } from '../bank-files/requests.ts';
import { amountText } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import type { ApprovalKind } from './approval-kind.ts';
import { sumsInWords, titleOf } from './list-remedies.ts';
import { findRemedyForMany, SIGNERS, signersOf } from './many.ts';

const KINDS: Readonly<Record<Actor['kind'], string>> = {
  person: 'person',
  'machine-user': 'machine user',
  'third-party-provider': 'third party',
};

function makerInWords(actors: ReadonlyMap<string, Actor>, id: string | null): string {
  const actor = id === null ? undefined : actors.get(id);
  return actor === undefined ? (id ?? 'unknown') : `${actor.name} (${KINDS[actor.kind]})`;
}

function payee({ beneficiary, destinationHolder }: PendingAuthorization, { privacy }: PageContext): string {
  const number = beneficiary?.account?.iban ?? beneficiary?.account?.accountNumber ?? null;
  const name = privacy.name(beneficiary?.fullName ?? destinationHolder);
  return number === null ? name : `${name}, ${privacy.number(number)}`;
}

/** Payments from the interface, whatever caused them. */
const authorizations: ApprovalKind = {
  title: 'Payments',
  more: '/waiting?waiting-for=authorization',
  empty: 'No payment waits for a second signature.',
  async read(context, limit) {
    const { services, person } = context;
    const { reader } = services.database;
    const found = await listPendingAuthorizations(reader, { after: null, size: limit + 1 });
    const shown = found.slice(0, limit);
    const actors = await readActors(
      reader,
      shown.flatMap(({ createdBy, consentedBy }) => [createdBy, ...consentedBy]),
    );
    const approvals = shown.map((transfer) => {
      const { id, createdBy, reviewedBy, consentedBy } = transfer;
      const page = `/outgoing-transfers/${id}`;
      const makers = [createdBy, ...consentedBy];
      return {
        what: `Payment ${transfer.transactionNumber}, ${transfer.scheme ?? 'internal'}, on ${transfer.transferDate}`,
        href: page,
        amount: amountText(transfer.amountMinor, transfer.currency),
        to: payee(transfer, context),
        madeBy: makers.map((maker) => makerInWords(actors, maker)).join(', under the consent approved by '),
        since: transfer.createdAt,
        until: transfer.waitingUntil,
        zone: services.configuration.schemes.zone(transfer),
        untilMeans: 'then it moves to the next open date, or fails after too many moves',
        isYours: [...makers, ...reviewedBy].includes(person.id),
        signers: ['approver'] as const,
        sign: `${page}/authorize`,
        reject: `${page}/reject-authorization`,
      };
    });
    return { approvals, isMore: found.length > limit };
  },
};

const remedyLists: ApprovalKind = {
  title: 'Lists of remedies',
  more: '/remedy-lists',
  empty: 'No list waits for a second signature.',
  async read({ services, person }, limit) {
    const { reader } = services.database;
    const found = await listWaitingRemedyLists(reader, services.now(), limit + 1);
    const shown = found.slice(0, limit);
    const actors = await readActors(
      reader,
      shown.map(({ createdBy }) => createdBy),
    );
    const approvals = shown.map((list) => {
      const page = `/remedy-lists/${list.id}`;
      const remedy = findRemedyForMany(list.remedy);
      return {
        what: titleOf(list),
        href: page,
        amount: sumsInWords(list),
        to: list.reason,
        madeBy: makerInWords(actors, list.createdBy),
        since: list.createdAt,
        until: list.expiresAt,
        untilMeans: 'then it has to be frozen again',
        isYours: list.createdBy === person.id,
        signers: remedy === null ? SIGNERS : signersOf(remedy),
        sign: `${page}/sign-list`,
        reject: `${page}/reject-list`,
      };
    });
    return { approvals, isMore: found.length > limit };
  },
};

/** Files that are sent again or read, and payments whose hold ends. */
const bankFileRequests: ApprovalKind = {
  title: 'Bank files',
  more: '/bank-file-requests',
  empty: 'No request about bank files waits for a second signature.',
  async read({ services, person }, limit) {
    const { reader } = services.database;
    const found = await listWaitingRequests(reader, limit + 1);
    const shown = found.slice(0, limit);
    const people = shown.map(({ askedBy }) => askedBy).filter(isUuid);
    const actors = await readActors(reader, people);
    const approvals = shown.map((request) => {
      const page = `/bank-file-requests/${request.id}`;
      return {
        what: requestTitle(request),
        href: page,
        amount: sumsOf(request),
        to: request.reason,
        madeBy: request.askedRole === null ? `${request.askedBy} (command)` : makerInWords(actors, request.askedBy),
        since: request.askedAt,
        until: request.expiresAt,
        untilMeans: 'then it has to be asked for again',
        isYours: request.askedBy === person.id,
        signers: BANK_FILE_SIGNERS,
        sign: `${page}/sign-bank-file-request`,
        reject: `${page}/reject-bank-file-request`,
      };
    });
    return { approvals, isMore: found.length > limit };
  },
};

/** Everything that waits for a second signature, from interface, command line and console alike. */
export const APPROVAL_KINDS: readonly ApprovalKind[] = [authorizations, remedyLists, bankFileRequests];
