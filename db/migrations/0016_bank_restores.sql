-- After a restore the rows of payments by file are older than what the bank has. What may be there already is held until a person releases it.

CREATE TABLE bank_restores (
  provider text PRIMARY KEY,
  -- The instant that the restored database shows, which tells one restore from another.
  since timestamptz NOT NULL,
  -- A payment of before may have been in a file that is lost, so it is held when it is submitted.
  began_at timestamptz NOT NULL,
  -- When all that is in the bank's archive had been stored again.
  archive_read_at timestamptz
);
