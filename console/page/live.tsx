import type { Child } from 'hono/jsx';
import { addressAt, type PageContext } from './page.ts';

/**
 * A part of a page that is refreshed while one looks (live-rows.js): the browser asks for the page again and takes this part out of it.
 * Without JavaScript it is as it was when the page was opened.
 */
export function Live({
  context: { params, query, person, privacy },
  path,
  id = 'live',
  children,
}: {
  readonly context: PageContext;
  /** Of the page, as the page has it. */
  readonly path: string;
  readonly id?: string;
  readonly children?: Child;
}) {
  // What was shown once to a person who is only a viewer would be hidden again.
  const isShownOnce = !privacy.isHiding && person.roles.every((role) => role === 'viewer');
  if (isShownOnce) return <div id={id}>{children}</div>;
  const text = query.toString();
  const address = addressAt(path, params);
  return (
    <>
      <p class="live" hidden data-live-bar={id}>
        <span data-live-state={id}></span> <strong class="bad" role="status" data-live-problem={id}></strong>
        <button type="button" class="small" data-live-pause={id} aria-pressed="false">
          Pause
        </button>
      </p>
      <div
        id={id}
        data-live="on"
        hx-get={text === '' ? address : `${address}?${text}`}
        hx-select={`#${id} > *`}
        hx-trigger="live"
        hx-swap="innerHTML"
      >
        {children}
      </div>
    </>
  );
}
