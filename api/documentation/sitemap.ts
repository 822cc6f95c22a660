import { ERROR_CODES } from '../../domain/common/errors.ts';
import { escaped } from '../../domain/common/texts/html.ts';
import { ERROR_PAGES_PATH } from '../http/errors.ts';
import { openRoute } from '../http/route.ts';
import { guides, pathOfGuide } from './guides.ts';
import { LLMS_FULL_PATH, LLMS_PATH } from './llms.ts';
import { oncePer } from './once.ts';

export const SITEMAP_PATH = '/sitemap.xml';

/** All pages for readers. `test/documents/sitemap.test.ts` follows every link between them. */
export function pagePaths(): string[] {
  const errors = ERROR_CODES.map((code) => `${ERROR_PAGES_PATH}/${code}`);
  return ['/', '/docs', ...guides().map(pathOfGuide), ERROR_PAGES_PATH, ...errors, LLMS_PATH, LLMS_FULL_PATH];
}

const textFor = oncePer((baseUrl: string) => {
  const urls = pagePaths().map((path) => `<url><loc>${escaped(`${baseUrl}${path}`)}</loc></url>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('\n')}\n</urlset>\n`;
});

export const sitemapRoute = openRoute(
  {
    method: 'GET',
    path: SITEMAP_PATH,
    operationId: 'getSitemap',
    summary: 'Get the list of all pages',
    tag: 'System',
    undocumented: true,
    responses: { 200: 'As XML (sitemaps.org).' },
  },
  async ({ services }) => ({
    status: 200,
    contentType: 'application/xml; charset=utf-8',
    body: textFor(services.environment.publicUrl),
  }),
);
