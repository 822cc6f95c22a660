import { type Activity, HISTORY_ROWS_MAX, type PartyHistory, readPartyHistory } from '../../db/compliance/histories.ts';
import { Scroll } from '../look/scroll.tsx';
import { amountText, Id } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import { FOLDERS, type Review } from './review.ts';

/** What the parties have done before: a first payment to a stranger is not one more of many. */
export async function History({ context, review }: { readonly context: PageContext; readonly review: Review }) {
  const { transfer, direction } = review;
  if (transfer.clientId === null) {
    return (
      <section class="card">
        <h2>History</h2>
        <p>The money has no account yet, so nothing is known of its receiver.</p>
      </section>
    );
  }
  const history = await readPartyHistory(context.services.database.reader, review);
  const rows: readonly (readonly [string, PartyHistory['between']])[] = [
    [direction === 'outgoing' ? 'From the client to this party' : 'From this party to the client', history.between],
    ['All of the client, out', history.clientOut],
    ['All of the client, in', history.clientIn],
  ];
  const cell = ({ count, sumMinor }: Activity) => `${count} of ${amountText(BigInt(sumMinor), transfer.currency)}`;
  return (
    <section class="card">
      <h2>History, before this transfer</h2>
      <Scroll label="History of the parties">
        <table>
          <thead>
            <tr>
              <th scope="col">In {transfer.currency}</th>
              <th scope="col" class="number">
                30 days
              </th>
              <th scope="col" class="number">
                365 days
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, { days30, days365 }]) => (
              <tr>
                <th scope="row">{name}</th>
                <td class="number">{cell(days30)}</td>
                <td class="number">{cell(days365)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {history.isMore ? (
        <p class="quiet">Of the client’s newest {HISTORY_ROWS_MAX.toLocaleString('en-GB')} transfers each way.</p>
      ) : null}
      <Decisions history={history} />
    </section>
  );
}

function Decisions({ history: { decisions } }: { readonly history: PartyHistory }) {
  if (decisions.length === 0) return <p>No earlier transfer between the two was decided about.</p>;
  return (
    <>
      <h3>Earlier decisions between the two</h3>
      <ul class="plain">
        {decisions.map(({ type, id, transactionNumber, result, decidedBy, decidedAt }) => (
          <li>
            {decidedAt.slice(0, 10)}: <strong>{result}</strong> for{' '}
            <Id of={transactionNumber} to={`/reviews/${FOLDERS[type]}/${id}`} />, by {decidedBy}
          </li>
        ))}
      </ul>
    </>
  );
}
