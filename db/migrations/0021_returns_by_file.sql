-- Money in that is not credited goes back by file. No row that is there needs to be looked at: none is such a return.
ALTER TABLE bank_entries
  -- Of money that came in: the payer's own id of it (EndToEndId), by which a bank's own booking of its return may name it.
  ADD COLUMN payer_reference text;
ALTER TABLE bank_instructions
  -- It returns money in: the transfer is an incoming one.
  ADD COLUMN is_return boolean NOT NULL DEFAULT false;
