import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { STATE_TABLES, type StateTable } from '../harness/workflows/state-tables.ts';

const PATH = fileURLToPath(new URL('../../docs/behaviour/states.md', import.meta.url));

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
    'Printed from the tables in `domain/` by `test/http/states-document.test.ts`; run it with `UPDATE_DOCUMENTS=1` to print again.',
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

test('docs/behaviour/states.md shows the tables as they are', () => {
  if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(PATH, document());
  expect(readFileSync(PATH, 'utf8')).toBe(document());
});

const OF_ACCOUNTS = [
  'pending > active declined closed',
  'active > inactive suspended closed',
  'inactive > active suspended closed',
  'suspended > active inactive closed',
];

/** Written by hand from the specification, apart from the code: each status with those that may follow it. */
const LEGAL: Readonly<Record<keyof typeof STATE_TABLES, readonly string[]>> = {
  accounts: OF_ACCOUNTS,
  connections: [
    'creation-in-progress > completed-up-to-date creation-failed dependency-failed',
    'completed-up-to-date > update-in-progress completed-outdated',
    'update-in-progress > completed-up-to-date completed-outdated',
    'completed-outdated > update-in-progress completed-up-to-date',
  ],
  clients: OF_ACCOUNTS,
  'outgoing-transfers': [
    'pending > processing cancelled failed',
    'processing > released failed',
    'released > completed failed',
  ],
  'incoming-transfers': ['pending > completed on-hold failed', 'on-hold > pending completed failed'],
  users: ['active > inactive', 'inactive > active'],
  'user-invitations': ['pending > accepted rejected cancelled'],
  'user-client-relations': ['allowed > revoked', 'revoked > allowed'],
  'open-banking-consents': [
    'awaiting-authorisation > awaiting-exchange rejected expired',
    'awaiting-exchange > authorised revoked expired',
    'authorised > consumed revoked expired',
  ],
};

test.each(Object.entries(STATE_TABLES))(
  'every status of %s changes only as the interface permits',
  (name, { moves }) => {
    const words = (lines: readonly string[]) => lines.map((line) => line.split(' ').sort().join(' ')).sort();
    const present = Object.entries(moves).filter(([, targets]) => targets.length > 0);
    expect(words(present.map(([from, targets]) => `${from}> ${targets.join(' ')}`))).toEqual(
      words((LEGAL[name as keyof typeof LEGAL] ?? []).map((line) => line.replace(' >', '>'))),
    );
  },
);
