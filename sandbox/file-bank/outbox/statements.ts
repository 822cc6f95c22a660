import type { Bank } from '../../bank/bank.ts';
import { accountKey, settingsOf } from '../customers.ts';
import { accountReportVersion, writeAccountReport } from '../messages/account-report.ts';
import type { AccountStatement, Booking, OutgoingMessage } from '../records.ts';
import { entriesOf, grouped, messageFor } from './composition.ts';

/** What an account's statements have told so far. */
interface Told {
  readonly number: number;
  readonly toSequence: number;
  readonly closingMinor: bigint;
}

const NOTHING: Told = { number: 0, toSequence: 0, closingMinor: 0n };

/**
 * A camt.053 of each day before `until` with movements that no statement has told yet, for each account. Returns how many there are.
 */
export async function closeDays(bank: Bank, until: string): Promise<number> {
  const told = new Map<string, Told>();
  for (const statement of bank.books.accountStatements.values()) told.set(accountKey(statement), statement);
  const untold = [...bank.books.bookings.values()].filter(
    (booking) => booking.sequence > (told.get(accountKey(booking)) ?? NOTHING).toSequence && dayOf(booking) < until,
  );
  const statements: AccountStatement[] = [];
  const messages: OutgoingMessage[] = [];
  for (const bookings of grouped(untold, (one) => `${accountKey(one)} ${dayOf(one)}`).values()) {
    const [first] = bookings;
    const key = accountKey(first);
    const { message, statement } = statementOf(bank, bookings, told.get(key) ?? NOTHING);
    told.set(key, statement);
    statements.push(statement);
    messages.push(message);
  }
  if (messages.length > 0) await bank.commit({ put: { accountStatements: statements, messagesDue: messages } });
  return messages.length;
}

function statementOf(bank: Bank, bookings: readonly [Booking, ...Booking[]], before: Told) {
  const [{ customer, account, currency }] = bookings;
  const date = dayOf(bookings[0]);
  const { camtVersion, batchBooking } = settingsOf(bank, customer);
  const { balanceMinor: closingMinor, sequence: toSequence } = bookings[bookings.length - 1] ?? bookings[0];
  const part = { number: before.number + 1, date, openingMinor: before.closingMinor, closingMinor };
  const message = messageFor(bank, customer, accountReportVersion({ camtVersion, statement: part }), (head) =>
    writeAccountReport({
      ...head,
      camtVersion,
      account,
      currency,
      entries: entriesOf(bookings, batchBooking),
      statement: part,
    }),
  );
  const { number } = part;
  const statement: AccountStatement = {
    id: message.id,
    customer,
    account,
    currency,
    date,
    number,
    toSequence,
    closingMinor,
  };
  return { message, statement };
}

export function dayOf({ bookedAt }: Pick<Booking, 'bookedAt'>): string {
  return bookedAt.slice(0, 10);
}

/** The day after, at which a day's statement is due. */
export function dayAfter(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
