import type { Declared } from './declared.ts';

/** Of books and statements. */
export const accounting: readonly Declared[] = [
  {
    noun: 'fees',
    name: 'sweep',
    operate: ['sweep-fees'],
    summary: 'Moves fee revenue to settlement now.',
    operands: [{ name: 'DATE', isOptional: true, meaning: 'Its date; by default today, UTC' }],
    effect: 'dangerous',
  },
  {
    noun: 'ledger',
    name: 'positions',
    operate: ['positions'],
    summary:
      'Shows by provider and currency what clients own, what is held for no account, what is ours, what came in, and what other providers owe it.',
    effect: 'reads',
  },
  {
    noun: 'reconciliations',
    name: 'run',
    operate: ['reconcile'],
    summary:
      'Compares a day (UTC) of the statement, or of a bank’s camt.053 file, with the ledger; exits with 1 if breaks are open.',
    operands: [
      { name: 'PROVIDER', meaning: 'Whose statement' },
      { name: 'DATE', meaning: 'The day, as YYYY-MM-DD' },
    ],
    options: [
      { name: 'camt-053', value: 'FILE', meaning: 'The bank’s file, in place of the provider’s own statement' },
    ],
    effect: 'writes',
  },
  {
    noun: 'reconciliations',
    name: 'breaks',
    operate: ['breaks'],
    summary: 'Lists breaks, open ones by default; exits with 1 if one of them is open.',
    options: [
      { name: 'provider', value: 'P', meaning: 'Only of this provider' },
      { name: 'status', value: 'S', values: ['open', 'resolved'], meaning: 'Only these' },
      { name: 'kind', value: 'K', meaning: 'Only of this kind' },
      { name: 'day', value: 'D', meaning: 'Only of this day' },
    ],
    effect: 'reads',
  },
  {
    noun: 'reconciliations',
    name: 'resolve-break',
    operate: ['resolve-break'],
    summary: 'Resolves a break that a person has looked into.',
    operands: [{ name: 'ID', meaning: 'The break' }],
    options: [{ name: 'note', value: 'TEXT', isRequired: true, meaning: 'What was found' }],
    effect: 'dangerous',
  },
];
