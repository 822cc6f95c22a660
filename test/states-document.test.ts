import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ACCOUNT_MOVES, CONNECTION_MOVES } from '../domain/accounts.ts';
import { INCOMING_TRANSFER_MOVES } from '../domain/incoming-transfers.ts';
import { OUTGOING_TRANSFER_MOVES } from '../domain/outgoing-transfers.ts';
import { USER_CLIENT_RELATION_MOVES } from '../domain/user-client-relations.ts';
import { USER_INVITATION_MOVES } from '../domain/user-invitations.ts';
import { USER_MOVES } from '../domain/users.ts';

const PATH = fileURLToPath(new URL('../docs/states.md', import.meta.url));

type Moves = Readonly<Record<string, readonly string[]>>;

/** Where a resource begins; final statuses end. */
const DIAGRAMS: readonly (readonly [title: string, begins: string, moves: Moves, notes: string])[] = [
  [
    'Accounts',
    'pending',
    ACCOUNT_MOVES,
    '`pending` to `closed` is for callers of plug-in accounts alone. Built-in accounts are opened and declined by their provider; by the API they only close, through the provider.',
  ],
  [
    'Connections of accounts',
    'creation-in-progress',
    CONNECTION_MOVES,
    "`dependency-failed`: the client's own connection failed, so the account was never asked for.",
  ],
  [
    'Outgoing transfers',
    'pending',
    OUTGOING_TRANSFER_MOVES,
    '`processing` has the money reserved, `released` was accepted by the provider and posted, `completed` is settled. A completed transfer can still come back: it stays `completed` and shows `returned`.',
  ],
  ['Incoming transfers', 'pending', INCOMING_TRANSFER_MOVES, 'Being put on hold has no event.'],
  ['Users', 'active', USER_MOVES, 'Callers set both by PATCH.'],
  [
    'User invitations',
    'pending',
    USER_INVITATION_MOVES,
    'The invited person accepts or rejects, behind the link of the e-mail; callers cancel; after seven days the workflow does.',
  ],
  ['User client relations', 'allowed', USER_CLIENT_RELATION_MOVES, 'Callers set both by PATCH.'],
];

function diagram(begins: string, moves: Moves): string[] {
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
    'Printed from the tables in `domain/` by `test/states-document.test.ts`; run it with `UPDATE_DOCUMENTS=1` to print again.',
    ...DIAGRAMS.flatMap(([title, begins, moves, notes]) => [
      '',
      `## ${title}`,
      '',
      notes,
      '',
      ...diagram(begins, moves),
    ]),
    '',
  ];
  return lines.join('\n');
}

test('docs/states.md shows the tables as they are', () => {
  if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(PATH, document());
  expect(readFileSync(PATH, 'utf8')).toBe(document());
});
