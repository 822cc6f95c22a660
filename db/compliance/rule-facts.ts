import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountActivity, Direction, ReviewedTransfer } from '../../domain/compliance/rules.ts';
import type { Reader } from '../query/database.ts';

// The facts for the rules of a built-in review, read by one statement: $1 is the transfer, $2 the windows in milliseconds.

/**
 * The transfers of the account in each window. A window ends with the transfer itself, by time and then id, so that transfers of the
 * same instant have an order, and a late or repeated review counts the same. Money without an account counts only itself.
 */
function activityIn(table: 'incoming_transfers' | 'outgoing_transfers'): string {
  return `(SELECT coalesce(jsonb_agg(jsonb_build_object('count', in_window.number, 'sumMinor', in_window.sum_minor) ORDER BY place), '[]')
    FROM unnest($2::bigint[]) WITH ORDINALITY AS windows (window_ms, place)
    CROSS JOIN LATERAL (
      SELECT count(*) + CASE WHEN transfer.account_id IS NULL THEN 1 ELSE 0 END AS number,
        (coalesce(sum(other.amount_minor), 0) + CASE WHEN transfer.account_id IS NULL THEN transfer.amount_minor ELSE 0 END)::text AS sum_minor
      FROM ${table} other
      WHERE other.account_id = transfer.account_id AND other.status NOT IN ('failed', 'cancelled')
        AND other.created_at > transfer.created_at - windows.window_ms * interval '1 millisecond'
        AND (other.created_at, other.id) <= (transfer.created_at, transfer.id)
    ) AS in_window)`;
}

const IBAN_COUNTRY = (iban: string) => `CASE WHEN length(${iban}) > 4 THEN upper(left(${iban}, 2)) END`;

/** The countries that a bank account names: its own, its IBAN's and its BIC's. */
const ACCOUNT_COUNTRIES = (account: string) =>
  `${account}->>'country', ${IBAN_COUNTRY(`${account}->>'iban'`)}, upper(substr(replace(${account}->'routingCodes'->>'bic', ' ', ''), 5, 2))`;

/** Of a return, all that the review of the payment in sees of its payer. */
const OUTGOING = `
  SELECT transfer.currency, transfer.amount_minor AS "amountMinor", ${activityIn('outgoing_transfers')} AS activity,
    ARRAY[${ACCOUNT_COUNTRIES("beneficiary->'account'")}, beneficiary->'address'->>'country', beneficiary->'identity'->>'country',
      ${ACCOUNT_COUNTRIES('returned.sender_account')}, ${ACCOUNT_COUNTRIES('credit.sender_bank_account')}, credit.sender_address->>'country',
      holder.country, ${IBAN_COUNTRY('holder.iban')}, holding_client.country] AS countries,
    ARRAY[beneficiary->>'fullName', beneficiary->'account'->>'accountHolderName', beneficiary->'identity'->>'legalName',
      returned.sender_name, returned.sender_account->>'accountHolderName', credit.sender_name, credit.sender_bank_account->>'accountHolderName',
      holder.account_holder_name, holding_client.full_name] AS names
  FROM outgoing_transfers transfer
  LEFT JOIN incoming_transfers returned ON returned.id = transfer.return_of
  LEFT JOIN provisioned_account_credits credit ON credit.id = returned.provisioned_account_credit_id
  LEFT JOIN accounts holder ON holder.id = transfer.destination_account_id
  LEFT JOIN clients holding_client ON holding_client.id = holder.client_id
  WHERE transfer.id = $1::uuid`;

const INCOMING = `
  SELECT transfer.currency, transfer.amount_minor AS "amountMinor", ${activityIn('incoming_transfers')} AS activity,
    ARRAY[${ACCOUNT_COUNTRIES('transfer.sender_account')}, ${ACCOUNT_COUNTRIES('credit.sender_bank_account')},
      credit.sender_address->>'country', sender.country, ${IBAN_COUNTRY('sender.iban')}, sending_client.country] AS countries,
    ARRAY[transfer.sender_name, transfer.sender_account->>'accountHolderName', credit.sender_name,
      credit.sender_bank_account->>'accountHolderName', sender.account_holder_name, sending_client.full_name] AS names
  FROM incoming_transfers transfer
  LEFT JOIN provisioned_account_credits credit ON credit.id = transfer.provisioned_account_credit_id
  LEFT JOIN accounts sender ON sender.id = transfer.sender_account_id
  LEFT JOIN clients sending_client ON sending_client.id = sender.client_id
  WHERE transfer.id = $1::uuid`;

const STATEMENTS: Readonly<Record<Direction, string>> = { incoming: INCOMING, outgoing: OUTGOING };
const ENTITIES = { incoming: 'incomingTransfer', outgoing: 'outgoingTransfer' } as const;

interface FactsRow {
  readonly currency: string;
  readonly amountMinor: bigint;
  readonly activity: readonly { readonly count: number; readonly sumMinor: string }[];
  readonly countries: readonly (string | null)[];
  readonly names: readonly (string | null)[];
}

export interface RuleFacts {
  readonly transfer: ReviewedTransfer;
  /** In the order of the windows asked for. */
  readonly activity: readonly AccountActivity[];
}

export async function readRuleFacts(
  reader: Reader,
  { direction, id }: { readonly direction: Direction; readonly id: string },
  windowsMs: readonly number[],
): Promise<RuleFacts> {
  const [row] = await reader.statement<FactsRow>(STATEMENTS[direction], [id, windowsMs]);
  if (row === undefined) throw recordNotFound(ENTITIES[direction], 'id', id);
  return {
    transfer: {
      direction,
      currency: row.currency,
      amountMinor: row.amountMinor,
      counterpartyCountries: known(row.countries),
      counterpartyNames: known(row.names),
    },
    activity: row.activity.map(({ count, sumMinor }) => ({ count, sumMinor: BigInt(sumMinor) })),
  };
}

function known(texts: readonly (string | null)[]): string[] {
  return [...new Set(texts.filter((text): text is string => text !== null && text.trim() !== ''))];
}
