import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ROOT, readDocument } from '../../documents/printed.ts';
import type { Way } from './night-shift.ts';

export interface Night {
  readonly name: string;
  readonly byConsole: Way;
  readonly byCommands: Way;
}

const nights: Night[] = [];

export function keepNight(night: Night): void {
  nights.push(night);
}

const PART = /(?<=<!-- nights -->\n).*?(?=<!-- end of nights -->)/s;

/** The table of the page is that of this run, but for the seconds, which are those of the run that printed it. */
export function expectNights(path: string): void {
  const table = ['', ...tableOf(nights), ''].join('\n');
  const page = readDocument(path);
  if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(join(ROOT, path), page.replace(PART, `${table}\n`));
  const printed = PART.exec(readDocument(path))?.[0] ?? '';
  expect(withoutSeconds(printed).trim()).toBe(withoutSeconds(table).trim());
}

function tableOf(shown: readonly Night[]): string[] {
  const way = ({ steps, seconds }: Way) => `${steps.length} | ${seconds.toFixed(1)} s`;
  return [
    '| Night | Console: steps | took | Commands | took |',
    '|---|---|---|---|---|',
    ...shown.map(({ name, byConsole, byCommands }) => `| ${name} | ${way(byConsole)} | ${way(byCommands)} |`),
  ];
}

function withoutSeconds(text: string): string {
  return text.replaceAll(/\d+\.\d s/g, 's');
}
