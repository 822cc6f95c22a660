import { readdirSync, readFileSync } from 'node:fs';
import { ERROR_CODES, recordNotFound } from '../../domain/common/errors.ts';
import { ERROR_PAGES_PATH } from '../http/errors.ts';
import { type OpenAnswer, openRoute } from '../http/route.ts';
import { htmlOf } from './markdown.ts';
import { once, oncePer } from './once.ts';
import { documentationPage, GUIDES_PATH } from './page.ts';

/** The guides are files, so that they are read in the repository, too; `test/documents/guides.long.test.ts` runs them. */
const FOLDER = new URL('../../docs/guides/', import.meta.url);
const INDEX = 'README';

export interface Guide {
  /** Of its file, without the ending. */
  readonly name: string;
  readonly title: string;
  readonly markdown: string;
}

/** All guides in the order of the first page, which is the first of them. */
export const guides = once(readGuides);

function readGuides(): readonly Guide[] {
  const all = readdirSync(FOLDER)
    .filter((file) => file.endsWith('.md'))
    .map((file) => guideOf(file.slice(0, -'.md'.length), readFileSync(new URL(file, FOLDER), 'utf8')));
  const index = all.find(({ name }) => name === INDEX)?.markdown ?? '';
  const placeOf = ({ name }: Guide) => (name === INDEX ? -1 : index.indexOf(`](${name}.md)`));
  return all.sort((one, other) => placeOf(one) - placeOf(other));
}

function guideOf(name: string, markdown: string): Guide {
  const [, title = name] = /^# (.+)$/m.exec(markdown) ?? [];
  return { name, title, markdown };
}

export function pathOfGuide({ name }: Guide): string {
  return name === INDEX ? GUIDES_PATH : `${GUIDES_PATH}/${name}`;
}

const CODE_BY_ANCHOR = new Map(ERROR_CODES.map((code) => [code.replaceAll('.', ''), code]));

/** Where a link between files of docs/ leads on the served pages; null if its target is not served. */
export function servedAddress(target: string): string | null {
  if (/^https?:/.test(target)) return target;
  const [file = '', anchor] = target.split('#');
  if (file === '../reference/errors.md') {
    const code = CODE_BY_ANCHOR.get(anchor ?? '');
    return code === undefined ? ERROR_PAGES_PATH : `${ERROR_PAGES_PATH}/${code}`;
  }
  const guide = guides().find(({ name }) => file === `${name}.md`);
  return guide === undefined ? null : pathOfGuide(guide);
}

const PAGES = { tag: 'System', method: 'GET', undocumented: true } as const;

const index = openRoute(
  {
    ...PAGES,
    path: GUIDES_PATH,
    operationId: 'getGuides',
    summary: 'Get the first page of the guides',
    responses: { 200: 'As HTML.' },
  },
  async () => show(INDEX),
);

const one = openRoute(
  {
    ...PAGES,
    path: `${GUIDES_PATH}/{name}`,
    operationId: 'getGuide',
    summary: 'Get a guide',
    responses: { 200: 'As HTML; as Markdown if the name ends in `.md`.' },
  },
  async ({ params: { name = '' } }) => show(name),
);

const pageOf = oncePer(({ title, markdown }: Guide) => documentationPage(title, htmlOf(markdown, servedAddress)));

function show(file: string): OpenAnswer {
  const name = file.replace(/\.md$/, '');
  const guide = guides().find((candidate) => candidate.name === name);
  if (guide === undefined) throw recordNotFound('guide', 'name', file.slice(0, 100));
  if (file.endsWith('.md')) return { status: 200, body: guide.markdown, contentType: 'text/markdown; charset=utf-8' };
  return pageOf(guide);
}

export const guideRoutes = [index, one];
