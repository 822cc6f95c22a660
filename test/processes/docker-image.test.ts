import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { buildContext, copiesOf, ignoreRules, isIgnored, missingSources } from '../harness/servers/docker-image.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dockerignore = readFileSync(join(root, '.dockerignore'), 'utf8');
const copies = copiesOf(readFileSync(join(root, 'Dockerfile'), 'utf8'));

// That the image's processes start from what is copied is shown beside the compose file (docker-compose.test.ts).

test('every COPY of the Dockerfile finds what it names in what .dockerignore lets through', () => {
  const context = buildContext(root, ignoreRules(dockerignore), ['node_modules', '.git']);
  expect(copies.last.length).toBeGreaterThan(5);
  expect(copies.all.length).toBeGreaterThan(copies.last.length);
  expect(missingSources(copies.all, context)).toEqual([]);
  expect(
    missingSources([{ sources: ['test', 'domain', 'node_modules'], destination: './' }], context),
    'the check can fail',
  ).toEqual(['test', 'node_modules']);
  expect(context.filter((path) => /\.test\.ts$|\.pem$|^\.env/.test(path))).toEqual([]);
});

describe('.dockerignore is read by the rules of its documentation', () => {
  test.each([
    ['*/temp*', 'somedir/temporary.txt', true],
    ['*/temp*', 'somedir/subdir/temporary.txt', false],
    ['*/*/temp*', 'somedir/subdir/temporary.txt', true],
    ['temp?', 'tempa', true],
    ['temp?', 'temp', false],
    ['**/*.go', 'a.go', true],
    ['**/*.go', 'a/b/c.go', true],
    ['**/*.go', 'a/b/c_go', false],
    ['*.md\n!README.md', 'README.md', false],
    ['*.md\n!README*.md\nREADME-secret.md', 'README-secret.md', true],
    ['*.md\nREADME-secret.md\n!README*.md', 'README-secret.md', false],
    ['folder', 'folder/file', true],
    ['/folder/', 'folder/file', true],
    ['folder', 'other/folder/file', false],
    ['**\n!folder', 'folder/a/b', false],
    ['**\n!folder\n**/*.test.ts', 'folder/a/b.test.ts', true],
    ['# folder\n\n  file  ', 'folder', false],
    ['[a-c]x', 'bx', true],
    ['[a-c]x', 'dx', false],
    ['a+b', 'a+b', true],
    ['file', 'file.txt', false],
  ])('%j and %s: ignored is %s', (rules, path, ignored) => {
    expect(isIgnored(ignoreRules(rules), path)).toBe(ignored);
  });
});
