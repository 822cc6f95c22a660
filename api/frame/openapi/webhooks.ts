import { fields, type Schema } from '../schemas/schemas.ts';
import { jsonSchemaOf } from './bodies.ts';
import type { Components } from './components.ts';
import type { JsonSchema, Reference } from './openapi.ts';
import type { Tag } from './tags.ts';

/** What the service sends to subscribers under one module and type. */
export interface WebhookContract {
  readonly module: string;
  readonly type: string;
  /** In the document's names: `ClientCreated` of `ClientCreatedEvent`. */
  readonly name: string;
  readonly summary: string;
  readonly tag: Tag;
  readonly data: Readonly<Record<string, Schema<unknown, unknown>>>;
  readonly connect?: Schema<unknown, unknown>;
  readonly metadata: Schema<unknown, unknown>;
  /** What `data` has in other webhooks of the resource, and never in this one. */
  readonly never?: readonly string[];
}

export interface WebhookItem {
  readonly post: JsonSchema;
}

/** The document's `webhooks`, one for each module and type, named `<module>.<type>`. */
export function webhooksOf(
  contracts: readonly WebhookContract[],
  components: Components,
): Readonly<Record<string, WebhookItem>> {
  return Object.fromEntries(
    contracts.map((contract) => [`${contract.module}.${contract.type}`, { post: operationOf(contract, components) }]),
  );
}

function operationOf(contract: WebhookContract, components: Components): JsonSchema {
  return {
    operationId: `receive${contract.name}`,
    tags: [contract.tag],
    summary: contract.summary,
    security: [],
    parameters: HEADERS.map(([name, schema, description]) =>
      components.add('parameters', name, { name, in: 'header', required: true, description, schema }),
    ),
    requestBody: { required: true, content: { 'application/json': { schema: eventOf(contract, components) } } },
    responses: { '2XX': components.add('responses', 'WebhookReceived', RECEIVED) },
  };
}

const HEADERS = [
  ['webhook-id', { type: 'string' }, 'The same at every attempt'],
  ['webhook-timestamp', { type: 'integer' }, 'Of the attempt, in Unix seconds'],
  ['webhook-signature', { type: 'string' }, 'Of Standard Webhooks 1.0; two while a secret rotates'],
] as const;

const RECEIVED = { description: 'Received. Any other answer is a failure, and the webhook is sent again.' };

function eventOf(contract: WebhookContract, components: Components): Reference {
  const { name, module, type, data, connect, metadata, never = [] } = contract;
  const shown = components.referring(jsonSchemaOf(fields(data)), 'answer');
  const forbidden = Object.fromEntries(never.map((field) => [field, { not: {} }]));
  return components.add('schemas', `${name}Event`, {
    type: 'object',
    required: ['webhook', 'data', 'connect', 'metadata'],
    properties: {
      webhook: components.add('schemas', `${name}EventWebhook`, {
        type: 'object',
        required: ['module', 'type'],
        properties: { module: { const: module }, type: { const: type } },
      }),
      data: components.add('schemas', `${name}EventData`, {
        ...shown,
        properties: { ...properties(shown), ...forbidden },
      }),
      connect:
        connect === undefined
          ? components.add('schemas', 'Connect', { type: 'object', additionalProperties: true })
          : components.referring(jsonSchemaOf(connect), 'answer'),
      metadata: components.referring(jsonSchemaOf(metadata), 'answer'),
    },
  });
}

function properties({ properties: found }: JsonSchema): object {
  return typeof found === 'object' && found !== null ? found : {};
}
