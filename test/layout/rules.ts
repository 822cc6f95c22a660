import { posix } from 'node:path';
import type { Import, Source } from './source.ts';

/** The layout rules (docs/architecture.md): each takes the sources and returns one line per breach. */
export const FOLDERS = [
  'activities',
  'api',
  'bench',
  'config',
  'db',
  'docs',
  'domain',
  'loops',
  'sandbox',
  'scripts',
  'sdk',
  'test',
  'workflows',
] as const;

/** The rooms of the layers and of test/: one for each noun, spelled the same everywhere. A folder lacks those that do not concern it. */
export const NOUNS = [
  'accounts',
  'audit-entries',
  'beneficiaries',
  'clients',
  'compliance',
  'incoming-transfers',
  'ledger',
  'machine-users',
  'open-banking',
  'outgoing-transfers',
  'providers',
  'reconciliation',
  'third-party-providers',
  'users',
  'webhooks',
] as const;

/** The folders with rooms: besides the nouns' rooms they have `frame/` for what all share, rooms of their own, and files above all rooms. */
const ROOMED: Readonly<Record<string, { readonly rooms: readonly string[]; readonly files: readonly string[] }>> = {
  activities: {
    rooms: ['frame'],
    files: ['housekeeping', 'index', 'main', 'restores', 'temporal-namespace', 'worker', 'workflow-bundle'],
  },
  api: { rooms: ['frame'], files: ['app', 'main', 'metrics-text', 'routes', 'system', 'transition-counts'] },
  db: {
    rooms: ['driver', 'frame', 'migrations'],
    files: ['migrate', 're-encryption', 'service-role', 'service-role.sql'],
  },
  domain: { rooms: ['frame'], files: [] },
  workflows: { rooms: ['frame'], files: ['housekeeping', 'index'] },
  test: {
    rooms: [
      'abuse',
      'driver',
      'faults',
      'fixtures',
      'frame',
      'harness',
      'histories',
      'layout',
      'openapi',
      'processes',
      'proof',
      'workflows',
    ],
    files: ['schema'],
  },
};

/** What a folder may import: folders, or single files, of ours. `types:` allows types alone. */
const ALLOWED_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  db: ['domain/'],
  config: ['domain/'],
  workflows: ['domain/', 'types:activities/'],
  activities: ['db/', 'domain/', 'config/', 'workflows/frame/messages.ts'],
  loops: ['db/', 'domain/', 'config/', 'workflows/frame/messages.ts'],
  api: [
    'db/',
    'domain/',
    'config/',
    'workflows/frame/messages.ts',
    // Calls needed before an answer: the providers, and whether a receiver's name leads outside.
    'activities/providers/',
    'activities/webhooks/name-resolver.ts',
    // The loops run beside the API; whether Temporal answers is shown.
    'loops/loops.ts',
    'loops/metrics.ts',
    'loops/temporal.ts',
  ],
  // A stand-in for the outside world, which must not know the service's internals; the test clock alone moves the service's.
  sandbox: [
    'domain/',
    'config/environment.ts',
    'db/driver/client.ts',
    'db/frame/clock.ts',
    'db/frame/sandbox-clock.ts',
  ],
  // What receivers copy into programs of their own.
  sdk: [],
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
const SDK_PACKAGES = ['standardwebhooks'];
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
  if (folder === 'sdk' && !SDK_PACKAGES.includes(packageOf(from))) return 'sdk/ is copied by receivers';
  const knowsSql = ['db', 'scripts', 'test', 'bench'].includes(folder);
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
        if (!/\.(ts|mjs|js|json)$/.test(from)) return [`${path} imports ${from} without its extension`];
        return exists(resolveImport(path, from)) ? [] : [`${path} imports ${from}, which is not there`];
      }),
  );
}

export function sqlBreaches(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !isTest(path) && !/^(db|scripts|bench)\//.test(path))
    .flatMap(({ path, uses }) =>
      uses.filter(({ what }) => what === 'sql``').map(({ line }) => `${path}:${line} holds SQL: it lives in db/`),
    );
}

/** Queries are built once, at the top of a module: building one takes longer than executing it. */
export function queryBreaches(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => path.startsWith('db/') && !path.startsWith('db/driver/') && !isTest(path))
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

export function determinismBreaches(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, uses }) => {
      const forbidden = FORBIDDEN_USES[path.split('/')[0] ?? ''] ?? [];
      return uses
        .filter(({ what }) => forbidden.includes(what))
        .map(({ what, line }) => `${path}:${line} uses ${what}: ${path.split('/')[0]}/ must receive it as an argument`);
    });
}

export const FUNCTION_LINES_MAX = 70;
export const FILE_LINES_MAX = 300;

/** Written by a test. */
const GENERATED = ['sdk/webhook-events.ts'];

/** Sizes above the limit: `path` for a file, `path name` for a function. */
export function oversized(sources: readonly Source[]): Map<string, number> {
  const sizes = new Map<string, number>();
  const written = sources.filter(({ path }) => !isTest(path) && !GENERATED.includes(path));
  for (const { path, lines, functions } of written) {
    if (lines > FILE_LINES_MAX) sizes.set(path, lines);
    for (const { name, lines: length } of functions) {
      if (length > FUNCTION_LINES_MAX)
        sizes.set(`${path} ${name}`, Math.max(length, sizes.get(`${path} ${name}`) ?? 0));
    }
  }
  return sizes;
}

