import { isLosslessNumber, parse } from 'lossless-json';
import { textTable } from '../common/text-table.ts';
import { type Output, printable } from '../program/output.ts';
import type { Answer } from './calls.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What a table takes at most, where the terminal does not say. */
const WIDTH_MAX = 160;

/** The answer as it came under `--json`; for people a table of a list, and lines of a resource. */
export function showAnswer(output: Output, { headers, text }: Answer): void {
  if (headers.get('x-idempotency-status') === 'replayed')
    output.note('It was done before, under this key: this is the answer of then.');
  const contentType = headers.get('content-type') ?? '';
  if (!/\bjson\b/.test(contentType)) {
    output.show({ contentType, content: text }, text === '' ? [] : [text.replace(/\n$/, '')]);
  } else if (output.isJson) {
    output.line(text.trim());
  } else {
    for (const line of linesOf(parse(text))) output.line(line);
  }
}

function linesOf(answer: unknown): string[] {
  const { data = answer, metadata } = isFields(answer) ? answer : { data: answer };
  const list = isFields(data) ? Object.values(data).find(Array.isArray) : data;
  if (Array.isArray(list) && list.every(isFields)) return [...tableOf(list), ...pageOf(metadata)];
  return resourceLines(data, '');
}

function pageOf(metadata: unknown): string[] {
  const page = isFields(metadata) ? metadata.page : undefined;
  if (!isFields(page)) return [];
  return [
    Object.entries(page)
      .map(([name, value]) => `${name} ${cellOf(value)}`)
      .join(', '),
  ];
}

/** As many columns as fit, of the fields that are no structures. */
function tableOf(rows: readonly Fields[]): string[] {
  if (rows.length === 0) return ['none'];
  const names = [...new Set(rows.flatMap((row) => Object.keys(row).filter((name) => isPlain(row[name]))))];
  let width = -2;
  const shown = names.filter((name) => {
    width += 2 + Math.max(name.length, ...rows.map((row) => cellOf(row[name]).length));
    return width <= WIDTH_MAX;
  });
  const cells = rows.map((row) => shown.map((name) => cellOf(row[name])));
  return textTable([shown, ...cells]).split('\n');
}

function resourceLines(value: unknown, indent: string): string[] {
  if (!isFields(value)) return [`${indent}${cellOf(value)}`];
  return Object.entries(value).flatMap(([name, field]) => {
    if (isPlain(field)) return [`${indent}${name}: ${cellOf(field)}`];
    const parts = Array.isArray(field) ? field : [field];
    if (parts.every(isPlain)) return [`${indent}${name}: ${parts.map(cellOf).join(', ') || '-'}`];
    return [`${indent}${name}:`, ...parts.flatMap((part) => resourceLines(part, `${indent}  `))];
  });
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null || isLosslessNumber(value);
}

function cellOf(value: unknown): string {
  return value === null || value === undefined ? '-' : printable(String(value));
}
