-- Files that are signed or encrypted: `content`, `digest` and `size` are of the bytes that lie at the bank, and the message in them is kept as well.
ALTER TABLE bank_files
  -- The message, if `content` is not the message itself: made once and stored with it, or opened when the file was taken.
  ADD COLUMN plain bytea,
  ADD COLUMN plain_digest bytea CHECK (length(plain_digest) = 32);
