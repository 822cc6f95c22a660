import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WaitedTooLong } from '../../../tools/run/waited-too-long.ts';
import type { Json } from '../../api.ts';
import type { Random } from '../../random.ts';
import type { WholeService } from '../../servers/whole-service.ts';

/** A request without answer or connection error after this long hangs: it exceeds the service's deadlines. */
export const HUNG_AFTER_MS = 45_000;
const REPEATS_MAX = 30;
/** Statuses that a caller would retry with the same key. */
const UNSETTLED = new Set([500, 502, 503, 504]);
const DONE = new Set([200, 201]);

/** What an operation creates or does. */
export type Purpose =
  | 'transfer'
  | 'account'
  | 'client'
  | 'beneficiary'
  | 'adjustment'
  | 'decision'
  | 'closing'
  | 'recall';

/** What a caller wants done, and all answers about it. */
export interface Operation {
  readonly key: string;
  readonly purpose: Purpose;
  /** Ids in all acknowledging answers; more than one id means that it was done twice. */
  readonly ids: Set<string>;
  /** The final status; null while the outcome is unknown. */
  status: number | null;
}

/** A request for one operation, or for several in a batch. */
export interface LoadRequest {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: string;
  readonly key: string | null;
  readonly operations: readonly Operation[];
  /** By operation, the id in an acknowledging answer's data, or null for a rejected item of a batch. */
  readonly idsOf: (data: Json) => readonly (string | null)[];
}

/** A request for one operation. */
export interface SingleRequest {
  readonly purpose: Purpose;
  readonly method?: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: Json;
  readonly idOf: (data: Json) => string;
}

export interface LoadFigures {
  requests: number;
  /** Transfers; those of batches too. */
  acknowledged: number;
  /** Transfers; those of batches too. */
  rejected: number;
  /** No answer or an inconclusive one: the process died or Postgres was unavailable. */
  unknown: number;
  repeated: number;
  hung: number;
  cancelsWon: number;
  paymentsIn: number;
  serverErrors: number;
  /** Requests without an answer. */
  lost: number;
  /** Requests answered with 503: the database did not answer in time. */
  unavailable: number;
}

export interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** Requests of callers, which are journalled, and repeated with the same key while their outcome is unknown. */
export class Calls {
  readonly figures: LoadFigures = {
    requests: 0,
    acknowledged: 0,
    rejected: 0,
    unknown: 0,
    repeated: 0,
    hung: 0,
    cancelsWon: 0,
    paymentsIn: 0,
    serverErrors: 0,
    lost: 0,
    unavailable: 0,
  };
  readonly operations: Operation[] = [];
  /** Requests without a conclusive answer, by status, or by what was lost instead. */
  readonly failures = new Map<string, number>();
  readonly #requests: LoadRequest[] = [];
  readonly #service: WholeService;
  readonly #random: Random;
  readonly #journal: string;

  constructor(service: WholeService, random: Random) {
    this.#service = service;
    this.#random = random;
    this.#journal = join(service.directory, 'journal.jsonl');
  }

  operation(purpose: Purpose): Operation {
    const operation: Operation = { key: `operation-${this.operations.length}`, purpose, ids: new Set(), status: null };
    this.operations.push(operation);
    return operation;
  }

  /** A request that will have its outcome, at the latest after the load. */
  track(request: LoadRequest): LoadRequest {
    this.#requests.push(request);
    return request;
  }

  single({ purpose, method = 'POST', path, body, idOf }: SingleRequest): {
    request: LoadRequest;
    operation: Operation;
  } {
    const operation = this.operation(purpose);
    const idsOf = (data: Json) => [idOf(data)];
    return {
      operation,
      request: this.track({
        method,
        path,
        body: JSON.stringify(body),
        key: operation.key,
        operations: [operation],
        idsOf,
      }),
    };
  }

  /** Sends a request for one operation as `send` does. */
  async sendSingle(single: SingleRequest): Promise<Operation> {
    const { request, operation } = this.single(single);
    await this.send(request);
    return operation;
  }

