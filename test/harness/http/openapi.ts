import type { OpenApiDocument } from '../../../api/openapi/document.ts';
import { openApiDocument } from '../../../api/openapi/openapi.ts';
import type { Json } from '../api.ts';

/** The paths of a document, with every reference replaced by what it refers to. */
export function inlinedPaths(routes: Parameters<typeof openApiDocument>[0]): Json {
  const document = openApiDocument(routes, 'test');
  return inlined(document.paths, document);
}

function inlined(value: Json, document: OpenApiDocument): Json {
  if (Array.isArray(value)) return value.map((item) => inlined(item, document));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, discriminator, ...own } = value;
  const target = typeof $ref === 'string' ? inlined(referred(document, $ref), document) : {};
  const entries = Object.entries(own).map(([key, inner]) => [
    key,
    key === 'examples' ? inner : inlined(inner, document),
  ]);
  return { ...target, ...Object.fromEntries(entries) };
}

/** What a reference of the document refers to. */
export function referred(document: Json, $ref: string): Json {
  const found = $ref
    .split('/')
    .slice(1)
    .reduce((part: Json, key) => part?.[key], document);
  if (found === undefined) throw new Error(`The document refers to ${$ref}, which it does not have`);
  return found;
}
