import { BANK_FILE_STATES } from '../../../domain/bank-files/by-hand/files.ts';
import { BANK_WORDS } from '../../../domain/bank-files/by-hand/requests.ts';
import type { Operand, Option } from '../../program/command.ts';
import type { Declared } from './declared.ts';

const FILE: Operand = { name: 'FILE', meaning: 'The file: its id or its name' };
const REQUEST: Operand = { name: 'REQUEST', meaning: 'The id of the request' };
const REASON: Option = { name: 'reason', value: 'TEXT', isRequired: true, meaning: 'Why, for the record: a line' };
const BANK: Option = { name: 'bank', value: 'B', meaning: 'The code of the provider' };

type OfFiles = Omit<Declared, 'noun' | 'operate'>;

const COMMANDS: readonly OfFiles[] = [
  {
    name: 'list',
    summary: 'Lists files of banks, the newest first.',
    options: [
      BANK,
      { name: 'direction', value: 'D', values: ['out', 'in'], meaning: 'Only ours (out), or only the bank’s (in)' },
      { name: 'state', value: 'S', values: BANK_FILE_STATES, meaning: 'Only these' },
      { name: 'since', value: 'INSTANT', meaning: 'Only those that came to be since then' },
    ],
    effect: 'reads',
  },
  {
    name: 'show',
    summary:
      'Shows a file: its digest and states, its payments with what each led to, and what a file of the bank did.',
    operands: [FILE],
    options: [{ name: 'content', value: 'PATH', meaning: 'Writes its bytes into a new file, for this user only' }],
    // The audit log says who has read the bytes.
    effect: ({ options }) => (options.content === undefined ? 'reads' : 'writes'),
  },
  {
    name: 'deliver',
    summary: 'Hands out a file that has not left, to be carried to the bank by hand; it is uploaded no more.',
    operands: [FILE],
    options: [{ name: 'to', value: 'PATH', isRequired: true, meaning: 'A new file, or the folder for it' }, REASON],
    effect: 'dangerous',
  },
  {
    name: 'mark-delivered',
    summary: 'Says that the bank has a file, after a look: it is never uploaded again.',
    operands: [FILE],
    options: [
      { name: 'digest', value: 'SHA256', isRequired: true, meaning: 'Of what the bank has, as sha256sum prints it' },
      REASON,
    ],
    effect: 'dangerous',
  },
  {
    name: 'mark-undelivered',
    summary: 'Asks for a file to be sent once more, as the bank says that it has none of it. Another person signs.',
    operands: [FILE],
    options: [REASON],
    effect: 'dangerous',
  },
  {
    name: 'fetch',
    summary: 'Brings a file of the bank that was carried by hand, and asks for it to be read. Another person signs.',
    operands: [{ name: 'PATH', meaning: 'The file' }],
    options: [{ ...BANK, isRequired: true }, REASON],
    effect: 'dangerous',
    confirmedBy: ({ options }) => (typeof options.bank === 'string' ? options.bank : undefined),
  },
  {
    name: 'set-aside',
    summary: 'Has the service neither send nor read a file any more.',
    operands: [FILE],
    options: [REASON],
    effect: 'dangerous',
  },
  {
    name: 'settle',
    summary: 'Ends the alarm of a file that is set aside, once a person has seen to it.',
    operands: [FILE],
    options: [REASON],
    effect: 'dangerous',
  },
  {
    name: 'take-again',
    summary: 'Reads a file of the bank that is set aside once more from its beginning, as after an upgrade.',
    operands: [FILE],
    options: [REASON],
    effect: 'dangerous',
  },
  {
    name: 'held',
    summary: 'Lists payments that no file takes until the bank has been asked, with why.',
    options: [BANK],
    effect: 'reads',
  },
  {
    name: 'release',
    summary: 'Asks for held payments to go on, or to end, by what the bank says of them. Another person signs.',
    options: [
      { ...BANK, isRequired: true },
      { name: 'says', value: 'WORD', values: BANK_WORDS, isRequired: true, meaning: 'What the bank says of each' },
      { name: 'payment', value: 'ID', isRepeated: true, meaning: 'Only this one; by default all that are held' },
      REASON,
    ],
    effect: 'dangerous',
    confirmedBy: ({ options }) => (typeof options.bank === 'string' ? options.bank : undefined),
  },
  {
    name: 'close-restore',
    summary: 'Asks to close a restore at a bank that is no longer configured. Another person signs.',
    options: [{ ...BANK, isRequired: true }, REASON],
    effect: 'dangerous',
    confirmedBy: ({ options }) => (typeof options.bank === 'string' ? options.bank : undefined),
  },
  { name: 'requests', summary: 'Lists what waits for a second signature.', effect: 'reads' },
  {
    name: 'sign',
    summary: 'Gives the second signature, which does what was asked for.',
    operands: [REQUEST],
    options: [REASON],
    effect: 'dangerous',
  },
  {
    name: 'reject',
    summary: 'Rejects a request: nothing is done.',
    operands: [REQUEST],
    options: [REASON],
    effect: 'writes',
  },
];

/** Of files that are exchanged with banks. */
export const bankFiles: readonly Declared[] = COMMANDS.map((command) => ({
  ...command,
  noun: 'bank-files',
  operate: ['bank-files', command.name],
}));