  /**
   * A tenth goes out twice at once, to both processes; half of the callers repeat a request with an unknown outcome.
   */
  async send(request: LoadRequest): Promise<void> {
    const first = this.through();
    const times = this.#random.chance(0.1) ? 2 : 1;
    if (times > 1) this.figures.repeated += 1;
    await Promise.all(Array.from({ length: times }, (_, index) => this.sendOnce(request, first + index)));
    if (isUnknown(request) && this.#random.chance(0.5)) {
      await sleep(this.#random.whole(100, 1_500));
      this.figures.repeated += 1;
      await this.sendOnce(request, first + 1);
    }
  }

  /** Creates what the load needs before its faults begin, repeated as any request of unknown outcome; returns the answer's data. */
  async create(single: SingleRequest): Promise<Json> {
    const { request } = this.single(single);
    let answer = await this.sendOnce(request, 0);
    for (let attempt = 1; answer === null && attempt <= REPEATS_MAX; attempt += 1) {
      await sleep(500);
      answer = await this.sendOnce(request, 0);
    }
    if (answer?.status !== 201) throw new Error(`POST ${single.path}: ${JSON.stringify(answer)}`);
    return answer.body.data;
  }

  /** Repeats, with the same keys, every request of unknown outcome, this many at once; all must settle. */
  async settle(callers: number): Promise<void> {
    const unknown = this.#requests.filter(isUnknown);
    const repeat = async () => {
      for (let request = unknown.pop(); request !== undefined; request = unknown.pop()) {
        await this.#repeatUntilSettled(request);
      }
    };
    await Promise.all(Array.from({ length: callers }, repeat));
  }

  async #repeatUntilSettled(request: LoadRequest): Promise<void> {
    for (let attempt = 0; isUnknown(request); attempt += 1) {
      if (attempt > REPEATS_MAX) throw new Error(`the outcome of ${request.operations[0]?.key} stays unknown`);
      if (attempt > 0) await sleep(500);
      await this.sendOnce(request, attempt);
    }
  }

  async sendOnce({ method, path, body, key, operations, idsOf }: LoadRequest, through: number): Promise<Answer | null> {
    const answer = await this.request(method, through, path, body, key);
    if (answer === null || UNSETTLED.has(answer.status) || answer.body?.code === 'common.idempotency.in_progress') {
      this.figures.unknown += 1;
      return null;
    }
    const ids = DONE.has(answer.status) ? idsOf(answer.body.data) : [];
    for (const [index, operation] of operations.entries()) this.#record(operation, ids[index] ?? null, answer.status);
    return answer;
  }

  #record(operation: Operation, id: string | null, status: number): void {
    const countsAsTransfer = operation.purpose === 'transfer';
    if (id !== null) {
      operation.ids.add(id);
      if (countsAsTransfer && !isDone(operation)) this.figures.acknowledged += 1;
      operation.status = status;
    } else if (operation.status === null) {
      // A rejected request had no effect; its key may yet succeed, and then counts as done.
      if (countsAsTransfer) this.figures.rejected += 1;
      operation.status = DONE.has(status) ? REJECTED_ITEM : status;
    }
  }

  async request(
    method: string,
    through: number,
    path: string,
    body: string | null,
    key: string | null = null,
  ): Promise<Answer | null> {
    const { apiUrls, token, reviewerToken } = this.#service;
    const url = `${apiUrls[through % apiUrls.length]}${path}`;
    this.figures.requests += 1;
    this.#note({ method, path, key, body });
    const timeout = AbortSignal.timeout(HUNG_AFTER_MS);
    try {
      const response = await fetch(url, {
        method,
        headers: {
          authorization: `Bearer ${path.endsWith('/compliance-check') ? reviewerToken : token}`,
          ...(body === null ? {} : { 'content-type': 'application/json' }),
          ...(key === null ? {} : { 'idempotency-key': key }),
        },
        body,
        signal: timeout,
      });
      const text = await response.text();
      this.#note({ method, path, key, status: response.status, text: text.slice(0, 200) });
      if (response.status === 500) this.figures.serverErrors += 1;
      if (response.status === 503) this.figures.unavailable += 1;
      if (UNSETTLED.has(response.status)) this.#noteFailure(String(response.status));
      return { status: response.status, body: JSON.parse(text) };
    } catch (error) {
      if (timeout.aborted) this.figures.hung += 1;
      this.figures.lost += 1;
      this.#noteFailure(timeout.aborted ? 'hung' : 'no answer');
      this.#note({ method, path, key, lost: error instanceof Error ? error.message : 'lost' });
      return null;
    }
  }

  #noteFailure(kind: string): void {
    this.failures.set(kind, (this.failures.get(kind) ?? 0) + 1);
  }

  /** Null where there is no answer, or a rejection. */
  async readAccount(id: string): Promise<Json | null> {
    const answer = await this.request('GET', this.through(), `/accounts/${id}`, null);
    return answer?.status === 200 ? answer.body.data.account : null;
  }

  /** Reads until the account is as wanted, while no fault is inflicted. */
  async untilAccount(id: string, good: (account: Json) => boolean): Promise<Json> {
    for (let attempt = 0; attempt < 300; attempt += 1) {
      const account = await this.readAccount(id);
      if (account !== null && good(account)) return account;
      await sleep(200);
    }
    throw new WaitedTooLong(`the account ${id} did not become as wanted`);
  }

  /** One of the API processes. */
  through(): number {
    return this.#random.whole(0, this.#service.apiUrls.length - 1);
  }

  #note(line: Readonly<Record<string, unknown>>): void {
    appendFileSync(this.#journal, `${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`);
  }
}

/** The answer of an item that its batch rejects, while other items are done. */
const REJECTED_ITEM = 422;

export function isDone({ status }: Operation): boolean {
  return status !== null && DONE.has(status);
}

function isUnknown({ operations }: LoadRequest): boolean {
  return operations.some(({ status }) => status === null);
}
