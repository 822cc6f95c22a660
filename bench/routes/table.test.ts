import { describe, expect, test } from 'vitest';
import { ROUTES } from '../../api/routes.ts';
import { systemRoutes } from '../../api/system.ts';
import { nameOf, titleOf } from './row.ts';
import { ROUTE_TABLE } from './table.ts';

const routes = [...ROUTES, ...systemRoutes(ROUTES, 'test')].map(({ contract }) => nameOf(contract));
const named = ROUTE_TABLE.map(({ route }) => route);

describe('the table of all routes', () => {
  test('has a row for every route of the API: a new one says how it is measured, or why it is not', () => {
    expect(routes.filter((route) => !named.includes(route))).toEqual([]);
  });

  test('names no route that the API does not have', () => {
    expect(named.filter((route) => !routes.includes(route))).toEqual([]);
  });

  test('gives each measurement its own title, and never both measures a route and leaves it out', () => {
    const titles = ROUTE_TABLE.map((row) => ('notMeasured' in row ? row.route : titleOf(row)));
    expect(new Set(titles).size).toBe(titles.length);
    const omitted = ROUTE_TABLE.filter((row) => 'notMeasured' in row).map(({ route }) => route);
    expect(named.filter((route) => omitted.includes(route))).toHaveLength(omitted.length);
  });

  test('gives a reason wherever it has no measurement or no aim', () => {
    const reasons = ROUTE_TABLE.flatMap((row) => {
      if ('notMeasured' in row) return [row.notMeasured];
      return row.aim === null ? [row.remark ?? ''] : [];
    });
    expect(reasons.filter((reason) => reason.trim() === '')).toEqual([]);
  });
});
