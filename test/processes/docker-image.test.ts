import { describe, expect, test } from 'vitest';
import { ignoreRules, isIgnored } from '../harness/servers/docker-image.ts';

// docker-compose.test.ts shows that what the image is made of reaches its build, and that its programs work.

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
