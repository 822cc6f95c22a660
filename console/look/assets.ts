import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { STYLE } from './style.ts';

/** What pages load, all of it from the console itself. An address holds the content's digest, so that browsers keep it for good. */
export interface Asset {
  readonly path: string;
  readonly contentType: string;
  readonly content: string;
}

function asset(name: string, contentType: string, content: string): Asset {
  const digest = createHash('sha256').update(content).digest('base64url').slice(0, 16);
  return { path: `/assets/${digest}/${name}`, contentType, content };
}

const SCRIPT = 'text/javascript; charset=utf-8';
const require = createRequire(import.meta.url);

export const STYLE_SHEET = asset('console.css', 'text/css; charset=utf-8', STYLE);
export const HTMX = asset('htmx.js', SCRIPT, readFileSync(require.resolve('htmx.org/dist/htmx.min.js'), 'utf8'));
export const LIVE_ROWS = asset(
  'live-rows.js',
  SCRIPT,
  readFileSync(new URL('./live-rows.js', import.meta.url), 'utf8'),
);

export const ASSETS: readonly Asset[] = [STYLE_SHEET, HTMX, LIVE_ROWS];
