import type { OpenRoute } from '../http/route.ts';
import type { AnyRoute } from '../http/third-party-route.ts';
import { collectionRoute } from './collection.ts';
import { errorPageRoutes } from './error-pages.ts';
import { guideRoutes } from './guides.ts';
import { llmsRoutes } from './llms.ts';
import { sitemapRoute } from './sitemap.ts';

/** Pages about the interface of these routes. */
export function documentationRoutes(routes: readonly AnyRoute[]): readonly OpenRoute[] {
  return [...guideRoutes, ...errorPageRoutes, collectionRoute(routes), ...llmsRoutes(routes), sitemapRoute];
}
