import { createHash } from 'node:crypto';
import { escaped } from '../../domain/common/texts/html.ts';
import { ERROR_PAGES_PATH } from '../http/errors.ts';
import type { OpenAnswer } from '../http/route.ts';

/** The pages of the documentation: plain HTML without scripts, in the look of the sandbox's pages. */

export const GUIDES_PATH = '/docs/guides';

const STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --ground: #f4f5f7; --card: #fff; --line: #6b7480; --strong: #0b5394; --code: #eceff3; }
@media (prefers-color-scheme: dark) {
  :root { --text: #eceff3; --ground: #14171b; --card: #1f242a; --line: #97a1ad; --strong: #8cc4ff; --code: #14171b; }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--text); font: 1.0625rem/1.5 system-ui, sans-serif; }
header, main { max-width: 48rem; margin: 0 auto; overflow-wrap: anywhere; }
header { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: center; justify-content: space-between; padding: 0 0.25rem 0.5rem; }
header strong { color: var(--strong); }
nav a { display: inline-block; padding: 0.75rem 0.375rem; }
main { padding: 1.25rem; background: var(--card); border-top: 0.375rem solid var(--strong); border-radius: 0.75rem; }
h1 { margin: 0 0 0.75rem; font-size: 1.5rem; line-height: 1.2; }
h2 { margin: 1.5rem 0 0.5rem; font-size: 1.125rem; }
p, ul, ol { margin: 0.5rem 0; }
ul, ol { padding-left: 1.25rem; }
li { padding: 0.125rem 0; }
a { color: var(--strong); }
code { padding: 0.0625rem 0.25rem; background: var(--code); border-radius: 0.25rem; font-size: 0.9375rem; }
pre { padding: 0.75rem; overflow-x: auto; background: var(--code); border-radius: 0.5rem; }
pre:focus-visible, a:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; }
pre code { padding: 0; overflow-wrap: normal; }
table { display: block; overflow-x: auto; border-collapse: collapse; }
th, td { padding: 0.375rem 0.75rem 0.375rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const LINKS = [
  [GUIDES_PATH, 'Guides'],
  ['/docs', 'Operations'],
  [ERROR_PAGES_PATH, 'Error codes'],
] as const;

/** A page whose `body` is HTML already. */
export function documentationPage(title: string, body: string, status = 200): OpenAnswer {
  const links = LINKS.map(([path, name]) => `<a href="${path}">${name}</a>`).join(' ');
  return {
    status,
    contentType: 'text/html; charset=utf-8',
    headers: { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' },
    body: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Financial Accounts Service</title><link rel="icon" href="data:,"><style>${STYLE}</style></head>
<body><header><a href="/"><strong>Financial Accounts Service</strong></a><nav aria-label="Documentation">${links}</nav></header>
<main>
${body}
</main></body></html>
`,
  };
}
