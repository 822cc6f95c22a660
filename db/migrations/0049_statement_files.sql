-- What a day was last compared with: the provider's own statement, or a file of the bank that an operator had. The schedule leaves the
-- latter alone, as its own statement would take for gone what the file has shown.
ALTER TABLE reconciliations ADD COLUMN source text NOT NULL DEFAULT 'statement' CHECK (source IN ('statement', 'camt.053'));
