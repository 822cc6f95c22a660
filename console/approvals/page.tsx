import type { Child } from 'hono/jsx';
import type { Column } from '../lists/list.ts';
import { Table } from '../lists/list-page.tsx';
import { age, Instant } from '../look/values.tsx';
import { hasRole, type Page, type PageContext } from '../page/page.ts';
import type { Approval, ApprovalKind } from './approval-kind.ts';
import { APPROVAL_KINDS } from './kinds.ts';

const SHOWN_MAX = 50;

/** What waits for my second signature? */
export const approvalsPage: Page = {
  path: '/approvals',
  section: '/approvals',
  async view(context) {
    const kinds = await Promise.all(
      APPROVAL_KINDS.map(async (kind) => ({ kind, found: await kind.read(context, SHOWN_MAX) })),
    );
    return {
      title: 'Approvals',
      body: (
        <>
          <p class="quiet">What waits for a second signature. Whoever caused it cannot give it.</p>
          {kinds.map(({ kind, found }) => (
            <Kind context={context} kind={kind} found={found} />
          ))}
        </>
      ),
    };
  },
};

function Kind({
  context,
  kind: { title, more, empty },
  found: { approvals, isMore },
}: {
  readonly context: PageContext;
  readonly kind: ApprovalKind;
  readonly found: Awaited<ReturnType<ApprovalKind['read']>>;
}) {
  return (
    <section class="card">
      <h2>
        {title} ({approvals.length}
        {isMore ? '+' : ''})
      </h2>
      {approvals.length === 0 ? (
        <p>{empty}</p>
      ) : (
        <Table
          caption={title}
          columns={COLUMNS}
          rows={approvals}
          cell={(column, approval) => column.cell(approval, context)}
        />
      )}
      <p>
        <a href={more}>{isMore ? `Only the first ${SHOWN_MAX} are shown: all of them` : 'All of them'}</a>
      </p>
    </section>
  );
}

function column(header: string, cell: (approval: Approval, context: PageContext) => Child, isNumber = false) {
  return { header, isNumber, cell, text: () => '' };
}

const COLUMNS: readonly Column<Approval>[] = [
  column('What', ({ what, href }) => <a href={href}>{what}</a>),
  column('Amount', ({ amount }) => amount, true),
  column('To, or why', ({ to }) => to),
  column('Asked by', ({ madeBy }) => madeBy),
  column('Since', ({ since }, { now }) => (
    <>
      <Instant at={since} />, {age(since, now)}
    </>
  )),
  column('Until', ({ until, zone, untilMeans }) => (
    <>
      <Instant at={until} zone={zone} />: {untilMeans}
    </>
  )),
  column('Your signature', (approval, context) => <Decide approval={approval} context={context} />),
];

function Decide({
  approval: { isYours, signers, sign, reject, what },
  context: { person },
}: {
  readonly approval: Approval;
  readonly context: PageContext;
}) {
  if (isYours) return <span class="off">Yours: another person must sign.</span>;
  if (!hasRole(person, signers)) return <span class="off">For the role {signers.join(' or ')}.</span>;
  return (
    <ul class="actions">
      <li>
        <a class="button" href={sign} aria-label={`Sign: ${what}`}>
          Sign
        </a>
      </li>
      <li>
        <a class="button" href={reject} aria-label={`Reject: ${what}`}>
          Reject
        </a>
      </li>
    </ul>
  );
}
