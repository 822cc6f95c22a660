import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../api.ts';
import type { Random } from '../../random.ts';
import type { WholeService } from '../../servers/whole-service.ts';

/** A request without answer or connection error after this long hangs: it exceeds the service's deadlines. */
export const HUNG_AFTER_MS = 45_000;
const ASK_AGAIN_MAX = 30;
/** Statuses that a caller would retry with the same key. */
const UNSETTLED = new Set([500, 502, 503, 504]);
const DONE = new Set([200, 201]);

/** What a wish creates or does. */
export type Purpose =
  | 'transfer'
  | 'account'
  | 'client'
  | 'beneficiary'
  | 'adjustment'
  | 'decision'
  | 'closing'
  | 'recall';

/** One thing that a caller wants done, and all answers about it. */
export interface Wish {
  readonly key: string;
  readonly purpose: Purpose;
  /** Ids in all acknowledging answers; more than one id means that it was done twice. */
  readonly ids: Set<string>;
  /** The final status; null while the outcome is unknown. */
  status: number | null;
}

/** A request for one wish, or for several in a batch. */
export interface Asking {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: string;
  readonly key: string | null;
  readonly wishes: readonly Wish[];
  /** By wish, the id in an acknowledging answer's data, or null for a refused item of a batch. */
  readonly idsOf: (data: Json) => readonly (string | null)[];
}

/** A request for one wish. */
export interface Single {
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
  refused: number;
  /** No answer or an inconclusive one: the process died or Postgres was unavailable. */
  unknown: number;
  repeated: number;
  hung: number;
  cancelsWon: number;
  paymentsIn: number;
  serverErrors: number;
}

export interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** Requests of callers, who journal them, and repeat with the same key those whose outcome they do not know. */
export class Calls {
  readonly figures: LoadFigures = {
    requests: 0,
    acknowledged: 0,
    refused: 0,
    unknown: 0,
    repeated: 0,
    hung: 0,
    cancelsWon: 0,
    paymentsIn: 0,
    serverErrors: 0,
  };
  readonly wishes: Wish[] = [];
  readonly #askings: Asking[] = [];
  readonly #service: WholeService;
  readonly #random: Random;
  readonly #journal: string;

  constructor(service: WholeService, random: Random) {
    this.#service = service;
    this.#random = random;
    this.#journal = join(service.directory, 'journal.jsonl');
  }

  wish(purpose: Purpose): Wish {
    const wish: Wish = { key: `wish-${this.wishes.length}`, purpose, ids: new Set(), status: null };
    this.wishes.push(wish);
    return wish;
  }

  /** A request that will have its outcome, at the latest after the load. */
  asking(asking: Asking): Asking {
    this.#askings.push(asking);
    return asking;
  }

  single({ purpose, method = 'POST', path, body, idOf }: Single): { asking: Asking; wish: Wish } {
    const wish = this.wish(purpose);
    const idsOf = (data: Json) => [idOf(data)];
    return {
      wish,
      asking: this.asking({ method, path, body: JSON.stringify(body), key: wish.key, wishes: [wish], idsOf }),
    };
  }

  /** Sends a request for one wish as `send` does. */
  async sendSingle(single: Single): Promise<Wish> {
    const { asking, wish } = this.single(single);
    await this.send(asking);
    return wish;
  }

  /**
   * A tenth goes out twice at once, to both processes; half of the callers repeat a request with an unknown outcome.
   */
  async send(asking: Asking): Promise<void> {
    const first = this.through();
    const times = this.#random.chance(0.1) ? 2 : 1;
    if (times > 1) this.figures.repeated += 1;
    await Promise.all(Array.from({ length: times }, (_, index) => this.ask(asking, first + index)));
    if (isUnknown(asking) && this.#random.chance(0.5)) {
      await sleep(this.#random.whole(100, 1_500));
      this.figures.repeated += 1;
      await this.ask(asking, first + 1);
    }
  }

  /** Creates what the load needs before its faults begin; returns the answer's data. */
  async create(single: Single): Promise<Json> {
    const { asking } = this.single(single);
    const answer = await this.ask(asking, 0);
    if (answer?.status !== 201) throw new Error(`POST ${single.path}: ${JSON.stringify(answer)}`);
    return answer.body.data;
  }

  /** Repeats, with the same keys, every request of unknown outcome, this many at once; all must settle. */
  async settle(callers: number): Promise<void> {
    const unknown = this.#askings.filter(isUnknown);
    const asker = async () => {
      for (let asking = unknown.pop(); asking !== undefined; asking = unknown.pop()) {
        await this.#askUntilSettled(asking);
      }
    };
    await Promise.all(Array.from({ length: callers }, asker));
  }

  async #askUntilSettled(asking: Asking): Promise<void> {
    for (let attempt = 0; isUnknown(asking); attempt += 1) {
      if (attempt > ASK_AGAIN_MAX) throw new Error(`the outcome of ${asking.wishes[0]?.key} stays unknown`);
      if (attempt > 0) await sleep(500);
      await this.ask(asking, attempt);
    }
  }

