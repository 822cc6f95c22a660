-- Clients and beneficiaries that were taken over from a provider (workflow.code migration).

-- The id under which the client was asked for at its provider; null where the service itself made the connection.
ALTER TABLE client_connections
  ADD COLUMN source_id text,
  ADD CONSTRAINT client_connections_taken_over
    CHECK (source_id IS NULL OR (reference IS NOT NULL AND state = 'completed-up-to-date'));
-- One client of a provider is one client here, however many ask for it at once.
CREATE UNIQUE INDEX client_connections_by_source_id ON client_connections (provider, source_id) WHERE source_id IS NOT NULL;
CREATE INDEX client_connections_by_reference ON client_connections (provider, reference) WHERE reference IS NOT NULL;

CREATE TABLE beneficiary_connections (
  id uuid PRIMARY KEY,
  beneficiary_id uuid NOT NULL REFERENCES beneficiaries (id),
  provider text NOT NULL,
  reference text NOT NULL,
  state text NOT NULL CHECK (state = 'completed-up-to-date'),
  source_id text NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (beneficiary_id, provider),
  CONSTRAINT beneficiary_connections_by_source_id UNIQUE (provider, source_id)
);
