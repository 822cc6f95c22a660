import { openRoute } from '../http/route.ts';
import type { Schema } from '../http/schemas/schemas.ts';
import type { AnyRoute } from '../http/third-party-route.ts';
import { oncePer } from './once.ts';

/** All operations with our examples, in the format of Postman 2.1, which Bruno, Insomnia and others import. */
export const COLLECTION_PATH = '/docs/collection.json';

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

export interface CollectionItem {
  readonly name: string;
  readonly request: CollectionRequest;
}

export interface CollectionRequest {
  readonly method: string;
  readonly description: string;
  readonly header: readonly { readonly key: string; readonly value: string }[];
  readonly url: {
    readonly raw: string;
    readonly host: readonly string[];
    readonly path: readonly string[];
    readonly variable: readonly { readonly key: string; readonly value: string }[];
    /** Those that may be left out are switched on one by one. */
    readonly query: readonly { readonly key: string; readonly value: string; readonly disabled: boolean }[];
  };
  readonly auth?: { readonly type: 'noauth' };
  readonly body?: { readonly mode: 'raw'; readonly raw: string; readonly options: typeof AS_JSON };
}

const AS_JSON = { raw: { language: 'json' } } as const;

export interface Collection {
  readonly info: { readonly name: string; readonly schema: string; readonly description: string };
  readonly auth: { readonly type: 'bearer'; readonly bearer: readonly object[] };
  readonly variable: readonly { readonly key: string; readonly value: string }[];
  /** A folder for each group of operations. */
  readonly item: readonly { readonly name: string; readonly item: readonly CollectionItem[] }[];
}

export function collectionOf(routes: readonly AnyRoute[], baseUrl: string): Collection {
  const folders = new Map<string, CollectionItem[]>();
  for (const route of routes) {
    const { tag } = route.contract;
    folders.set(tag, [...(folders.get(tag) ?? []), ...itemsOf(route)]);
  }
  return {
    info: {
      name: 'Financial Accounts Service',
      schema: SCHEMA,
      description: `Set \`token\` to what \`npm run -s token\` prints. The guides are at ${baseUrl}/docs/guides.`,
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: baseUrl },
      { key: 'token', value: '' },
    ],
    item: [...folders].map(([name, item]) => ({ name, item })),
  };
}

/** A request for each workflow code. */
function itemsOf(route: AnyRoute): CollectionItem[] {
  const { contract } = route;
  const open = route.kind === 'route' ? {} : ({ auth: { type: 'noauth' } } as const);
  // An open route keeps nothing under a key.
  const hasKey = route.kind !== 'open' && contract.method === 'POST';
  if (!('examples' in contract) || contract.workflows === undefined)
    return [{ name: contract.summary, request: { ...requestOf(contract, hasKey), ...open } }];
  const examples = Object.entries(contract.examples.requests ?? {});
  return examples.map(([code, example]) => {
    const { workflow, data, connect } = example ?? {};
    const sent = { workflow: { code, ...workflow }, data, ...(connect === undefined ? {} : { connect }) };
    const request = requestOf(contract, hasKey);
    const header = [...request.header, { key: 'Content-Type', value: 'application/json' }];
    const raw = JSON.stringify(sent, null, 2);
    return {
      name: examples.length === 1 ? contract.summary : `${contract.summary} (${code})`,
      request: { ...request, ...open, header, body: { mode: 'raw', raw, options: AS_JSON } },
    };
  });
}

function requestOf(contract: AnyRoute['contract'], hasKey: boolean): CollectionRequest {
  const { method, path, summary, description = summary } = contract;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const query = 'query' in contract ? Object.entries<Schema>(contract.query ?? {}).map(parameterOf) : [];
  const pages = 'paged' in contract && contract.paged ? ['metadata.page.number', 'metadata.page.size'] : [];
  const segments = path.slice(1).replaceAll(/\{(\w+)\}/g, ':$1');
  return {
    method,
    description,
    header: hasKey ? [{ key: 'Idempotency-Key', value: '{{$guid}}' }] : [],
    url: {
      raw: `{{baseUrl}}/${segments}`,
      host: ['{{baseUrl}}'],
      path: segments.split('/'),
      variable: names.map((key) => ({ key, value: '' })),
      query: [...query, ...pages.map((key) => ({ key, value: '', disabled: true }))],
    },
  };
}

/** One that must be there has a value, if all its values are known. */
function parameterOf([key, schema]: [key: string, schema: Schema]) {
  const [first] = 'options' in schema && Array.isArray(schema.options) ? schema.options : [];
  const isOptional = schema.type === 'optional';
  return { key, value: isOptional || typeof first !== 'string' ? '' : first, disabled: isOptional };
}

export function collectionRoute(routes: readonly AnyRoute[]) {
  const shown = routes.filter((route) => route.kind !== 'open' || route.contract.undocumented !== true);
  const textFor = oncePer((baseUrl: string) => JSON.stringify(collectionOf(shown, baseUrl)));
  return openRoute(
    {
      method: 'GET',
      path: COLLECTION_PATH,
      operationId: 'getCollection',
      summary: 'Get a collection of all requests with examples',
      tag: 'System',
      undocumented: true,
      responses: { 200: 'As JSON (Postman 2.1).' },
    },
    async ({ services }) => ({
      status: 200,
      body: textFor(services.environment.publicUrl),
    }),
  );
}
