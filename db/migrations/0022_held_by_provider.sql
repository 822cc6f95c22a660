-- Money that its provider holds becomes pending before it is credited. The release before does not look at why money is
-- held, and would credit it as soon as its account may have money: its worker may run beside this release, or after it.
CREATE FUNCTION refuse_credit_of_held_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'incoming transfer % is held by its provider and cannot be credited', OLD.id;
END $$;
CREATE TRIGGER incoming_transfers_held_by_provider BEFORE UPDATE OF status ON incoming_transfers FOR EACH ROW
  WHEN (OLD.status = 'on-hold' AND OLD.hold_reason = 'held-by-provider' AND NEW.status = 'completed')
  EXECUTE FUNCTION refuse_credit_of_held_money();
