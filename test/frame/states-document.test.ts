import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { STATE_TABLES, type StateTable } from '../harness/workflows/state-tables.ts';

const PATH = fileURLToPath(new URL('../../docs/states.md', import.meta.url));

function diagram({ begins, moves }: StateTable): string[] {
  const named = (status: string) => status.replaceAll('-', '_');
  const names = Object.keys(moves).filter((status) => status.includes('-'));
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...names.map((status) => `  state "${status}" as ${named(status)}`),
    `  [*] --> ${named(begins)}`,
    ...Object.entries(moves).flatMap(([from, targets]) =>
      targets.length === 0 ? [`  ${named(from)} --> [*]`] : targets.map((to) => `  ${named(from)} --> ${named(to)}`),
    ),
    '```',
  ];
}

function document(): string {
  const lines = [
    '# States',
    '',
    'Printed from the tables in `domain/` by `test/frame/states-document.test.ts`; run it with `UPDATE_DOCUMENTS=1` to print again.',
    ...Object.values(STATE_TABLES).flatMap((table: StateTable) => [
      '',
      `## ${table.title}`,
      '',
      table.notes,
      '',
      ...diagram(table),
    ]),
    '',
  ];
  return lines.join('\n');
}

test('docs/states.md shows the tables as they are', () => {
  if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(PATH, document());
  expect(readFileSync(PATH, 'utf8')).toBe(document());
});
