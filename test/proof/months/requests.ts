import type { Json, TestApi } from '../../harness/api.ts';
import { READS, type ReadingRoute, VALUES } from '../../harness/http/reads.ts';
import { requiredQuery } from '../../harness/http/route-suite.ts';

/** Requests by name, and what could not be asked for, because nothing of it is there. */
export interface Requests {
  readonly paths: ReadonlyMap<string, string>;
  readonly unasked: readonly string[];
}

const AS_ADMIN = { as: 'admin' } as const;
const PAGE = 'metadata.page.number';
const PAGE_SIZE = 10;
const PAGE_NUMBER_MAX = 9_999;

type Place = 'oldest' | 'newest';
const PLACES: readonly Place[] = ['oldest', 'newest'];
type Items = Partial<Record<Place, Json>>;

/**
 * Every read of the interface that machine users may make, found by the contracts of the routes, so that a new route or filter joins by
 * itself: single resources; of lists, the first page, the last page of one month, and those by each filter, with values of the oldest
 * and of the newest row. `lastPages` are those of one month; the first world notes them.
 */
export async function requestsOf(api: TestApi, lastPages: Map<string, number>): Promise<Requests> {
  const listed = new Map<string, Items>();
  const paths = new Map<string, string>();
  const unasked: string[] = [];
  for (const route of READS.filter(({ kind }) => kind === 'route')) {
    const name = route.contract.path;
    for (const place of PLACES) {
      const path = pathAt(name, listed, place);
      if (path === null) {
        unasked.push(name);
        break;
      }
      const isFirst = place === PLACES[0];
      if (!isFirst && path === pathAt(name, listed, 'oldest')) break;
      const of = name.includes('{') ? `, ${place}` : '';
      const required = requiredQuery(route.contract).join('&');
      const asking = (query: Readonly<Record<string, string>> = {}) => {
        const all = new URLSearchParams(required);
        for (const [parameter, value] of Object.entries(query)) all.set(parameter, value);
        return `${path}?${all}`;
      };
      paths.set(`${name}${of}`, asking());
      if (route.contract.paged) {
        const items = await itemsOf(api, (number) => asking({ [PAGE]: String(number) }));
        listed.set(path, items.items);
        const last = lastPages.get(name + of) ?? items.lastPage;
        lastPages.set(name + of, last);
        if (last > 0) paths.set(`${name}${of}, page ${last}`, asking({ [PAGE]: String(last) }));
        const { filters, without } = filtersOf(route, items.items);
        for (const [by, query] of filters) paths.set(`${name}${of} by ${by}`, asking(query));
        unasked.push(...without.map((by) => `${name} by ${by}`));
      }
    }
  }
  return { paths, unasked: [...new Set(unasked)] };
}

/** A path with the id of what the list before it has at that place. */
function pathAt(pattern: string, listed: ReadonlyMap<string, Items>, place: Place): string | null {
  let path = '';
  for (const segment of pattern.split('/').slice(1)) {
    const parameter = /^\{(.*)\}$/.exec(segment)?.[1];
    const item = listed.get(path)?.[place];
    const value =
      parameter === undefined ? segment : (VALUES[parameter] ?? item?.[/email/i.test(parameter) ? 'email' : 'id']);
    if (value === undefined) return null;
    path += `/${value}`;
  }
  return path;
}

async function itemsOf(api: TestApi, pathOf: (page: number) => string): Promise<{ items: Items; lastPage: number }> {
  const pageOf = async (number: number) => {
    const { status, body, text } = await api.call('GET', pathOf(number), undefined, AS_ADMIN);
    if (status !== 200) throw new Error(`${pathOf(number)}: ${text}`);
    return {
      items: Object.values<Json>(body.data).find(Array.isArray) ?? [],
      total: body.metadata.page?.totalElements ?? 0,
    };
  };
  const { items, total } = await pageOf(0);
  const lastPage = Math.min(PAGE_NUMBER_MAX, Math.max(0, Math.ceil(total / PAGE_SIZE) - 1));
  const newest = lastPage === 0 ? items.at(-1) : (await pageOf(lastPage)).items.at(-1);
  return { items: { oldest: items[0], newest: newest ?? items.at(-1) }, lastPage };
}

/** What counts its matches row by row, in a month as in many, as an index would cost each payment an entry. */
const ROW_BY_ROW: readonly RegExp[] = [
  /-transfers by .*\.(amountFrom|amountTo|paymentReference|description|senderName|senderInformation|serviceProviderId|serviceProviderReference)/,
  /^\/audit-entries by .*\.(actor|occurredFrom|occurredTo)/,
  /^\/webhook-deliveries by .*\.type/,
];

export function reasonOf(name: string): string | null {
  return ROW_BY_ROW.some((pattern) => pattern.test(name)) ? 'row by row' : null;
}

/** Filters that no item shows under their names. */
const VALUES_OF_FILTERS: Readonly<Record<string, string>> = {
  'data.event.positionAfter': 'position',
};

/** A query for each filter, and the period around an instant; `without`: filters for which no item has a value. */
function filtersOf({ contract: { query = {} } }: ReadingRoute, items: Items) {
  const filters = new Map<string, Readonly<Record<string, string>>>();
  const without: string[] = [];
  for (const filter of Object.keys(query)) {
    const field = VALUES_OF_FILTERS[filter] ?? (filter.split('.').at(-1) ?? '').replace(/(?<=[a-z])(From|To)$/, '');
    const values = PLACES.flatMap((place) => {
      const value = valueIn(items[place], field);
      return value === undefined ? [] : [{ place, value }];
    });
    if (values.length === 0) without.push(filter);
    for (const { place, value } of values) {
      filters.set(`${filter}, ${place}`, { [filter]: value });
      const end = filter.replace(/From$/, 'To');
      if (end !== filter && Object.hasOwn(query, end))
        filters.set(`period, ${place}`, { [filter]: value, [end]: value });
    }
  }
  return { filters, without };
}

/** The first value of a field of this name, at any depth. */
function valueIn(item: Json, field: string): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const own = item[field];
  if (['string', 'number', 'boolean'].includes(typeof own)) return String(own);
  for (const inner of Object.values<Json>(item)) {
    const found = valueIn(inner, field);
    if (found !== undefined) return found;
  }
  return undefined;
}