  async ask({ method, path, body, key, wishes, idsOf }: Asking, through: number): Promise<Answer | null> {
    const answer = await this.request(method, through, path, body, key);
    if (answer === null || UNSETTLED.has(answer.status) || answer.body?.code === 'common.idempotency.in_progress') {
      this.figures.unknown += 1;
      return null;
    }
    const ids = DONE.has(answer.status) ? idsOf(answer.body.data) : [];
    for (const [index, wish] of wishes.entries()) this.#record(wish, ids[index] ?? null, answer.status);
    return answer;
  }

  #record(wish: Wish, id: string | null, status: number): void {
    const countsAsTransfer = wish.purpose === 'transfer';
    if (id !== null) {
      wish.ids.add(id);
      if (countsAsTransfer && !isDone(wish)) this.figures.acknowledged += 1;
      wish.status = status;
    } else if (wish.status === null) {
      // A refused request had no effect; its key may yet succeed, and then counts as done.
      if (countsAsTransfer) this.figures.refused += 1;
      wish.status = DONE.has(status) ? REFUSED_ITEM : status;
    }
  }

  async request(
    method: string,
    through: number,
    path: string,
    body: string | null,
    key: string | null = null,
  ): Promise<Answer | null> {
    const { apiUrls, token } = this.#service;
    const url = `${apiUrls[through % apiUrls.length]}${path}`;
    this.figures.requests += 1;
    this.#note({ method, path, key, body });
    const timeout = AbortSignal.timeout(HUNG_AFTER_MS);
    try {
      const response = await fetch(url, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === null ? {} : { 'content-type': 'application/json' }),
          ...(key === null ? {} : { 'idempotency-key': key }),
        },
        body,
        signal: timeout,
      });
      const text = await response.text();
      this.#note({ method, path, key, status: response.status, text: text.slice(0, 200) });
      if (response.status === 500) this.figures.serverErrors += 1;
      return { status: response.status, body: JSON.parse(text) };
    } catch (error) {
      if (timeout.aborted) this.figures.hung += 1;
      this.#note({ method, path, key, lost: error instanceof Error ? error.message : 'lost' });
      return null;
    }
  }

  /** Null where there is no answer, or a refusal. */
  async readAccount(id: string): Promise<Json | null> {
    const answer = await this.request('GET', this.through(), `/accounts/${id}`, null);
    return answer?.status === 200 ? answer.body.data.account : null;
  }

  /** Reads until the account is as wanted, while no fault is about. */
  async untilAccount(id: string, good: (account: Json) => boolean): Promise<Json> {
    for (let attempt = 0; attempt < 300; attempt += 1) {
      const account = await this.readAccount(id);
      if (account !== null && good(account)) return account;
      await sleep(200);
    }
    throw new Error(`the account ${id} did not come to be`);
  }

  /** One of the API processes. */
  through(): number {
    return this.#random.whole(0, this.#service.apiUrls.length - 1);
  }

  #note(line: Readonly<Record<string, unknown>>): void {
    appendFileSync(this.#journal, `${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`);
  }
}

/** The answer of an item that its batch refuses, while other items are done. */
const REFUSED_ITEM = 422;

export function isDone({ status }: Wish): boolean {
  return status !== null && DONE.has(status);
}

function isUnknown({ wishes }: Asking): boolean {
  return wishes.some(({ status }) => status === null);
}
