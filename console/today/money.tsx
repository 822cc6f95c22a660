import { type MoneyHeld, readMoneyHeld } from '../../db/ledger/positions.ts';
import type { Column } from '../lists/list.ts';
import { Table } from '../lists/list-page.tsx';
import { Amount } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';

const column = (header: string, minorOf: (held: MoneyHeld) => bigint): Column<MoneyHeld> => ({
  header,
  isNumber: true,
  cell: (held) => <Amount minor={minorOf(held)} currency={held.currency} />,
  text: () => '',
});

/** Amounts name their currency. */
const COLUMNS: readonly Column<MoneyHeld>[] = [
  column('For clients', ({ clientsMinor }) => clientsMinor),
  column('Without owner', ({ heldMinor }) => heldMinor),
  column('Our own', ({ ownMinor }) => ownMinor),
];

/** Money held per currency. */
export async function moneyHeld(context: PageContext) {
  const held = await readMoneyHeld(context.services.database.reader);
  return (
    <section class="card">
      <h2>Money held</h2>
      {held.length === 0 ? (
        <p>No money is held yet.</p>
      ) : (
        <Table caption="Money held" columns={COLUMNS} rows={held} cell={(shown, row) => shown.cell(row, context)} />
      )}
    </section>
  );
}
