import { posix } from 'node:path';
import type { Import, Source } from './source.ts';

/** The layout rules (docs/architecture.md): each takes the sources and returns one line per breach. */
export const FOLDERS = [
  'activities',
  'api',
  'bench',
  'cli',
  'client',
  'config',
  'console',
  'db',
  'deploy',
  'dev',
  'docs',
  'domain',
  'loops',
  'sandbox',
  'test',
  'workflows',
] as const;

/** The subfolders of the layers and of test/: one for each noun, spelled the same everywhere. A folder lacks those that do not concern it. */
export const NOUNS = [
  'accounts',
  'approvals',
  'audit-entries',
  'bank-files',
  'beneficiaries',
  'clients',
  'compliance',
  'incoming-transfers',
  'ledger',
  'machine-users',
  'open-banking',
  'outgoing-transfers',
  'people',
  'providers',
  'reconciliation',
  'third-party-providers',
  'timelines',
  'transfers',
  'users',
  'webhooks',
] as const;

/** The folders with subfolders: those of the nouns, those for what all nouns share, and files above them. */
const STRUCTURE: Readonly<
  Record<string, { readonly subfolders: readonly string[]; readonly files: readonly string[] }>
> = {
  activities: {
    subfolders: ['common'],
    files: [
      'housekeeping',
      'index',
      'main',
      'restores',
      'task-queue-lag',
      'temporal-namespace',
      'worker',
      'worker-settings',
      'workflow-bundle',
    ],
  },
  api: {
    subfolders: ['documentation', 'http', 'openapi'],
    files: ['app', 'main', 'metrics-text', 'routes', 'system', 'transition-counts'],
  },
  console: {
    subfolders: ['charts', 'http', 'lists', 'look', 'page', 'remedies', 'search', 'sign-in', 'today', 'waiting'],
    files: ['app', 'application', 'main', 'pages'],
  },
  db: {
    subfolders: ['batching', 'common', 'functions', 'migrations', 'postgres', 'query', 'search'],
    files: [
      'client',
      'function-files',
      'migrate',
      'migration-files',
      're-encryption',
      'months',
      'schema-state',
      'service-role',
      'service-role.sql',
    ],
  },
  domain: { subfolders: ['common', 'search'], files: [] },
  workflows: { subfolders: ['common'], files: ['housekeeping', 'index'] },
  test: {
    subfolders: [
      'abuse',
      'cli',
      'client',
      'console',
      'database',
      'deployment',
      'documents',
      'faults',
      'fixtures',
      'harness',
      'histories',
      'http',
      'layout',
      'openapi',
      'processes',
      'proof',
      'tools',
      'workflows',
    ],
    files: ['schema'],
  },
};

/** What a folder may import: folders, or single files, of ours. `types:` allows only types. */
const ALLOWED_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  db: ['domain/'],
  // How an address of Postgres is written.
  config: ['domain/', 'package.json', 'db/postgres/addresses.ts'],
  workflows: ['domain/', 'types:activities/'],
  activities: ['db/', 'domain/', 'config/', 'workflows/common/messages.ts'],
  loops: [
    'db/',
    'domain/',
    'config/',
    'workflows/common/messages.ts',
    // The exchange of files with banks, whose words become those of providers.
    'activities/bank-files/',
  ],
  api: [
    'db/',
    'domain/',
    'config/',
    'workflows/common/messages.ts',
    // Calls needed before an answer: the providers, and whether a receiver's name leads outside.
    'activities/providers/',
    'activities/webhooks/name-resolver.ts',
    // The loops run in the API's process; its readiness shows whether Temporal answers.
    'loops/loops.ts',
    'loops/metrics.ts',
    'loops/temporal.ts',
  ],
  // A stand-in for the outside world, which must not know the service's internals; only the test clock moves the service's.
  sandbox: [
    'domain/',
    'config/environment.ts',
    'db/client.ts',
    'db/postgres/failures.ts',
    'types:db/query/database.ts',
    'db/common/clock.ts',
    'db/common/sandbox-clock.ts',
  ],
  // What callers install: a package of its own.
  client: [],
  // Product code: it must not need what starts a development machine.
  console: [
    'db/',
    'domain/',
    'config/',
    // What a remedy asks outside, and where Temporal is; the lists of names, and the comparison of a day.
    'activities/compliance/name-lists.ts',
    'activities/outgoing-transfers/',
    'activities/providers/',
    'activities/reconciliation/',
    'loops/temporal.ts',
    'workflows/common/messages.ts',
    // How its own loop polls, and says that it does.
    'loops/metrics.ts',
    'loops/polling.ts',
    // The sentences of `why`, and what commands do to workflows.
    'cli/operations/',
    // The limits of connections, headers and bodies.
    'api/http/connections/',
  ],
  cli: ['activities/', 'api/', 'client/', 'config/', 'db/', 'domain/', 'loops/', 'workflows/', 'package.json'],
};

