CREATE INDEX bank_entries_contradicted_sums ON bank_entries (provider, batch_id) WHERE kind = 'batch' AND outcome = 'break';
COMMENT ON INDEX bank_entries_contradicted_sums IS 'The sum that is more than its batch can have paid, before one of its payments is submitted again.';
