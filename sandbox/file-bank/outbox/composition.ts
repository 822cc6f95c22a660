import { randomUUID } from 'node:crypto';
import type { Bank } from '../../bank/bank.ts';
import { bicOf } from '../../bank/identifiers.ts';
import { settingsOf } from '../customers.ts';
import { accountReportVersion, type ReportedEntry, writeAccountReport } from '../messages/account-report.ts';
import { CANCELLATION_ANSWER, writeCancellationAnswer } from '../messages/cancellation-answer.ts';
import { statusReportVersion, writeStatusReport } from '../messages/status-report.ts';
import type {
  Booking,
  CancellationNotice,
  EntryNotice,
  FileNotice,
  Notice,
  OutgoingMessage,
  ReceivedFile,
  StatusNotice,
} from '../records.ts';

type Of<Kind> = Notice & Kind;

/** The country in which the bank is. */
const BANK_COUNTRY = 'DE';
const UNKNOWN = 'NOTPROVIDED';

/** Puts due news into messages; the messages replace the news in one line of the journal. */
export async function compose(bank: Bank): Promise<void> {
  const nowMs = bank.now().getTime();
  const { receivedFiles } = bank.books;
  const due = [...bank.books.notices.values()].filter(
    ({ dueAtMs, fileId }) => dueAtMs <= nowMs && (fileId === null || receivedFiles.get(fileId)?.outcome !== 'reading'),
  );
  if (due.length === 0) return;
  const messages = [...grouped(due, groupOf).values()].map((group) => messageOf(bank, group));
  await bank.commit({ put: { messagesDue: messages }, remove: { notices: due.map(({ id }) => id) } });
}

/** What stands in one message. */
function groupOf(notice: Notice): string {
  const { customer, round, kind, fileId } = notice;
  const subject = kind === 'entry' ? `${notice.account} ${notice.currency}` : kind === 'cancellation' ? '' : fileId;
  return JSON.stringify([customer, round, kind, subject]);
}

function messageOf(bank: Bank, group: readonly [Notice, ...Notice[]]): OutgoingMessage {
  const [{ kind }] = group;
  switch (kind) {
    case 'entry':
      return notification(
        bank,
        group.filter((notice): notice is Of<EntryNotice> => notice.kind === 'entry'),
      );
    case 'cancellation':
      return cancellationAnswer(
        bank,
        group.filter((one): one is Of<CancellationNotice> => one.kind === 'cancellation'),
      );
    case 'status':
      return statusReport(
        bank,
        group.filter((notice): notice is Of<StatusNotice> => notice.kind === 'status'),
      );
    case 'file':
      return fileRejection(
        bank,
        group.filter((notice): notice is Of<FileNotice> => notice.kind === 'file'),
      );
  }
}

/** A message's own id, which the file's name has as well. */
export function messageFor(
  bank: Bank,
  customer: string,
  version: string,
  write: (head: { readonly messageId: string; readonly createdAt: Date }) => string,
): OutgoingMessage {
  const id = `SBM${randomUUID().replaceAll('-', '').slice(0, 20).toUpperCase()}`;
  const createdAt = bank.now();
  return {
    id,
    customer,
    version,
    fileName: `${version.slice(0, 8)}-${id}.xml`,
    createdAt: createdAt.toISOString(),
    content: write({ messageId: id, createdAt }),
  };
}

function statusReport(bank: Bank, notices: readonly Of<StatusNotice>[]): OutgoingMessage {
  const [first] = notices;
  if (first === undefined) throw new Error('a message needs news');
  const { customer, place } = first;
  const file = bank.books.receivedFiles.get(place.fileId);
  // A payment stands once in a message: the latest news of it.
  const latest = [...new Map(notices.map((notice) => [paymentKey(notice), notice])).values()];
  return messageFor(bank, customer, statusReportVersion(place.version), (head) =>
    writeStatusReport({
      ...head,
      file: fileOf(file),
      rejection: null,
      isWhole: String(latest.length) === file?.count,
      payments: latest,
    }),
  );
}

function paymentKey({ place: { batchId, instructionId, endToEndId } }: StatusNotice): string {
  return JSON.stringify([batchId, instructionId, endToEndId]);
}

function fileRejection(bank: Bank, [notice]: readonly Of<FileNotice>[]): OutgoingMessage {
  if (notice === undefined) throw new Error('a message needs news');
  const file = bank.books.receivedFiles.get(notice.fileId ?? '');
  return messageFor(bank, notice.customer, statusReportVersion(file?.version ?? ''), (head) =>
    writeStatusReport({ ...head, file: fileOf(file), rejection: notice, isWhole: true, payments: [] }),
  );
}

function fileOf(file: ReceivedFile | undefined) {
  const { messageId = null, version = null, count = null, controlSum = null } = file ?? {};
  const isId = messageId !== null && messageId !== '' && messageId.length <= 35;
  return { messageId: isId ? messageId : UNKNOWN, version: version ?? UNKNOWN, count, controlSum };
}

function notification(bank: Bank, notices: readonly Of<EntryNotice>[]): OutgoingMessage {
  const [first] = notices;
  if (first === undefined) throw new Error('a message needs news');
  const { customer, account, currency } = first;
  const { camtVersion } = settingsOf(bank, customer);
  const bookings = grouped(bank.books.bookings.values(), ({ entryReference }) => entryReference);
  const entries = notices.flatMap(({ entryReference, hasDetails }): ReportedEntry[] => {
    const own = bookings.get(entryReference);
    return own === undefined ? [] : [{ bookings: own, hasDetails }];
  });
  const version = accountReportVersion({ camtVersion, statement: null });
  return messageFor(bank, customer, version, (head) =>
    writeAccountReport({ ...head, camtVersion, account, currency, entries, statement: null }),
  );
}

/** By the entry, in the order in which they were booked. */
export function entriesOf(bookings: readonly Booking[], batchBooking: string): readonly ReportedEntry[] {
  return [...grouped(bookings, ({ entryReference }) => entryReference).values()].map((own) => ({
    bookings: own,
    hasDetails: !own[0].isOfBatch || batchBooking === 'with-details',
  }));
}

function cancellationAnswer(bank: Bank, answers: readonly Of<CancellationNotice>[]): OutgoingMessage {
  const [first] = answers;
  if (first === undefined) throw new Error('a message needs news');
  const { customer } = first;
  return messageFor(bank, customer, CANCELLATION_ANSWER, (head) =>
    writeCancellationAnswer({ ...head, bic: `${bicOf(BANK_COUNTRY)}XXX`, customer, answers }),
  );
}

export function grouped<Item>(items: Iterable<Item>, keyOf: (item: Item) => string): Map<string, [Item, ...Item[]]> {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
