import type { Reader } from '../../db/driver/client.ts';
import { findNamedPayments, type NamedPayment } from '../../db/reconciliation/references.ts';
import type { Position } from '../../db/reconciliation/statements.ts';
import type { MovementKind } from '../../domain/reconciliation/daily-reconciliation.ts';
import type { CamtEntry } from './camt-053.ts';
import type { StatedMovement, StatementSource } from './statement-sources.ts';

/** Entries whose references are looked for together. */
const BATCH = 200;

/** The entries of a bank's file that are of this position, as the statement of a day. */
export function statementOfFile(
  reader: Reader,
  position: Position,
  entries: () => AsyncIterable<readonly CamtEntry[]>,
): StatementSource {
  return {
    kind: 'camt.053',
    async *pages({ from, to }) {
      for await (const page of entries()) {
        const wanted = page.filter(
          ({ currency, bookedAt }) => currency === position.currency && bookedAt >= from && bookedAt < to,
        );
        for (let start = 0; start < wanted.length; start += BATCH) {
          const batch = wanted.slice(start, start + BATCH);
          yield { movements: await movementsOf(reader, position, batch), unreadable: [] };
        }
      }
    },
  };
}

async function movementsOf(
  reader: Reader,
  position: Position,
  entries: readonly CamtEntry[],
): Promise<readonly StatedMovement[]> {
  const names = [...new Set(entries.flatMap(({ references }) => references))];
  const named = new Map((await findNamedPayments(reader, position, names)).map((payment) => [payment.name, payment]));
  return entries.map((entry): StatedMovement => {
    const known = entry.references.flatMap((reference) => named.get(reference) ?? [])[0] ?? null;
    const movement = kindOf(entry, known);
    const isIn = movement === 'payment-in' || movement === 'payment-in-sent-back';
    return {
      entryId: `${entry.number}-${entry.transaction}`,
      movement,
      direction: isIn ? 'in' : 'out',
      reference: known?.reference ?? nameOf(entry, isIn),
      amountMinor: entry.amountMinor,
      bookedAt: entry.bookedAt,
      accounts: [],
    };
  });
}

function kindOf({ direction, isReversal }: CamtEntry, known: NamedPayment | null): MovementKind {
  const isIn = known === null ? (direction === 'credit') !== isReversal : known.direction === 'in';
  if (direction === 'credit') return isIn ? 'payment-in' : 'payment-out-undone';
  return isIn ? 'payment-in-sent-back' : 'payment-out';
}

/** What a payment that is not ours is known by: the bank's reference for money in, whatever is there for money out. */
function nameOf({ references, bankReference, bookedAt, number }: CamtEntry, isIn: boolean): string {
  const [first] = references;
  return (isIn ? (bankReference ?? first) : first) ?? `entry-${number}-of-${bookedAt.toISOString().slice(0, 10)}`;
}
