import type { Reader } from '../../db/query/database.ts';
import { findNamedPayments } from '../../db/reconciliation/references.ts';
import type { Position } from '../../db/reconciliation/schema.ts';
import type { StatementItem } from '../../domain/reconciliation/bank-statements.ts';
import { FileMovements, type FilePage, statedMovement } from '../../domain/reconciliation/files/file-movements.ts';
import { type NamedPayment, namesIn } from '../../domain/reconciliation/files/named-payments.ts';
import type { StatedPage, StatementSource } from './statement-sources.ts';

/** Movements whose references are searched together. */
const BATCH = 200;

/** The entries of a bank's file that belong to this position, as the statement of a day. */
export function statementOfFile(
  reader: Reader,
  position: Position,
  items: () => AsyncIterable<readonly StatementItem[]>,
): StatementSource {
  return {
    kind: 'camt.053',
    async *pages(range) {
      const file = new FileMovements(position.currency, range);
      for await (const page of items()) {
        for (const item of page) {
          file.add(item);
          if (file.size >= BATCH) yield await recognised(reader, position, file.take());
        }
      }
      yield await recognised(reader, position, file.take());
    },
  };
}

async function recognised(reader: Reader, position: Position, page: FilePage): Promise<StatedPage> {
  const names = [...new Set(page.parts.flatMap(({ part }) => namesIn(part)))];
  const named = new Map<string, NamedPayment[]>();
  for (const payment of names.length === 0 ? [] : await findNamedPayments(reader, position, names)) {
    named.set(payment.name, [...(named.get(payment.name) ?? []), payment]);
  }
  const stated = page.parts.map((part) => statedMovement(part, named));
  return {
    movements: stated.map(({ movement }) => movement),
    breaks: [...page.breaks, ...stated.flatMap(({ breaks }) => breaks)],
    totals: page.totals,
  };
}
