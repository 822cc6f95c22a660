-- Of which account a movement is, as the bank writes it, and of which batch of ours it is the sum. Null for rows from before.
ALTER TABLE bank_entries
  ADD COLUMN account text,
  -- Of a batch told as one sum: its id and how many payments the bank says it has.
  ADD COLUMN batch_id text,
  ADD COLUMN batch_count integer,
  -- The bank's charges in the amount.
  ADD COLUMN charges_minor bigint;
