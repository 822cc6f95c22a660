import { readClock } from '../../db/common/clock.ts';
import { COUNTED_MAX, noteLook, readChangesSince, readLastLook } from '../../db/people/last-looks.ts';
import { closureInWords, readClosure } from '../../db/providers/submissions.ts';
import { readTransferWaits, type TransferWaits } from '../../db/transfers/waiting-transfers.ts';
import { countText } from '../lists/list-page.tsx';
import { pageOf } from '../look/links.ts';
import { Scroll } from '../look/scroll.tsx';
import { Instant } from '../look/values.tsx';
import { Live } from '../page/live.tsx';
import type { OwnForm, Page, PageContext } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { Alarms, readAlarms } from './alarms.tsx';
import { flowCharts } from './flows.tsx';
import { moneyHeld } from './money.tsx';
import { TODAY_REMEDIES } from './remedies.ts';

/** The first page: is all well? */
export const todayPage: Page = {
  path: '/',
  section: '/',
  async view(context) {
    const { reader } = context.services.database;
    // A refresh takes the live part only.
    const [alarms, closure, waits, money, changes, charts, actions] = await Promise.all([
      readAlarms(context),
      readClosure(reader),
      readTransferWaits(reader),
      moneyHeld(context),
      changesSinceLastLook(context),
      context.isRefresh ? null : flowCharts(context),
      context.isRefresh ? null : actionsOf(context, TODAY_REMEDIES),
    ]);
    return {
      title: 'Today',
      body: (
        <>
          <Live context={context} path="/">
            <p class="quiet">
              <Instant at={context.now} />
            </p>
            {closure === null ? null : (
              <p class="notice problem" role="alert">
                <strong>Payments are stopped:</strong> {closureInWords(closure)}.
              </p>
            )}
            <Alarms alarms={alarms} />
            <div class="cards">
              <Waits waits={waits} />
              {money}
            </div>
            {changes}
          </Live>
          <section class="card">
            <h2>Emergency stop</h2>
            {actions}
          </section>
          <h2>Money in and out</h2>
          {charts}
        </>
      ),
    };
  },
};

function Waits({ waits }: { readonly waits: readonly TransferWaits[] }) {
  return (
    <section class="card">
      <h2>What waits</h2>
      {waits.length === 0 ? (
        <p>Nothing waits.</p>
      ) : (
        <Scroll label="What waits">
          <table>
            <thead>
              <tr>
                <th scope="col">Waits for</th>
                <th scope="col">Transfers</th>
                <th scope="col" class="number">
                  How many
                </th>
                <th scope="col" class="number">
                  Oldest
                </th>
              </tr>
            </thead>
            <tbody>
              {[...waits]
                .sort((one, other) => other.oldestSeconds - one.oldestSeconds)
                .map(({ direction, waitingFor, status, count, oldestSeconds }) => (
                  <tr>
                    <th scope="row">
                      <a href={`/waiting?what=${direction}&waiting-for=${waitingFor}`}>{waitingFor}</a>
                    </th>
                    <td>
                      {direction}, {status}
                    </td>
                    <td class="number">{count.toLocaleString('en-GB')}</td>
                    <td class="number">{inWords(oldestSeconds)}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}

function inWords(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}

const DAY_MS = 24 * 3_600_000;

/** A first look, and one after a long absence, show the last day. */
async function changesSinceLastLook({ services, person, now, privacy }: PageContext) {
  const { reader } = services.database;
  const lastLook = await readLastLook(reader, person.id);
  const dayAgo = new Date(now.getTime() - DAY_MS);
  const since = lastLook === null || lastLook < dayAgo ? dayAgo : lastLook;
  const { failedPayments, heldTransfers, foundBreaks, acts } = await readChangesSince(reader, since, person.id);
  return (
    <section class="card">
      <h2>
        Since you last looked (<Instant at={since} />)
      </h2>
      <ul class="plain">
        <li>
          Payments that failed: <a href="/outgoing-transfers?status=failed">{bounded(failedPayments)}</a>. Payments in
          that were put on hold: <a href="/incoming-transfers?status=on-hold">{bounded(heldTransfers)}</a>. Breaks that
          were found: <a href="/reconciliation-breaks">{bounded(foundBreaks)}</a>.
        </li>
        {acts.map(({ occurredAt, name, actor, action, resource, resourceId, reason }) => (
          <li>
            <Instant at={occurredAt} /> {name ?? actor}: {resource} {action}{' '}
            <a class="id" href={pageOf(resource, resourceId) ?? `/audit-entries?id=${encodeURIComponent(resourceId)}`}>
              {resourceId}
            </a>
            {reason === null ? '' : ` (${privacy.text(reason)})`}
          </li>
        ))}
      </ul>
      <form method="post" action="/seen">
        <input type="hidden" name="csrf" value={person.csrfToken} />
        <input type="hidden" name="at" value={now.toISOString()} />
        <button type="submit">I have seen this</button>
      </form>
    </section>
  );
}

/** A count that ends at a limit says so. */
function bounded(count: number): string {
  return countText({ count, isMore: count >= COUNTED_MAX });
}

/** What changed up to the page's time is seen; what came after it is shown next time. A later time than the present was on no page. */
export const seenForm: OwnForm = {
  path: '/seen',
  async submit(c, { database }, person) {
    const { at } = await c.req.parseBody();
    const instant = new Date(typeof at === 'string' ? at : '');
    const wasShown = instant.getTime() > 0 && instant <= (await readClock(database.reader));
    if (wasShown) await noteLook(database.reader, person.id, instant);
    return c.redirect('/', 303);
  },
};
