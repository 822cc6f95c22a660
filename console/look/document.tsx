import type { Child } from 'hono/jsx';
import type { SignedInPerson } from '../http/person.ts';
import { HTMX, LIVE_ROWS, STYLE_SHEET } from './assets.ts';
import { SECTIONS, type Section } from './sections.ts';

export interface Notice {
  readonly state: 'done' | 'unchanged' | 'unknown' | 'problem';
  readonly text: string;
}

interface Props {
  readonly title: string;
  /** Null on the pages before a sign-in. */
  readonly person: SignedInPerson | null;
  readonly section?: Section | undefined;
  readonly notice?: Notice | null | undefined;
  readonly children?: Child;
}

/** The frame of every page: what the console is, who is signed in, the search box, the sections. */
export function Document({ title, person, section, notice, children }: Props) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta
          name="htmx-config"
          content='{"allowEval":false,"includeIndicatorStyles":false,"selfRequestsOnly":true,"historyCacheSize":0}'
        />
        <title>{`${title} · Console`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={STYLE_SHEET.path} />
        <script src={HTMX.path} defer></script>
        <script src={LIVE_ROWS.path} defer></script>
      </head>
      <body>
        <a class="skip" href="#content">
          To the content
        </a>
        <header class="top">
          <strong>Financial Accounts Console</strong>
          {person === null ? null : <Bar person={person} />}
        </header>
        <div class="frame">
          {person === null ? <span></span> : <Sections current={section} person={person} />}
          <main id="content">
            <h1>{title}</h1>
            {notice == null ? null : <NoticeBox notice={notice} />}
            {children}
          </main>
        </div>
      </body>
    </html>
  );
}

function Bar({ person }: { readonly person: SignedInPerson }) {
  return (
    <>
      <search>
        <form class="search" action="/search" method="get">
          <input
            type="search"
            name="q"
            aria-label="Search by id, number, reference, IBAN, amount with date, name or e-mail"
            placeholder="Number, IBAN, amount, name …"
          />
          <button type="submit">Search</button>
        </form>
      </search>
      <div class="who">
        <a href="/me">{person.name}</a>
        <span class="world">{person.roles.join(', ')}</span>
        <form class="plain" method="post" action="/sign-out">
          <input type="hidden" name="csrf" value={person.csrfToken} />
          <button type="submit" class="link">
            Sign out
          </button>
        </form>
      </div>
    </>
  );
}

function Sections({ current, person }: { readonly current: Section | undefined; readonly person: SignedInPerson }) {
  const open = SECTIONS.filter(([, , role]) => role === undefined || person.roles.includes(role));
  return (
    <nav class="sections" aria-label="Sections">
      <ul>
        {open.map(([path, name]) => (
          <li>
            <a href={path} {...(path === current ? { 'aria-current': 'page' as const } : {})}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

const LEAD: Readonly<Record<Notice['state'], string>> = {
  done: 'Done.',
  unchanged: 'Nothing changed.',
  unknown: 'Not yet known.',
  problem: 'Not done.',
};

/** What the last act did; read out by screen readers. */
export function NoticeBox({ notice: { state, text } }: { readonly notice: Notice }) {
  return (
    <p class={`notice ${state}`} role={state === 'problem' ? 'alert' : 'status'}>
      <strong>{LEAD[state]}</strong> {text}
    </p>
  );
}
