-- A file of the bank that cannot be stored, as it is too large, is a row all the same: without its bytes, set aside for a person.
ALTER TABLE bank_files
  ALTER COLUMN content DROP NOT NULL,
  ALTER COLUMN digest DROP NOT NULL,
  -- When the bank wrote a file without bytes here: the next of its name is another one.
  ADD COLUMN modified_at timestamptz,
  ADD CONSTRAINT bank_files_unread CHECK ((content IS NULL) = (digest IS NULL) AND (content IS NULL) = (modified_at IS NOT NULL)
    AND (content IS NOT NULL OR (direction = 'in' AND state = 'set-aside'))) NOT VALID;
