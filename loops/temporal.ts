import { Client, Connection, type Metadata, WorkflowClient } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { TemporalSettings } from '../config/temporal.ts';
import { TRACE_HEADER } from '../workflows/common/messages.ts';

/** grpc's default back-off grows to two minutes; a relay with a backlog should reconnect within seconds. */
const RECONNECT_MS_MAX = 2_000;

/** Deadline of a relay's call; see `callDeadlines`. */
const SIGNAL_DEADLINE_SECONDS = 5;
const PROBE_DEADLINE_SECONDS = 2;

const NAMESPACE_HEADER = 'temporal-namespace';

/**
 * A connection for one namespace that never uses AsyncLocalStorage: on Node 20 its first use slows down every promise
 * of the process for good. Temporal's client uses it for the namespace header and for deadlines, so every call sends
 * the header here, and grpc's own configuration has the deadlines.
 */
class OneNamespaceConnection extends Connection {
  override withMetadata<Value>(metadata: Metadata, call: () => Promise<Value>): Promise<Value> {
    const given = Object.entries(metadata);
    const isSentAnyway = given.every(([name, value]) => value === this.options.metadata[name]);
    return isSentAnyway ? call() : super.withMetadata(metadata, call);
  }
}

export interface TemporalClient {
  readonly client: Client;
  readonly connection: Connection;
  close(): Promise<void>;
}

/** A client that connects on its first call and reconnects by itself, so that the API runs without Temporal. */
export function lazyTemporalClient(settings: TemporalSettings): TemporalClient {
  const connection = OneNamespaceConnection.lazy({
    address: settings.address,
    connectTimeout: 5_000,
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': 200,
      'grpc.max_reconnect_backoff_ms': RECONNECT_MS_MAX,
      'grpc.service_config': callDeadlines(),
    },
    metadata: { [NAMESPACE_HEADER]: settings.namespace },
    // grpc must not retry: the relay has its own deadline and back-off.
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

/** Deadlines of the API's calls as grpc's service config. Calls that only tests make have none. */
function callDeadlines(): string {
  const within = (method: string, seconds: number) => ({
    name: [{ service: 'temporal.api.workflowservice.v1.WorkflowService', method }],
    timeout: { seconds, nanos: 0 },
  });
  return JSON.stringify({
    loadBalancingConfig: [],
    methodConfig: [
      within('SignalWithStartWorkflowExecution', SIGNAL_DEADLINE_SECONDS),
      within('GetSystemInfo', PROBE_DEADLINE_SECONDS),
    ],
  });
}

/** The same client, whose calls continue a trace: the SDK has no other way to send a header with one call. */
export function workflowsInTrace(client: Client, traceparent: string): WorkflowClient {
  const header = { [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent }) };
  return new WorkflowClient({
    ...client.workflow.options,
    interceptors: [
      {
        signalWithStart: (input, next) => next({ ...input, headers: { ...input.headers, ...header } }),
      },
    ],
  });
}
