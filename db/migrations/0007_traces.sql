-- The trace (W3C traceparent) of the request that caused it, while traces are on and that request is sampled; null otherwise. What
-- follows, days later too, continues that trace.
ALTER TABLE workflow_wakeups ADD COLUMN traceparent text;
ALTER TABLE events ADD COLUMN traceparent text;
ALTER TYPE internal_transfer ADD ATTRIBUTE traceparent text;
ALTER TYPE transfer_change ADD ATTRIBUTE traceparent text;
