import { describe, expect, test } from 'vitest';
import { parseBody } from '../../api/http/requests/request.ts';
import { withoutImplausibleDates } from '../../api/http/schemas/plausible-dates.ts';
import { ROUTES } from '../../api/routes.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { exampleBodies, nameOf } from '../harness/http/route-suite.ts';

// Every route that takes an identity, by the examples of its bodies: a new one joins by its example.

const NOW = new Date('2026-11-26T09:00:00Z');
const passport = { type: 'passport', identificationNumber: '1' };

/** What is put into an identity, and where the problem is. */
const IMPOSSIBLE: readonly (readonly [fields: object, field: string])[] = [
  [{ birthDate: '2026-11-28' }, 'birthDate'],
  [{ incorporationDate: '2026-11-28' }, 'incorporationDate'],
  [{ identifications: [{ ...passport, issueDate: '2026-11-28' }] }, 'identifications.0.issueDate'],
  [
    { identifications: [{ ...passport, issueDate: '2020-01-02', expirationDate: '2020-01-02' }] },
    'identifications.0.expirationDate',
  ],
];

interface Changed {
  readonly body: unknown;
  readonly path: string;
}

/** The body once for each identity in it, which gets these fields. */
function withFields(sent: unknown, fields: object, path: readonly string[] = []): Changed[] {
  if (typeof sent !== 'object' || sent === null) return [];
  return Object.entries(sent).flatMap(([key, value]: [string, unknown]) => {
    const here =
      key === 'identity' && typeof value === 'object'
        ? [{ body: { ...value, ...fields }, path: [...path, key].join('.') }]
        : [];
    const all = [...here, ...withFields(value, fields, [...path, key])];
    return all.map((changed) => ({ ...changed, body: within(sent, key, changed.body) }));
  });
}

function within(sent: object, key: string, value: unknown): unknown {
  if (Array.isArray(sent)) return sent.map((item: unknown, index) => (String(index) === key ? value : item));
  return { ...sent, [key]: value };
}

const cases = ROUTES.filter((route) => route.kind === 'route').flatMap((route) =>
  exampleBodies(route).flatMap((example: unknown) =>
    IMPOSSIBLE.flatMap(([fields, field]) =>
      withFields(example, fields).map(({ body, path }) => ({
        ...{ contract: route.contract, name: nameOf(route), body },
        path: `${path}.${field}`,
      })),
    ),
  ),
);

function problemsOf({ contract, body }: (typeof cases)[number]): readonly string[] {
  try {
    parseBody(contract, JSON.stringify(body), NOW);
  } catch (error) {
    if (error instanceof DomainError) return error.problems.map(({ message }) => message);
    throw error;
  }
  return [];
}

describe('a date that cannot be right is rejected by field and rule, unless the route has no such field', () => {
  test.each(cases)('$name: $path', (one) => {
    const rule = /must not be in the future\.$|must be after issueDate\.$|is not a field that can be sent here\.$/;
    // Where the route has no documents at all, they are what is rejected.
    const about = problemsOf(one).filter((message) => one.path.startsWith(message.split(' ')[0] ?? ''));
    expect(about, problemsOf(one).join('\n')).toEqual([expect.stringMatching(rule)]);
  });

  test('the routes that take such a date are those of people, companies and their documents', () => {
    const dated = cases.filter((one) => problemsOf(one).some((message) => /the future|after issueDate/.test(message)));
    expect([...new Set(dated.map(({ name }) => name))].sort()).toEqual([
      'PATCH /beneficiaries/{beneficiaryId}',
      'PATCH /clients/{clientId}',
      'PATCH /clients/{clientId}/relations/{clientRelationId}',
      'PATCH /users/{userId}',
      'POST /beneficiaries',
      'POST /clients',
      'POST /clients/{clientId}/relations',
      'POST /users',
    ]);
  });
});

test('of what a provider has on a client, dates that cannot be right are left out, and the rest is kept', () => {
  const passports = [{ type: 'passport', issueDate: '2031-01-01' }];
  const found = {
    identity: { type: 'individual', birthDate: '2031-01-01', identifications: passports },
    relations: [{ identity: { birthDate: '1980-01-01' } }],
  };
  expect(withoutImplausibleDates(found, NOW)).toEqual({
    kept: {
      identity: { type: 'individual', identifications: [{ type: 'passport' }] },
      relations: [{ identity: { birthDate: '1980-01-01' } }],
    },
    left: ['birthDate', 'issueDate'],
  });
});
