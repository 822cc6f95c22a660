import type { Transaction } from '../client.ts';
import { changesRows, type Hold, type ListStatement, stageNumber } from '../queries/list-statements.ts';
import {
  Member,
  type NotShareable,
  RunsAlone,
  type SharedOutcome,
  type SharedWork,
  type Waiter,
  WritesUndone,
} from './members.ts';

/**
 * Runs the works side by side in one transaction. What they send within one turn of the event loop goes to Postgres item by
 * item in shared statements. All of them read and lock before the first writes, so none sees what another has half done;
 * what no work awaits goes last, with the commit. Rejects if nothing may commit.
 */
export function runTogether(
  tx: Transaction,
  works: readonly SharedWork[],
  refuse: (error: NotShareable) => void,
): Promise<readonly SharedOutcome[]> {
  return new Promise((resolve, reject) => {
    new SharedTransaction(tx, { works, refuse, resolve, reject }).begin();
  });
}

interface Given {
  readonly works: readonly SharedWork[];
  /** Hears of each work that does what cannot be shared; what it throws ends the transaction. */
  readonly refuse: (error: NotShareable) => void;
  readonly resolve: (outcomes: readonly SharedOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Who holds a row: several if they share it. */
interface Holders {
  readonly members: Set<Member>;
  isExclusive: boolean;
}

/** All members of one transaction. */
class SharedTransaction {
  readonly #tx: Transaction;
  readonly #given: Given;
  readonly #members: readonly Member[];
  readonly #holders = new Map<string, Holders>();
  #isTurnDue = false;
  #hasEnded = false;

  constructor(tx: Transaction, given: Given) {
    this.#tx = tx;
    this.#given = given;
    this.#members = given.works.map(() => new Member(this));
  }

  begin(): void {
    for (const [index, member] of this.#members.entries()) {
      const work = this.#given.works[index];
      if (work !== undefined) void member.perform(work);
    }
  }

  noteWakeup(): void {
    this.#tx.noteWakeup();
  }

  refuse(error: NotShareable): void {
    try {
      this.#given.refuse(error);
    } catch (refused) {
      this.fail(refused);
    }
  }

  /** Ends the transaction without a commit, because this member left after it had written. */
  undo(error: unknown): void {
    const left = [...this.#members.keys()].filter((index) => this.#members[index]?.outcome === 'alone');
    this.fail(new WritesUndone(new Set(left), { cause: error }));
  }

  /** Ends the transaction without a commit. */
  fail(error: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const member of this.#members) member.leave(error);
    this.#given.reject(error);
  }

  /** The members' next turn comes when all who got their results in this one have ordered what comes next. */
  awaitTurn(): void {
    if (this.#isTurnDue || this.#hasEnded) return;
    this.#isTurnDue = true;
    // In a microtask, so that what is sent last and the commit that follows go in one packet.
    nextTurn().then(
      () => this.#takeTurn(),
      (error: unknown) => this.fail(error),
    );
  }

  #takeTurn(): void {
    this.#isTurnDue = false;
    if (this.#hasEnded) return;
    try {
      const areAllDone = this.#members.every((member) => member.isDone);
      const mayWrite = this.#members.every((member) => member.isDone || member.writes);
      for (const member of this.#members) member.release(areAllDone ? 'all' : mayWrite ? 'awaited' : 'reads');
      for (let next = this.#nextStatement(); next !== null; next = this.#nextStatement()) this.#send(next);
      if (!areAllDone || this.#hasEnded) return;
      this.#hasEnded = true;
      this.#given.resolve(this.#members.map((member) => member.outcome ?? 'alone'));
    } catch (error) {
      this.fail(error);
    }
  }

  /** Of the statements that come next for some member, one of the earliest stage. */
  #nextStatement(): ListStatement<unknown, unknown> | null {
    let earliest: ListStatement<unknown, unknown> | null = null;
    for (const member of this.#members) {
      const statement = member.nextOrder?.statement;
      if (statement === undefined) continue;
      if (earliest === null || stageNumber(statement.stage) < stageNumber(earliest.stage)) earliest = statement;
    }
    return earliest;
  }

  /** Sends the statement for every item whose turn it is. */
  #send(statement: ListStatement<unknown, unknown>): void {
    const items: unknown[] = [];
    const orders: { readonly member: Member; readonly waiter: Waiter | null }[] = [];
    for (const member of this.#members) {
      for (let order = member.nextOrder; order?.statement === statement; order = member.nextOrder) {
        if (statement.goesWith?.(order.item, items) === false) break;
        if (!this.#mayHold(member, statement.holds?.(order.item))) {
          member.leave(new RunsAlone('another work of the transaction holds the row'));
          break;
        }
        member.take();
        items.push(order.item);
        orders.push({ member, waiter: order.waiter });
      }
    }
    if (items.length === 0) return;
    const writes = changesRows(statement);
    if (writes) for (const { member } of orders) member.noteSentWrite();
    this.#tx.each(statement, items).then(
      (results) => {
        for (const [index, { member, waiter }] of orders.entries()) {
          if (writes) member.noteWritten(results[index] !== null);
          waiter?.resolve(results[index]);
        }
      },
      (error: unknown) => {
        for (const { waiter } of orders) waiter?.reject(error);
        this.fail(error);
      },
    );
  }

  #mayHold(member: Member, hold: Hold | undefined): boolean {
    if (hold === undefined) return true;
    const { what, isExclusive } = hold;
    const holders = this.#holders.get(what) ?? { members: new Set(), isExclusive: false };
    const isAlone = holders.members.size === 0 || (holders.members.size === 1 && holders.members.has(member));
    if (!isAlone && (isExclusive || holders.isExclusive)) return false;
    holders.members.add(member);
    holders.isExclusive ||= isExclusive;
    this.#holders.set(what, holders);
    return true;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
