import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FUNCTION_LINES_MAX } from './rules.ts';

/** A file of SQL. Migrations are in the order in which they are applied. */
export interface SqlFile {
  readonly path: string;
  readonly text: string;
}

const MIGRATIONS = 'db/migrations';

export function readMigrations(root: string): SqlFile[] {
  const names = readdirSync(join(root, MIGRATIONS)).filter((name) => name.endsWith('.sql'));
  return names.sort().map((name) => ({
    path: `${MIGRATIONS}/${name}`,
    text: readFileSync(join(root, MIGRATIONS, name), 'utf8'),
  }));
}

const DEFINITION = /^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE) (\w+)[\s\S]*?(\$\w*\$)[\s\S]*?\2/gim;
const DROP = /^DROP (?:FUNCTION|PROCEDURE) (?:IF EXISTS )?(\w+)/gim;

/** Functions in SQL above the limit, as they are once every migration has been applied: `path name`. */
export function oversizedSqlFunctions(files: readonly SqlFile[]): Map<string, number> {
  const present = new Map<string, { path: string; lines: number }>();
  for (const { path, text } of files) {
    for (const [, name = ''] of text.matchAll(DROP)) present.delete(name);
    for (const [definition, name = ''] of text.matchAll(DEFINITION)) {
      present.set(name, { path, lines: definition.split('\n').length });
    }
  }
  const long = [...present].filter(([, { lines }]) => lines > FUNCTION_LINES_MAX);
  return new Map(long.map(([name, { path, lines }]) => [`${path} ${name}`, lines]));
}
