import type { Executor } from '../postgres/executor.ts';
import { withNothingDone } from '../postgres/failures.ts';
import type { CallLimits } from '../query/database.ts';
import { type ListStatement, stageNumber } from '../query/list-statements.ts';
import { Batcher } from './batcher.ts';

interface Read {
  readonly statement: ListStatement<unknown, unknown>;
  readonly item: unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Reads of one caller, in order. Those that it adds before they are sent go with them. */
class ReadQueue {
  readonly #reads: Read[] = [];
  isSent = false;

  get first(): Read | undefined {
    return this.#reads[0];
  }

  add(read: Read): void {
    this.#reads.push(read);
  }

  take(): void {
    this.#reads.shift();
  }

  reject(error: unknown): void {
    for (const { reject } of this.#reads.splice(0)) reject(error);
  }
}

/**
 * Reads of callers of the same moment, on one connection in one round trip. Each caller's reads keep their order, so what one
 * finds is never older than what the one before it has found; those of several callers that a statement can do together
 * are done so.
 */
export class ReadsTogether {
  readonly #executor: Executor;
  readonly #batcher: Batcher<ReadQueue, true>;

  constructor(executor: Executor) {
    this.#executor = executor;
    this.#batcher = new Batcher((queues, limits) => this.#send(queues, limits), undefined, 2);
  }

  /** Reads for one caller. */
  readerFor(limits: CallLimits): <Item, Result>(statement: ListStatement<Item, Result>, item: Item) => Promise<Result> {
    let queue: ReadQueue | null = null;
    return <Item, Result>(statement: ListStatement<Item, Result>, item: Item) =>
      new Promise<Result>((resolve, reject) => {
        const isNew = queue === null || queue.isSent;
        const current = queue === null || queue.isSent ? new ReadQueue() : queue;
        queue = current;
        // The statement has a result of its type for each item.
        current.add({ statement, item, resolve: (result) => resolve(result as Result), reject } as Read);
        if (isNew) this.#batcher.call(current, limits).catch((error: unknown) => current.reject(error));
      });
  }

  #send(queues: readonly ReadQueue[], limits: CallLimits): Promise<readonly true[]> {
    return this.#executor.read(async (connection) => {
      const sent: Promise<void>[] = [];
      for (const queue of queues) queue.isSent = true;
      for (let next = nextStatement(queues); next !== null; next = nextStatement(queues)) {
        const { text, paramsOf, resultsOf } = next;
        const { reads, items } = takeAll(queues, next);
        sent.push(
          connection.runArrays(text, paramsOf(items)).then(
            (answer) => {
              const results = resultsOf(answer, items);
              for (const [index, { resolve }] of reads.entries()) resolve(results[index]);
            },
            (error: unknown) => {
              for (const { reject } of reads) reject(withNothingDone(error));
            },
          ),
        );
      }
      await Promise.all(sent);
      return queues.map(() => true as const);
    }, limits);
  }
}

/** Of the statements that come next for some caller, one of the earliest stage. */
function nextStatement(queues: readonly ReadQueue[]): ListStatement<unknown, unknown> | null {
  let earliest: ListStatement<unknown, unknown> | null = null;
  for (const { first } of queues) {
    if (first === undefined) continue;
    if (earliest === null || stageNumber(first.statement.stage) < stageNumber(earliest.stage))
      earliest = first.statement;
  }
  return earliest;
}

/** Every read whose turn it is and that the statement can do with the others. */
function takeAll(queues: readonly ReadQueue[], statement: ListStatement<unknown, unknown>) {
  const reads: Read[] = [];
  const items: unknown[] = [];
  for (const queue of queues) {
    for (let read = queue.first; read?.statement === statement; read = queue.first) {
      if (statement.goesWith?.(read.item, items) === false) break;
      queue.take();
      reads.push(read);
      items.push(read.item);
    }
  }
  return { reads, items };
}
