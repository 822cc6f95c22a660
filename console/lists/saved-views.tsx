import { listSavedViews } from '../../db/people/saved-views.ts';
import type { PageContext } from '../page/page.ts';

/** The person's named filters of this list, and a form that keeps the present one. */
export async function SavedViews({
  context: { services, person },
  path,
  query,
}: {
  readonly context: PageContext;
  readonly path: string;
  readonly query: string;
}) {
  const views = await listSavedViews(services.database.reader, person.id, path);
  if (views.length === 0 && query === '') return null;
  return (
    <details class="quiet">
      <summary>Saved views ({views.length})</summary>
      <ul class="plain">
        {views.map((view) => (
          <li>
            <a href={`${path}?${view.query}`}>{view.name}</a>{' '}
            <form class="plain" method="post" action={`/views/${view.id}/delete`}>
              <input type="hidden" name="csrf" value={person.csrfToken} />
              <button type="submit" class="link" aria-label={`Delete the view ${view.name}`}>
                delete
              </button>
            </form>
          </li>
        ))}
      </ul>
      {query === '' ? null : (
        <form class="filters" method="post" action="/views">
          <input type="hidden" name="csrf" value={person.csrfToken} />
          <input type="hidden" name="path" value={path} />
          <input type="hidden" name="query" value={query} />
          <label>
            <span>Keep this filter as</span>
            <input type="text" name="name" maxlength={60} required />
          </label>
          <button type="submit">Keep</button>
        </form>
      )}
    </details>
  );
}
