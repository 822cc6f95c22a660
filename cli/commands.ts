import { eventCommands } from './events/commands.ts';
import { operationCommands } from './operations/declarations/commands.ts';
import { doctorCommands } from './operations/doctor/commands.ts';
import { profileCommands } from './profiles/commands.ts';
import type { Command } from './program/command.ts';
import { completionCommands } from './program/completion/commands.ts';
import { requestCommands } from './requests/commands.ts';
import { assistantCommands } from './requests/mcp/commands.ts';

/** Every command of `fas`. One line per group. */
export const COMMANDS: readonly Command[] = [
  ...profileCommands,
  ...requestCommands,
  ...eventCommands,
  ...doctorCommands,
  ...operationCommands,
  ...assistantCommands,
  ...completionCommands,
];

/** A line for each noun of theirs, in the order of the alphabet. */
export const COMMAND_NOUNS: Readonly<Record<string, string>> = {
  accounts: 'Accounts, their balances and statements',
  'audit-entries': 'Who changed what',
  'bank-files': 'Files that go to banks and come from them, and what people do about them',
  beneficiaries: 'Who is paid, and their bank accounts',
  'beneficiary-bank-account-requirements': 'What a bank account abroad needs',
  'beneficiary-verifications': 'Whether a name belongs to an account',
  calendars: 'The files of days on which payments stand still',
  clients: 'Whose money it is',
  compliance: 'Decisions of compliance',
  events: 'What happened, in order',
  fees: 'What fees have earned',
  'held-transfers': 'Money that came in and could not be given to an account',
  'incoming-transfers': 'Payments in',
  ledger: 'The books',
  'machine-users': 'The programs that call the service',
  'open-banking': 'Consents, and what third parties see by them',
  'outgoing-transfers': 'Payments out',
  profiles: 'Where and as whom commands act: test and live',
  'provider-callbacks': 'What providers report',
  'provisioned-account-credits': 'Money that a plug-in account received',
  'reconciliation-breaks': 'Differences between our books and a provider’s',
  reconciliations: 'Our books compared with those of providers',
  restores: 'After a restore of Postgres',
  'sign-up': 'The page of an invitation',
  submissions: 'The emergency stop of payments to providers',
  system: 'Health, documents and the contract',
  'third-party-providers': 'Who may ask for consents',
  'transfer-reasons': 'Why money moves, by country',
  'user-authentications': 'Passwords of users',
  users: 'The people of clients',
  'webhook-deliveries': 'What was sent to receivers',
  'webhook-subscriptions': 'Who receives events',
  'worker-versions': 'Which release’s workers Temporal gives tasks to',
  workflows: 'What waits in Temporal',
};
