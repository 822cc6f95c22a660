-- When to look up an account's change at its provider. It used to be next_check_at, which the sweep of overdue rows postpones: a
-- look-up that the workflow had not made by then waited for five minutes more. Null where the release before has submitted
-- the change; such a look-up is due.
ALTER TABLE accounts ADD COLUMN next_look_up_at timestamptz;
