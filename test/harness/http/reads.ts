import type { Route } from '../../../api/http/route.ts';
import type { ThirdPartyRoute } from '../../../api/http/third-party-route.ts';
import { ROUTES } from '../../../api/routes.ts';
import type { ConsentScope } from '../../../domain/open-banking/consents.ts';
import type { ApiResponse, Json, TestApi } from '../api.ts';
import { requiredQuery } from './route-suite.ts';

/** Reads of each route; more would show the same. */
const READS_MAX = 10;

/** Segments of paths that are no ids. */
export const VALUES: Readonly<Record<string, string>> = {
  countryCode: 'GB',
  country: 'GB',
  destinationCountry: 'GB',
  transferScope: 'external',
  transferScheme: 'faster-payments',
};

export type ReadingRoute = Route | ThirdPartyRoute;

/** Every GET that is answered with the envelope, those of lists first. */
export const READS = ROUTES.filter(
  (route): route is ReadingRoute =>
    route.kind !== 'open' && route.contract.method === 'GET' && route.contract.files === undefined,
).sort((one, other) => one.contract.path.split('/').length - other.contract.path.split('/').length);

/**
 * Calls every read for what is found: under paths that were called before, and in the lists that are read on the way.
 * `bearers` are access tokens of third parties, by scope.
 */
export async function readEverything(
  api: TestApi,
  called: Iterable<string>,
  bearers: Readonly<Record<ConsentScope, string>>,
): Promise<void> {
  const paths = new Set(called);
  for (const route of READS) {
    for (const path of pathsOf(route.contract.path, paths)) {
      for (const query of queriesOf(route)) {
        const options =
          route.kind === 'route' || route.scope === null
            ? ({ as: 'admin' } as const)
            : { as: null, headers: { authorization: `Bearer ${bearers[route.scope]}` } };
        const answer = await api.call('GET', `${path}${query}`, undefined, options);
        for (const id of idsIn(answer)) paths.add(`${path}/${id}`);
      }
    }
  }
}

/** Paths of a route whose ids are in one of the known paths. */
function pathsOf(pattern: string, known: ReadonlySet<string>): string[] {
  const segments = pattern.split('/').map((segment) => VALUES[segment.slice(1, -1)] ?? segment);
  const length = segments.findLastIndex((segment) => segment.startsWith('{')) + 1;
  const rest = segments.slice(length);
  const found = [...known].flatMap((path) => {
    const own = path.split('/').slice(0, length);
    const fits = own.every((part, index) => segments[index]?.startsWith('{') || part === segments[index]);
    return fits && own.length === length ? [[...own, ...rest].join('/')] : [];
  });
  return length === 0 ? [segments.join('/')] : [...new Set(found)].reverse().slice(0, READS_MAX);
}

/** Without what can be included, and with all of it. */
function queriesOf({ contract: { query = {}, include = [], expand = [], paged } }: ReadingRoute): string[] {
  const plain = [...requiredQuery({ query }), ...(paged ? ['metadata.page.size=100'] : [])];
  const more = [
    ...(include.length === 0 ? [] : [`metadata.include=${include.join()}`]),
    ...(expand.length === 0 ? [] : [`metadata.expand=${expand.join()}`]),
  ];
  return [plain, ...(more.length === 0 ? [] : [[...plain, ...more]])].map((all) => `?${all.join('&')}`);
}

/** Ids of a list’s items; of a user also the address, by which invitations are found. */
function idsIn({ status, body }: ApiResponse): string[] {
  if (status >= 300) return [];
  const lists = Object.values<Json>(body.data).filter(Array.isArray);
  return lists.flat().flatMap(({ id, email }: Json) => [id, email].filter((one) => typeof one === 'string'));
}
