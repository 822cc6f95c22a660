import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { isSchema } from '../../../api/openapi/components.ts';
import type { JsonSchema } from '../../../api/openapi/document.ts';
import { ROUTES } from '../../../api/routes.ts';
import { documentOf } from '../../../api/system.ts';
import { isUuid } from '../../../domain/common/ids.ts';
import { isDate } from '../../../domain/common/time/dates.ts';

interface NamedEvent {
  readonly webhook?: { readonly module?: string; readonly type?: string };
}

/** In which way a webhook, or an event of the log, contradicts the OpenAPI document; null if it does not. */
export function webhookProblem(event: NamedEvent): string | null {
  const name = `${event?.webhook?.module}.${event?.webhook?.type}`;
  validators ??= compiled();
  const validate = validators.get(name);
  if (validate === undefined) return `${name} is not in the OpenAPI document`;
  if (validate(event)) return null;
  const problems = (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  return `${name} contradicts the OpenAPI document: ${problems.join('; ')}\n${JSON.stringify(event)}`;
}

export function checkWebhook(event: NamedEvent): void {
  const problem = webhookProblem(event);
  if (problem !== null) throw new Error(problem);
}

let validators: ReadonlyMap<string, ValidateFunction> | undefined;

function compiled(): ReadonlyMap<string, ValidateFunction> {
  const document = documentOf(ROUTES, 'test');
  const schemas = Object.entries(document.components.schemas ?? {}).map(([name, schema]) => [name, closedIn(schema)]);
  // OpenAPI's own keywords, such as `discriminator`, are unknown to JSON Schema.
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { uuid: isUuid, date: isDate, email: true } });
  ajv.addSchema({ $id: 'openapi', webhooks: document.webhooks, components: { schemas: Object.fromEntries(schemas) } });
  return new Map(
    Object.keys(document.webhooks).map((name) => {
      const $ref = `openapi#/webhooks/${name}/post/requestBody/content/application~1json/schema`;
      return [name, ajv.compile({ $ref, unevaluatedProperties: false })];
    }),
  );
}

/**
 * The schema without fields that it does not describe: receivers must ignore them, while a field of ours that the document
 * lacks is a mistake. What refers to a component closes it, because another may add to it by `allOf`.
 */
function closed(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === 'properties' && isSchema(value)) {
      const properties = Object.entries(value).map(([name, property]) => [name, closedHere(property)]);
      return [keyword, Object.fromEntries(properties)];
    }
    if (['items', 'additionalProperties'].includes(keyword)) return [keyword, closedHere(value)];
    if (['allOf', 'anyOf', 'oneOf'].includes(keyword) && Array.isArray(value)) return [keyword, value.map(closedIn)];
    return [keyword, value];
  });
  return Object.fromEntries(entries);
}

function closedIn(value: unknown): unknown {
  return isSchema(value) ? closed(value) : value;
}

function closedHere(value: unknown): unknown {
  if (!isSchema(value)) return value;
  const hasFields = ['$ref', 'properties', 'allOf', 'anyOf', 'oneOf'].some((keyword) => keyword in value);
  return hasFields ? { ...closed(value), unevaluatedProperties: false } : closed(value);
}
