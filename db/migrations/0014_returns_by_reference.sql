-- Of a payment that came back: the provider's id of the return, by which the same return is known again and another one is
-- not taken for it. Null in every other incoming transfer, and in returns that were booked before.
ALTER TABLE incoming_transfers ADD COLUMN return_reference text;
