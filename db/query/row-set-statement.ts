import { GUARD_COLUMNS, guardText } from './guards.ts';
import type { FinishedSet } from './row-set.ts';

/** How long a set waits for a lock or a unique key of another transaction. Far below `deadlock_timeout`. */
const LOCK_WAIT_MS = 25;

/** The identity of a set's statement: sets with the same go together. */
export function shapeOf({ guards, claim, parts }: FinishedSet): string {
  const names = [
    ...guards.map(({ kind }) => kind.name),
    claim?.claim.writer.name ?? '',
    ...parts.map(({ writer }) => writer.name),
  ];
  return names.join('|');
}

/**
 * One statement that writes sets of one shape. A set whose guards do not all hold, or whose claim is taken, is left out; the
 * others are written. Its parameters are the sets, a list for each guard, claim and part, and the deadline; it answers
 * the numbers of the sets that it has written.
 */
export function statementOf({ guards, claim, parts }: FinishedSet): string {
  const deadline = `$${guards.length + (claim === null ? 0 : 1) + parts.length + 2}`;
  let place = 1;
  const next = () => {
    place += 1;
    return `$${place}`;
  };
  const source = (columns: string) => `json_to_recordset(${next()}::json) AS item ("set" integer, ${columns})`;
  const steps = [
    // Evaluated before anything is locked.
    `sets AS MATERIALIZED (SELECT item.* FROM json_to_recordset(before_deadline(${deadline}, $1::json)) AS item ("set" integer, guards integer)
      WHERE (SELECT set_config('lock_timeout', '${LOCK_WAIT_MS}', true)) IS NOT NULL)`,
  ];
  for (const [index, { kind }] of guards.entries()) {
    const rows = `guard_rows_${index}`;
    steps.push(
      `${rows} AS MATERIALIZED (SELECT * FROM ${source(GUARD_COLUMNS)} WHERE EXISTS (SELECT FROM sets))`,
      `guard_${index} AS MATERIALIZED (${guardText(kind, rows)})`,
    );
  }
  let accepted = 'sets';
  if (guards.length > 0) {
    const held = guards.map((_, index) => `SELECT "set" FROM guard_${index}`).join(' UNION ALL ');
    steps.push(`held AS MATERIALIZED (SELECT "set" FROM sets
      WHERE guards = (SELECT count(*) FROM (${held}) AS guard WHERE guard."set" = sets."set"))`);
    accepted = 'held';
  }
  if (claim !== null) {
    const { writer, key } = claim.claim;
    steps.push(
      `claim_rows AS MATERIALIZED (SELECT item.* FROM ${source(writer.columns)} JOIN ${accepted} USING ("set"))`,
      `claimed AS (${writer.textOf('claim_rows')} ON CONFLICT DO NOTHING RETURNING ${key.join(', ')})`,
      `unclaimed AS MATERIALIZED (SELECT claim_rows."set" FROM claim_rows JOIN claimed USING (${key.join(', ')}))`,
    );
    accepted = 'unclaimed';
  }
  for (const [index, { writer }] of parts.entries()) {
    steps.push(
      `rows_${index} AS MATERIALIZED (SELECT item.* FROM ${source(writer.columns)} JOIN ${accepted} USING ("set"))`,
      `written_${index} AS (${writer.textOf(`rows_${index}`)} RETURNING 1)`,
    );
  }
  // Postgres writes a part when it is first asked for it: so in this order, and all before the deadline is checked again.
  const written = parts.map((_, index) => `(SELECT count(*) FROM written_${index})`).join(' + ') || '0';
  return `WITH ${steps.join(',\n')}
    SELECT "set" FROM ${accepted} WHERE CASE WHEN ${written} >= 0 THEN before_deadline(${deadline}) END`;
}

/** The parameters for sets of one shape, without the deadline. */
export function paramsOf(sets: readonly FinishedSet[]): string[] {
  const [first] = sets;
  if (first === undefined) return [];
  const lists = [sets.map(({ guardCount }, set) => `{"set":${set},"guards":${guardCount}}`)];
  for (const index of first.guards.keys())
    lists.push(sets.flatMap(({ guards }, set) => numbered(guards[index]?.records ?? [], set)));
  if (first.claim !== null)
    lists.push(sets.flatMap(({ claim }, set) => (claim === null ? [] : numbered([claim.record], set))));
  for (const index of first.parts.keys())
    lists.push(sets.flatMap(({ parts }, set) => numbered(parts[index]?.records ?? [], set)));
  return lists.map((records) => `[${records.join(',')}]`);
}

function numbered(records: readonly string[], set: number): string[] {
  return records.map((record) => `{"set":${set},${record.slice(1)}`);
}
