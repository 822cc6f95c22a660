-- So that a page by currency or provider finds the stretches that hold its rows without looking at the others. Written by
-- the counting in the background alone.
CREATE INDEX transfer_stretch_counts_by_currency ON transfer_stretch_counts (direction, currency, first_id)
  INCLUDE (provider, status);
CREATE INDEX transfer_stretch_counts_by_provider ON transfer_stretch_counts (direction, provider, first_id)
  INCLUDE (currency, status);
