-- `not-found`: asked by an operator's look-up, the provider does not know the payment, and nothing was sent since. The release before
-- never writes the value, and goes on submitting such a payment under its reference, as always.
ALTER DOMAIN submission_status DROP CONSTRAINT submission_status_check;
-- NOT VALID, so that no row is read: every stored value is one of the former ones.
ALTER DOMAIN submission_status ADD CONSTRAINT submission_status_check
  CHECK (VALUE IN ('none', 'unresolved', 'not-found', 'resolved')) NOT VALID;