/** Pure libraries. Everything else that domain/ wants to import is I/O, a clock or a framework. */
const DOMAIN_PACKAGES = [
  '@js-temporal/polyfill',
  'any-ascii',
  'fastest-levenshtein',
  'ibantools',
  'ipaddr.js',
  'lossless-json',
];
const WORKFLOW_PACKAGES = ['@temporalio/workflow', '@temporalio/common'];
/** The examples name the package as its users do. */
const CLIENT_PACKAGES = ['@financial-accounts/client', 'jose'];
const SQL_PACKAGES = ['postgres', 'pg', 'drizzle-orm'];

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/');
}

export function importBreaches(sources: readonly Source[]): string[] {
  return sources.filter(({ path }) => !isTest(path)).flatMap(importBreachesOf);
}

function importBreachesOf({ path, imports }: Source): string[] {
  const folder = path.split('/')[0] ?? '';
  const breaches: string[] = [];
  for (const { from, typeOnly } of imports) {
    if (!from.startsWith('.')) {
      const reason = packageBreach(folder, from);
      if (reason !== null) breaches.push(`${path} imports ${from}: ${reason}`);
      continue;
    }
    const target = resolveImport(path, from);
    const allowed = ALLOWED_IMPORTS[folder];
    if (allowed === undefined || target.startsWith(`${folder}/`)) continue;
    const entries = typeOnly ? allowed.map((entry) => entry.replace('types:', '')) : allowed;
    if (!entries.some((entry) => (entry.endsWith('/') ? target.startsWith(entry) : target === entry))) {
      breaches.push(`${path} imports ${typeOnly ? 'types of ' : ''}${target}: ${folder}/ may not`);
    }
  }
  return breaches;
}

function packageBreach(folder: string, from: string): string | null {
  if (folder === 'domain' && !DOMAIN_PACKAGES.includes(packageOf(from))) return 'domain/ is pure';
  if (folder === 'workflows' && !WORKFLOW_PACKAGES.includes(packageOf(from))) return 'workflows/ are deterministic';
  if (folder === 'client' && !from.startsWith('node:') && !CLIENT_PACKAGES.includes(packageOf(from)))
    return 'client/ has hardly any dependencies';
  const knowsSql = ['db', 'cli', 'dev', 'test', 'bench'].includes(folder);
  if (!knowsSql && SQL_PACKAGES.includes(packageOf(from))) return 'all SQL lives in db/';
  return null;
}

function packageOf(from: string): string {
  return from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/');
}

export function resolveImport(path: string, from: string): string {
  return posix.normalize(posix.join(posix.dirname(path), from));
}

/** Relative imports name a file with its extension, and the file is there. */
export function extensionBreaches(sources: readonly Source[], exists: (path: string) => boolean): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports
      .filter(({ from }: Import) => from.startsWith('.'))
      .flatMap(({ from }) => {
        if (!/\.(tsx?|mjs|js|json)$/.test(from)) return [`${path} imports ${from} without its extension`];
        return exists(resolveImport(path, from)) ? [] : [`${path} imports ${from}, which is not there`];
      }),
  );
}

export function sqlBreaches(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !isTest(path) && !/^(db|cli|dev|bench)\//.test(path))
    .flatMap(({ path, uses }) =>
      uses.filter(({ what }) => what === 'sql``').map(({ line }) => `${path}:${line} holds SQL: it lives in db/`),
    );
}

/** A table is declared in the schema.ts of its noun, or in db/common/schema.ts if several nouns query it. */
export function declarationBreaches(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => path.startsWith('db/') && !isTest(path) && !path.endsWith('/schema.ts'))
    .flatMap(({ path, uses }) =>
      uses
        .filter(({ what }) => what === 'pgTable()')
        .map(({ line }) => `${path}:${line} declares a table: it belongs into a schema.ts`),
    );
}

