-- What an event says never changes; its position is set once it is numbered, and retention deletes it.
CREATE TRIGGER events_unchanged BEFORE UPDATE OF id, entry_count, module, resource_id, first_sequence, occurred_at, entries ON events
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
