-- A payment whose reference names several accounts is held like one that names none, for a person to decide.
-- NOT VALID: the list only grows, so that no row has to be looked at.
ALTER DOMAIN hold_reason DROP CONSTRAINT hold_reason_check;
ALTER DOMAIN hold_reason ADD CONSTRAINT hold_reason_check
  CHECK (VALUE IN ('account-not-active', 'client-not-active', 'no-match', 'ambiguous-match', 'held-by-provider')) NOT VALID;

-- Whether a subscription gets an event. Without types, a module of the specification stands for the specification's
-- types of it; whatever is beyond the specification is for those who name its type, or its module where that is beyond too.
CREATE OR REPLACE FUNCTION subscribes(p_modules text[], p_types text[], p_module text, p_type text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (p_modules IS NULL OR p_module = ANY (p_modules)) AND CASE
    WHEN p_types IS NOT NULL THEN p_type = ANY (p_types)
    WHEN p_module IN ('incoming-transfers', 'outgoing-transfers', 'accounts', 'clients') THEN p_type IN (
      'incoming-transfer-pending', 'incoming-transfer-compliance-in-review', 'incoming-transfer-completed', 'incoming-transfer-failed',
      'outgoing-transfer-created', 'outgoing-transfer-compliance-in-review', 'outgoing-transfer-processing', 'outgoing-transfer-released',
      'outgoing-transfer-completed', 'outgoing-transfer-cancelled', 'outgoing-transfer-failed', 'outgoing-transfer-returned',
      'account-activated', 'account-inactivated', 'account-suspended', 'account-closed', 'account-declined',
      'account-information-updated', 'connection-creation-instructed', 'connection-created', 'connection-creation-failed',
      'connection-update-instructed', 'connection-updated', 'connection-update-failed', 'created')
    ELSE p_modules IS NOT NULL END
$$;
