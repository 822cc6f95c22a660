import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { filesBelow } from '../layout/source.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['activities', 'api', 'config', 'db', 'loops'];
const METRIC = /\bnew (?:Counter|Gauge|Histogram|Summary)(?:<[^>]*>)?\(/g;
const NAMED = /\bnew (?:Counter|Gauge|Histogram|Summary)(?:<[^>]*>)?\(\{\s*name: '([a-z_]+)'/g;

/** The metrics that the code makes, by name. */
function metrics(): string[] {
  const texts = FOLDERS.flatMap((folder) => filesBelow(ROOT, folder))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => readFileSync(join(ROOT, path), 'utf8'));
  const names = texts.flatMap((text) => [...text.matchAll(NAMED)].map(([, name = '']) => name));
  expect(names, 'every metric has its name as the first property').toHaveLength(
    texts.flatMap((text) => [...text.matchAll(METRIC)]).length,
  );
  return names.sort();
}

test('the table of metrics in docs/operations.md has every metric of ours once, and no other', () => {
  const document = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const section = /^## Metrics and alerts\n(.*?)^## /ms.exec(document)?.[1] ?? '';
  const rows = [...section.matchAll(/^\| `([a-z_]+)/gm)].map(([, name]) => name);
  expect(metrics().length).toBeGreaterThan(10);
  expect(rows.sort()).toEqual(metrics());
});
