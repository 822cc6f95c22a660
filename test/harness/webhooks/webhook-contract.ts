import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { ROUTES } from '../../../api/routes.ts';
import { documentOf } from '../../../api/system.ts';
import { isUuid } from '../../../domain/frame/ids.ts';
import { isDate } from '../../../domain/frame/time/dates.ts';
import type { Json } from '../api.ts';

/** In which way a webhook, or an event of the log, contradicts the OpenAPI document; null if it does not. */
export function webhookProblem(event: Json): string | null {
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

export function checkWebhook(event: Json): void {
  const problem = webhookProblem(event);
  if (problem !== null) throw new Error(problem);
}

let validators: ReadonlyMap<string, ValidateFunction> | undefined;

function compiled(): ReadonlyMap<string, ValidateFunction> {
  const document: Json = documentOf(ROUTES, 'test');
  const schemas = Object.entries<Json>(document.components.schemas).map(([name, schema]) => [name, closed(schema)]);
  // OpenAPI's own keywords, such as `discriminator`, are unknown to JSON Schema.
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { uuid: isUuid, date: isDate, email: true } });
  ajv.addSchema({ $id: 'openapi', components: { schemas: Object.fromEntries(schemas) } });
  return new Map(
    Object.entries<Json>(document.webhooks).map(([name, { post }]) => {
      const { $ref } = post.requestBody.content['application/json'].schema;
      return [name, ajv.compile({ $ref: `openapi${$ref}`, unevaluatedProperties: false })];
    }),
  );
}

/**
 * The schema without fields that it does not describe: receivers must ignore them, while a field of ours that the document
 * lacks is a mistake. What refers to a component closes it, because another may add to it by `allOf`.
 */
function closed(schema: Json): Json {
  const inside = (values: Json) =>
    Object.fromEntries(Object.entries<Json>(values).map(([name, value]) => [name, closedHere(value)]));
  const { properties, items, additionalProperties, allOf, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties === undefined ? {} : { properties: inside(properties) }),
    ...(items === undefined ? {} : { items: closedHere(items) }),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: closedHere(additionalProperties) } : {}),
    ...(allOf === undefined ? {} : { allOf: allOf.map(closed) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(closed) }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map(closed) }),
  };
}

function closedHere(schema: Json): Json {
  const hasFields = ['$ref', 'properties', 'allOf', 'anyOf', 'oneOf'].some((keyword) => keyword in schema);
  return hasFields ? { ...closed(schema), unevaluatedProperties: false } : closed(schema);
}
