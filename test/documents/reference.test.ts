import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readWorkerSettings } from '../../activities/worker-settings.ts';
import { explanations } from '../../api/documentation/error-pages.ts';
import { COMMAND_NOUNS, COMMANDS } from '../../cli/commands.ts';
import { OPERATOR_COMMANDS } from '../../cli/operations/declarations/commands.ts';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import { titleOf, usageOf } from '../../cli/program/command.ts';
import { EXIT_STATUSES } from '../../cli/program/exit-statuses.ts';
import { GLOBAL_OPTIONS } from '../../cli/program/program.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import { ENVIRONMENT_VARIABLES } from '../../config/environment/variables.ts';
import { readEnvironment } from '../../config/environment.ts';
import { readMetricsAddress } from '../../config/metrics/metrics-server.ts';
import { SETTINGS } from '../../config/settings.ts';
import { temporalSettings } from '../../config/temporal.ts';
import { FREE_PORTS } from '../../dev/servers/ports.ts';
import { readStartEnvironment } from '../../dev/start/start-environment.ts';
import { DIRECTORY_RULES, unreadableResult } from '../../domain/beneficiaries/directories.ts';
import { DIRECTORIES } from '../../domain/beneficiaries/verifications.ts';
import { sandboxSettings } from '../../sandbox/settings.ts';
import { filesBelow } from '../layout/files.ts';
import { operationEntries, printedEntries } from './operation-commands.ts';
import { expectPrinted, expectPrintedPart, list, ROOT, readDocument } from './printed.ts';

// The pages of docs/reference, printed from what the code declares, and complete.

function sources(folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) => filesBelow(ROOT, folder))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => readFileSync(join(ROOT, path), 'utf8'));
}

const VARIABLES = Object.values(ENVIRONMENT_VARIABLES).flatMap((group) => Object.entries(group));

/** Of the machine, of Node.js and of the tools that we start. */
const NOT_OURS = new Set(['PATH', 'HOME', 'PGSSL', 'TERM', 'NO_COLOR', 'XDG_CONFIG_HOME']);
const READS = [
  /\b(?:env|environment)\.([A-Z][A-Z0-9_]*)\b/g,
  /\b(?:read\w*|setting|\w+Setting|databaseUrl|file|port|hasOwn)\(\s*(?:\w+(?:\.env)?,\s*)?'([A-Z][A-Z0-9_]*)'/g,
  /\b([A-Z][A-Z0-9_]*): \w+(?=[^{}]*\} = process\.env)/g,
];

test('docs/reference/environment.md has every variable that the code reads, and no other', () => {
  const texts = sources(['activities', 'api', 'config', 'db', 'loops', 'sandbox', 'cli', 'dev', 'workflows']);
  const read = new Set(
    texts.flatMap((text) => READS.flatMap((reads) => [...text.matchAll(reads)].map(([, n = '']) => n))),
  );
  expect([...read].filter((name) => !NOT_OURS.has(name)).sort()).toEqual(VARIABLES.map(([name]) => name).sort());
  expectPrinted('docs/reference/environment.md', 'Environment', [
    'Unset and empty mean the default, in brackets. A value that cannot be used stops the start with a line that names the variable and its rule.',
    ...Object.entries(ENVIRONMENT_VARIABLES).flatMap(([group, variables]) => [
      '',
      `## ${group}`,
      '',
      ...list(
        Object.entries(variables).map(([name, { otherwise, unset, meaning }]) => {
          const shown = unset ?? (otherwise === null ? null : `\`${otherwise}\``);
          return [`\`${name}\`${shown === null ? '' : ` (${shown})`}`, meaning];
        }),
      ),
    ]),
  ]);
});

