import { listBreaksOfDay } from '../../db/reconciliation/break-reads.ts';
import type { ReconciliationBreak } from '../../db/reconciliation/breaks.ts';
import { findReconciliation, type Reconciliation } from '../../db/reconciliation/days.ts';
import { asId, type ReconciliationId } from '../../domain/common/ids.ts';
import { Table } from '../lists/list-page.tsx';
import { Scroll } from '../look/scroll.tsx';
import { amountText, Instant, Status } from '../look/values.tsx';
import type { Page, PageContext } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { BREAK_COLUMNS } from './breaks.tsx';
import { DAY_REMEDIES } from './remedies.ts';

const BREAKS_SHOWN_MAX = 50;

/** A compared day: the sums of both sides, and the breaks that explain their difference. */
export const dayPage: Page = {
  path: '/reconciliation/:id',
  section: '/reconciliation',
  async view(context) {
    const { services, params } = context;
    const { reader } = services.database;
    const day = await findReconciliation(reader, asId<ReconciliationId>(params.id ?? ''));
    if (day === null) return null;
    const slice = { before: null, size: BREAKS_SHOWN_MAX };
    const [open, all, actions] = await Promise.all([
      listBreaksOfDay(reader, [day], { day: day.day, onlyOpen: true }, slice),
      listBreaksOfDay(reader, [day], { day: day.day, onlyOpen: false }, slice),
      actionsOf(context, DAY_REMEDIES),
    ]);
    const resolved = all.filter(({ status }) => status === 'resolved');
    return {
      title: `${day.provider} ${day.currency}, ${day.day}`,
      body: (
        <>
          <Sums day={day} />
          <section class="card">
            <h2>What can be done</h2>
            {actions}
          </section>
          <Breaks context={context} day={day} open={open} resolved={resolved} />
        </>
      ),
    };
  },
};

function Sums({ day }: { readonly day: Reconciliation }) {
  const { currency } = day;
  const isAgreed = day.openBreakCount === 0n;
  const rows = [
    [
      'The bank’s statement',
      day.providerCreditCount,
      day.providerCreditMinor,
      day.providerDebitCount,
      day.providerDebitMinor,
    ],
    ['Our books', day.ledgerCreditCount, day.ledgerCreditMinor, day.ledgerDebitCount, day.ledgerDebitMinor],
    [
      'The bank’s less ours',
      day.providerCreditCount - day.ledgerCreditCount,
      day.providerCreditMinor - day.ledgerCreditMinor,
      day.providerDebitCount - day.ledgerDebitCount,
      day.providerDebitMinor - day.ledgerDebitMinor,
    ],
  ] as const;
  return (
    <section class={`card ${isAgreed ? 'calm' : 'alarm'}`}>
      <h2>{isAgreed ? 'The day agrees' : `${day.openBreakCount} of ${day.breakCount} breaks are open`}</h2>
      <Scroll label="Sums of both sides">
        <table>
          <thead>
            <tr>
              <th scope="col">{currency}</th>
              <th scope="col" class="number">
                In
              </th>
              <th scope="col" class="number">
                Sum in
              </th>
              <th scope="col" class="number">
                Out
              </th>
              <th scope="col" class="number">
                Sum out
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, credits, creditMinor, debits, debitMinor]) => (
              <tr>
                <th scope="row">{name}</th>
                <td class="number">{credits.toLocaleString('en-GB')}</td>
                <td class="number">{amountText(creditMinor, currency)}</td>
                <td class="number">{debits.toLocaleString('en-GB')}</td>
                <td class="number">{amountText(debitMinor, currency)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="quiet">
        Compared <Instant at={day.comparedAt} />. The difference is exactly the sum of the breaks: on a day that agrees
        it is nothing, or notes explain it.
      </p>
    </section>
  );
}

function Breaks({
  context,
  day,
  open,
  resolved,
}: {
  readonly context: PageContext;
  readonly day: Reconciliation;
  readonly open: readonly ReconciliationBreak[];
  readonly resolved: readonly ReconciliationBreak[];
}) {
  const of = new URLSearchParams({ status: 'all', day: day.day, provider: day.provider, currency: day.currency });
  return (
    <section class="card">
      <h2>
        Breaks <Status of={day.openBreakCount === 0n ? 'matched' : 'open'} />
      </h2>
      {day.breakCount === 0n ? <p>Both sides have the same payments, each with the same amount.</p> : null}
      {open.length === 0 ? null : (
        <Table
          caption="Open breaks"
          columns={BREAK_COLUMNS}
          rows={open}
          cell={(column, row) => column.cell(row, context)}
        />
      )}
      {resolved.length === 0 ? null : (
        <>
          <h3>Resolved</h3>
          <Table
            caption="Resolved breaks"
            columns={BREAK_COLUMNS}
            rows={resolved}
            cell={(column, row) => column.cell(row, context)}
          />
        </>
      )}
      {day.breakCount === 0n ? null : (
        <p>
          <a href={`/reconciliation-breaks?${of}`}>All {day.breakCount.toLocaleString('en-GB')} breaks of the day</a>
        </p>
      )}
    </section>
  );
}
