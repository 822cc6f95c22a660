import type { Currency } from '../../domain/common/money.ts';
import type { Reader } from '../query/database.ts';

/** The books of one provider in one currency, in minor units. */
export interface ProviderPosition {
  readonly provider: string;
  readonly currency: Currency;
  /** What is owed to clients, including what is reserved. */
  readonly clientsMinor: bigint;
  /** Money that came in and does not belong to a client yet: it matched no account, or its account may not receive it. */
  readonly heldMinor: bigint;
  /** The service's own: fees that are not swept yet, and corrections. */
  readonly ownMinor: bigint;
  /** What has come in from outside, less what has gone out and the fees that were swept. */
  readonly settledMinor: bigint;
  /** What internal transfers brought from accounts at other providers: the provider owes that much more than it received. */
  readonly owedByOthersMinor: bigint;
}

// A system account's balance is its last checkpoint and the postings since.
const SYSTEM_BOOKS = `
    SELECT account.provider, account.currency, account.kind, coalesce(last.balance_minor, 0) + moved.sum_minor AS balance_minor
    FROM system_accounts AS account
      LEFT JOIN LATERAL (
        SELECT posting_id, balance_minor FROM system_account_checkpoints
        WHERE system_account_id = account.id ORDER BY posting_id DESC LIMIT 1
      ) AS last ON true
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(amount), 0) AS sum_minor FROM (
          SELECT amount_minor AS amount FROM postings
            WHERE credit_account_id = account.id AND credit_version IS NULL AND id > coalesce(last.posting_id, 0)
          UNION ALL
          SELECT -amount_minor FROM postings
            WHERE debit_account_id = account.id AND debit_version IS NULL AND id > coalesce(last.posting_id, 0)
        ) AS movements
      ) AS moved`;

const POSITIONS = `
  WITH books AS (
    SELECT provider, currency, 'client' AS kind, sum(posted_minor) AS balance_minor FROM accounts GROUP BY provider, currency
    UNION ALL${SYSTEM_BOOKS}
  )
  SELECT provider, currency,
    coalesce(sum(balance_minor) FILTER (WHERE kind = 'client'), 0)::bigint AS "clientsMinor",
    coalesce(sum(balance_minor) FILTER (WHERE kind = 'suspense'), 0)::bigint AS "heldMinor",
    coalesce(sum(balance_minor) FILTER (WHERE kind NOT IN ('client', 'suspense', 'settlement')), 0)::bigint AS "ownMinor",
    coalesce(-sum(balance_minor) FILTER (WHERE kind = 'settlement'), 0)::bigint AS "settledMinor",
    sum(balance_minor)::bigint AS "owedByOthersMinor"
  FROM books GROUP BY provider, currency ORDER BY currency, provider`;

/** The position of each provider and currency, all at one moment. What the providers of a currency owe each other adds up to 0. */
export function listPositions(reader: Reader): Promise<ProviderPosition[]> {
  return reader.statement<ProviderPosition>(POSITIONS, []);
}

/** What is held in one currency, in minor units. */
export type MoneyHeld = Pick<ProviderPosition, 'currency' | 'clientsMinor' | 'heldMinor' | 'ownMinor'>;

// Every currency adds up to zero, so what clients have is what the system accounts lack: no account of a client is read.
const HELD = `
  SELECT currency, -sum(balance_minor)::bigint AS "clientsMinor",
    coalesce(sum(balance_minor) FILTER (WHERE kind = 'suspense'), 0)::bigint AS "heldMinor",
    coalesce(sum(balance_minor) FILTER (WHERE kind NOT IN ('suspense', 'settlement')), 0)::bigint AS "ownMinor"
  FROM (${SYSTEM_BOOKS}) AS books GROUP BY currency ORDER BY currency`;

/** What is held in each currency, at all providers together. However many accounts there are, it reads few rows. */
export function readMoneyHeld(reader: Reader): Promise<MoneyHeld[]> {
  return reader.statement<MoneyHeld>(HELD, []);
}