/** Queries are built once, at the top of a module: building one takes longer than executing it. */
export function queryBreaches(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => path.startsWith('db/') && !path.startsWith('db/query/') && !isTest(path))
    .flatMap(({ path, uses }) =>
      uses
        .filter(({ what }) => what === 'a query built per call')
        .map(({ line }) => `${path}:${line} builds a query per call: build it at the top of the module`),
    );
}

/** What a replayed workflow must not do, and what the deciding layers must receive as arguments. */
const FORBIDDEN_USES: Readonly<Record<string, readonly string[]>> = {
  workflows: [
    'Date.now',
    'new Date()',
    'Math.random',
    'fetch',
    'process',
    'setInterval',
    'crypto',
    'performance',
    'WebSocket',
    'require',
  ],
  domain: [
    'Date.now',
    'new Date()',
    'Math.random',
    'fetch',
    'process',
    'setInterval',
    'crypto',
    'performance',
    'WebSocket',
    'require',
  ],
  db: ['new Date()', 'fetch'],
};

/** Loads a part of its own bundle, for the runs that need it only. */
const ALLOWED_USES: readonly string[] = ['workflows/common/traces.ts uses require'];

export function determinismBreaches(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, uses }) => {
      const forbidden = FORBIDDEN_USES[path.split('/')[0] ?? ''] ?? [];
      return uses
        .filter(({ what }) => forbidden.includes(what) && !ALLOWED_USES.includes(`${path} uses ${what}`))
        .map(({ what, line }) => `${path}:${line} uses ${what}: ${path.split('/')[0]}/ must receive it as an argument`);
    });
}

export const FUNCTION_LINES_MAX = 70;
export const FILE_LINES_MAX = 300;
/** Of files that only declare: tables, schemas, texts. */
export const DECLARATION_LINES_MAX = 600;

/** Written by a test. */
const GENERATED = /^client\/generated\//;

/** Sizes above the limit: `path` for a file, `path name` for a function. */
export function oversized(sources: readonly Source[]): Map<string, number> {
  const sizes = new Map<string, number>();
  const written = sources.filter(({ path }) => !isTest(path) && !GENERATED.test(path));
  for (const { path, lines, functions } of written) {
    const isDeclaration = functions.length === 0 || /(^|[/-])schemas?\.ts$/.test(path);
    if (lines > (isDeclaration ? DECLARATION_LINES_MAX : FILE_LINES_MAX)) sizes.set(path, lines);
    for (const { name, lines: length } of functions) {
      if (length > FUNCTION_LINES_MAX)
        sizes.set(`${path} ${name}`, Math.max(length, sizes.get(`${path} ${name}`) ?? 0));
    }
  }
  return sizes;
}

/** Nothing exceeds the limits. */
export function sizeBreaches(sizes: ReadonlyMap<string, number>): string[] {
  return [...sizes].map(([name, lines]) => `${name} has ${lines} lines: split it`);
}

const FORBIDDEN_FOLDERS = ['controllers', 'helpers', 'lib', 'repositories', 'services', 'types', 'utils'];

/** Files are named in kebab case, and no folder hides what belongs into it. */
export function nameBreaches(paths: readonly string[]): string[] {
  const breaches: string[] = [];
  for (const path of paths) {
    const parts = path.split('/');
    const folder = parts.slice(0, -1).find((part) => FORBIDDEN_FOLDERS.includes(part));
    if (folder !== undefined) breaches.push(`${path}: a folder named ${folder} hides what belongs there`);
    if (!/^[a-z0-9]+(-[a-z0-9]+)*((\.long)?\.test)?\.tsx?$/.test(parts.at(-1) ?? ''))
      breaches.push(`${path} is not in kebab case`);
  }
  return breaches;
}

/** Every file of these folders is in the subfolder of its noun, except those listed above them. */
export function folderBreaches(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const [folder = '', subfolder = '', ...rest] = path.split('/');
    const structure = Object.hasOwn(STRUCTURE, folder) ? STRUCTURE[folder] : undefined;
    if (structure === undefined) return [];
    if (rest.length === 0) {
      const isKnown = structure.files.includes(subfolder.replace(/((\.long)?\.test)?\.tsx?$/, ''));
      return isKnown ? [] : [`${path} is in no subfolder`];
    }
    return [...NOUNS, ...structure.subfolders].includes(subfolder)
      ? []
      : [`${path}: ${folder}/ has no subfolder named ${subfolder}`];
  });
}

