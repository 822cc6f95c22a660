import type { Child } from 'hono/jsx';
import { STYLE_SHEET } from '../look/assets.ts';

interface Link {
  readonly href: string;
  readonly text: string;
}

/** A page for a person who is not signed in, or was rejected: what happened, and how to go on. */
export function NoticePage(page: { readonly title: string; readonly text: Child; readonly links: readonly Link[] }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{page.title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={STYLE_SHEET.path} />
      </head>
      <body>
        <main class="alone card">
          <h1>{page.title}</h1>
          <p role="status">{page.text}</p>
          <ul>
            {page.links.map(({ href, text }) => (
              <li>
                <a href={href}>{text}</a>
              </li>
            ))}
          </ul>
        </main>
      </body>
    </html>
  );
}