test('the default of every variable is the one that its reader has', () => {
  const required = { DATABASE_URL: 'postgres://user:password@127.0.0.1/database', SANDBOX_BANK_SECRET: 'x'.repeat(16) };
  const { SANDBOX_HOST, ...defaults } = Object.fromEntries(
    VARIABLES.flatMap(([name, { otherwise }]) => (otherwise === null ? [] : [[name, otherwise]])),
  );
  const { temporalPort, temporalUiPort, dataDirectory } = readStartEnvironment({});
  expect([temporalPort, temporalUiPort]).toEqual([Number(defaults.TEMPORAL_PORT), Number(defaults.TEMPORAL_UI_PORT)]);
  expect(dataDirectory).toBe(resolve(defaults.DATA_DIR ?? ''));
  // A host that is set is a name under which the sandbox is reached, too.
  expect(sandboxSettings(required).host).toBe(SANDBOX_HOST);
  const others = {
    PORT: '1',
    METRICS_PORT: '1',
    TEMPORAL_NAMESPACE: 'other',
    SANDBOX_PORT: '1',
    WORKER_DRAIN_SECONDS: '1',
  };
  for (const read of [readEnvironment, readMetricsAddress, readWorkerSettings, temporalSettings, sandboxSettings]) {
    expect(read({ ...required, ...defaults })).toEqual(read(required));
    // Otherwise it would not look at them.
    expect(read({ ...required, ...defaults, ...others })).not.toEqual(read(required));
  }
});

test('docs/reference/ports.md has every port', () => {
  const ports = VARIABLES.flatMap(([name, { port, otherwise }]) => (port ? [{ name, port, otherwise }] : []));
  expect(ports.map(({ name }) => name).sort()).toEqual(
    VARIABLES.map(([name]) => name)
      .filter((name) => /PORT$/.test(name))
      .sort(),
  );
  expectPrinted('docs/reference/ports.md', 'Ports', [
    ...list(
      ports.map(({ name, port, otherwise }) => [
        otherwise === '0' ? 'a free one' : `${otherwise}`,
        `${port} (\`${name}\`)`,
      ]),
    ),
    '',
    `Under \`npm start\`, Postgres, the worker’s metrics, and Temporal’s HTTP and metrics take free ports from ${FREE_PORTS.first} to ${FREE_PORTS.last}; Postgres keeps its own across starts while it is free. \`run/endpoints.json\` in \`DATA_DIR\` has all addresses. All of them listen on the loopback address, the API unless \`API_HOST\` says otherwise.`,
    '',
    'Two copies run on one machine with different ports and a `DATA_DIR` each.',
  ]);
});

const MANIFEST: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(readDocument('package.json'));

test('docs/reference/commands.md has every npm command and every command of an operator', () => {
  const { scripts = {}, 'scripts-info': info = {} } = MANIFEST;
  expect(Object.keys(info)).toEqual(Object.keys(scripts));
  expectPrinted('docs/reference/commands.md', 'Commands', [
    'Commands find the service through `DATA_DIR`; `operate` and `ledger:check` use `DATABASE_URL` if it is set. With `-s` npm prints nothing of its own.',
    '',
    ...list(
      Object.entries(info).map(([name, text]) => [`\`npm ${/^(start|test)$/.test(name) ? '' : 'run '}${name}\``, text]),
    ),
    '',
    '## `fas`: the command line',
    '',
    'Data goes to standard output, all else to standard error. Every command takes these options:',
    '',
    ...list(GLOBAL_OPTIONS.map(({ name, value, meaning }) => [`\`${optionText(name, value)}\``, meaning])),
    '',
    'Its exit statuses:',
    '',
    ...list(Object.values(EXIT_STATUSES).map(({ status, meaning }) => [`${status}`, meaning])),
    ...sectionsOfCommands(),
    '',
    '## Operators: `npm run -s operate -- COMMAND`',
    '',
    'The same commands under names of their own, which want no `--confirm`. Exit status 0: it succeeded. 1: the service rejected it, with the reason, or a person must look at something. 2: it could not run, or has no outcome yet. `--json` prints one object.',
    '',
    'Give operators’ commands the worker’s environment and release: those that decide by cut-offs, calendars or limits exit with 2 if the service has other settings. The audit log has every change, with the operating system’s user as actor.',
    '',
    ...list(OPERATOR_COMMANDS.map((command) => [`\`${command.operate.join(' ')}\``, `\`fas ${titleOf(command)}\``])),
  ]);
  expect(new Set(OPERATOR_COMMANDS.map(({ operate: [name] }) => name))).toEqual(new Set(Object.keys(OPERATIONS)));
});

