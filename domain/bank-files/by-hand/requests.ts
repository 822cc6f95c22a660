import { rejection } from '../../common/errors.ts';
import type { BankFileRequestId } from '../../common/ids.ts';

/** What may pay twice, books money or ends a restore on the word of people, is asked for by one person and signed by another. */

export const REQUEST_KINDS = ['send-again', 'take-carried', 'release', 'close-restore'] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** What a bank says of a held payment. */
export const BANK_WORDS = ['not-received', 'received', 'rejected', 'withdrawn', 'paid'] as const;
export type BankWord = (typeof BANK_WORDS)[number];

/** What follows for a held payment. */
export const WORD_MEANINGS: Readonly<Record<BankWord, string>> = {
  'not-received': 'the next file carries it',
  received: 'no file carries it, and the bank’s own word ends it',
  rejected: 'it fails, and its money is available again; a return of money in goes on waiting',
  withdrawn:
    'the bank has none of it, and it shall not go: it fails, and its money is available again; a return of money in goes on waiting',
  paid: 'it is booked as paid, and no file carries it',
};

/** The words after which the money could leave once more: none of them is taken of a payment whose debit stands in our books. */
export function mayPayAgain(word: BankWord): boolean {
  return word === 'not-received' || word === 'rejected' || word === 'withdrawn';
}

/** The most payments of one request. */
export const PAYMENTS_MAX = 10_000;

export interface RequestStanding {
  readonly id: BankFileRequestId;
  readonly status: 'waiting' | 'signed' | 'rejected';
  readonly askedBy: string;
  /** Null: a command, whose user is one of the operating system. */
  readonly askedRole: string | null;
  readonly expiresAt: Date;
}

interface Signer {
  readonly actor: string;
  readonly role?: string;
}

/**
 * Rejects the signature of the person who asked, and one that comes too late. A user of the operating system and a person of the console may be one
 * and the same, so that both ask and sign at the same place. `now`: real time.
 */
export function requireSignature(request: RequestStanding, { actor, role }: Signer, now: Date): void {
  requireOpen(request, 'signed');
  if (request.askedBy === actor) throw denied('You asked for it: another person must sign.');
  if ((request.askedRole === null) !== (role === undefined)) {
    throw denied(
      request.askedRole === null
        ? 'A command asked for it, whose user you may be: another user of the operating system signs it by a command.'
        : 'It was asked for in the console: another person signs it there.',
    );
  }
  if (request.expiresAt.getTime() > now.getTime()) return;
  const message = `Its time for a signature ended ${request.expiresAt.toISOString()}: ask again.`;
  throw rejection('common.state.illegal_transition', ['bankFileRequest', 'status', 'signed'], message);
}

/** Who may sign may reject, and so may the person who asked. */
export function requireOpen({ id, status }: RequestStanding, wanted: 'signed' | 'rejected'): void {
  if (status === 'waiting') return;
  const message = `The request ${id} cannot be ${wanted}: it was ${status}.`;
  throw rejection('common.state.illegal_transition', ['bankFileRequest', 'status', wanted], message);
}

function denied(message: string) {
  return rejection('common.security.access_denied', ['bankFileRequest', 'status', 'signed'], message);
}
