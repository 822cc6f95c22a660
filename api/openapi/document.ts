export type JsonSchema = Readonly<Record<string, unknown>>;

export type Reference = { readonly $ref: string };

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Described>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly [keyword: string]: unknown;
}

export type Content = Readonly<Record<string, { readonly schema?: JsonSchema; readonly examples?: JsonSchema }>>;

export interface ResponseObject {
  readonly description: string;
  readonly headers?: JsonSchema;
  readonly content?: Content;
}

export type Described = ResponseObject | Reference;

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly unknown[];
  readonly security: readonly unknown[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, WebhookItem>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface WebhookItem {
  readonly post: JsonSchema;
}
