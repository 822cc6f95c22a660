import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import type { Json } from '../api.ts';

/** What was debited and credited under one reference of an account that ours share, in minor units. */
interface Moved {
  readonly debits: readonly string[];
  readonly credits: readonly string[];
}

type Books = ReadonlyMap<string, Moved>;

interface Movement {
  readonly reference: string;
  readonly direction: 'debit' | 'credit';
  readonly minor: string;
}

function booksOf(movements: readonly Movement[]): Books {
  const books = new Map<string, Moved>();
  for (const { reference, direction, minor } of movements) {
    const { debits, credits } = books.get(reference) ?? { debits: [], credits: [] };
    const moved =
      direction === 'debit' ? { debits: [...debits, minor], credits } : { debits, credits: [...credits, minor] };
    books.set(reference, { debits: moved.debits.toSorted(), credits: moved.credits.toSorted() });
  }
  return books;
}

/** Of one currency at a provider: what moved on our clients' accounts, by our reference of a payment, or the bank's of money in. */
const POSTINGS = `
  SELECT posting.currency, CASE WHEN account.id = posting.debit_account_id THEN 'debit' ELSE 'credit' END AS direction,
    posting.amount_minor::text AS minor, coalesce(came.return_of, posting.outgoing_transfer_id) AS "outgoing", came.service_provider_reference AS "came"
  FROM postings posting
    JOIN accounts account ON account.id IN (posting.debit_account_id, posting.credit_account_id)
    LEFT JOIN incoming_transfers came ON came.id = posting.incoming_transfer_id
  WHERE account.client_id IS NOT NULL AND account.provider = `;

/** Each movement at the bank is one of ours, and each of ours is one there: by account, currency, reference, direction and amount. */
export async function compareBooks(
  provider: string,
  entries: readonly Json[],
  rows: (query: string) => Promise<Json[]>,
): Promise<void> {
  const posted = await rows(`${POSTINGS}'${provider}'`);
  const ours = posted.map(({ currency, direction, minor, outgoing, came }) => ({
    reference: `${currency} ${outgoing === null ? came : paymentReferenceOf(outgoing)}`,
    direction,
    minor,
  }));
  const theirs = entries.map(({ currency, direction, amount, endToEndId, bankReference }) => ({
    reference: `${currency} ${endToEndId ?? bankReference}`,
    direction,
    minor: String(Math.round(amount * 100)),
  }));
  const atBank = booksOf(theirs);
  // A payment that was rejected after its release is undone with us, and the bank has never booked it.
  const isUndone = ([reference, { debits, credits }]: [string, Moved]) =>
    !atBank.has(reference) && isDeepStrictEqual(debits, credits);
  expect(new Map([...booksOf(ours)].filter((one) => !isUndone(one)))).toEqual(atBank);
}

/** All movements at the bank come to what our clients have, and what is kept for payers until it goes back. */
export async function compareSums(
  provider: string,
  entries: readonly Json[],
  rows: (query: string) => Promise<Json[]>,
): Promise<void> {
  const [{ posted }] = await rows(
    `SELECT (coalesce((SELECT sum(posted_minor) FROM accounts WHERE provider = '${provider}' AND client_id IS NOT NULL), 0)
       + coalesce((SELECT sum(amount_minor) FROM incoming_transfers WHERE provider = '${provider}' AND in_suspense), 0))::text AS posted`,
  );
  const atBank = entries.reduce(
    (sum, { direction, amount }) => sum + (direction === 'credit' ? 1n : -1n) * BigInt(Math.round(amount * 100)),
    0n,
  );
  expect(posted).toBe(String(atBank));
}
