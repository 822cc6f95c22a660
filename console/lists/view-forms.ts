import { deleteSavedView, saveView } from '../../db/people/saved-views.ts';
import { asId, isUuid } from '../../domain/common/ids.ts';
import { checkText } from '../../domain/common/parties/names.ts';
import { errorPage, notFound } from '../page/errors.tsx';
import type { OwnForm } from '../page/page.ts';

const NAME_LENGTH_MAX = 60;
const QUERY_LENGTH_MAX = 2_000;
const PATH_LENGTH_MAX = 200;

/** Keeps the filter of a list under a name, for the person alone. */
const keepView: OwnForm = {
  path: '/views',
  async submit(c, { database }, person) {
    const { path, query, name } = await c.req.parseBody();
    const checked = typeof name === 'string' ? checkText(name, NAME_LENGTH_MAX) : 'empty';
    const isList = typeof path === 'string' && path.length <= PATH_LENGTH_MAX && /^(\/[a-z0-9-]+)+$/.test(path);
    if (typeof checked === 'string' || !isList || typeof query !== 'string' || query.length > QUERY_LENGTH_MAX) {
      const text = `Give the view a name of up to ${NAME_LENGTH_MAX} characters. Nothing was kept.`;
      return errorPage(c, person, { status: 422, title: 'The view is not kept', text });
    }
    const kept = new URLSearchParams(query).toString();
    await database.transaction((tx) => saveView(tx, person.id, { path, name: checked.value, query: kept }));
    return c.redirect(`${path}?${kept}`, 303);
  },
};

const deleteView: OwnForm = {
  path: '/views/:id/delete',
  async submit(c, { database }, person) {
    const id = c.req.param('id') ?? '';
    const path = isUuid(id) ? await deleteSavedView(database.reader, person.id, asId(id)) : null;
    return path === null ? notFound(c, person) : c.redirect(path, 303);
  },
};

export const VIEW_FORMS: readonly OwnForm[] = [keepView, deleteView];
