import { describe, expect, test } from 'vitest';
import { DomainError } from '../common/errors.ts';
import { type ComplianceDecision, decideCheck, presentComplianceCheck, UNDECIDED } from './checks.ts';
import { PROCEDURE_RESULTS, parseSignalledDecision } from './procedures.ts';

const DECISION = { decisionId: 'case-1', procedure: 'transaction-monitoring', result: 'all-passed', actor: 'Ann Ω' };
const NOW = new Date('2026-11-21T10:15:00Z');
const OPEN = { status: 'pending', complianceCheckStatus: 'not-checked', ...UNDECIDED } as const;

test('a signalled decision is read, and what else came with it is left out', () => {
  expect(parseSignalledDecision({ ...DECISION, note: 'x' })).toEqual(DECISION);
});

describe('no decision is read from', () => {
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['text', JSON.stringify(DECISION)],
    ['a list', [DECISION]],
    ['another procedure', { ...DECISION, procedure: 'sanctions' }],
    ['another result', { ...DECISION, result: 'passed' }],
    ['a name of every object', { ...DECISION, result: 'constructor' }],
    ['no id', { ...DECISION, decisionId: undefined }],
    ['an id that is a number', { ...DECISION, decisionId: 7 }],
    ['an empty id', { ...DECISION, decisionId: '' }],
    ['an id of blanks', { ...DECISION, decisionId: '  ' }],
    ['an actor with a line break', { ...DECISION, actor: 'Ann\nadmin' }],
    ['an actor with a NUL', { ...DECISION, actor: 'Ann\0' }],
    ['an endless actor', { ...DECISION, actor: 'a'.repeat(101) }],
  ])('%s', (_, payload) => {
    expect(parseSignalledDecision(payload)).toBeNull();
  });
});

describe('a result makes the check', () => {
  test.each([
    ['soft-stop', 'in-review'],
    ['hard-stop', 'in-review'],
    ['all-passed', 'approved'],
    ['hard-stop-accepted', 'approved'],
    ['hard-stop-rejected', 'rejected'],
  ] as const)('%s: %s', (result, status) => {
    const check = decideCheck(OPEN, false, { result, actor: 'ann', involved: [] }, NOW);
    if (check === null) throw new Error('it changes the check');
    const decided = status === 'in-review' ? {} : { decidedAt: '2026-11-21T10:15:00', decidedBy: 'ann' };
    expect(presentComplianceCheck(check)).toEqual({
      status,
      procedureResults: { 'transaction-monitoring': { result } },
      ...decided,
    });
  });

  test.each(PROCEDURE_RESULTS.filter((result) => result !== 'hard-stop-rejected'))(
    '%s is rejected while the built-in rules have yet to screen, and only then',
    (result) => {
      const decide = (transfer: Parameters<typeof decideCheck>[0], mode?: ComplianceDecision['mode']) =>
        decideCheck(transfer, false, { result, actor: 'ann', involved: [], mode }, NOW);
      expect(() => decide(OPEN, 'built-in')).toThrow('The built-in rules have not screened the transfer yet');
      const stopped = { ...OPEN, complianceResult: result === 'soft-stop' ? 'hard-stop' : 'soft-stop' } as const;
      expect(decide(stopped, 'built-in')).toMatchObject({ complianceResult: result });
      expect(decide(OPEN, 'external')).toMatchObject({ complianceResult: result });
      expect(decide(OPEN)).toMatchObject({ complianceResult: result });
    },
  );

  test('hard-stop-rejected rejects it before the built-in rules have screened', () => {
    const rejection = { result: 'hard-stop-rejected', actor: 'ann', involved: [], mode: 'built-in' } as const;
    expect(decideCheck(OPEN, false, rejection, NOW)).toMatchObject({ complianceCheckStatus: 'not-fulfilled' });
  });

  test('nothing after it is final, or after its transfer has ended', () => {
    const ended = { ...OPEN, status: 'cancelled' };
    const approved = { ...OPEN, complianceCheckStatus: 'fulfilled', complianceResult: 'all-passed' } as const;
    for (const result of PROCEDURE_RESULTS) {
      expect(() => decideCheck(ended, true, { result, actor: 'ann', involved: [] }, NOW)).toThrow(DomainError);
      expect(() => decideCheck(approved, false, { result, actor: 'ann', involved: [] }, NOW)).toThrow(DomainError);
    }
  });
});
