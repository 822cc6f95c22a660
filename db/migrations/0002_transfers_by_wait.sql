-- Lists of transfers by what they wait for: a queue, such as the reviews, is read in its order and counted without the transfers that wait
-- for nothing.
CREATE INDEX outgoing_transfers_by_wait ON outgoing_transfers (waiting_for, id) WHERE waiting_for IS NOT NULL;
COMMENT ON INDEX outgoing_transfers_by_wait IS 'GET /outgoing-transfers by waitingFor, and its total.';
CREATE INDEX incoming_transfers_by_wait ON incoming_transfers (waiting_for, id) WHERE waiting_for IS NOT NULL;
COMMENT ON INDEX incoming_transfers_by_wait IS 'GET /incoming-transfers by waitingFor, and its total.';
