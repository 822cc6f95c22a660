import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FUNCTION_LINES_MAX } from './rules.ts';

export interface SqlFile {
  readonly path: string;
  readonly text: string;
}

/** The files of SQL that make a database: its tables, and its functions. */
export function readSql(root: string): SqlFile[] {
  return ['db/migrations', 'db/functions'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.sql'))
      .sort()
      .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(root, folder, name), 'utf8') })),
  );
}

const DEFINITION =
  /^(?:CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE) (?<name>\w+)|(?<block>DO))\b[\s\S]*?(?<quote>\$\w*\$)[\s\S]*?\k<quote>/gim;

/** Functions in SQL above the limit: `path name`. */
export function oversizedSqlFunctions(files: readonly SqlFile[]): Map<string, number> {
  const long = new Map<string, number>();
  for (const { path, text } of files) {
    for (const { 0: definition, groups } of text.matchAll(DEFINITION)) {
      const lines = definition.split('\n').length;
      if (lines > FUNCTION_LINES_MAX) long.set(`${path} ${groups?.name ?? groups?.block}`, lines);
    }
  }
  return long;
}
