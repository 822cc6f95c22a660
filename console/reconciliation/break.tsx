import { instructionOf } from '../../cli/operations/why/breaks.ts';
import { type BreakLine, findBreakResource, readBreakLines } from '../../db/reconciliation/break-reads.ts';
import { findBreak, type ReconciliationBreak } from '../../db/reconciliation/breaks.ts';
import { findDayOf } from '../../db/reconciliation/days.ts';
import type { StoredFacts } from '../../db/reconciliation/schema.ts';
import { asId, type ReconciliationBreakId } from '../../domain/common/ids.ts';
import { pageOf } from '../look/links.ts';
import { Scroll } from '../look/scroll.tsx';
import { amountText, Id, Instant, Status } from '../look/values.tsx';
import type { Page, PageContext } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { sideText } from './breaks.tsx';
import { BREAK_REMEDIES } from './remedies.ts';

/** A break: what each side has, what to do about it, and the note with which it was resolved. */
export const breakPage: Page = {
  path: '/reconciliation-breaks/:id',
  section: '/reconciliation',
  shows: 'reconciliation-break',
  async view(context) {
    const { reader } = context.services.database;
    const found = await findBreak(reader, asId<ReconciliationBreakId>(context.params.id ?? ''));
    if (found === null) return null;
    const { provider, currency, day, resourceId } = found;
    const [lines, resource, dayId, actions] = await Promise.all([
      readBreakLines(reader, found),
      resourceId === null ? null : findBreakResource(reader, resourceId),
      day === null || currency === null ? null : findDayOf(reader, { provider, currency }, day),
      actionsOf(context, BREAK_REMEDIES),
    ]);
    const page = resource === null || resourceId === null ? null : pageOf(resource, resourceId);
    const known = { found, page, dayId, resource };
    return {
      title: `Break: ${found.kind}`,
      body: (
        <>
          <div class="cards">
            <Facts context={context} known={known} />
            <section class="card">
              <h2>What can be done</h2>
              {found.status === 'open' ? <Instruction known={known} /> : <Resolution context={context} found={found} />}
              {actions}
            </section>
          </div>
          <BothSides context={context} found={found} lines={lines} />
        </>
      ),
    };
  },
};

interface Known {
  readonly found: ReconciliationBreak;
  /** The page of its resource. */
  readonly page: string | null;
  readonly dayId: string | null;
  readonly resource: string | null;
}

function Facts({ context: { privacy }, known }: { readonly context: PageContext; readonly known: Known }) {
  const { found, page, dayId, resource } = known;
  const { status, provider, currency, day, ourReference, resourceId, foundAt } = found;
  return (
    <section class="card">
      <h2>
        <Status of={status} />
      </h2>
      <dl>
        <dt>Provider</dt>
        <dd>
          {provider} {currency}
        </dd>
        <dt>Day</dt>
        <dd>
          {day === null ? (
            'none: not found by a daily comparison'
          ) : dayId === null ? (
            day
          ) : (
            <Id of={day} to={`/reconciliation/${dayId}`} />
          )}
        </dd>
        <dt>Reference</dt>
        <dd>{privacy.number(ourReference)}</dd>
        <dt>Resource</dt>
        <dd>
          {resourceId === null || page === null ? 'none of ours' : <Id of={`${resource} ${resourceId}`} to={page} />}
        </dd>
        <dt>Found</dt>
        <dd>
          <Instant at={foundAt} />
        </dd>
      </dl>
    </section>
  );
}

function Instruction({ known: { found, page, dayId, resource } }: { readonly known: Known }) {
  const text = instructionOf(found.kind, 'Look the payment up at the bank', 'compare the day again');
  return (
    <p>
      {text} {resource === 'outgoing-transfer' && page !== null ? <a href={`${page}/look-up`}>Look it up</a> : null}{' '}
      {dayId === null ? null : <a href={`/reconciliation/${dayId}/compare-again`}>Compare the day again</a>}
    </p>
  );
}

function Resolution({ context, found }: { readonly context: PageContext; readonly found: ReconciliationBreak }) {
  const { resolvedAt, resolvedBy, note, explainedBy } = found;
  if (resolvedBy === null) {
    return (
      <p>
        Resolved by itself <Instant at={resolvedAt} />
        {explainedBy === null ? ': it is no longer found.' : `: explained by ${explainedBy}. ${note ?? ''}`}
      </p>
    );
  }
  return (
    <p>
      Resolved by {resolvedBy} <Instant at={resolvedAt} />: {context.privacy.text(note)}
    </p>
  );
}

interface Sides {
  readonly context: PageContext;
  readonly found: ReconciliationBreak;
  readonly lines: readonly BreakLine[];
}

function BothSides({ context, found, lines }: Sides) {
  const sides = [
    ['Ours', found.expected, lines.filter(({ side }) => side === 'ours'), 'Our books have no line of it.'],
    [
      'The bank’s',
      found.actual,
      lines.filter(({ side }) => side === 'provider'),
      'No line of its statements is left over: those that agree with ours are not kept.',
    ],
  ] as const;
  return (
    <div class="cards">
      {sides.map(([name, facts, ofSide, none]) => (
        <section class="card">
          <h2>
            {name}: {sideText(facts)}
          </h2>
          <SideFacts context={context} facts={facts} />
          {ofSide.length === 0 ? <p class="quiet">{none}</p> : <Lines name={name} lines={ofSide} />}
        </section>
      ))}
    </div>
  );
}

function SideFacts({
  context: { privacy },
  facts,
}: {
  readonly context: PageContext;
  readonly facts: StoredFacts | null;
}) {
  if (facts === null) return null;
  return (
    <dl>
      <dt>Account</dt>
      <dd>{privacy.number(facts.account)}</dd>
      <dt>Day</dt>
      <dd>{facts.date ?? '–'}</dd>
      {facts.count === undefined ? null : (
        <>
          <dt>Number</dt>
          <dd>{facts.count.toLocaleString('en-GB')}</dd>
        </>
      )}
    </dl>
  );
}

function Lines({ name, lines }: { readonly name: string; readonly lines: readonly BreakLine[] }) {
  return (
    <Scroll label={`Lines: ${name}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">What</th>
            <th scope="col" class="number">
              Amount
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ at, what, isCredit, amountMinor, currency }) => (
            <tr>
              <td>
                <Instant at={at} />
              </td>
              <td>
                {what}, {isCredit ? 'in' : 'out'}
              </td>
              <td class="number">{amountText(amountMinor, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
