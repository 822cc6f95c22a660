import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { SECURITY_REJECTIONS } from '../../api/http/connections/security-rejections.ts';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import { BREAK_KINDS } from '../../domain/reconciliation/reconciliation.ts';
import { filesBelow } from '../layout/files.ts';
import { ROOT, readDocument } from './printed.ts';

// The pages that an engineer opens at night: each alert leads to one, and each names what the code has.

const PAGES = filesBelow(ROOT, 'docs/runbook').filter((path) => path.endsWith('.md'));
const PARTS = ['What you see', 'Why', 'What to do', 'Which command'];

interface Rule {
  readonly alert: string;
  readonly labels: { readonly severity?: string };
  readonly annotations: { readonly summary?: string; readonly description?: string; readonly runbook_url?: string };
}

const RULES: readonly Rule[] = filesBelow(ROOT, 'deploy/prometheus')
  .filter((path) => !path.includes('/tests/'))
  .flatMap((path) => parse(readDocument(path)).groups ?? [])
  .flatMap(({ rules }: { rules: Rule[] }) => rules)
  .filter(({ alert }) => alert !== undefined);
/** The external label with which prometheus.yml says where the runbook is read. */
const RUNBOOK = '{{ $externalLabels.runbook }}/';

/** As GitHub and others make them of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** The sections of a page by their anchors. */
function sectionsOf(path: string): ReadonlyMap<string, string> {
  return new Map(
    readDocument(path)
      .split(/^## /m)
      .slice(1)
      .map((text) => [anchorOf(text.split('\n', 1)[0] ?? ''), text]),
  );
}

test.each(RULES)('$alert leads to a section that names it and says what to do', ({ alert, annotations }) => {
  const url = annotations.runbook_url?.replace(RUNBOOK, 'docs/runbook/') ?? '';
  const [path = '', anchor = ''] = url.split('#');
  expect(path, `the runbook_url of ${alert}`).toMatch(/^docs\/runbook\/[a-z-]+\.md$/);
  expect(existsSync(join(ROOT, path)), path).toBe(true);
  const section = sectionsOf(path).get(anchor);
  expect(section, `${path} has no heading for #${anchor}`).toBeDefined();
  expect(section).toContain(`\`${alert}\``);
});

test('every alert says how urgent it is, what is wrong, and how wrong', () => {
  for (const { alert, labels, annotations } of RULES) {
    expect(['page', 'ticket', 'none'], alert).toContain(labels.severity);
    expect(annotations.summary, alert).toMatch(/^[A-Z{].*\.$/);
    expect(annotations.description, alert).toMatch(/^[A-Z{].*\.$/);
  }
  expect(parse(readDocument('deploy/prometheus/prometheus.yml')).global.external_labels).toHaveProperty('runbook');
});

test('every section of the runbook says what you see, why, what to do and by which command', () => {
  const breaches = PAGES.filter((path) => !path.endsWith('README.md')).flatMap((path) =>
    [...sectionsOf(path)].flatMap(([anchor, text]) =>
      PARTS.filter((part) => !text.includes(`**${part}**`)).map((part) => `${path}#${anchor} lacks "${part}"`),
    ),
  );
  expect(breaches).toEqual([]);
  expect(PAGES.length).toBeGreaterThan(10);
});

test('the runbook names existing alerts and commands, and its index leads to every page', () => {
  const text = PAGES.map(readDocument).join('\n');
  const alerts = new Set(RULES.map(({ alert }) => alert));
  const named = [...text.matchAll(/alerts? ((?:`[A-Z]\w+`(?:, | and )?)+)/gi)].flatMap(([, list = '']) =>
    [...list.matchAll(/`(\w+)`/g)].map(([, alert = '']) => alert),
  );
  expect(named.filter((alert) => !alerts.has(alert))).toEqual([]);
  expect(new Set(named)).toEqual(alerts);
  const commands = [...text.matchAll(/operate -- ([a-z-]+)/g)].map(([, command = '']) => command);
  expect(commands.filter((command) => !Object.hasOwn(OPERATIONS, command))).toEqual([]);
  const index = readDocument('docs/runbook/README.md');
  const pages = PAGES.map((path) => path.replace('docs/runbook/', '')).filter((page) => page !== 'README.md');
  expect(pages.filter((page) => !index.includes(`](${page}`))).toEqual([]);
});

test('every line of a log that the runbook quotes is one of the code', () => {
  const quoted = PAGES.flatMap((path) =>
    [...readDocument(path).matchAll(/`([a-zA-Z][a-z-]*(?:[,:;]? [a-z-]+(?::[a-z]+)?){2,})(?: …)?`/g)].map(
      ([, text = '']) => text,
    ),
  );
  const lines = quoted.filter((text) => !/^(npm|docker|temporal|curl) /.test(text));
  expect(lines.length).toBeGreaterThan(10);
  const sources = ['activities', 'api', 'cli', 'config', 'db', 'domain', 'loops']
    .flatMap((folder) => filesBelow(ROOT, folder))
    .filter((path) => /\.(ts|sql)$/.test(path))
    .map(readDocument)
    .join('\n');
  expect(lines.filter((line) => !sources.includes(line))).toEqual([]);
});

test('docs/runbook names every kind of break and every reason of a security rejection', () => {
  const breaks = readDocument('docs/runbook/reconciliation.md');
  expect(BREAK_KINDS.filter((kind) => !breaks.includes(`\`${kind}\``))).toEqual([]);
  const attacks = readDocument('docs/runbook/attacks.md');
  expect(SECURITY_REJECTIONS.filter((reason) => !attacks.includes(`\`${reason}\``))).toEqual([]);
});
