import {
  bankWord,
  type ReportedStatement,
  reportedStatements,
} from '../../cli/operations/bank-files/reported-statements.ts';
import {
  type EntryCount,
  type FilePayment,
  findShownFile,
  type PaymentCount,
  readFileEffects,
  type ShownFile,
  type ToldEntry,
} from '../../db/bank-files/by-hand/reads.ts';
import { type BankFileRequest, listRequestsOf } from '../../db/bank-files/by-hand/requests.ts';
import { asId, type BankFileId } from '../../domain/common/ids.ts';
import { carriedPage } from '../look/links.ts';
import { Scroll } from '../look/scroll.tsx';
import { Amount, amountText, Id, Instant, Status } from '../look/values.tsx';
import type { Page, PageContext } from '../page/page.ts';
import { actionsOf } from '../remedies/remedy-pages.tsx';
import { directionInWords } from './list.tsx';
import { FILE_PAGE, FILE_REMEDIES } from './remedies.ts';
import { requestTitle } from './requests.ts';

const SHOWN_MAX = 50;
/** An answer larger than this is read by the command only: a page answers at once. */
const READ_BYTES_MAX = 1024 * 1024;

/** A file: its states, and what it did. */
export const bankFilePage: Page = {
  path: FILE_PAGE,
  section: '/bank-files',
  shows: 'bank-file',
  async view(context) {
    const { services, params } = context;
    const { reader } = services.database;
    const file = await findShownFile(reader, asId<BankFileId>(params.id ?? ''));
    if (file === null) return null;
    const [{ counts, payments, entryCounts, entries }, told, requests, actions] = await Promise.all([
      readFileEffects(reader, file.id, SHOWN_MAX),
      file.size > READ_BYTES_MAX ? null : reportedStatements(reader, file, SHOWN_MAX),
      listRequestsOf(reader, file.id),
      actionsOf(context, FILE_REMEDIES),
    ]);
    return {
      title: `File ${file.name}`,
      body: (
        <>
          <div class="cards">
            <Facts file={file} />
            <section class="card">
              <h2>What can be done</h2>
              {actions}
              {file.direction === 'out' ? (
                <p class="quiet">
                  Its bytes are handed out by a command: fas bank-files deliver {file.id} --to PATH --reason TEXT
                </p>
              ) : null}
              <Requests requests={requests} />
            </section>
          </div>
          {file.direction === 'out' ? <Payments counts={counts} payments={payments} /> : null}
          {file.direction === 'in' ? <Entries context={context} counts={entryCounts} entries={entries} /> : null}
          {file.direction === 'in' ? <Statements told={told} /> : null}
        </>
      ),
    };
  },
};

function Facts({ file }: { readonly file: ShownFile }) {
  const { direction, state, provider, message, messageId, digest, size, reason, id, items, unknownItems } = file;
  const times = [
    [direction === 'out' ? 'Written' : 'Came in', file.createdAt],
    ['Its upload was about to get its name', file.renameBeganAt],
    [`Handed out to ${file.handedOutBy}`, file.handedOutAt],
    ['Delivered', file.deliveredAt],
    ['Taken', file.takenAt],
    ['Moved to the bank’s archive', file.archivedAt],
    ['Seen to', file.settledAt],
  ] as const;
  return (
    <section class="card">
      <h2>
        <Status of={state} /> {provider}, {directionInWords(direction)}
      </h2>
      <dl>
        <dt>Why</dt>
        <dd>{reason ?? '–'}</dd>
        <dt>Message</dt>
        <dd>
          {message ?? 'not read'}, {messageId ?? 'no id'}
        </dd>
        <dt>Digest (SHA-256)</dt>
        <dd>
          <code class="id">{digest ?? 'not read'}</code>
        </dd>
        <dt>Bytes</dt>
        <dd>{size.toLocaleString('en-GB')}</dd>
        {direction === 'in' && file.takenAt !== null ? (
          <>
            <dt>Statements</dt>
            <dd>
              {items.toLocaleString('en-GB')}, of which {unknownItems.toLocaleString('en-GB')} about nothing that we
              know
            </dd>
          </>
        ) : null}
        {times.flatMap(([what, at]) =>
          at === null
            ? []
            : [
                <dt>{what}</dt>,
                <dd>
                  <Instant at={at} />
                </dd>,
              ],
        )}
        <dt>Id</dt>
        <dd>
          <Id of={id} />
        </dd>
      </dl>
    </section>
  );
}

function Requests({ requests }: { readonly requests: readonly BankFileRequest[] }) {
  if (requests.length === 0) return null;
  return (
    <ul class="plain">
      {requests.map((request) => (
        <li>
          <a href={`/bank-file-requests/${request.id}`}>{requestTitle(request)}</a> <Status of={request.status} />
        </li>
      ))}
    </ul>
  );
}

