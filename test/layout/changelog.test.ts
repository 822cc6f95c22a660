import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// CHANGELOG.md has the form of https://keepachangelog.com, by which programs and people find what a release asks of them.

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

/** What breaks the form, a line per breach. */
function breachesOf(changelog: string, version: string): string[] {
  const [head = '', ...sections] = changelog.split(/^## /m);
  const titles = sections.map((section) => section.split('\n')[0] ?? '');
  const releases = titles.slice(1).map((title) => /^\[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$/.exec(title)?.[1] ?? null);
  return [
    ...(head.startsWith('# Changelog\n') ? [] : ['it does not begin with its title']),
    ...(titles[0] === '[Unreleased]' ? [] : ['its first section is not [Unreleased]']),
    ...titles.slice(1).filter((_, index) => releases[index] === null),
    ...releases.filter((release, index) => index > 0 && !isBefore(release ?? '', releases[index - 1] ?? '')),
    ...(releases.length === 0 || releases[0] === version
      ? []
      : [`its latest release is not ${version} of package.json`]),
    ...sections.flatMap((section, index) => breachesOfSection(section).map((breach) => `${titles[index]}: ${breach}`)),
  ].map(String);
}

function breachesOfSection(section: string): string[] {
  const [, ...parts] = section.split(/^### /m);
  const kinds = parts.map((part) => part.split('\n')[0] ?? '');
  const inOrder = KINDS.filter((kind) => kinds.includes(kind));
  const lines = parts.flatMap((part) => part.split('\n').slice(1)).filter((line) => line !== '');
  return [
    ...(JSON.stringify(kinds) === JSON.stringify(inOrder) ? [] : [`its parts are ${kinds.join(', ')}`]),
    ...lines.filter((line) => !/^(- .*| {2}\S.*)$/.test(line)),
    ...lines.filter((line, index) => !(lines[index + 1] ?? '').startsWith('  ') && !line.endsWith('.')),
  ];
}

function isBefore(one: string, other: string): boolean {
  return one !== other && one.localeCompare(other, 'en', { numeric: true }) < 0;
}

test('the changelog keeps its form, begins with what is unreleased, and its latest release is that of package.json', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  expect(breachesOf(changelog, version)).toEqual([]);
  // Before the first release, what that will be is said in words.
  if (!/^## \[\d/m.test(changelog)) expect(changelog).toContain(`The first release, ${version}, `);
});

test('the check finds what breaks the form', () => {
  const sound =
    '# Changelog\n\n## [Unreleased]\n\n## [1.1.0] - 2027-02-01\n\n### Added\n\n- A field.\n\n## [1.0.0] - 2027-01-01\n';
  expect(breachesOf(sound, '1.1.0')).toEqual([]);
  for (const [text, by] of [
    ['## [Unreleased]\n\n', ''],
    ['[1.1.0] - 2027-02-01', '1.1.0'],
    ['[1.0.0]', '[1.2.0]'],
    ['[1.0.0]', '[1.1.0]'],
    ['### Added', '### New'],
    ['- A field.', '* A field.'],
    ['- A field.', '- A field'],
    ['### Added\n', '### Fixed\n\n- One.\n\n### Added\n'],
  ] as const)
    expect(breachesOf(sound.replace(text, by), '1.1.0').length, by).toBeGreaterThan(0);
  expect(breachesOf(sound, '1.2.0')).toEqual(['its latest release is not 1.2.0 of package.json']);
});
