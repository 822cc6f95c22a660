import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { isUuid } from '../../../domain/frame/ids.ts';
import type { Transaction } from '../client.ts';
import {
  changesRows,
  childrenStatement,
  type ListStatement,
  lookUpStatement,
  type RowLock,
  readStatement,
  stageNumber,
} from '../queries/list-statements.ts';
import type { Children, LookUp, Query } from '../queries/queries.ts';
import { silenced } from '../queries/readers.ts';

const dialect = new PgDialect();

export type SharedWork = (tx: Transaction) => Promise<unknown>;

/** What a work returned once all have committed, or `alone`: it has had no effect and must run in a transaction of its own. */
export type SharedOutcome = { readonly value: unknown } | 'alone';

/** A work that had written something failed, so nothing of the transaction may commit. */
export class WritesUndone extends Error {
  /** The indexes of all works that have left. */
  readonly left: ReadonlySet<number>;

  constructor(left: ReadonlySet<number>, options: ErrorOptions) {
    super('a write of a shared transaction failed after its first statement', options);
    this.name = 'WritesUndone';
    this.left = left;
  }
}

/** A write that is to share its transaction does what it cannot: a fault of the code, found by tests. */
export class NotShareable extends Error {
  constructor(reason: string) {
    super(`a write that is to share its transaction ${reason} (use writeAlone)`);
    this.name = 'NotShareable';
  }
}

/** Why a work leaves its shared transaction. */
export class RunsAlone extends Error {
  constructor(reason: string) {
    super(`runs in a transaction of its own: ${reason}`);
    this.name = 'RunsAlone';
  }
}

export interface Order {
  readonly statement: ListStatement<unknown, unknown>;
  readonly item: unknown;
  readonly writes: boolean;
  /** Null if the work does not await the result. */
  readonly waiter: Waiter | null;
}

export interface Waiter {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** The transaction, as its members know it. */
interface Company {
  noteWakeup(): void;
  /** Something of a member's turn has changed: it waits for an answer, has one, or has ended. */
  awaitTurn(): void;
  /** Hears of a work that does what cannot be shared. */
  refuse(error: NotShareable): void;
  /** A member has left after it had written: nothing may commit. */
  undo(error: unknown): void;
}

function rejected(error: unknown): Promise<never> {
  return silenced(Promise.reject(error));
}

/** The `tx` of one work among others. */
export class Member implements Transaction {
  readonly inTransaction = true;
  readonly isShared = true;
  readonly #company: Company;
  #orders: Order[] = [];
  /** How many of the orders may be sent now. */
  #released = 0;
  #awaited = 0;
  #outcome: SharedOutcome | null = null;
  #writes = false;
  #writesUnderWay = 0;
  #hasWritten = false;

  constructor(company: Company) {
    this.#company = company;
  }

  /** Whether it has read all that it reads. */
  get writes(): boolean {
    return this.#writes;
  }

  get isDone(): boolean {
    return this.#outcome === 'alone' || (this.#outcome !== null && this.#awaited === 0);
  }

  /** Null while it works. */
  get outcome(): SharedOutcome | null {
    return this.#outcome;
  }

  get nextOrder(): Order | undefined {
    return this.#released > 0 ? this.#orders[0] : undefined;
  }

  async perform(work: SharedWork): Promise<void> {
    try {
      const value = await work(this);
      this.#outcome ??= { value };
      this.#company.awaitTurn();
    } catch (error) {
      this.leave(error);
    }
  }

