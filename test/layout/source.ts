import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';
import { filesBelow } from './files.ts';

/** One source file as the layout rules see it. */
export interface Source {
  /** From the project's root, with slashes. */
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  readonly functions: readonly FunctionSize[];
  /** Globals, calls and tags that rules ask about: `Date.now()`, `new Date()`, `fetch`, `pgTable()`, `sql` as a tag. */
  readonly uses: readonly Use[];
  readonly comments: readonly string[];
}

export interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
}

export interface FunctionSize {
  readonly name: string;
  readonly lines: number;
}

export interface Use {
  readonly what: string;
  readonly line: number;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

export function readSource(path: string, text: string): Source {
  const parsed = parseSync(path, text, { lang: path.endsWith('x') ? 'tsx' : 'ts', sourceType: 'module' });
  if (parsed.errors.length > 0) throw new Error(`${path} does not parse: ${parsed.errors[0]?.message}`);
  const lineOf = lineFinder(text);
  const functions: FunctionSize[] = [];
  const uses: Use[] = [];
  walk(parsed.program, (node, parent, isInFunction) => {
    if (isInFunction && isQueryBuilding(node)) uses.push({ what: 'a query built per call', line: lineOf(node.start) });
    if (FUNCTIONS.has(node.type)) {
      functions.push({ name: functionName(node, parent), lines: lineOf(node.end) - lineOf(node.start) + 1 });
    }
    const what = useOf(node, parent);
    if (what !== null) uses.push({ what, line: lineOf(node.start) });
  });
  return {
    path,
    lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    imports: importsOf(parsed.program),
    functions,
    uses,
    comments: parsed.comments.map((comment) => comment.value),
  };
}

/** Every TypeScript file below the folders, sorted by path. */
export function readSources(root: string, folders: readonly string[]): Source[] {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => filesBelow(root, folder))
    .filter((path) => /\.tsx?$/.test(path))
    .sort()
    .map((path) => readSource(path, readFileSync(join(root, path), 'utf8')));
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

type Visit = (node: Node, parent: Node | null, isInFunction: boolean) => void;

function walk(value: unknown, visit: Visit, parent: Node | null = null, isInFunction = false): void {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, visit, parent, isInFunction);
  } else if (isNode(value)) {
    visit(value, parent, isInFunction);
    const isInside = isInFunction || FUNCTIONS.has(value.type);
    for (const child of Object.values(value)) walk(child, visit, value, isInside);
  }
}

/** What builds a query from the schema (db/query/). */
const QUERY_BUILDERS = new Set([
  'embedded',
  'prepared',
  'preparedChange',
  'lookUpIn',
  'lookUpWith',
  'lockIn',
  'listOf',
  'listWith',
  'keysetList',
]);

function isQueryBuilding({ type, callee }: Node): boolean {
  return type === 'CallExpression' && isNode(callee) && QUERY_BUILDERS.has(String(callee.name));
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function importsOf(program: unknown): Import[] {
  const imports: Import[] = [];
  walk(program, (node) => {
    const { source } = node;
    if (!isNode(source) || typeof source.value !== 'string') return;
    if (node.type === 'ImportDeclaration') {
      const specifiers = Array.isArray(node.specifiers) ? node.specifiers.filter(isNode) : [];
      const allTypes = specifiers.length > 0 && specifiers.every((specifier) => specifier.importKind === 'type');
      imports.push({ from: source.value, typeOnly: node.importKind === 'type' || allTypes });
    } else if (node.type === 'TSImportType') {
      imports.push({ from: source.value, typeOnly: true });
    } else if (['ExportNamedDeclaration', 'ExportAllDeclaration', 'ImportExpression'].includes(node.type)) {
      imports.push({ from: source.value, typeOnly: node.exportKind === 'type' });
    }
  });
  return imports;
}

function functionName(node: Node, parent: Node | null): string {
  const own = isNode(node.id) ? node.id.name : undefined;
  const holder = parent === null ? undefined : (parent.id ?? parent.key);
  const given = own ?? (isNode(holder) ? holder.name : undefined);
  return typeof given === 'string' ? given : 'anonymous function';
}

/** Globals that a rule may forbid, where they are used as values. */
const GLOBALS = new Set(['fetch', 'process', 'setInterval', 'crypto', 'performance', 'WebSocket', 'require']);

function useOf(node: Node, parent: Node | null): string | null {
  if (node.type === 'TaggedTemplateExpression') return rootName(node.tag) === 'sql' ? 'sql``' : null;
  if (node.type === 'CallExpression') return rootName(node.callee) === 'pgTable' ? 'pgTable()' : null;
  if (node.type === 'NewExpression' && rootName(node.callee) === 'Date') {
    return Array.isArray(node.arguments) && node.arguments.length === 0 ? 'new Date()' : null;
  }
  if (node.type === 'MemberExpression') {
    const name = `${rootName(node.object)}.${isNode(node.property) ? String(node.property.name) : ''}`;
    return name === 'Date.now' || name === 'Math.random' ? name : null;
  }
  if (node.type !== 'Identifier' || typeof node.name !== 'string' || !GLOBALS.has(node.name)) return null;
  const isKey = parent !== null && (parent.property === node || parent.key === node) && parent.computed !== true;
  return isKey || parent?.type.startsWith('TS') ? null : node.name;
}

function rootName(value: unknown): string {
  if (!isNode(value)) return '';
  if (value.type === 'MemberExpression') return rootName(value.object);
  return typeof value.name === 'string' ? value.name : '';
}

function lineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}
