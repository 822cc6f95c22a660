import { fields, type Schema } from '../http/schemas/schemas.ts';
import type { Tag } from '../http/tags.ts';
import { constant, jsonSchemaOf } from './bodies.ts';
import type { Components } from './components.ts';
import type { JsonSchema, Reference, WebhookItem } from './document.ts';

/** What the service sends to subscribers under one module and type. */
export interface WebhookContract {
  readonly module: string;
  readonly type: string;
  /** The name in the document: `ClientCreated` for `ClientCreatedEvent`. */
  readonly name: string;
  readonly summary: string;
  readonly tag: Tag;
  readonly data: Readonly<Record<string, Schema<unknown, unknown>>>;
  readonly connect?: Schema<unknown, unknown>;
  readonly metadata: Schema<unknown, unknown>;
  /** Fields of `data` that other webhooks of the resource have, and this one never has. */
  readonly never?: readonly string[];
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
  ['webhook-id', { type: 'string' }, 'The same for every attempt'],
  ['webhook-timestamp', { type: 'integer' }, 'The time of the attempt, in Unix seconds'],
  [
    'webhook-signature',
    { type: 'string' },
    'As in Standard Webhooks 1.0; two signatures while a secret is being rotated',
  ],
] as const;

const RECEIVED = { description: 'Received. Any other response is a failure, and the webhook is sent again.' };

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
        properties: { module: constant(module), type: constant(type) },
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
