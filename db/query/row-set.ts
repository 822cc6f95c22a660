import { getTableName } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { coversParts, guardRecord } from './guards.ts';
import {
  type Claim,
  type GuardKind,
  type HandedRows,
  type RowWriter,
  rowKey,
  stageNumber,
  type TableWithId,
} from './list-statements.ts';
import { namesIn } from './queries.ts';
import { deletionWriter, insertionWriter, updateWriter } from './row-statements.ts';

/** A row must still be as it was read, and stay so until the set is written. */
export interface Guard {
  readonly id: string;
  readonly kind: GuardKind;
  readonly version: string;
  readonly row: object;
}

type Change =
  | { readonly kind: 'insert' | 'update'; readonly table: PgTable; values: Record<string, unknown> }
  | { readonly kind: 'remove'; readonly table: TableWithId; readonly id: string };

/** A writer and its records in JSON. */
export interface Part {
  readonly writer: RowWriter<never>;
  readonly records: readonly string[];
}

/** A guarded kind of rows and its records in JSON. */
export interface GuardPart {
  readonly kind: GuardKind;
  readonly records: readonly string[];
}

/** What the statement needs of a set. */
export interface FinishedSet {
  readonly guards: readonly GuardPart[];
  readonly guardCount: number;
  readonly claim: { readonly claim: Claim<never>; readonly record: string; readonly name: string } | null;
  readonly parts: readonly Part[];
  /** The rows that only this set may hold among those of one statement; and those that it may share. */
  readonly holds: ReadonlyMap<string, 'exclusive' | 'shared'>;
}

/** Something that only a transaction can do. */
export class NeedsTransaction extends Error {
  constructor(reason: string) {
    super(`the write needs a transaction: it ${reason}`);
    this.name = 'NeedsTransaction';
  }
}

/** The rows that a write hands over. Changes of one row become one, because a statement changes a row once. */
export class RowSet implements HandedRows {
  readonly #changes = new Map<string, Change>();
  readonly #guards = new Map<string, Guard>();
  readonly #appended = new Map<RowWriter<never>, string[]>();
  #claim: FinishedSet['claim'] = null;

  get hasGuards(): boolean {
    return this.#guards.size > 0;
  }

  guard(guard: Guard): void {
    const key = keyOf(guard.kind.table, guard.id);
    const earlier = this.#guards.get(key);
    if (earlier !== undefined && earlier.version !== guard.version)
      throw new NeedsTransaction('read a row twice, which changed meanwhile');
    if (earlier === undefined || guard.kind.isExclusive) this.#guards.set(key, guard);
  }

  insert(table: PgTable, values: Record<string, unknown>): void {
    const key =
      typeof values.id === 'string' ? keyOf(table, values.id) : `${getTableName(table)} #${this.#changes.size}`;
    if (this.#changes.has(key)) throw new NeedsTransaction('inserts a row that it has changed');
    this.#changes.set(key, { kind: 'insert', table, values: given(values) });
  }

  update(table: TableWithId, id: string, values: Record<string, unknown>): void {
    const key = keyOf(table, id);
    const change = this.#changes.get(key);
    if (change === undefined) {
      this.#requireGuard(key);
      this.#changes.set(key, { kind: 'update', table, values: { id, ...given(values) } });
    } else if (change.kind === 'remove') {
      throw new NeedsTransaction('changes a row that it has deleted');
    } else {
      change.values = { ...change.values, ...given(values) };
    }
  }

  remove(table: TableWithId, id: string): void {
    const key = keyOf(table, id);
    this.#requireGuard(key);
    if (this.#changes.get(key)?.kind === 'insert') throw new NeedsTransaction('deletes a row that it has inserted');
    this.#changes.set(key, { kind: 'remove', table, id });
  }

  append<Item>(writer: RowWriter<Item>, item: Item): void {
    addTo(this.#appended, writer, writer.recordOf(item));
  }

  claim<Item>(claim: Claim<Item>, item: Item): void {
    if (this.#claim !== null) throw new NeedsTransaction('claims two keys');
    this.#claim = { claim, record: claim.writer.recordOf(item), name: claim.nameOf(item) };
  }

  add(tableName: string, id: string, column: string, count: number): bigint {
    const key = `${tableName} ${id}`;
    const change = this.#changes.get(key);
    const guard = this.#guards.get(key);
    const changed = change !== undefined && change.kind !== 'remove' ? change.values[column] : undefined;
    const before: unknown = changed ?? (guard === undefined ? undefined : Reflect.get(guard.row, column));
    if (typeof before !== 'bigint') throw new NeedsTransaction(`changes a row of ${tableName} that it has not locked`);
    const values = { [column]: before + BigInt(count) };
    if (change !== undefined && change.kind !== 'remove') change.values = { ...change.values, ...values };
    else if (guard !== undefined) this.update(guard.kind.table, id, values);
    return before;
  }

  /** Null if there is nothing to write. */
  finish(): FinishedSet | null {
    if (this.#changes.size === 0 && this.#appended.size === 0 && this.#claim === null) return null;
    const holds = new Map<string, 'exclusive' | 'shared'>();
    if (this.#claim !== null) holds.set(this.#claim.name, 'exclusive');
    for (const [key, { id, kind }] of this.#guards) {
      holds.set(key, kind.isExclusive ? 'exclusive' : 'shared');
      // As `lockIn` says.
      if (coversParts(kind) && !this.#changes.has(key)) {
        this.#changes.set(key, { kind: 'update', table: kind.table, values: { id } });
      }
    }
    return {
      guards: this.#guardParts(),
      guardCount: this.#guards.size,
      claim: this.#claim,
      parts: this.#parts(),
      holds,
    };
  }

  #guardParts(): GuardPart[] {
    const parts = new Map<GuardKind, string[]>();
    for (const guard of this.#guards.values()) addTo(parts, guard.kind, guardRecord(guard));
    return [...parts].map(([kind, records]) => ({ kind, records }));
  }

  #parts(): Part[] {
    const records = new Map<RowWriter<never>, string[]>();
    const add = <Item>(writer: RowWriter<Item>, item: Item): void => addTo(records, writer, writer.recordOf(item));
    for (const change of this.#changes.values()) {
      if (change.kind === 'insert') add(insertionWriter(change.table, namesIn(change.values)), change.values);
      else if (change.kind === 'remove') add(deletionWriter(change.table), change.id);
      // Only tables with an id have updates.
      else
        add(
          updateWriter(
            change.table as TableWithId,
            namesIn(change.values).filter((name) => name !== 'id'),
          ),
          change.values,
        );
    }
    for (const [writer, those] of this.#appended) records.set(writer, those);
    return [...records]
      .map(([writer, those]) => ({ writer, records: those }))
      .sort((one, other) => stageNumber(one.writer.stage) - stageNumber(other.writer.stage));
  }

  /** A row without a lock of its own is part of one that is locked with its parts. */
  #requireGuard(key: string): void {
    const own = this.#guards.get(key);
    if (own === undefined ? [...this.#guards.values()].some(({ kind }) => coversParts(kind)) : own.kind.isExclusive)
      return;
    throw new NeedsTransaction(`changes a row that it has not locked: ${key.split(' ')[0]}`);
  }
}

function addTo<Key>(lists: Map<Key, string[]>, key: Key, record: string): void {
  const records = lists.get(key);
  if (records === undefined) lists.set(key, [record]);
  else records.push(record);
}

/** Without the columns that have no value: those stay as they are. */
function given(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function keyOf(table: PgTable, id: string): string {
  return rowKey(getTableName(table), id);
}
