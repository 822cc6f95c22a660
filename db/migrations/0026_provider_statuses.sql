-- What the provider of a built-in account last said of its own accord, and the number of that report: reports that arrive late
-- change nothing, and one that overtakes the news of the opening holds from the opening on.
ALTER TABLE accounts
  ADD COLUMN provider_status text CHECK (provider_status IN ('active', 'inactive', 'suspended', 'closed')),
  ADD COLUMN provider_status_number bigint CHECK (provider_status_number > 0),
  ADD CHECK ((provider_status IS NULL) = (provider_status_number IS NULL));
