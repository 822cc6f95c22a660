import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { html, raw } from 'hono/html';
import { LANGUAGES, type Language, type PageEnv } from './languages.ts';

/** A part of a page. The template escapes everything inserted into it. */
export type Html = ReturnType<typeof html>;

/** Whose page it is: each company of the sandbox has its own colour and name. */
export type Look = 'sandbox' | 'third-party' | 'front-office';

const STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --ground: #f4f5f7; --card: #fff; --line: #6b7480; --strong: #0b5394; --bad: #a3120a; }
.third-party { --strong: #0a6640; }
.front-office { --strong: #5b2a86; }
@media (prefers-color-scheme: dark) {
  :root { --text: #eceff3; --ground: #14171b; --card: #1f242a; --line: #97a1ad; --strong: #8cc4ff; --bad: #ff9c94; }
  .third-party { --strong: #7fdcae; }
  .front-office { --strong: #d3b3f5; }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--text); font: 1.0625rem/1.5 system-ui, sans-serif; }
header, main { max-width: 32rem; margin: 0 auto; overflow-wrap: anywhere; }
header { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: center; justify-content: space-between; padding: 0 0.25rem 0.5rem; }
header strong { color: var(--strong); }
nav a { display: inline-block; padding: 0.75rem 0.375rem; }
main { padding: 1.25rem; background: var(--card); border-top: 0.375rem solid var(--strong); border-radius: 0.75rem; }
h1 { margin: 0 0 0.75rem; font-size: 1.5rem; line-height: 1.2; }
h2 { margin: 1.5rem 0 0.5rem; font-size: 1.125rem; }
p { margin: 0.5rem 0; }
a { color: var(--strong); }
a[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
label, legend, dt { font-weight: 600; }
dd { margin: 0 0 0.75rem; }
ul { margin: 0; padding: 0; list-style: none; }
li { padding: 0.75rem 0; border-top: 1px solid var(--line); }
ul.links { padding-left: 1.25rem; list-style: disc; }
ul.links li { padding: 0.25rem 0; border: 0; }
.sum { display: flex; flex-wrap: wrap; gap: 0 1rem; justify-content: space-between; font-weight: 600; }
.sum span:last-child { font-variant-numeric: tabular-nums; white-space: nowrap; }
fieldset { margin: 1rem 0; padding: 0; border: 0; min-width: 0; }
legend { padding: 0 0 0.5rem; }
.choice { display: flex; gap: 0.75rem; align-items: flex-start; padding: 0.75rem; margin-bottom: 0.5rem; border: 2px solid var(--line); border-radius: 0.5rem; font-weight: inherit; }
.choice input { flex: none; width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--strong); }
.choice > span { flex: 1; min-width: 0; }
.field, textarea { display: block; width: 100%; margin: 0.25rem 0 0.75rem; padding: 0.75rem; font: inherit; color: inherit; background: transparent; border: 2px solid var(--line); border-radius: 0.5rem; }
button { width: 100%; min-height: 3rem; margin-top: 0.75rem; padding: 0.75rem; font: inherit; font-weight: 600; border: 2px solid var(--strong); border-radius: 0.5rem; color: var(--strong); background: transparent; cursor: pointer; }
button.main { color: var(--card); background: var(--strong); }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; }
.hint { font-size: 0.9375rem; }
.problem { padding: 0.75rem; border: 2px solid var(--bad); border-radius: 0.5rem; color: var(--bad); }
pre { white-space: pre-wrap; font: inherit; }
hr { margin: 1.5rem 0; border: 0; border-top: 1px solid var(--line); }
`;

/** Their own names, by which readers find them. */
const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch', fr: 'Français' };
const SWITCH: Readonly<Record<Language, string>> = { en: 'Language', de: 'Sprache', fr: 'Langue' };

export interface Page {
  readonly look: Look;
  readonly language: Language;
  /** The company's name. */
  readonly owner: string;
  readonly title: string;
  readonly body: Html;
  /** The address of this page by GET, for the language switch; null: there is no switch. */
  readonly here: string | null;
  readonly status?: 200 | 400 | 404 | 409 | 410 | 422 | 429 | 500 | 502 | 503;
  /** The only script that may run. */
  readonly script?: string;
  /** Whether its form is answered by a redirect to another site, which browsers count as a form's action. */
  readonly leadsAway?: boolean;
}

export async function showPage(c: Context<PageEnv>, page: Page): Promise<Response> {
  const { look, language, owner, title, body, here, status = 200, script } = page;
  const content = await html`<!DOCTYPE html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(STYLE)}</style>
</head>
<body class="${look}">
<header><strong>${owner}</strong>${here === null ? '' : languageSwitch(language, here)}</header>
<main>
<h1>${title}</h1>
${body}
</main>
${script === undefined ? '' : html`<script>${raw(script)}</script>`}
</body>
</html>
`;
  return c.body(content.toString(), status, headersOf(page));
}

function languageSwitch(language: Language, here: string): Html {
  const links = LANGUAGES.map((other) =>
    other === language
      ? html`<a href="${here}?language=${other}" lang="${other}" aria-current="true">${LANGUAGE_NAMES[other]}</a>`
      : html`<a href="${here}?language=${other}" lang="${other}" hreflang="${other}">${LANGUAGE_NAMES[other]}</a>`,
  );
  return html`<nav aria-label="${SWITCH[language]}">${links}</nav>`;
}

/** Nothing is loaded from elsewhere, nothing is cached, and no address is passed on: addresses may hold codes and ids. */
function headersOf({ language, script, leadsAway = false }: Page): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hashOf(STYLE)}'`,
    ...(script === undefined ? [] : [`script-src 'sha256-${hashOf(script)}'`]),
    `form-action 'self'${leadsAway ? ' https: http:' : ''}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-language': language,
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'x-robots-tag': 'noindex, nofollow',
    vary: 'Accept-Language, Cookie',
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

export function problemBox(text: string | null): Html {
  return text === null ? html`` : html`<p class="problem" role="alert" id="problem">${text}</p>`;
}