/** The ratchet: nothing new exceeds the limit, nothing known grows, and a smaller figure must be recorded. */
export function ratchetBreaches(sizes: ReadonlyMap<string, number>, known: Readonly<Record<string, number>>): string[] {
  const breaches: string[] = [];
  for (const [name, lines] of sizes) {
    const before = Object.hasOwn(known, name) ? known[name] : undefined;
    if (before === undefined) breaches.push(`${name} has ${lines} lines: split it`);
    else if (lines > before) breaches.push(`${name} has grown from ${before} to ${lines} lines: split it`);
    else if (lines < before) breaches.push(`${name} has shrunk to ${lines} lines: write ${lines} into its exception`);
  }
  for (const name of Object.keys(known)) {
    if (!sizes.has(name)) breaches.push(`${name} is no longer above the limit: remove its exception`);
  }
  return breaches;
}

const FORBIDDEN_FOLDERS = ['controllers', 'helpers', 'lib', 'repositories', 'services', 'types', 'utils'];

/** Files are named in kebab case, and no folder hides what belongs into it. */
export function nameBreaches(paths: readonly string[]): string[] {
  const breaches: string[] = [];
  for (const path of paths) {
    const parts = path.split('/');
    const folder = parts.slice(0, -1).find((part) => FORBIDDEN_FOLDERS.includes(part));
    if (folder !== undefined) breaches.push(`${path}: a folder named ${folder} hides what belongs there`);
    if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.ts$/.test(parts.at(-1) ?? ''))
      breaches.push(`${path} is not in kebab case`);
  }
  return breaches;
}

/** Every file of these folders is in the room of its noun, except those above all rooms. */
export function roomBreaches(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    const [folder = '', room = '', ...rest] = path.split('/');
    const roomed = Object.hasOwn(ROOMED, folder) ? ROOMED[folder] : undefined;
    if (roomed === undefined) return [];
    if (rest.length === 0) {
      const isKnown = roomed.files.includes(room.replace(/(\.test)?\.ts$/, ''));
      return isKnown ? [] : [`${path} is in no room`];
    }
    return [...NOUNS, ...roomed.rooms].includes(room) ? [] : [`${path}: ${folder}/ has no room named ${room}`];
  });
}

export const FOLDER_ENTRIES_MAX = 15;

/** Folders that only grow, or that a command fills. */
const UNCOUNTED = ['bench/results/', 'db/migrations/', 'test/histories/'];

/** Folders with too many entries to take in at a glance. Rooms do not count, as their list limits them. */
export function crowdedBreaches(paths: readonly string[]): string[] {
  const entries = new Map<string, Set<string>>();
  for (const path of paths) {
    if (UNCOUNTED.some((folder) => path.startsWith(folder))) continue;
    const parts = path.split('/');
    const isInRoom = Object.hasOwn(ROOMED, parts[0] ?? '') && parts.length > 2;
    for (let depth = isInRoom ? 2 : 1; depth < parts.length; depth += 1) {
      const of = parts.slice(0, depth).join('/');
      entries.set(of, (entries.get(of) ?? new Set()).add(parts[depth] ?? ''));
    }
  }
  return [...entries]
    .filter(([, { size }]) => size > FOLDER_ENTRIES_MAX)
    .map(([folder, { size }]) => `${folder}/ has ${size} entries: give it rooms`);
}

/** Circular imports between rooms, direct or indirect, each circle once. Files within a room may. */
export function circleBreaches(sources: readonly Source[]): string[] {
  const imported = new Map<string, Set<string>>();
  for (const { path, imports } of sources.filter((source) => !isTest(source.path))) {
    const room = roomOf(path);
    const targets = imports.filter(({ from }) => from.startsWith('.')).map(({ from }) => resolveImport(path, from));
    const others = targets.map(roomOf).filter((other) => other !== room);
    imported.set(room, new Set([...(imported.get(room) ?? []), ...others]));
  }
  const circles = new Set<string>();
  for (const start of imported.keys()) {
    const circle = [...reachable(start, imported)].filter((room) => reachable(room, imported).has(start));
    if (circle.length > 0) circles.add(circle.sort().join(', '));
  }
  return [...circles].map((circle) => `${circle} import each other: move what they share to a room of its own`);
}

/** `db/accounts`, whatever folders are below; the files above all rooms are one room. */
function roomOf(path: string): string {
  const parts = path.split('/');
  return Object.hasOwn(ROOMED, parts[0] ?? '') && parts.length > 2 ? parts.slice(0, 2).join('/') : (parts[0] ?? '');
}

function reachable(start: string, imported: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const seen = new Set<string>();
  const open = [...(imported.get(start) ?? [])];
  for (let room = open.pop(); room !== undefined; room = open.pop()) {
    if (seen.has(room)) continue;
    seen.add(room);
    open.push(...(imported.get(room) ?? []));
  }
  return seen;
}

const ALLOWED_FILES =
  /^(README\.md|CHANGELOG\.md|LICENSE|Dockerfile|docker-compose(\.sandbox)?\.yml|package(-lock)?\.json|[a-z.]+\.(json|ts)|\..*)$/;

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