export const FOLDER_ENTRIES_MAX = 15;

/** Folders that only grow, that a command fills, or that have a page per decision or noun. */
const UNCOUNTED = ['bench/results/', 'db/migrations/', 'docs/adr/', 'docs/behaviour/', 'test/histories/'];

/** Folders with too many entries to take in at a glance. Subfolders of a layer do not count, as their list limits them. */
export function crowdedBreaches(paths: readonly string[]): string[] {
  const entries = new Map<string, Set<string>>();
  for (const path of paths) {
    if (UNCOUNTED.some((folder) => path.startsWith(folder))) continue;
    const parts = path.split('/');
    const isBelowSubfolder = Object.hasOwn(STRUCTURE, parts[0] ?? '') && parts.length > 2;
    for (let depth = isBelowSubfolder ? 2 : 1; depth < parts.length; depth += 1) {
      const of = parts.slice(0, depth).join('/');
      entries.set(of, (entries.get(of) ?? new Set()).add(parts[depth] ?? ''));
    }
  }
  return [...entries]
    .filter(([, { size }]) => size > FOLDER_ENTRIES_MAX)
    .map(([folder, { size }]) => `${folder}/ has ${size} entries: give it subfolders`);
}

/** Circular imports, direct or indirect, types included, each circle once: between files, and between rooms even where no files form one. */
export function circleBreaches(sources: readonly Source[]): string[] {
  const files: Graph = new Map();
  const subfolders: Graph = new Map();
  for (const { path, imports } of sources) {
    const targets = imports.filter(({ from }) => from.startsWith('.')).map(({ from }) => resolveImport(path, from));
    files.set(path, new Set(targets));
    if (isTest(path)) continue;
    const subfolder = moduleOf(path);
    const others = targets.map(moduleOf).filter((other) => other !== subfolder);
    subfolders.set(subfolder, new Set([...(subfolders.get(subfolder) ?? []), ...others]));
  }
  return [
    ...circlesOf(subfolders).map(
      (circle) => `${circle.join(', ')} import each other: move what they share to a folder of its own`,
    ),
    ...circlesOf(files).map(
      (circle) => `${circle.join(', ')} import each other: declare what they share in a file that imports none of them`,
    ),
  ];
}

type Graph = Map<string, ReadonlySet<string>>;

/** Of each circle all that belong to it, sorted. */
function circlesOf(imported: Graph): string[][] {
  const importers = new Map<string, Set<string>>();
  for (const [path, targets] of imported) {
    for (const target of targets) importers.set(target, (importers.get(target) ?? new Set()).add(path));
  }
  const circles: string[][] = [];
  for (const start of imported.keys()) {
    if (circles.some((circle) => circle.includes(start))) continue;
    const importing = reachable(start, importers);
    const circle = [...reachable(start, imported)].filter((path) => importing.has(path));
    if (circle.length > 0) circles.push(circle.sort());
  }
  return circles;
}

/** `db/accounts`, whatever folders are below; the files above them count as one folder. */
function moduleOf(path: string): string {
  const parts = path.split('/');
  return Object.hasOwn(STRUCTURE, parts[0] ?? '') && parts.length > 2 ? parts.slice(0, 2).join('/') : (parts[0] ?? '');
}

function reachable(start: string, imported: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const seen = new Set<string>();
  const open = [...(imported.get(start) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(imported.get(next) ?? []));
  }
  return seen;
}

const ALLOWED_FILES =
  /^((README|CONTRIBUTING|GLOSSARY|CHANGELOG)\.md|LICENSE|Dockerfile|docker-compose(\.sandbox)?\.yml|package(-lock)?\.json|[a-z.]+\.(json|ts)|\..*)$/;

/** Nothing at the top but the known folders and what tools look for there. */
export function topLevelBreaches(entries: readonly { readonly name: string; readonly isFolder: boolean }[]): string[] {
  return entries
    .filter(({ name, isFolder }) =>
      isFolder ? !name.startsWith('.') && !FOLDERS.some((known) => known === name) : !ALLOWED_FILES.test(name),
    )
    .map(({ name }) => `${name} does not belong at the top level`);
}

/** Promises in comments are not code. */
export function unfinishedBreaches(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, comments }) =>
    comments
      .filter((comment) => /\b(TODO|FIXME|HACK)\b/.test(comment))
      .map((comment) => `${path} is unfinished: ${comment.trim()}`),
  );
}