interface PaymentsProps {
  readonly counts: readonly PaymentCount[];
  readonly payments: readonly FilePayment[];
}

function Payments({ counts, payments }: PaymentsProps) {
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  return (
    <section class="card">
      <h2>Its payments ({total.toLocaleString('en-GB')})</h2>
      {total === 0 ? <p>It carries no payment.</p> : null}
      <ul class="plain">
        {counts.map(({ state, count, amountMinor, currency }) => (
          <li>
            {state}: {count.toLocaleString('en-GB')}, {amountText(amountMinor, currency)}
          </li>
        ))}
      </ul>
      {total > payments.length ? <p class="quiet">The first {payments.length} are shown.</p> : null}
      {payments.length === 0 ? null : <PaymentTable payments={payments} />}
    </section>
  );
}

function PaymentTable({ payments }: Pick<PaymentsProps, 'payments'>) {
  return (
    <Scroll label="Payments of the file">
      <table>
        <thead>
          <tr>
            <th scope="col">Payment</th>
            <th scope="col" class="number">
              Amount
            </th>
            <th scope="col">At the bank</th>
            <th scope="col">The bank’s word</th>
            <th scope="col">Transfer</th>
          </tr>
        </thead>
        <tbody>
          {payments.map(
            ({ transferId, isReturn, transactionNumber, amountMinor, currency, state, status, ...word }) => (
              <tr>
                <td>
                  <Id of={transactionNumber ?? transferId} to={carriedPage({ transferId, isReturn })} />
                </td>
                <td class="number">
                  <Amount minor={amountMinor} currency={currency} />
                </td>
                <td>{state}</td>
                <td>{bankWord(word) ?? '–'}</td>
                <td>{status === null ? '–' : <Status of={status} />}</td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </Scroll>
  );
}

interface EntriesProps {
  readonly context: PageContext;
  readonly counts: readonly EntryCount[];
  readonly entries: readonly ToldEntry[];
}

function Entries({ context: { privacy }, counts, entries }: EntriesProps) {
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  return (
    <section class="card">
      <h2>Movements of money that it told first ({total.toLocaleString('en-GB')})</h2>
      <ul class="plain">
        {counts.map(({ kind, outcome, count }) => (
          <li>
            {kind}, {outcome}: {count.toLocaleString('en-GB')}
          </li>
        ))}
      </ul>
      {total > entries.length ? <p class="quiet">The first {entries.length} are shown.</p> : null}
      <Scroll label="Movements of the file">
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col" class="number">
                Amount
              </th>
              <th scope="col">What</th>
              <th scope="col">Led to</th>
              <th scope="col">Reference</th>
            </tr>
          </thead>
          <tbody>
            {entries.map((entry) => (
              <tr>
                <td>{entry.bookedOn}</td>
                <td class="number">
                  <Amount
                    minor={entry.direction === 'debit' ? -entry.amountMinor : entry.amountMinor}
                    currency={entry.currency}
                  />
                </td>
                <td>
                  <Led entry={entry} />
                </td>
                <td>{entry.outcome}</td>
                <td>{privacy.number(entry.key)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function Led({ entry: { kind, transferId, isReturn, incomingTransferId } }: { readonly entry: ToldEntry }) {
  if (transferId !== null) return <a href={carriedPage({ transferId, isReturn })}>{kind}</a>;
  if (incomingTransferId !== null) return <a href={`/incoming-transfers/${incomingTransferId}`}>{kind}</a>;
  return <>{kind}</>;
}

interface Told {
  readonly statements: readonly ReportedStatement[];
  readonly total: number;
}

function Statements({ told }: { readonly told: Told | null }) {
  if (told === null) return <p class="quiet">It is too large to be read here: fas bank-files show reads it.</p>;
  if (told.total === 0) return null;
  return (
    <section class="card">
      <h2>What it says ({told.total.toLocaleString('en-GB')})</h2>
      {told.total > told.statements.length ? <p class="quiet">The first {told.statements.length} are shown.</p> : null}
      <ul class="plain">
        {told.statements.map(({ about, says, fileId, transferId, isReturn, state }) => (
          <li>
            {about} {transferId === null ? null : <Id of={transferId} to={carriedPage({ transferId, isReturn })} />}
            {fileId === null ? null : <Id of={fileId} to={`/bank-files/${fileId}`} />}: {says}
            {state === null ? null : `; it is ${state} now`}
          </li>
        ))}
      </ul>
    </section>
  );
}
