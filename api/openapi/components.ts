import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema, Reference } from './document.ts';

/** Where a schema is used: PATCH accepts null where POST does not, and answers may gain fields. */
export type Use = 'answer' | 'input' | 'change';

const SUFFIXES: Readonly<Record<Use, string>> = { answer: '', input: 'Input', change: 'Change' };

/** Collects the parts of a document that are defined once and referenced elsewhere. */
export class Components {
  readonly #parts = new Map<string, Map<string, unknown>>();
  readonly #examples = new Map<string, unknown>();

  /** Adds a component and returns a reference to it. Throws if a different component has the same name. */
  add(
    part: 'schemas' | 'parameters' | 'responses' | 'headers' | 'examples',
    name: string,
    component: unknown,
  ): Reference {
    const components = this.#parts.get(part) ?? new Map<string, unknown>();
    this.#parts.set(part, components);
    const known = components.get(name);
    if (known !== undefined && !isDeepStrictEqual(known, component)) {
      throw new Error(`Two different ${part} of the OpenAPI document are called ${name}`);
    }
    components.set(name, component);
    return { $ref: `#/components/${part}/${name}` };
  }

  /** Sets the example of the referenced schema. The first is kept unless a better one follows. */
  addExample({ $ref }: Reference, example: unknown, isBetter = false): void {
    if (isBetter || !this.#examples.has($ref)) this.#examples.set($ref, example);
  }

  /** The schema, with references in place of all parts that have a title (`named`). */
  referring(schema: JsonSchema, use: Use): JsonSchema {
    const { title, deprecated, ...rest } = schema;
    const content = orNull(this.#referringInside(rest, use));
    const result = typeof title === 'string' ? this.add('schemas', componentName(title, rest, use), content) : content;
    return deprecated === undefined ? result : { ...result, deprecated };
  }

  #referringInside(schema: JsonSchema, use: Use): JsonSchema {
    const entries = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
      // The referenced schema has the type.
      if (keyword === 'type' && isReference(schema)) return [];
      if (keyword === 'minItems' && value === 0) return [];
      if (keyword === 'properties' && isSchema(value)) {
        const properties = Object.entries(value).map(([name, inner]) => [name, this.#referringTo(inner, use)]);
        return [[keyword, Object.fromEntries(properties)]];
      }
      if (keyword === 'items') return [[keyword, this.#referringTo(value, use)]];
      if (keyword === 'additionalProperties') {
        // An answer may gain a field in any release, and a strict client must not break on it.
        return value === false && use === 'answer' ? [] : [[keyword, this.#referringTo(value, use)]];
      }
      if (['anyOf', 'oneOf', 'allOf'].includes(keyword) && Array.isArray(value)) {
        return [[keyword, value.map((variant) => this.#referringTo(variant, use))]];
      }
      if (keyword === 'discriminator') return [[keyword, this.#withMapping(value, schema.oneOf, use)]];
      return [[keyword, value]];
    });
    return Object.fromEntries(entries);
  }

  #referringTo(value: unknown, use: Use): unknown {
    return isSchema(value) ? this.referring(value, use) : value;
  }

  /** Names the variant that belongs to each value of the discriminating field. */
  #withMapping(discriminator: unknown, variants: unknown, use: Use): unknown {
    if (!isSchema(discriminator) || !Array.isArray(variants)) return discriminator;
    const mapping = variants.filter(isSchema).map((variant) => {
      const properties = isSchema(variant.properties) ? variant.properties : {};
      const field = properties[String(discriminator.propertyName)];
      return [isSchema(field) ? field.const : undefined, this.referring(variant, use).$ref];
    });
    return { ...discriminator, mapping: Object.fromEntries(mapping) };
  }

  /** The document's `components`. */
  toObject(): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
    const parts = [...this.#parts].map(([part, components]) => {
      const entries = [...components].map(([name, component]) => {
        const example = this.#examples.get(`#/components/${part}/${name}`);
        return [name, isSchema(component) && example !== undefined ? { ...component, examples: [example] } : component];
      });
      return [part, Object.fromEntries(entries)];
    });
    return Object.fromEntries(parts);
  }
}

/** Texts, numbers and enumerations are the same in requests and answers; objects are not. */
function componentName(title: string, schema: JsonSchema, use: Use): string {
  return schema.type === 'object' || 'oneOf' in schema ? `${title}${SUFFIXES[use]}` : title;
}

/** `type: [x, 'null']` for x or null, if x has its own type. */
function orNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [value, nothing] = anyOf.filter(isSchema);
  if (value === undefined || nothing?.type !== 'null') return schema;
  if (typeof value.type !== 'string' || 'enum' in value || 'const' in value) return schema;
  return { ...value, type: [value.type, 'null'], ...rest };
}

export function isReference(value: JsonSchema): value is JsonSchema & Reference {
  return typeof value.$ref === 'string';
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
