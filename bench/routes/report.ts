import { PROCESSOR_AIM, SINGLE_CALLER_AIM } from './row.ts';
import type { RouteResult, RouteResults } from './run.ts';
import { ROUTE_TABLE } from './table.ts';

/** The table of all routes as Markdown. Its last column names the aims that a row misses. */
export function routeTable({ results, failures }: RouteResults): string[] {
  const lines = [
    '| route | callers | floor | per second | of the floor | aim | p50 ms | p99 ms | CPU ms | of the floor | floor: per second | p50 ms | p99 ms | CPU ms | misses |',
    '|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|',
    ...results.map(lineOf),
    ...failures.map(
      ({ title, problem }) => `| ${title} | | | | | | | | | | | | | | could not be measured: ${problem} |`,
    ),
  ];
  const missing = results.filter((result) => missesOf(result).length > 0).length;
  lines.push(
    '',
    `${results.length} measured, ${missing} of them miss an aim; ${failures.length} could not be measured.`,
  );
  const left = ROUTE_TABLE.flatMap((row) =>
    'notMeasured' in row ? [`- ${row.route} is not measured: ${row.notMeasured}`] : [],
  );
  const remarks = results.filter(({ remark }) => remark !== '').map(({ title, remark }) => `- ${title}: ${remark}`);
  return [...lines, '', ...slowdownsOf(results), ...new Set(remarks), ...left];
}

/** How much the p99 of many callers exceeds the p99 of 16. */
function slowdownsOf(results: readonly RouteResult[]): string[] {
  return results.flatMap((result) => {
    const usual = results.find(({ title, service }) => title === result.title && service.callers === USUAL_CALLERS);
    if (usual === undefined || result.service.callers <= USUAL_CALLERS) return [];
    const [service, floor] = (['service', 'floor'] as const).map((of) => ratioOf(result[of].p99Ms, usual[of].p99Ms));
    return [
      `- ${result.title}: p99 of ${result.service.callers} callers ${service?.toFixed(1)} times that of ${USUAL_CALLERS}; the floor's ${floor?.toFixed(1)} times`,
    ];
  });
}

const USUAL_CALLERS = 16;

function lineOf(result: RouteResult): string {
  const { title, service, floor, floorShape, aim } = result;
  const cells = [
    title,
    String(service.callers),
    floorShape,
    whole(service.perSecond),
    ratioOf(service.perSecond, floor.perSecond).toFixed(2),
    aim === null || service.callers === 1 ? '' : String(aim),
    decimals(service.p50Ms),
    decimals(service.p99Ms),
    decimals(service.processorMs),
    ratioOf(service.processorMs, floor.processorMs).toFixed(1),
    whole(floor.perSecond),
    decimals(floor.p50Ms),
    decimals(floor.p99Ms),
    decimals(floor.processorMs),
    missesOf(result).join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** The aims for rates apply to many callers; for a single caller the latency of a payment counts. */
export function missesOf({ kind, service, floor, aim }: RouteResult): string[] {
  if (aim === null) return [];
  const misses: string[] = [];
  if (service.callers === 1) {
    if (kind === 'money' && ratioOf(service.p50Ms, floor.p50Ms) > SINGLE_CALLER_AIM) misses.push('p50');
    return misses;
  }
  if (ratioOf(service.perSecond, floor.perSecond) < aim) misses.push('rate');
  if (ratioOf(service.processorMs, floor.processorMs) > PROCESSOR_AIM) misses.push('CPU');
  return misses;
}

function ratioOf(value: number | null, floor: number | null): number {
  return value === null || floor === null ? Number.NaN : value / floor;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function decimals(value: number | null): string {
  return value === null ? '' : value.toFixed(2);
}
