import { type DomainError, rejection } from '../../common/errors.ts';
import type { BankFileId } from '../../common/ids.ts';

/** What people may do about files while their bank's server is away. None of it sends what may have arrived under another reference. */

export const BANK_FILE_STATES = [
  'built',
  'delivering',
  'handed-out',
  'delivered',
  'carried',
  'fetched',
  'taken',
  'set-aside',
] as const;
export type BankFileState = (typeof BANK_FILE_STATES)[number];

/** A file as its rules see it. */
export interface FileStanding {
  readonly id: BankFileId;
  readonly direction: 'out' | 'in';
  readonly state: BankFileState;
  /** Of its bytes, as 64 hexadecimal digits; null: they are not here, as the file could not be read. */
  readonly digest: string | null;
  /** From then on an upload may have arrived; null: none can have. */
  readonly renameBeganAt: Date | null;
  readonly handedOutBy: string | null;
  /** When the exchange let go of it, in real time; null: long ago, or not yet. */
  readonly letGoAt: Date | null;
  /** When a person has seen to it: it raises no alarm. */
  readonly settledAt: Date | null;
  /** The bank has told something of its payments or requests. */
  readonly isHeardOf: boolean;
  /** Neither payments nor requests are in it any more: another file carries them. */
  readonly isEmpty: boolean;
  /** Some of its payments are not at the bank, or not provably. */
  readonly hasOpenPayments: boolean;
  /** Some of its payments have ended without the bank, as people may end them after a restore: their money is free. */
  readonly hasEndedPayments: boolean;
}

/** A state in words. */
const STANDS: Readonly<Record<BankFileState, string>> = {
  built: 'it waits for its delivery',
  delivering: 'the service delivers it',
  'handed-out': 'a person carries it',
  delivered: 'it is at the bank',
  carried: 'a person has brought it, and it waits for a second signature',
  fetched: 'the service reads it',
  taken: 'it is taken',
  'set-aside': 'it is set aside',
};

/** Gives the bytes to a person who carries them; `again`: to the same person once more. Throws if an upload may have arrived. */
export function decideHandOut(file: FileStanding, actor: string): 'first' | 'again' {
  requireDirection(file, 'out', 'handed out');
  if (file.state === 'handed-out' && file.handedOutBy === actor) return 'again';
  if (file.state === 'handed-out') {
    throw unfit(
      file,
      'handed-out',
      `${file.handedOutBy} carries it already. Two carriers may pay twice: mark it delivered or undelivered.`,
    );
  }
  if (file.state !== 'built' && file.state !== 'delivering') throw cannot(file, 'handed out', 'handed-out');
  if (file.renameBeganAt === null) return 'first';
  const message = 'It may have arrived: ask the bank, set it aside, and mark it delivered or undelivered.';
  throw unfit(file, 'handed-out', message);
}

/** A person says that the bank has the file; false: it is known. */
export function decideDelivered(file: FileStanding, digest: string): boolean {
  requireDirection(file, 'out', 'marked delivered');
  if (digest.toLowerCase() !== file.digest) {
    const message = 'The digest of what the bank has is not that of this file: it is another file, or it was changed.';
    throw rejection('common.validation.field_invalid', ['bankFile', 'digest', digest], message);
  }
  return file.state !== 'delivered';
}

/** Takes a file out of the service's hands; false: it is set aside already. */
export function decideSetAside(file: FileStanding): boolean {
  switch (file.state) {
    case 'set-aside':
      return false;
    case 'built':
    case 'delivering':
    case 'handed-out':
    case 'fetched':
      return true;
    default:
      throw cannot(file, 'set aside', 'set-aside');
  }
}

/** A person has seen to a file that is set aside, which ends its alarm; false: it is known. */
export function decideSettled(file: FileStanding): boolean {
  if (file.state !== 'set-aside') throw cannot(file, 'settled', 'settled');
  if (file.direction === 'out' && file.hasOpenPayments) {
    const message = 'Payments of it are open: ask the bank, and mark it delivered or undelivered.';
    throw unfit(file, 'settled', message);
  }
  return file.settledAt === null;
}

/** Reads a file of the bank again from its beginning: what it has told before has no second effect. */
export function requireTakeable(file: FileStanding): void {
  requireDirection(file, 'in', 'taken again');
  if (file.state !== 'set-aside') throw cannot(file, 'taken again', 'fetched');
  if (file.digest === null) throw unfit(file, 'fetched', 'Its bytes are not here: bring it, and settle this one.');
}

/** A file that a person has brought, before the second signature. */
export function requireCarried(file: FileStanding): void {
  if (file.state !== 'carried') throw cannot(file, 'signed for', 'fetched');
}

/** Sends a file once more, under its name and with its bytes: the bank says that it has none of it. */
export function requireSendable(file: FileStanding): void {
  requireDirection(file, 'out', 'sent again');
  if (file.isHeardOf) {
    throw unfit(file, 'built', 'The bank has told something of its payments: it has arrived.');
  }
  if (file.hasEndedPayments) throw unfit(file, 'built', 'A payment in it has ended, and its money is free.');
  if (file.isEmpty) throw unfit(file, 'built', 'Another file carries what was in it.');
  if (file.state === 'delivering') throw unfit(file, 'built', 'Set it aside first: the service still looks for it.');
  if (file.state === 'built') throw cannot(file, 'sent again', 'built');
}

/** Above the deadlines of all calls for one file: a delivery that had begun has ended by then. */
export const DELIVERY_MS_MAX = 180_000;

/** A file as it was when it was asked for. */
export interface AskedFile {
  readonly state: string;
  readonly letGoAt: Date | null;
}

/** As requireSendable, when it is done: nothing may have moved the file since it was asked for. `now`: real time. */
export function requireSendableNow(file: FileStanding, asked: AskedFile, now: Date): void {
  requireSendable(file);
  if (file.state !== asked.state || file.letGoAt?.getTime() !== asked.letGoAt?.getTime()) {
    throw unfit(file, 'built', 'It has moved since it was asked for: look at it, and ask again.');
  }
  const ended = (file.letGoAt?.getTime() ?? 0) + DELIVERY_MS_MAX;
  if (ended <= now.getTime()) return;
  const message = `A delivery that had begun may still end: sign it after ${new Date(ended).toISOString()}.`;
  throw unfit(file, 'built', message);
}

function requireDirection({ id, direction }: FileStanding, wanted: 'out' | 'in', what: string): void {
  if (direction === wanted) return;
  const message = `The file ${id} ${direction === 'out' ? 'is one of ours' : 'came from the bank'}: it cannot be ${what}.`;
  throw rejection('common.state.illegal_transition', ['bankFile', 'direction', direction], message);
}

function cannot(file: FileStanding, what: string, wanted: string): DomainError {
  return unfit(file, wanted, `It cannot be ${what}: ${STANDS[file.state]}.`);
}

function unfit({ id }: FileStanding, wanted: string, message: string): DomainError {
  return rejection('common.state.illegal_transition', ['bankFile', 'state', wanted], `File ${id}: ${message}`);
}
