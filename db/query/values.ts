import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type postgres from 'postgres';

/**
 * `$1` as the ids of a look-up: `WHERE id = ANY (${LISTED_IDS})`. For a list it cannot see, Postgres assumes ten ids; it
 * finds the plan for the one or two actual ids cheaper and so plans the statement each time, which takes twice as long
 * as executing it. The sub-select hides the list from every plan, so after five executions one generic plan serves all.
 * Autovacuum invalidates that plan within a minute; until then, a table that grows from nothing may still be scanned whole.
 */
export const LISTED_IDS = '(SELECT $1::uuid[])::uuid[]';

/** Where a list by id, newest first, begins. */
export const AFTER_ALL_IDS = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The same as a condition of a prepared query. */
export function isListed(id: SQLWrapper, ids: SQLWrapper): SQL {
  return sql`${id} = ANY ((SELECT ${ids}::uuid[])::uuid[])`;
}

/**
 * Parameters travel as text, and Postgres infers each type from its place in the statement. The driver therefore never
 * declares a number for a bigint column, or a text for a jsonb one, as something else.
 */
export function toWire(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  switch (typeof value) {
    case 'string':
      return value;
    case 'boolean':
      return value ? 't' : 'f';
    case 'number':
    case 'bigint':
      return String(value);
    default:
      break;
  }
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  if (Array.isArray(value)) return arrayToWire(value);
  return JSON.stringify(value);
}

function arrayToWire(values: readonly unknown[]): string {
  const items = values.map((item) => {
    if (Array.isArray(item)) return arrayToWire(item);
    const text = toWire(item);
    return text === null ? 'NULL' : `"${text.replace(/["\\]/g, '\\$&')}"`;
  });
  return `{${items.join(',')}}`;
}

const OID = {
  bool: 16,
  bytea: 17,
  int8: 20,
  json: 114,
  date: 1082,
  timestamptz: 1184,
  jsonb: 3802,
  textArray: 1009,
  varcharArray: 1015,
  uuidArray: 2951,
  int4Array: 1007,
  int8Array: 1016,
} as const;

const LATEST = 8_640_000_000_000_000;
/** What `-infinity` becomes. */
export const EARLIEST_INSTANT = new Date(-LATEST);

/** Infinite timestamps become the earliest and latest instant of a Date. */
function parseInstant(text: string): Date {
  if (text === 'infinity') return new Date(LATEST);
  if (text === '-infinity') return new Date(EARLIEST_INSTANT);
  return new Date(text);
}

/** Parses a one-dimensional Postgres array: `{a,"b c",NULL}`. */
export function parseArray(text: string): (string | null)[] {
  const items: (string | null)[] = [];
  let at = 1;
  while (at < text.length - 1) {
    if (text[at] === '"') {
      let item = '';
      for (at += 1; text[at] !== '"'; at += 1) {
        if (text[at] === '\\') at += 1;
        item += text[at];
      }
      items.push(item);
      at += 2;
    } else {
      const comma = text.indexOf(',', at);
      const end = comma === -1 ? text.length - 1 : comma;
      const item = text.slice(at, end);
      items.push(item === 'NULL' ? null : item);
      at = end + 1;
    }
  }
  return items;
}

/** Sets the parsers: int8 as bigint, date as text, timestamptz as Date, json parsed, and the array types in use. */
export function setValueParsers(client: postgres.Sql): void {
  const { parsers, serializers } = client.options;
  const readers: Record<number, (text: string) => unknown> = {
    [OID.int8]: BigInt,
    [OID.date]: (text) => text,
    [OID.timestamptz]: parseInstant,
    [OID.textArray]: parseArray,
    [OID.varcharArray]: parseArray,
    [OID.uuidArray]: parseArray,
    [OID.int4Array]: (text) => parseArray(text).map((item) => (item === null ? null : Number(item))),
    [OID.int8Array]: (text) => parseArray(text).map((item) => (item === null ? null : BigInt(item))),
  };
  for (const [oid, reader] of Object.entries(readers)) parsers[Number(oid)] = reader;
  const asIs = (value: unknown) => value;
  for (const oid of Object.keys(serializers)) serializers[Number(oid)] = asIs;
}