const optionText = (name: string, value: string | undefined) =>
  value === undefined ? `--${name}` : `--${name} ${value}`;

/** The commands of each noun; first those without one. */
function sectionsOfCommands(): string[] {
  const shown = COMMANDS.filter(({ isHidden }) => !isHidden);
  const nouns = [...new Set(shown.map(({ noun }) => noun))].sort((one, other) =>
    (one ?? '') < (other ?? '') ? -1 : 1,
  );
  return nouns.flatMap((noun) => [
    '',
    noun === null ? 'Commands of their own:' : `\`fas ${noun}\`: ${COMMAND_NOUNS[noun]}`,
    '',
    ...list(
      shown
        .filter((command) => command.noun === noun)
        .map((command) => [`\`${`${command.name} ${usageOf(command)}`.trim()}\``, command.summary]),
    ),
  ]);
}

test('cli/requests/operations.json has a command for every operation and workflow code of the OpenAPI document', () => {
  const path = 'cli/requests/operations.json';
  const printed = printedEntries(operationEntries());
  if (process.env.UPDATE_DOCUMENTS === '1') writeFileSync(join(ROOT, path), printed);
  expect(readDocument(path)).toBe(printed);
});

test('no two commands have one name, and every noun has its line', () => {
  const titles = COMMANDS.map(titleOf);
  expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
  const nouns = new Set(COMMANDS.flatMap(({ noun }) => (noun === null ? [] : [noun])));
  expect([...nouns].sort()).toEqual(Object.keys(COMMAND_NOUNS));
});

test('docs/reference/configuration.md has every setting, with its default where that is a value', () => {
  const defaults: Readonly<Record<string, unknown>> = JSON.parse(readDocument('config/default.json'));
  expect(Object.keys(SETTINGS).sort()).toEqual(Object.keys(defaults).sort());
  const isShort = (value: unknown) => value === null || ['number', 'string'].includes(typeof value);
  expectPrintedPart(
    'docs/reference/configuration.md',
    'settings',
    list(
      Object.entries(SETTINGS).map(([name, meaning]) => [
        `\`${name}\`${isShort(defaults[name]) ? ` (${defaults[name]})` : ''}`,
        meaning,
      ]),
    ),
  );
});

test('docs/reference/configuration.md has every calendar, with how far it reaches', () => {
  const { calendars } = loadConfiguration({});
  expectPrintedPart(
    'docs/reference/configuration.md',
    'calendars',
    list(
      [...calendars.current].map(([name, { publishedUntil, until }]) => [
        `\`${name}\``,
        `published until ${publishedUntil}${until === publishedUntil ? '' : `, expected until ${until}`}`,
      ]),
    ),
  );
});

