import type { Command } from '../../program/command.ts';
import { accounting } from './accounting.ts';
import { bankFiles } from './bank-files.ts';
import type { Declared } from './declared.ts';
import { machineUsers } from './machine-users.ts';
import { payments } from './payments.ts';
import { workflows } from './workflows.ts';

const calendars: Declared = {
  noun: 'calendars',
  name: 'check',
  operate: ['check-calendar'],
  summary: 'Checks a calendar file before it replaces the current one.',
  operands: [{ name: 'FILE', meaning: 'Its path' }],
  effect: 'reads',
  isText: true,
};

export interface OperatorCommand extends Command, Pick<Declared, 'operate' | 'isText'> {}

/** Every command of operators, under nouns for `fas` and under its own name for `npm run operate`. */
export const OPERATOR_COMMANDS: readonly OperatorCommand[] = [
  ...payments,
  ...bankFiles,
  ...workflows,
  ...machineUsers,
  ...accounting,
  calendars,
].map((declared) => ({
  ...declared,
  reach: 'installation',
  load: async () => (await import('../run-operation.ts')).runOperation(declared),
}));

export const operationCommands: readonly Command[] = [
  ...OPERATOR_COMMANDS,
  {
    noun: 'ledger',
    name: 'check',
    summary:
      'Checks every invariant of the ledger, on one snapshot and with up to 1 GB of the database’s memory; exits with 1 if one does not hold.',
    reach: 'installation',
    effect: 'reads',
    load: async () => (await import('../accounting/ledger-check.ts')).checkLedgerNow,
  },
];
