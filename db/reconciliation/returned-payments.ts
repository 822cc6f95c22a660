/**
 * The payment that came back as the incoming transfer `arrived`, if the release before has booked that, for a LATERAL join. With the
 * conditions inside and a LIMIT, Postgres looks for it only there; an ordinary join would read every payment of the account for each
 * payment into it. `arrived` may be the nulls of an outer join.
 */
export const RETURNED_OF_ARRIVED = `
  SELECT id FROM outgoing_transfers WHERE arrived.id IS NOT NULL AND arrived.service_provider_id IS NULL AND arrived.return_of IS NULL
    AND account_id = arrived.account_id AND incoming_transfer_id = arrived.id LIMIT 1`;
