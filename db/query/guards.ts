import { getTableName } from 'drizzle-orm';
import type { LockStrength } from 'drizzle-orm/pg-core';
import type { Covered, GuardKind, TableWithId } from './list-statements.ts';

const kinds = new Map<string, GuardKind>();
const coveredBy = new Map<string, Covered>();

export function guardKind(table: TableWithId, strength: LockStrength, covers: Covered): GuardKind {
  const name = `guard ${getTableName(table)} ${strength}`;
  const isExclusive = strength === 'update' || strength === 'no key update';
  const known = kinds.get(name) ?? { name, table, strength, isExclusive, covers };
  kinds.set(name, known);
  if (!isExclusive) return known;
  const other = coveredBy.get(getTableName(table)) ?? covers;
  if (other !== covers) throw new Error(`exclusive locks of ${getTableName(table)} cover different things`);
  coveredBy.set(getTableName(table), covers);
  return known;
}

export function coversParts({ isExclusive, covers }: GuardKind): boolean {
  return isExclusive && covers === 'row and parts';
}

export function guardRecord({ id, version }: { readonly id: string; readonly version: string }): string {
  return JSON.stringify({ id, version });
}

export const GUARD_COLUMNS = 'id uuid, version xid';

/**
 * Locks the rows that are as they were read, and answers whose they are. It waits for no lock: a row that another transaction
 * holds is about to change. Postgres compares the version again with the row that it has locked.
 */
export function guardText({ table, strength }: GuardKind, rows: string): string {
  const id = `"${table.id.name}"`;
  return `SELECT item."set" FROM ${rows} AS item JOIN "${getTableName(table)}" AS held
    ON held.${id} = item.id AND held.xmin = item.version
    WHERE held.${id} = ANY (ARRAY(SELECT id FROM ${rows})) FOR ${strength.toUpperCase()} OF held SKIP LOCKED`;
}
