-- Breaks of the reconciliation. They come from callbacks, look-ups and comparisons; each names its resource in the same way.

CREATE OR REPLACE FUNCTION reconciliation_break_resource(p_provider text, p_reference text) RETURNS uuid LANGUAGE sql STABLE AS $$
  WITH named AS (
    SELECT CASE WHEN p_reference ~ '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' THEN p_reference::uuid END AS id
  )
  SELECT coalesce(
    (SELECT outgoing_transfers.id FROM outgoing_transfers JOIN named USING (id)),
    (SELECT accounts.id FROM accounts JOIN named USING (id)),
    (SELECT id FROM incoming_transfers WHERE provider = p_provider AND service_provider_id = p_reference))
$$;

CREATE OR REPLACE FUNCTION complete_reconciliation_break() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.resource_id := coalesce(NEW.resource_id, reconciliation_break_resource(NEW.provider, NEW.our_reference));
  NEW.currency := coalesce(NEW.currency, NEW.details ->> 'currency');
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER reconciliation_breaks_complete BEFORE INSERT ON reconciliation_breaks
  FOR EACH ROW EXECUTE FUNCTION complete_reconciliation_break();

-- Whether a break that a comparison finds again needs a person: it had disappeared by itself, or was resolved with other facts.
CREATE OR REPLACE FUNCTION is_reopened(p_known reconciliation_breaks, p_expected jsonb, p_actual jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT p_known.status = 'resolved' AND (
    coalesce(p_known.details ->> 'goneByItself', '') = 'true'
    -- Found by a look-up, it had no facts yet.
    OR (p_known.run_id IS NOT NULL AND (
      (p_known.expected - 'date') IS DISTINCT FROM (p_expected - 'date') OR (p_known.actual - 'date') IS DISTINCT FROM (p_actual - 'date'))))
$$;
