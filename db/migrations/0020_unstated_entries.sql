CREATE INDEX bank_entries_unstated ON bank_entries (provider, currency, booked_on) WHERE stated_by IS NULL AND kind IN ('payment', 'return', 'received');
COMMENT ON INDEX bank_entries_unstated IS 'The movements that no statement has told, for the alarm.';
