-- Where the event log begins: events before this position were deleted after the configured time. A row of its own, so
-- that housekeeping never waits for the sequencer, nor the sequencer for it.
CREATE TABLE event_log_start (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  first_position bigint NOT NULL
);
INSERT INTO event_log_start (first_position) VALUES (1);
