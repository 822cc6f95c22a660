import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type UnitCosts, unitCostTable } from './cases/unit-costs.ts';
import type { Measurement } from './load/measure.ts';
import { routeTable } from './routes/report.ts';
import type { RouteResults } from './routes/run.ts';

export interface Report {
  readonly startedAt: string;
  readonly machine: string;
  readonly measurements: readonly Measurement[];
  /** Resident memory in MiB, by process. */
  readonly memoryMiB: Readonly<Record<string, number>>;
  /** Null unless the case routes was measured. */
  readonly routes: RouteResults | null;
  /** Empty unless they were measured. */
  readonly unitCosts: readonly UnitCosts[];
}

const RESULTS = fileURLToPath(new URL('results/', import.meta.url));

export function machine(): string {
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} × ${cpus()[0]?.model ?? 'processor'}, ${gibibytes} GiB, Node ${process.version}`;
}

/** Writes JSON, the table and the plot; returns the paths. */
export function writeReport(report: Report): readonly string[] {
  mkdirSync(RESULTS, { recursive: true });
  const base = `${RESULTS}${report.startedAt.replaceAll(':', '').slice(0, 17)}`;
  const files: [string, string][] = [
    [`${base}.json`, `${JSON.stringify(report, null, 2)}\n`],
    [`${base}.md`, `${markdown(report)}\n`],
    [`${base}.svg`, plot(report)],
  ];
  for (const [path, text] of files) writeFileSync(path, text);
  return files.map(([path]) => path);
}

/**
 * The table of all measurements; `of the first` compares with the case's first contender at the same number of
 * callers.
 */
export function markdown({ startedAt, machine: on, measurements, memoryMiB, routes, unitCosts }: Report): string {
  const header = [`${startedAt.slice(0, 16)} UTC, ${on}`, ''];
  if (routes !== null) return [...header, ...routeTable(routes)].join('\n');
  if (measurements.length === 0 && unitCosts.length > 0) return [...header, ...unitCostTable(unitCosts)].join('\n');
  const lines = [
    ...header,
    '| case | | callers | per second | p50 ms | p99 ms | CPU ms each | rate, of the first | p50, of the first |',
    '|---|---|--:|--:|--:|--:|--:|--:|--:|',
  ];
  for (const one of measurements) {
    const first = firstOf(measurements, one);
    const rate = first === one ? '' : (one.perSecond / first.perSecond).toFixed(2);
    const p50 = first === one || one.p50Ms === null || first.p50Ms === null ? '' : (one.p50Ms / first.p50Ms).toFixed(2);
    const cells = [
      one.case,
      one.contender,
      String(one.callers),
      Math.round(one.perSecond).toLocaleString('en'),
      decimals(one.p50Ms),
      decimals(one.p99Ms),
      decimals(one.processorMs),
      rate,
      p50,
    ];
    lines.push(`| ${cells.join(' | ')} |`);
  }
  if (unitCosts.length > 0) lines.push('', ...unitCostTable(unitCosts));
  lines.push('', ...Object.entries(memoryMiB).map(([name, mebibytes]) => `- memory, ${name}: ${mebibytes} MiB`));
  return lines.join('\n');
}

function firstOf(all: readonly Measurement[], one: Measurement): Measurement {
  return all.find((other) => other.case === one.case && other.callers === one.callers) ?? one;
}

function decimals(value: number | null): string {
  return value === null ? '' : value.toFixed(2);
}

const BAR = { height: 18, gap: 6, left: 330, width: 520 };

/** Bar chart of the rates; each case's longest bar spans the picture. */
function plot({ startedAt, machine: on, measurements }: Report): string {
  const rows = measurements.map((one, index) => {
    const longest = Math.max(
      ...measurements.filter((other) => other.case === one.case).map((other) => other.perSecond),
    );
    const y = 40 + index * (BAR.height + BAR.gap);
    const width = Math.max(1, (one.perSecond / longest) * BAR.width);
    const color = firstOf(measurements, one) === one ? '#9aa5b1' : '#2f6fb0';
    return `<text x="${BAR.left - 8}" y="${y + 13}" text-anchor="end">${escaped(`${one.case} · ${one.contender} · ${one.callers}`)}</text>
<rect x="${BAR.left}" y="${y}" width="${width.toFixed(1)}" height="${BAR.height}" fill="${color}"/>
<text x="${BAR.left + width + 6}" y="${y + 13}">${Math.round(one.perSecond).toLocaleString('en')}/s</text>`;
  });
  const height = 60 + rows.length * (BAR.height + BAR.gap);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="960" height="${height}" font-family="sans-serif" font-size="12">
<rect width="960" height="${height}" fill="white"/>
<text x="10" y="22" font-size="14">${escaped(`Operations per second, ${startedAt.slice(0, 16)} UTC, ${on}`)}</text>
${rows.join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
