import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/**
 * The documentation page: Scalar's script renders `/openapi.json` in the browser. All of it comes from this service,
 * and the policy lets the page load from, and send requests to, nothing else.
 */
export const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // Scalar adds its style sheet as an element.
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const SCALAR_PATH = '/docs/scalar.js';
export const START_PATH = '/docs/start.js';

export const DOCS_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Financial Accounts Service</title><link rel="icon" href="data:,"></head>
<body><noscript>This page needs scripts; the description itself is at <a href="/openapi.json">openapi.json</a>, and the <a href="/docs/guides">guides</a> need none.</noscript>
<div id="reference"></div>
<script src="${SCALAR_PATH}"></script><script src="${START_PATH}"></script></body></html>`;

/** Switches off Scalar's own services: fonts, telemetry, assistant, proxy and hosted client. */
const SETTINGS = {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  persistAuth: false,
  documentDownloadType: 'direct',
  authentication: { preferredSecurityScheme: 'machineUser' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
} as const;

export const START_SCRIPT = `Scalar.createApiReference('#reference', ${JSON.stringify(SETTINGS)});`;

/**
 * Scalar's script for browsers, gzipped. Only its Fastify plugin brings the script without the packages it is built
 * from (docs/adr/0036-one-openapi-document.md); the plugin serves it by a route, which is captured here.
 */
export async function scalarScript(): Promise<Uint8Array<ArrayBuffer>> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  const scripts: string[] = [];
  const reply = { header: () => reply, send: (body: string) => scripts.push(body) };
  const route = ({ url, handler }: PluginRoute) => {
    if (url.endsWith('.js')) handler({}, reply);
  };
  plugin({ initialConfig: {}, route }, { configuration: { url: SETTINGS.url } }, () => {});
  const [script] = scripts;
  if (script === undefined) throw new Error('@scalar/fastify-api-reference provides no script');
  return new Uint8Array(await promisify(gzip)(script));
}

interface PluginRoute {
  readonly url: string;
  readonly handler: (request: unknown, reply: unknown) => unknown;
}
