import { createHash } from 'node:crypto';
import type { SignUp } from '../../db/users/sign-ups.ts';
import { escaped } from '../../domain/common/texts/html.ts';
import { PASSWORD_LENGTH_MIN, PASSWORD_UNITS_MAX } from '../../domain/users/passwords.ts';
import type { OpenAnswer } from '../http/route.ts';
import { type Language, type NoticeName, SIGN_UP_TEXTS, type SignUpTexts } from './sign-up-texts.ts';

/** The sign-up pages: server-rendered HTML without scripts, for phones first. */
const STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --ground: #f4f5f7; --card: #fff; --line: #6b7480; --strong: #0b5394; --bad: #a3120a; }
@media (prefers-color-scheme: dark) {
  :root { --text: #eceff3; --ground: #14171b; --card: #1f242a; --line: #97a1ad; --strong: #8cc4ff; --bad: #ff9c94; }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--text); font: 1.0625rem/1.5 system-ui, sans-serif; }
main { max-width: 28rem; margin: 0 auto; padding: 1.25rem; background: var(--card); border-radius: 0.75rem; overflow-wrap: anywhere; }
h1 { margin: 0 0 0.75rem; font-size: 1.5rem; line-height: 1.2; }
ul { padding-left: 1.25rem; }
label, dt { font-weight: 600; }
dd { margin: 0 0 1rem; }
input { display: block; width: 100%; margin: 0.25rem 0; padding: 0.75rem; font: inherit; color: inherit; background: transparent; border: 2px solid var(--line); border-radius: 0.5rem; }
button { width: 100%; min-height: 3rem; margin-top: 1rem; padding: 0.75rem; font: inherit; font-weight: 600; border: 2px solid var(--strong); border-radius: 0.5rem; color: var(--strong); background: transparent; cursor: pointer; }
button.main { color: var(--card); background: var(--strong); }
:focus-visible { outline: 3px solid var(--strong); outline-offset: 2px; }
.hint { margin: 0.25rem 0; font-size: 0.9375rem; }
.problem { padding: 0.75rem; border: 2px solid var(--bad); border-radius: 0.5rem; color: var(--bad); }
hr { margin: 1.5rem 0; border: 0; border-top: 1px solid var(--line); }
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** The page's address is a secret: it must not leak, and nothing external is loaded. */
const HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow',
  vary: 'Accept-Language',
} as const;

export type ProblemName = keyof SignUpTexts['problems'];

const NOTICE_STATUS: Readonly<Record<NoticeName, number>> = {
  accepted: 200,
  rejected: 200,
  used: 410,
  cancelled: 410,
  expired: 410,
  unknown: 404,
  unavailable: 503,
  'password-set': 200,
  'password-used': 410,
  'password-cancelled': 410,
  'password-expired': 410,
};

/** A page with a message only. */
export function noticePage(language: Language, name: NoticeName): OpenAnswer {
  const { title, text } = SIGN_UP_TEXTS[language].notices[name];
  const status = NOTICE_STATUS[name];
  const body = `<h1>${escaped(title)}</h1>\n<p role="status">${escaped(text)}</p>`;
  return page(language, title, body, status, status === 503 ? { 'retry-after': '5' } : {});
}

/** The page of a valid link: accept, with a password if the person has none, or reject. */
export function signUpPage(language: Language, found: SignUp, problem: ProblemName | null): OpenAnswer {
  const texts = SIGN_UP_TEXTS[language];
  const { signUp, clientNames, needsPassword } = found;
  if (signUp.kind === 'password-reset') return resetPage(language, found, problem);
  const until = signUp.expiresAt.toISOString().slice(0, 16).replace('T', ' ');
  const shown = problem === null ? '' : problemBox(texts, problem);
  const body = `<h1>${escaped(texts.title)}</h1>
${shown}
<p>${escaped(texts.greeting(`${signUp.identity.givenName} ${signUp.identity.familyName}`))}</p>
<p>${escaped(texts.invited)}</p>
<ul>${clientNames.map((name) => `<li>${escaped(name)}</li>`).join('')}</ul>
<dl><dt>${escaped(texts.address)}</dt><dd>${escaped(signUp.email)}</dd></dl>
<form method="post">
<input type="hidden" name="answer" value="accept">
${needsPassword ? passwordField(texts, signUp.email, problem !== null && problem !== 'choice') : ''}
<button class="main" type="submit">${escaped(texts.accept)}</button>
</form>
<hr>
<form method="post">
<input type="hidden" name="answer" value="reject">
<p class="hint">${escaped(texts.rejectHint)}</p>
<button type="submit">${escaped(texts.reject)}</button>
</form>
<p class="hint">${escaped(texts.until(until))}</p>`;
  return page(language, texts.title, body, problem === null ? 200 : 400);
}

/** The page of a valid link to a new password. */
function resetPage(language: Language, { signUp }: SignUp, problem: ProblemName | null): OpenAnswer {
  const texts = SIGN_UP_TEXTS[language];
  const until = signUp.expiresAt.toISOString().slice(0, 16).replace('T', ' ');
  const body = `<h1>${escaped(texts.reset.title)}</h1>
${problem === null ? '' : problemBox(texts, problem)}
<p>${escaped(texts.greeting(`${signUp.identity.givenName} ${signUp.identity.familyName}`))}</p>
<p>${escaped(texts.reset.asked)}</p>
<dl><dt>${escaped(texts.address)}</dt><dd>${escaped(signUp.email)}</dd></dl>
<form method="post">
<input type="hidden" name="answer" value="accept">
${passwordField(texts, signUp.email, problem !== null)}
<button class="main" type="submit">${escaped(texts.reset.save)}</button>
</form>
<p class="hint">${escaped(texts.until(until))}</p>`;
  return page(language, texts.reset.title, body, problem === null ? 200 : 400);
}

function problemBox(texts: SignUpTexts, problem: ProblemName): string {
  return `<div class="problem" role="alert" id="problem"><strong>${escaped(texts.problem)}</strong> ${escaped(texts.problems[problem])}</div>`;
}

// The hidden user name lets password managers associate the password.
function passwordField(texts: SignUpTexts, email: string, rejected: boolean): string {
  const described = rejected ? 'password-hint problem' : 'password-hint';
  return `<input type="email" name="username" value="${escaped(email)}" autocomplete="username" readonly hidden>
<label for="password">${escaped(texts.password)}</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="${PASSWORD_LENGTH_MIN}" maxlength="${PASSWORD_UNITS_MAX}" aria-describedby="${described}"${rejected ? ' aria-invalid="true" autofocus' : ''}>
<p class="hint" id="password-hint">${escaped(texts.passwordHint)}</p>`;
}

function page(
  language: Language,
  title: string,
  body: string,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): OpenAnswer {
  return {
    status,
    contentType: 'text/html; charset=utf-8',
    headers: { ...HEADERS, 'content-language': language, ...headers },
    body: `<!DOCTYPE html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`,
  };
}
