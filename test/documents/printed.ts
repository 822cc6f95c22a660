import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const readDocument = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** A page that a test prints whole: written with UPDATE_DOCUMENTS=1, compared otherwise. */
export function expectPrinted(
  path: string,
  title: string,
  body: readonly string[],
  by = 'test/documents/reference.test.ts',
): void {
  const text = [`# ${title}`, '', `Printed by \`${by}\`, with \`UPDATE_DOCUMENTS=1\`.`, '', ...body, ''].join('\n');
  if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(join(ROOT, path), text);
  expect(readDocument(path)).toBe(text);
}

/** Lines that a test prints into a page written by hand, between `<!-- name -->` and `<!-- end of name -->`. */
export function expectPrintedPart(path: string, name: string, lines: readonly string[]): void {
  const part = new RegExp(`(<!-- ${name} -->\\n).*?(<!-- end of ${name} -->)`, 's');
  const printed = (page: string) => page.replace(part, (_all, begin, end) => `${begin}\n${lines.join('\n')}\n\n${end}`);
  if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(join(ROOT, path), printed(readDocument(path)));
  expect(readDocument(path)).toMatch(part);
  expect(readDocument(path)).toBe(printed(readDocument(path)));
}

/** A line for each, as wide tables cannot be read. */
export function list(rows: readonly (readonly [name: string, text: string])[]): string[] {
  return rows.map(([name, text]) => `- ${name}: ${text}`);
}
