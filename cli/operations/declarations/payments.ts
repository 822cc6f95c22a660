import type { CheckedType } from '../../../db/compliance/checks.ts';
import { PROCEDURE_RESULTS } from '../../../domain/compliance/procedures.ts';
import type { Operand, Option } from '../../program/command.ts';
import type { Declared } from './declared.ts';

const PAYMENT: Operand = { name: 'ID', meaning: 'The outgoing transfer: its id, or its payment reference' };
const REASON: Option = { name: 'reason', value: 'TEXT', isRequired: true, meaning: 'Why, for the record: a line' };
const CHECKED: readonly CheckedType[] = ['outgoing-transfer', 'incoming-transfer'];

/** Of transfers, and of all of them together. */
export const payments: readonly Declared[] = [
  {
    noun: null,
    name: 'why',
    operate: ['why'],
    summary: 'Says what anything waits for, until when, and what would release it.',
    operands: [{ name: 'ID', meaning: 'An id, number, reference, IBAN or e-mail address; what it may mean is listed' }],
    effect: 'reads',
  },
  {
    noun: null,
    name: 'search',
    operate: ['search'],
    summary: 'Finds what a text may mean: as for `why`, a name, or an amount with a date.',
    operands: [{ name: 'TEXT', isRepeated: true, meaning: 'Such as "1250.00 GBP 2026-11-24"' }],
    effect: 'reads',
  },
  {
    noun: 'outgoing-transfers',
    name: 'retry-submission',
    operate: ['retry-submission'],
    summary:
      'Submits a payment again that its provider rejected for a passing reason, or that a look-up has just found unknown to it.',
    operands: [PAYMENT],
    effect: 'dangerous',
  },
  {
    noun: 'outgoing-transfers',
    name: 'look-up',
    operate: ['look-up'],
    summary: 'Asks the provider how a payment went, waits up to two and a half minutes for the answer, and books it.',
    operands: [PAYMENT],
    effect: 'dangerous',
  },
  {
    noun: 'outgoing-transfers',
    name: 'fail',
    operate: ['fail-transfer'],
    summary: 'Fails a transfer that no provider can have paid; callers see the reason.',
    operands: [PAYMENT],
    options: [REASON],
    effect: 'dangerous',
  },
  {
    noun: 'outgoing-transfers',
    name: 'next-window',
    operate: ['next-window'],
    summary: 'Moves a pending transfer to the window after the present one; counts as a roll.',
    operands: [PAYMENT],
    effect: 'dangerous',
  },
  {
    noun: 'submissions',
    name: 'close',
    operate: ['submissions', 'close'],
    summary: 'Stops all payments and returns to all providers.',
    options: [REASON],
    // The emergency stop asks nothing.
    effect: 'writes',
  },
  {
    noun: 'submissions',
    name: 'open',
    operate: ['submissions', 'open'],
    summary: 'Resumes payments and returns.',
    options: [REASON],
    effect: 'dangerous',
  },
  {
    noun: 'held-transfers',
    name: 'assign',
    operate: ['assign-incoming'],
    summary: 'Assigns an incoming transfer that is on hold to an account of its provider and currency.',
    operands: [
      { name: 'TRANSFER', meaning: 'The incoming transfer' },
      { name: 'ACCOUNT', meaning: 'The account' },
    ],
    effect: 'dangerous',
  },
  {
    noun: 'held-transfers',
    name: 'return',
    operate: ['return-incoming'],
    summary: 'Returns an incoming transfer that is on hold to its payer.',
    operands: [{ name: 'TRANSFER', meaning: 'The incoming transfer' }],
    effect: 'dangerous',
  },
  {
    noun: 'compliance',
    name: 'decide',
    operate: ['decide'],
    summary: 'Records a result of a transfer’s compliance check.',
    operands: [
      { name: 'KIND', values: CHECKED, meaning: 'What is checked' },
      { name: 'ID', meaning: 'The transfer' },
      { name: 'RESULT', values: PROCEDURE_RESULTS, meaning: 'A decision of compliance' },
    ],
    effect: 'dangerous',
    confirmedBy: ({ operands }) => operands[1],
  },
];
