-- Who has closed submissions: a restore, an operator, or both. `closed_at` is still the earliest of the two and null while
-- submissions are open, so that processes of the release before stop and go on as well. Without the columns below it is a
-- restore's; where it is null, they mean nothing, as after-restore of the release before leaves them.
ALTER TABLE provider_submissions
  ADD COLUMN restore_began_at timestamptz,
  ADD COLUMN operator_closed_at timestamptz,
  ADD COLUMN operator_reason text,
  ADD CONSTRAINT provider_submissions_operator_reason CHECK ((operator_closed_at IS NULL) = (operator_reason IS NULL));

-- Digests of the settings by which the process that started last decides about transfers, so that an operator's command with
-- other settings changes none. The settings themselves are files of the configuration.
CREATE TABLE transfer_rule_settings (
  setting text PRIMARY KEY,
  digest text NOT NULL,
  in_force_since timestamptz NOT NULL
);
