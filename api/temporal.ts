import { Client, Connection } from '@temporalio/client';
import type { TemporalSettings } from '../config/temporal.ts';

/** grpc's own back-off grows to two minutes; a relay that must catch up should notice within seconds. */
const RECONNECT_MS_MAX = 2_000;

export interface TemporalClient {
  readonly client: Client;
  readonly connection: Connection;
  close(): Promise<void>;
}

/** A client that connects at its first call and reconnects by itself: the API runs with Temporal absent. */
export function lazyTemporalClient(settings: TemporalSettings): TemporalClient {
  const connection = Connection.lazy({
    address: settings.address,
    connectTimeout: 5_000,
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': RECONNECT_MS_MAX },
    // Calls are not repeated below us: the relay has its own deadline and back-off.
    interceptors: [],
    ...(settings.tls === undefined ? {} : { tls: settings.tls }),
    ...(settings.apiKey === undefined ? {} : { apiKey: settings.apiKey }),
  });
  return {
    client: new Client({ connection, namespace: settings.namespace }),
    connection,
    close: () => connection.close(),
  };
}
