import { isUuid } from '../../domain/common/ids.ts';
import type { NamedPayment } from '../../domain/reconciliation/files/named-payments.ts';
import type { Reader } from '../query/database.ts';
import type { Position } from './schema.ts';

// $1 provider, $2 currency, $3 names, $4 those that are ids
const NAMED = `
  WITH names AS (SELECT jsonb_array_elements_text($3::jsonb) AS name),
    ids AS (SELECT jsonb_array_elements_text($4::jsonb)::uuid AS id),
    arrived AS (
      SELECT name, incoming.* FROM names JOIN incoming_transfers incoming ON incoming.provider = $1 AND incoming.service_provider_id = name
      UNION ALL
      SELECT name, incoming.* FROM names JOIN incoming_transfers incoming ON incoming.transaction_number = name
      UNION ALL
      SELECT name, incoming.* FROM names JOIN incoming_transfers incoming ON incoming.service_provider_reference = name
      UNION ALL
      SELECT ids.id::text, incoming.* FROM ids JOIN incoming_transfers incoming ON incoming.id = ids.id
    )
  SELECT 'out' AS direction, id::text AS reference, id::text AS name, amount_minor::bigint AS "amountMinor" FROM ids JOIN outgoing_transfers USING (id)
    WHERE provider = $1 AND currency = $2 AND scope = 'external'
  UNION ALL
  SELECT 'out', id::text, name, amount_minor FROM names JOIN outgoing_transfers ON transaction_number = name
    WHERE provider = $1 AND currency = $2 AND scope = 'external'
  UNION ALL
  SELECT 'out', id::text, name, amount_minor FROM names JOIN outgoing_transfers ON service_provider_reference = name
    WHERE provider = $1 AND currency = $2 AND scope = 'external'
  UNION ALL
  SELECT CASE WHEN return_of IS NULL THEN 'in' ELSE 'out' END, coalesce(return_of::text, service_provider_id), name, amount_minor
  FROM arrived WHERE provider = $1 AND currency = $2 AND coalesce(return_of::text, service_provider_id) IS NOT NULL`;

/** Our payments by our ids and transaction numbers, and by the provider's references; one name may match several. */
export function findNamedPayments(
  reader: Reader,
  { provider, currency }: Position,
  names: readonly string[],
): Promise<NamedPayment[]> {
  const ids = names.filter((name) => isUuid(name));
  return reader.statement<NamedPayment>(NAMED, [provider, currency, JSON.stringify(names), JSON.stringify(ids)]);
}

// $1 provider, $2 currency, $3 names of accounts
const SHARED = `
  WITH named AS MATERIALIZED (
    SELECT id FROM accounts WHERE provider = $1 AND currency = $2 AND ($3::jsonb ? iban OR $3::jsonb ? account_number OR $3::jsonb ? ledger_number)
  )
  SELECT EXISTS (SELECT FROM named) AND EXISTS (
    SELECT FROM accounts WHERE provider = $1 AND currency = $2 AND status NOT IN ('pending', 'declined') AND id NOT IN (SELECT id FROM named)
  ) AS shared`;

/** Whether these accounts belong to some of our clients, while the position also has others. */
export async function anyBelongToClients(
  reader: Reader,
  { provider, currency }: Position,
  accounts: readonly string[],
): Promise<boolean> {
  const [row] = await reader.statement<{ shared: boolean }>(SHARED, [provider, currency, JSON.stringify(accounts)]);
  return row?.shared === true;
}
