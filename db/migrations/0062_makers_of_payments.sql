-- Four eyes: who approved the consent to a payment has caused it and may not authorize it. The consent names both.
ALTER TABLE open_banking_consents
  ADD COLUMN approved_by text,
  ADD COLUMN outgoing_transfer_id uuid;
UPDATE open_banking_consents consent SET approved_by = (
  SELECT actor FROM audit_entries WHERE subject = consent.id::text AND action = 'awaiting-exchange'
  ORDER BY occurred_at DESC LIMIT 1)
WHERE user_id IS NOT NULL;
-- The payment of an earlier release: the third party's transfer of this account and amount that was created when its consent was consumed.
UPDATE open_banking_consents consent SET outgoing_transfer_id = (
  SELECT transfer.id FROM audit_entries consumed
    JOIN outgoing_transfers transfer ON transfer.created_by = consent.third_party_provider_id
      AND transfer.account_id = ANY (consent.account_ids) AND transfer.amount_minor = consent.instructed_amount_minor
      AND transfer.created_at BETWEEN consumed.occurred_at - interval '1 minute' AND consumed.occurred_at + interval '1 minute'
  WHERE consumed.subject = consent.id::text AND consumed.action = 'consumed'
  ORDER BY abs(extract(epoch FROM transfer.created_at - consumed.occurred_at)) LIMIT 1)
WHERE status = 'consumed';
CREATE INDEX open_banking_consents_by_payment ON open_banking_consents (outgoing_transfer_id) WHERE outgoing_transfer_id IS NOT NULL;
COMMENT ON INDEX open_banking_consents_by_payment IS 'PATCH /outgoing-transfers/{id}, the authorization: who approved the consent to this payment.';
