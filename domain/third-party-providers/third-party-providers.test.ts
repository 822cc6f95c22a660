import { describe, expect, test } from 'vitest';
import { isWebAddress, redirectUriProblem } from './third-party-providers.ts';

describe('a redirect address', () => {
  test.each([
    'https://tpp.example/callback',
    'https://tpp.example',
    'https://tpp.example:8443/a/b?mode=1&x=%20',
    'https://127.0.0.1/callback',
    'https://[2001:db8::1]/callback',
  ])('may be %s', (text) => {
    expect(redirectUriProblem(text, { allowLoopback: false })).toBeNull();
  });

  test.each([
    ['https://tpp.example/callback#', 'must not have a fragment'],
    ['https://tpp.example/#a', 'must not have a fragment'],
    ['https://*.tpp.example/', 'must not have a wildcard'],
    ['https://tpp.example/*', 'must not have a wildcard'],
    ['https://user@tpp.example/', 'must not contain credentials'],
    ['https://user:secret@tpp.example/', 'must not contain credentials'],
    ['https://@tpp.example/', 'must not contain credentials'],
    ['https://bank.example\\@tpp.example/', 'must not contain credentials'],
    ['https://tpp.example\\path', 'must be an https address'],
    ['https:tpp.example', 'must be an https address'],
    ['https:///tpp.example', 'must be an https address'],
    [' https://tpp.example/', 'must be an https address'],
    ['https://tpp.example/a b', 'must be an https address'],
    ['https://tpp.example/\t', 'must be an https address'],
    ['https://tpp.exämple/', 'must be an https address'],
    ['http://tpp.example/', 'must be an https address'],
    ['http://localhost.tpp.example/', 'must be an https address'],
    ['http://127.0.0.1.tpp.example/', 'must be an https address'],
    ['http://10.0.0.1/', 'must be an https address'],
    ['javascript:alert(1)', 'must be an https address'],
    ['app://callback', 'must be an https address'],
    ['//tpp.example/', 'must be an https address'],
    ['', 'must be an https address'],
    [`https://tpp.example/${'x'.repeat(2_048)}`, 'must have at most 2048 characters'],
  ])('%j %s', (text, problem) => {
    expect(redirectUriProblem(text, { allowLoopback: true })).toBe(problem);
  });

  test.each(['http://localhost/', 'http://127.0.0.1:3100/third-party', 'http://[::1]:9/x', 'http://127.1/x'])(
    '%s is allowed where the configuration allows loopback, and nowhere else',
    (text) => {
      expect(redirectUriProblem(text, { allowLoopback: true })).toBeNull();
      expect(redirectUriProblem(text, { allowLoopback: false })).toBe('must be an https address');
    },
  );
});

test('a website is a web address: pages that show it must not run it', () => {
  expect(['https://tpp.example', 'http://tpp.example/a?b'].filter(isWebAddress)).toHaveLength(2);
  expect(['javascript:alert(1)', 'data:text/html,x', 'tpp.example', 'https://a b'].filter(isWebAddress)).toEqual([]);
});