  /** Runs alone, later. What it has not sent is dropped; if it has written anything, nothing of the transaction may commit. */
  leave(error: unknown): void {
    if (this.#outcome === 'alone') return;
    const dropped = this.#orders;
    this.#outcome = 'alone';
    this.#orders = [];
    this.#released = 0;
    for (const { waiter } of dropped) waiter?.reject(error);
    if (this.#hasWritten || this.#writesUnderWay > 0) this.#company.undo(error);
    this.#company.awaitTurn();
  }

  /** Lets go the reads; or what the work awaits and all before it; or everything. */
  release(what: 'reads' | 'awaited' | 'all'): void {
    if (what === 'all') this.#released = this.#orders.length;
    else if (what === 'awaited') this.#released = this.#orders.findLastIndex(({ waiter }) => waiter !== null) + 1;
    else this.#released = this.#orders.findLastIndex(({ writes }) => !writes) + 1;
  }

  take(): void {
    this.#orders.shift();
    this.#released -= 1;
  }

  noteSentWrite(): void {
    this.#writesUnderWay += 1;
  }

  noteWritten(anything: boolean): void {
    this.#writesUnderWay -= 1;
    this.#hasWritten ||= anything;
  }

  noteWakeup(): void {
    this.#company.noteWakeup();
  }

  each<Item, Result>(statement: ListStatement<Item, Result>, items: readonly Item[]): Promise<readonly Result[]> {
    return silenced(Promise.all(items.map((item) => this.#ask(statement, item))));
  }

  sendEach<Item>(statement: ListStatement<Item, unknown>, items: readonly Item[]): void {
    for (const item of items) this.#order(statement, item, null);
  }

  lock<Row>(lock: RowLock<Row>, id: string): Promise<Row | null> {
    return silenced(this.lockEach(lock, [id]).then(([row]) => row ?? null));
  }

  lockEach<Row>({ passing }: RowLock<Row>, ids: readonly string[]): Promise<readonly (Row | null)[]> {
    const locked = this.each(passing, ids).then((rows) => {
      // Only a statement that waits can tell whether it is locked or absent.
      if (rows.includes(null)) throw this.#leaveFor('a row is locked or absent');
      return rows;
    });
    return silenced(locked);
  }

  find<Row extends { readonly id: string }>(lookUp: LookUp<Row>, id: string): Promise<Row | null> {
    return isUuid(id) ? this.#ask(lookUpStatement(lookUp), id) : Promise.resolve(null);
  }

  findChildren<Row>(children: Children<Row>, parentId: string): Promise<readonly Row[]> {
    return isUuid(parentId) ? this.#ask(childrenStatement(children), parentId) : Promise.resolve([]);
  }

  run<Values extends object, Row>(query: Query<Values, Row>, values: Values): Promise<Row[]> {
    if (!query.onlyReads) return rejected(this.#refuse(`sends what may lock rows or changes them: ${query.text}`));
    let params: readonly unknown[];
    try {
      params = query.paramsOf(values);
    } catch (error) {
      return rejected(error);
    }
    return silenced(this.#ask(readStatement(query), params).then((rows) => [...rows]));
  }

  first<Values extends object, Row>(query: Query<Values, Row>, values: Values): Promise<Row | null> {
    return silenced(this.run(query, values).then(([row]) => row ?? null));
  }

  // Any text may lock rows, and then two members could decide about the same.
  execute(query: SQL): Promise<never> {
    return rejected(this.#refuse(`sends a template: ${dialect.sqlToQuery(query).sql}`));
  }

  statement(text: string): Promise<never> {
    return rejected(this.#refuse(`sends a text: ${text}`));
  }

  #refuse(reason: string): Error {
    const error = new NotShareable(reason);
    this.#company.refuse(error);
    this.leave(error);
    return error;
  }

  /** Leaves even if the work ignores the error. */
  #leaveFor(reason: string): Error {
    const error = new RunsAlone(reason);
    this.leave(error);
    return error;
  }

  #ask<Item, Result>(statement: ListStatement<Item, Result>, item: Item): Promise<Result> {
    this.#awaited += 1;
    const asked = new Promise<Result>((resolve, reject) => {
      const end = () => {
        this.#awaited -= 1;
        this.#company.awaitTurn();
      };
      this.#order(statement, item, {
        resolve: (result) => {
          end();
          // The statement has a result of its type for each item.
          resolve(result as Result);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      });
    });
    return silenced(asked);
  }

  #order<Item>(statement: ListStatement<Item, unknown>, item: Item, waiter: Waiter | null): void {
    const order: Order = { statement, item, waiter, writes: changesRows(statement) };
    if (this.#outcome !== null) {
      waiter?.reject(new RunsAlone('it has ended or left'));
    } else if (this.#writes && !order.writes) {
      waiter?.reject(this.#refuse(`reads or locks after it has written: ${statement.text}`));
    } else {
      this.#writes ||= order.writes;
      this.#orders.splice(this.#placeOf(order), 0, order);
      this.#company.awaitTurn();
    }
  }

  /** Orders that the work does not await are sorted by stage, so that the members' items of one statement go together. */
  #placeOf({ statement, waiter }: Order): number {
    if (waiter !== null) return this.#orders.length;
    const stage = stageNumber(statement.stage);
    return this.#orders.findLastIndex((one) => one.waiter !== null || stageNumber(one.statement.stage) <= stage) + 1;
  }
}
