import { describe, expect, test } from 'vitest';
import {
  ERROR_EXPLANATIONS,
  type Explanation,
  explainAttempt,
  STATUS_EXPLANATIONS,
  UNKNOWN_ERROR_EXPLANATION,
} from './explanations.ts';

function sentences({ happened, action }: Explanation): string {
  return `${happened} ${action}`;
}

describe('an explanation', () => {
  test('is null for a success, and for nothing else', () => {
    for (const responseCode of [200, 204, 299]) expect(explainAttempt({ responseCode, error: null })).toBeNull();
    expect(explainAttempt({ responseCode: 200, error: 'timeout' })).toBe(sentences(ERROR_EXPLANATIONS.timeout));
    for (const responseCode of [199, 300, 999]) expect(explainAttempt({ responseCode, error: null })).not.toBeNull();
  });

  test('of a rejecting status stays that of the status when its answer was not read whole', () => {
    const explained = explainAttempt({ responseCode: 404, error: 'answer_too_large' });
    expect(explained).toBe(sentences(STATUS_EXPLANATIONS['404']));
  });

  test.each(['of_an_earlier_release', 'constructor'])('of the unknown code %s is a general one', (error) => {
    expect(explainAttempt({ responseCode: null, error })).toBe(sentences(UNKNOWN_ERROR_EXPLANATION));
  });

  const all = { ...ERROR_EXPLANATIONS, ...STATUS_EXPLANATIONS, unknown: UNKNOWN_ERROR_EXPLANATION };
  test.each(Object.entries(all))(
    'of %s is one sentence of what happened and one of what to do',
    (_code, explanation) => {
      for (const sentence of Object.values(explanation)) expect(sentence).toMatch(/^[A-Z][^!?]*[^ .]\.$/);
      for (const sentence of Object.values(explanation)) expect(sentence).not.toContain('. ');
    },
  );
});