/** Each metric has name, help and labels as literals, in this order. */
const METRIC =
  /\bnew (Counter|Gauge|Histogram|Summary)(?:<[^>]*>)?\((?:\{\s*name: '([a-z_]+)',\s*help:\s*'([^']+)',\s*(?:labelNames: (?:\[([^\]]*)\]|(\w+)))?)?/g;
const PROCESSES = { API: 'api', Loops: 'loops', Worker: 'activities', 'Several processes': 'config' };

test('docs/reference/errors.md has every error code, as its page has', () => {
  expectPrinted('docs/reference/errors.md', 'Error codes', [explanations('#').join('\n\n')]);
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook_url: string };
}

test('docs/reference/metrics.md has every metric of ours, with the alerts that use it', () => {
  const rules: readonly Rule[] = parse(readDocument('deploy/prometheus/alerts.yml')).groups.flatMap(
    (group: { rules: Rule[] }) => group.rules,
  );
  const metrics = Object.entries(PROCESSES).flatMap(([process, folder]) =>
    sources([folder]).flatMap((text) =>
      [...text.matchAll(METRIC)].map(([, type = '', name = '', help = '', labels, constant = '']) => {
        expect(name, `a ${type} of ${folder}/ whose name and help are not its first two properties`).not.toBe('');
        const list = labels ?? new RegExp(`const ${constant} = \\[([^\\]]*)\\]`).exec(text)?.[1] ?? '';
        return { name, help, process, labels: [...list.matchAll(/'(\w+)'/g)].map(([, label]) => `\`${label}\``) };
      }),
    ),
  );
  expect(metrics.length).toBeGreaterThan(25);
  const asks = (expr: string, name: string) => new RegExp(`\\b${name}(_bucket|_count|_sum)?\\b`).test(expr);
  // ProcessAway asks Prometheus itself.
  const without = rules.filter(({ expr }) => !metrics.some(({ name }) => asks(expr, name)));
  expect(without.map(({ alert }) => alert)).toEqual(['ProcessAway']);
  const link = ({ alert, annotations }: Rule) =>
    `[\`${alert}\`](${annotations.runbook_url.replace('{{ $externalLabels.runbook }}', '../runbook')})`;
  expectPrinted('docs/reference/metrics.md', 'Metrics', [
    '`GET /metrics` at `METRICS_PORT` has these and those of Node.js; an API that runs the loops has theirs, too, a worker those of Temporal’s SDK (`temporal_…`, ending in `_total` and `_seconds`). Figures about Postgres are the same in each process: take the maximum, not the sum. [deploy/](../../deploy/prometheus) has rules and dashboards.',
    ...Object.keys(PROCESSES).flatMap((process) => [
      '',
      `## ${process}`,
      '',
      ...list(
        metrics
          .filter((metric) => metric.process === process)
          .sort((one, other) => (one.name < other.name ? -1 : 1))
          .map(({ name, help, labels }) => {
            const alerts = rules.filter(({ expr }) => asks(expr, name)).map(link);
            const by = labels.length === 0 ? '' : ` by ${labels.join(', ')}`;
            return [`\`${name}\`${by}`, alerts.length === 0 ? help : `${help} Alerts: ${alerts.join(', ')}.`];
          }),
      ),
    ]),
  ]);
});

test('docs/reference/directories.md has every code of every directory with its reason, and the accounts that each knows', () => {
  const { directories } = loadConfiguration({});
  const unavailable = '503 `connect.provider.unavailable`; nothing is stored or charged';
  const shown = (reason: string | null) => (reason === null ? '`matched`' : `\`${reason}\``);
  expectPrinted('docs/reference/directories.md', 'Name directories', [
    'The country and the currency of a bank account ask for a directory: `verificationDirectory` of `GET /beneficiary-bank-account-requirements`, by `directories` of the [configuration](configuration.md). Its workflow compares the name.',
    ...DIRECTORIES.flatMap((code) => {
      const { scheme, accountsNamedBy, reasons, identifications, errors } = DIRECTORY_RULES[code];
      const { currency, countries } = directories[code];
      const unreadable = unreadableResult(code);
      return [
        '',
        `## ${scheme}`,
        '',
        ...list([
          ['Workflow', `\`client.${code}.cop\``],
          [
            'Accounts',
            `${currency} in ${countries.join(', ')}; named by ${accountsNamedBy === 'iban' ? 'IBAN' : 'sort code and number'}`,
          ],
          ['In place of a company’s name', Object.keys(identifications).join(', ') || 'nothing'],
        ]),
        '',
        'Its answers, with `result.reason`:',
        '',
        ...list([
          ...Object.entries(reasons).map(([known, reason]) => [`\`${known}\``, shown(reason)] as const),
          [
            'An answer that cannot be read',
            unreadable === null ? unavailable : `${shown(unreadable.reason)} (\`${unreadable.schemeReasonCode}\`)`,
          ],
          [
            `No answer in time, no connection, any status but 200${errors.length === 0 ? '' : ` (${errors.join(', ')})`}`,
            unavailable,
          ],
        ]),
      ];
    }),
  ]);
});
