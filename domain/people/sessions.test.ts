import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Role } from '../machine-users/roles.ts';
import { returnPath } from './return-paths.ts';
import { rolesOfClaim } from './sessions.ts';

const ROLES = new Map<string, Role>([
  ['ops', 'operator'],
  ['all', 'admin'],
  ['look', 'viewer'],
]);

test.each<[unknown, readonly Role[] | null]>([
  [undefined, null],
  [null, null],
  [7, null],
  [{ ops: true }, null],
  [[], []],
  ['', []],
  ['choir', []],
  ['ops', ['operator']],
  ['ops choir look ops', ['operator', 'viewer']],
  [
    ['ops', 'all', 'ops', 7, null, ['look']],
    ['admin', 'operator'],
  ],
  // A value is whole: neither a part nor another spelling counts.
  [['OPS', 'ops ', 'ops look'], []],
  [['__proto__', 'constructor'], []],
])('the claim %j gives the roles %j', (claim, roles) => {
  expect(rolesOfClaim(claim, ROLES)).toEqual(roles);
});

test('whatever is asked for, the way back leads to the console', () => {
  const parts = [
    '/',
    '\\',
    '.',
    '..',
    '//',
    ':',
    '@',
    '%2f',
    '%5c',
    '\t',
    '\n',
    'a',
    '?',
    '#',
    'http:',
    'other.example',
  ];
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...parts), fc.string()), { maxLength: 8 }), (texts) => {
      const path = returnPath(texts.join(''));
      // As a browser reads the location, from any page of the console.
      for (const base of ['https://console.example/', 'https://console.example/sign-in/callback?x'])
        expect(new URL(path, base).origin).toBe('https://console.example');
      expect(path).toMatch(/^\/(?!\/)/);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['/', '/'],
  ['/waiting?age=3d&q=%C3%A4', '/waiting?age=3d&q=%C3%A4'],
  ['/a/../b', '/b'],
  ['/sign-ins', '/sign-ins'],
])('%s is such a way', (given, path) => {
  expect(returnPath(given)).toBe(path);
});
