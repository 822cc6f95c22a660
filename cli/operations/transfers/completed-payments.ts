import { reportOf } from '../../../activities/outgoing-transfers/activities.ts';
import { type Provider, ProviderUnavailable } from '../../../activities/providers/port.ts';
import type { Initiator } from '../../../db/common/audit-entries.ts';
import { bookLookedUpReturns } from '../../../db/outgoing-transfers/operator-commands.ts';
import type { Database } from '../../../db/query/database.ts';
import type { OutgoingTransfer } from '../../../domain/outgoing-transfers/rows.ts';
import type { TransferRules } from '../../../domain/outgoing-transfers/transfer-changes.ts';

interface Asking {
  readonly database: Database;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly rules: TransferRules;
}

type Result = 'no-answer' | 'not-found' | 'break' | 'returned' | 'no-news';

interface LookedUp {
  readonly transfer: OutgoingTransfer;
  readonly result: Result;
  /** In a sentence or two. */
  readonly text: string;
}

const TEXTS: Readonly<Record<Result, string>> = {
  'no-answer': 'The provider gives no answer. Ask again.',
  'not-found':
    'The provider does not know this payment, which is booked as paid. Nothing is changed: ask the provider.',
  break: 'The provider reports something other than what is booked, which is now a break.',
  returned: 'What has come back is booked.',
  'no-news': 'Nothing has come back that is not booked.',
};

/** Asks the provider of a completed payment, which has no workflow left to ask, and books what has come back. */
export async function lookUpCompleted(
  { database, providers, rules }: Asking,
  present: OutgoingTransfer,
  initiator: Initiator,
): Promise<LookedUp> {
  const { id } = present;
  const provider = providers.get(present.provider);
  if (provider === undefined) throw new Error(`${present.provider} is no provider of the configuration`);
  const state = await provider.lookUpPayment(id, {}).catch((error: unknown) => {
    if (error instanceof ProviderUnavailable) return null;
    throw error;
  });
  if (state === null) return lookedUp(present, 'no-answer');
  if (state.outcome === 'not-found') return lookedUp(present, 'not-found');
  const given = { id, found: reportOf(id, state) };
  const booked = await database.transaction((tx) => bookLookedUpReturns(tx, given, rules, initiator));
  const { transfer, changed, outcome } = booked;
  if (outcome !== 'break') return lookedUp(transfer, changed ? 'returned' : 'no-news');
  return lookedUp(transfer, 'break', changed ? ' What is new is booked.' : '');
}

function lookedUp(transfer: OutgoingTransfer, result: Result, more = ''): LookedUp {
  return { transfer, result, text: `${TEXTS[result]}${more}` };
}
