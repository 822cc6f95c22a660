import type { Child } from 'hono/jsx';
import { listWebhookDeliveries, type WebhookDelivery } from '../../db/webhooks/deliveries.ts';
import type { TimelineEntry } from '../../domain/timelines/timelines.ts';
import type { Column } from '../lists/list.ts';
import { Table } from '../lists/list-page.tsx';
import { Amount, Id, Instant, Status } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';

/** A column of a table that is not exported. */
function column<Row>(header: string, cell: (row: Row) => Child, isNumber = false): Column<Row> {
  return { header, isNumber, cell: (row) => cell(row), text: () => '' };
}

type Posted = Extract<TimelineEntry, { readonly kind: 'ledger-entry' }>;

const POSTED: readonly Column<Posted>[] = [
  column('Booked', ({ at }) => <Instant at={at} />),
  column('From', ({ contents }) => contents.debit),
  column('To', ({ contents }) => contents.credit),
  column('What', ({ contents }) => contents.entryType),
  column(
    'Amount',
    ({ contents: { amountMinor, currency } }) => <Amount minor={BigInt(amountMinor)} currency={currency} />,
    true,
  ),
  column(
    'Balance after',
    ({ contents: { balanceMinor, currency } }) =>
      balanceMinor === null ? '–' : <Amount minor={BigInt(balanceMinor)} currency={currency} />,
    true,
  ),
];

/** What a transfer has moved. */
export function LedgerEntries({
  context,
  entries,
}: {
  readonly context: PageContext;
  readonly entries: readonly TimelineEntry[];
}) {
  const posted = entries.flatMap((entry) => (entry.kind === 'ledger-entry' ? [entry] : []));
  return (
    <section class="card">
      <h2>Ledger entries</h2>
      {posted.length === 0 ? (
        <p>It has moved nothing yet.</p>
      ) : (
        <Table
          caption="Ledger entries"
          columns={POSTED}
          rows={posted}
          cell={(shown, row) => shown.cell(row, context)}
        />
      )}
    </section>
  );
}

const DELIVERIES_MAX = 50;

const DELIVERED: readonly Column<WebhookDelivery>[] = [
  column('Event', ({ id, type }) => <a href={`/webhook-deliveries/${id}`}>{type}</a>),
  column('Status', ({ status }) => <Status of={status} />),
  column('Attempts', ({ attemptCount }) => attemptCount, true),
  column('Last answer', ({ attempts }) => attempts.at(-1)?.responseCode ?? attempts.at(-1)?.error ?? '–'),
  column('Next attempt', ({ status, nextAttemptAt }) => <Instant at={status === 'pending' ? nextAttemptAt : null} />),
  column('Subscription', ({ subscriptionId }) => <Id of={subscriptionId} to={`/webhooks/${subscriptionId}`} />),
];

/** Who was told about a resource, and whether they have heard. */
export async function Webhooks({
  context,
  resourceId,
}: {
  readonly context: PageContext;
  readonly resourceId: string;
}) {
  const { rows, totalElements } = await listWebhookDeliveries(
    context.services.database.reader,
    { resourceId },
    { size: DELIVERIES_MAX, offset: 0 },
  );
  return (
    <section class="card">
      <h2>Webhooks</h2>
      {rows.length === 0 ? (
        <p>No subscription is told about it, or its deliveries are no longer kept.</p>
      ) : (
        <Table caption="Webhooks" columns={DELIVERED} rows={rows} cell={(shown, row) => shown.cell(row, context)} />
      )}
      {totalElements > rows.length ? (
        <p class="quiet">
          The first {DELIVERIES_MAX} of {totalElements.toLocaleString('en-GB')}.
        </p>
      ) : null}
    </section>
  );
}
