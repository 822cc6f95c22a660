import type { OpenApiDocument } from '../../../api/openapi/document.ts';
import type { Json, SeenAnswer } from '../api.ts';
import { referred } from './openapi.ts';

interface SeenSchema {
  readonly required: ReadonlySet<string>;
  /** How often each field was there. */
  readonly fields: Map<string, number>;
  times: number;
}

/** Counts, by the schemas of the document, which of their fields real answers have. */
export class SeenAnswers {
  readonly #document: OpenApiDocument;
  readonly #schemas = new Map<string, SeenSchema>();
  readonly #routes = new Set<string>();
  /** Paths that exist, as they were called. */
  readonly paths = new Set<string>();

  constructor(document: OpenApiDocument) {
    this.#document = document;
  }

  add({ method, route, path, status, body }: SeenAnswer): void {
    this.#routes.add(`${method} ${route}`);
    this.paths.add(path);
    const operation: Json = this.#document.paths[route]?.[method.toLowerCase()];
    const answer = this.#resolved(operation.responses[status]);
    this.#walk(answer.content['application/json'].schema, body);
    if (route !== '/events') return;
    for (const event of body.data.events) {
      const { post }: Json = this.#document.webhooks[`${event.webhook.module}.${event.webhook.type}`];
      this.#walk(post.requestBody.content['application/json'].schema, event);
    }
  }

  isSeen(method: string, route: string): boolean {
    return this.#routes.has(`${method} ${route}`);
  }

  /** Fields that the document calls optional, though every answer had them: `Schema.field`. */
  alwaysThere(): string[] {
    return this.#fieldsWhere(({ required, times, fields }, name) => !required.has(name) && fields.get(name) === times);
  }

  /** Fields that the document requires, though an answer did not have them. */
  missing(): string[] {
    return this.#fieldsWhere(({ required, times, fields }, name) => required.has(name) && fields.get(name) !== times);
  }

  get schemas(): number {
    return this.#schemas.size;
  }

  #fieldsWhere(holds: (schema: SeenSchema, name: string) => boolean): string[] {
    const found = [...this.#schemas].flatMap(([name, schema]) =>
      [...schema.fields.keys()].filter((field) => holds(schema, field)).map((field) => `${name}.${field}`),
    );
    return found.sort();
  }

  #resolved(value: Json): Json {
    return typeof value?.$ref === 'string' ? referred(this.#document, value.$ref) : value;
  }

  /** `name` is that of the component. */
  #walk(sent: Json, value: Json, name: string | null = null): void {
    if (value === null || value === undefined) return;
    const schema = this.#resolved(sent);
    const alternative = alternativeOf(schema, value);
    if (schema !== sent) this.#walk(schema, value, sent.$ref.split('/').at(-1));
    else if (alternative !== null) this.#walk(alternative, value);
    else if (Array.isArray(value)) for (const item of value) this.#walk(schema.items, item);
    else if (typeof value === 'object') {
      for (const base of schema.allOf ?? []) this.#walk(base, value);
      this.#walkObject(schema, value, name);
    }
  }

  #walkObject({ properties = {}, required = [], additionalProperties }: Json, value: Json, name: string | null): void {
    if (typeof additionalProperties === 'object')
      for (const inner of Object.values<Json>(value)) this.#walk(additionalProperties, inner);
    const names = Object.keys(properties);
    if (names.length === 0) return;
    if (name === null) throw new Error(`an object without a name: ${names.join()}`);
    const seen = this.#schemas.get(name) ?? { required: new Set(required), fields: new Map(), times: 0 };
    this.#schemas.set(name, seen);
    seen.times += 1;
    for (const field of names) {
      seen.fields.set(field, (seen.fields.get(field) ?? 0) + (value[field] === undefined ? 0 : 1));
      this.#walk(properties[field], value[field]);
    }
  }
}

/** The alternative that describes the value; null if the schema has none. */
function alternativeOf({ oneOf, anyOf, discriminator }: Json, value: Json): Json {
  if (discriminator !== undefined) return { $ref: discriminator.mapping[value[discriminator.propertyName]] };
  const alternatives: Json[] | undefined = oneOf ?? anyOf;
  if (alternatives === undefined) return null;
  const [only, ...others] = alternatives.filter(({ type }) => type !== 'null');
  if (only === undefined || others.length > 0) throw new Error('alternatives without a discriminator');
  return only;
}
