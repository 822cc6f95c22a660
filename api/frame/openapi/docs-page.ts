import { TEXT_PATTERN } from '../schemas/schemas.ts';
import type { JsonSchema, OpenApiDocument, Operation } from './openapi.ts';

/** Renders the OpenAPI document as one HTML file without scripts or external resources, so that it works offline. */
export function docsPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const sections = document.tags.map(({ name }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    return { name, own };
  });
  const navigation = sections.map(
    ({ name, own }) =>
      `<h2>${escapeHtml(name)}</h2><ul>${own
        .map(
          ({ path, method, operation }) =>
            `<li><a href="#${operation.operationId}"><b class="${method}">${method}</b> ${escapeHtml(path)}</a></li>`,
        )
        .join('')}</ul>`,
  );
  const body = sections.map(
    ({ name, own }) =>
      `<section><h2>${escapeHtml(name)}</h2>${own.map((entry) => operationHtml(entry.method, entry.path, entry.operation)).join('')}</section>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(document.info.title)}</title><link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body><nav><h1>${escapeHtml(document.info.title)}</h1><p>Version ${escapeHtml(document.info.version)} · <a href="/openapi.json">openapi.json</a></p>${navigation.join('')}</nav>
<main><p>${escapeHtml(document.info.description)}</p><details><summary>Errors</summary>${schemaHtml(errorSchema(document))}</details>${body.join('')}</main></body></html>`;
}

function errorSchema(document: OpenApiDocument): JsonSchema {
  const schemas = document.components.schemas;
  return isSchema(schemas) && isSchema(schemas.Error) ? schemas.Error : {};
}

function operationHtml(method: string, path: string, operation: Operation): string {
  const parameters = operation.parameters ?? [];
  const rows = parameters.map(
    (parameter) =>
      `<tr><td><code>${escapeHtml(parameter.name)}</code>${parameter.required ? ' <em>required</em>' : ''}</td><td>${parameter.in}</td><td>${typeOf(parameter.schema)}${escapeHtml(parameter.description ?? '')}</td></tr>`,
  );
  const request = operation.requestBody?.content['application/json'];
  const responses = Object.entries(operation.responses).map(([status, response]) => {
    const content = response.content?.['application/json'];
    const isError = Number(status) >= 400;
    return `<details${isError ? '' : ' open'}><summary><b>${status}</b> ${escapeHtml(response.description)}</summary>${
      content === undefined || isError ? '' : examplesHtml(content.examples) + schemaDetails(content.schema)
    }</details>`;
  });
  return `<article id="${operation.operationId}"><h3><b class="${method}">${method}</b> <code>${escapeHtml(path)}</code>${
    operation.deprecated ? ' <em>deprecated</em>' : ''
  }</h3><p>${escapeHtml(operation.summary)}</p>${paragraphs(operation.description)}${
    rows.length === 0 ? '' : `<table><tr><th>Parameter</th><th>In</th><th>Type</th></tr>${rows.join('')}</table>`
  }${request === undefined ? '' : `<h4>Request</h4>${examplesHtml(request.examples)}${schemaDetails(request.schema)}`}<h4>Answers</h4>${responses.join('')}</article>`;
}

function paragraphs(text = ''): string {
  return text
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => `<p>${escapeHtml(part)}</p>`)
    .join('');
}

function examplesHtml(examples: JsonSchema = {}): string {
  return Object.entries(examples)
    .map(([name, example]) => {
      const value = isSchema(example) ? example.value : example;
      return `<figure><figcaption>${escapeHtml(name)}</figcaption><pre>${escapeHtml(JSON.stringify(value, null, 2))}</pre></figure>`;
    })
    .join('');
}

function schemaDetails(schema: JsonSchema | undefined): string {
  return schema === undefined ? '' : `<details><summary>Fields</summary>${schemaHtml(schema)}</details>`;
}

/** The fields of a schema as nested lists. */
function schemaHtml(schema: JsonSchema): string {
  const variants = alternatives(schema);
  if (variants.length > 0) {
    return variants
      .map((variant) => `<p>${escapeHtml(String(variant.title ?? 'either'))}</p>${schemaHtml(variant)}`)
      .join('');
  }
  const items = schema.items;
  if (isSchema(items)) return schemaHtml(items);
  const properties = schema.properties;
  if (!isSchema(properties)) return '';
  const required = Array.isArray(schema.required) ? schema.required : [];
  const rows = Object.entries(properties).map(([name, property]) => {
    if (!isSchema(property)) return '';
    const mark = required.includes(name) ? ' <em>required</em>' : '';
    return `<li><code>${escapeHtml(name)}</code>${mark} ${typeOf(property)}${schemaHtml(property)}</li>`;
  });
  return `<ul>${rows.join('')}</ul>`;
}

function alternatives(schema: JsonSchema): JsonSchema[] {
  const found = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(found)) return [];
  return found.filter(isSchema).filter((variant) => variant.type !== 'null');
}

const SHOWN_KEYWORDS = [
  'format',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'pattern',
  'default',
];

function typeOf(schema: JsonSchema): string {
  const variants = alternatives(schema);
  if (variants.length === 1 && variants[0] !== undefined) return `${typeOf(variants[0])}<small>or null</small> `;
  const allowed = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : [];
  const reference = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;
  const type = reference ?? (typeof schema.type === 'string' ? schema.type : '');
  const limits = SHOWN_KEYWORDS.filter((keyword) => keyword in schema && schema[keyword] !== TEXT_PATTERN).map(
    (keyword) => `${keyword} ${String(schema[keyword])}`,
  );
  const description = typeof schema.description === 'string' ? [schema.description] : [];
  const parts = [type, ...allowed.map((value) => JSON.stringify(value)), ...limits, ...description].filter(
    (part) => part !== '',
  );
  return `<small>${escapeHtml(parts.join(' · '))}</small> `;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

const STYLE = `
:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
body{margin:0;display:flex}
nav{position:sticky;top:0;height:100vh;overflow:auto;box-sizing:border-box;flex:0 0 22rem;padding:1rem;border-right:1px solid #8884}
nav h1{font-size:1.2rem}nav h2{font-size:1rem;margin:1rem 0 .2rem}nav ul{list-style:none;margin:0;padding:0;font-size:.85rem}
nav a{color:inherit;text-decoration:none;overflow-wrap:anywhere}nav a:hover{text-decoration:underline}
main{flex:1;min-width:0;padding:1rem 2rem;max-width:60rem}
article{border-top:1px solid #8884;padding:.5rem 0 1.5rem}h3{overflow-wrap:anywhere}
pre{background:#8881;padding:.8rem;overflow:auto;font-size:.85rem}figure{margin:.5rem 0}figcaption{font-size:.85rem;opacity:.7}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.25rem .5rem;border-bottom:1px solid #8883}
small{opacity:.75;overflow-wrap:anywhere}em{font-style:normal;font-size:.75rem;color:#c60}summary{cursor:pointer}
b.GET{color:#0a7}b.POST{color:#06c}b.PATCH{color:#a60}b.DELETE{color:#c33}
@media(max-width:50rem){body{display:block}nav{position:static;height:auto;border:0}}`;
