-- A second directory, eu-vop, which also compares an organisation's identifier. The rule allows more than that before, so no row needs to be looked at.
ALTER TABLE beneficiary_verifications
  ADD COLUMN identification jsonb,
  DROP CONSTRAINT beneficiary_verifications_directory_check,
  ADD CONSTRAINT beneficiary_verifications_directory_check CHECK (directory IN ('pay-uk', 'eu-vop')) NOT VALID;
