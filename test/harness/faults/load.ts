import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../api.ts';
import type { Random } from '../random.ts';
import type { WholeService } from '../servers/whole-service.ts';

/** A request without answer or connection error after this long hangs: it exceeds the service's deadlines. */
const HUNG_AFTER_MS = 45_000;
const ASK_AGAIN_MAX = 30;
/** Statuses that a caller would retry with the same key. */
const UNSETTLED = new Set([500, 502, 503, 504]);

/** One operation that a caller intends, and all answers to it. */
export interface Wish {
  readonly key: string;
  readonly kind: 'internal' | 'external' | 'waiting';
  readonly body: string;
  /** Ids in all acknowledging answers; more than one id means that it was done twice. */
  readonly ids: Set<string>;
  /** The final status; null while the outcome is unknown. */
  status: number | null;
}

export interface LoadFigures {
  requests: number;
  acknowledged: number;
  refused: number;
  /** No answer or an inconclusive one: the process died or Postgres was unavailable. */
  unknown: number;
  repeated: number;
  hung: number;
  cancelsWon: number;
  paymentsIn: number;
  serverErrors: number;
}

export interface Load {
  readonly figures: LoadFigures;
  readonly wishes: readonly Wish[];
  /** Ids of transfers whose cancellation was acknowledged. */
  readonly cancelled: ReadonlySet<string>;
  /** Payment ids of the bank that acknowledged them. */
  readonly paidIn: ReadonlySet<string>;
  readonly accountIds: readonly string[];
  /** Stops sending; resolves when every request has ended. */
  stop(): Promise<void>;
  /** Repeats, with the same keys, every request of unknown outcome; all must settle. */
  settle(): Promise<void>;
}

export interface LoadOptions {
  readonly service: WholeService;
  readonly random: Random;
  readonly callers: number;
  /** Mean pause of each caller between two requests. */
  readonly thinkMs: number;
}

/** Opens and funds accounts at the sandbox bank, and starts the callers. */
export async function startLoad(options: LoadOptions): Promise<Load> {
  const load = new Callers(options);
  await load.open();
  load.begin();
  return load;
}

/** Magic last digits of amounts: most are plain, some fail, return, cut the connection or call back twice. */
const COURSES = { '.50': 12, '.01': 1, '.02': 1, '.03': 1, '.04': 0.4, '.05': 1, '.06': 1, '.08': 1, '.09': 1 };
const ACCOUNTS = 8;
/** Half of all money movements touch the first two accounts. */
const HOT_ACCOUNTS = 2;

class Callers implements Load {
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
  readonly cancelled = new Set<string>();
  readonly paidIn = new Set<string>();
  readonly accountIds: string[] = [];
  readonly #options: LoadOptions;
  readonly #journal: string;
  readonly #ibans: Json[] = [];
  #clientId = '';
  #bankAccountId = '';
  #stopping = false;
  #loops: Promise<void>[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#journal = join(options.service.directory, 'journal.jsonl');
  }

  async open(): Promise<void> {
    const identity = { type: 'corporate', legalName: 'Payroll Ltd', country: 'GB' };
    const profile = { identityType: 'corporate', registrationAddress: { country: 'GB', city: 'London' } };
    const client = await this.#create('/clients', { client: { identity, profile } }, 'direct');
    this.#clientId = client.client.id;
    const sterling = {
      country: 'GB',
      currency: 'GBP',
      accountNumber: '31926819',
      routingCodes: { 'sort-code': '601613' },
    };
    const beneficiary = { clientId: this.#clientId, fullName: 'Brook Lane Bakery', bankAccounts: [sterling] };
    const made = await this.#create('/beneficiaries', { beneficiary }, 'direct');
    this.#bankAccountId = made.beneficiary.bankAccounts[0].id;
    for (let count = 0; count < ACCOUNTS; count += 1) {
      const account = { clientId: this.#clientId, currency: 'GBP' };
      const opened = await this.#create('/accounts', { account }, 'client.issuing', { type: 'implicit' });
      this.accountIds.push(opened.account.id);
    }
    for (const id of this.accountIds) {
      const account = await this.#untilActive(id);
      this.#ibans.push(account);
      await this.#payIn(account, '5000.00');
    }
    for (const id of this.accountIds) await this.#untilFunded(id);
  }

  begin(): void {
    this.#loops = Array.from({ length: this.#options.callers }, () => this.#caller());
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#loops);
  }

  async settle(): Promise<void> {
    const unknown = this.wishes.filter(({ status }) => status === null);
    const asker = async () => {
      for (let wish = unknown.pop(); wish !== undefined; wish = unknown.pop()) await this.#askUntilSettled(wish);
    };
    await Promise.all(Array.from({ length: this.#options.callers }, asker));
  }

  async #askUntilSettled(wish: Wish): Promise<void> {
    for (let attempt = 0; wish.status === null; attempt += 1) {
      if (attempt > ASK_AGAIN_MAX) throw new Error(`the outcome of ${wish.key} stays unknown`);
      if (attempt > 0) await sleep(500);
      await this.#ask(wish, attempt);
    }
  }

  async #caller(): Promise<void> {
    const { random, thinkMs } = this.#options;
    while (!this.#stopping) {
      const kind = random.weighted({ internal: 50, external: 25, payIn: 15, cancel: 10 });
      if (kind === 'payIn') await this.#payIn(this.#account(), (random.whole(500, 30_000) / 100).toFixed(2));
      else if (kind === 'cancel') await this.#raceOfCancels();
      else await this.#send(this.#wish(kind));
      await sleep(random.whole(0, 2 * thinkMs));
    }
  }

  /**
   * A tenth goes out twice at once, to both processes; half of the callers repeat a request with an unknown outcome.
   */
  async #send(wish: Wish): Promise<void> {
    const { random, service } = this.#options;
    const first = random.whole(0, service.apiUrls.length - 1);
    const times = random.chance(0.1) ? 2 : 1;
    if (times > 1) this.figures.repeated += 1;
    await Promise.all(Array.from({ length: times }, (_, index) => this.#ask(wish, first + index)));
    if (wish.status === null && random.chance(0.5)) {
      await sleep(random.whole(100, 1_500));
      this.figures.repeated += 1;
      await this.#ask(wish, first + 1);
    }
  }

  /** A transfer dated ahead is cancelled by two callers at once: one wins, unless the answer is lost. */
  async #raceOfCancels(): Promise<void> {
    const wish = this.#wish('waiting');
    await this.#send(wish);
    const [id] = wish.ids;
    if (id === undefined) return;
    const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
    const answers = await Promise.all(
      [0, 1].map((through) => this.#request('PATCH', through, `/outgoing-transfers/${id}`, JSON.stringify(body))),
    );
    const won = answers.filter((answer) => answer?.status === 200).length;
    if (won > 1) throw new Error(`the transfer ${id} was cancelled twice`);
    if (won === 1) this.cancelled.add(id);
    this.figures.cancelsWon += won;
  }

  #wish(kind: Wish['kind']): Wish {
    const { random } = this.#options;
    const [from, to] = this.#pair();
    const external = kind === 'external';
    // Some exceed the balance: internal ones are refused, external ones wait for funds.
    const pounds = random.chance(0.05) ? random.whole(3_000, 9_000) : random.whole(1, 40);
    const pence = external ? random.weighted(COURSES) : `.${String(random.whole(10, 99))}`;
    const tomorrow = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    const outgoingTransfer = {
      clientId: this.#clientId,
      currency: 'GBP',
      amount: Number(`${pounds}${pence}`),
      scope: external ? 'external' : 'internal',
      ...(external ? { scheme: 'faster-payments' } : {}),
      ...(kind === 'waiting' ? { transferDate: tomorrow } : {}),
      source: { type: 'client-account', accountId: from },
      destination: external
        ? { type: 'beneficiary-bank-account', beneficiaryBankAccountId: this.#bankAccountId }
        : { type: 'client-account', accountId: to },
    };
    const body = JSON.stringify({ workflow: { code: 'client.direct' }, data: { outgoingTransfer } });
    const wish: Wish = { key: `wish-${this.wishes.length}`, kind, body, ids: new Set(), status: null };
    this.wishes.push(wish);
    return wish;
  }

  #pair(): [string, string] {
    const { random } = this.#options;
    if (!random.chance(0.5)) return random.pair(this.accountIds);
    const pair: [string, string] = [
      random.pick(this.accountIds.slice(0, HOT_ACCOUNTS)),
      random.pick(this.accountIds.slice(HOT_ACCOUNTS)),
    ];
    return random.chance(0.5) ? pair : [pair[1], pair[0]];
  }

  #account(): Json {
    return this.#options.random.pick(this.#ibans);
  }

  async #ask(wish: Wish, through: number): Promise<void> {
    const answer = await this.#request('POST', through, '/outgoing-transfers', wish.body, wish.key);
    if (answer === null || UNSETTLED.has(answer.status) || answer.body?.code === 'common.idempotency.in_progress') {
      this.figures.unknown += 1;
      return;
    }
    if (answer.status === 201) {
      wish.ids.add(answer.body.data.outgoingTransfer.id);
      if (wish.status !== 201) this.figures.acknowledged += 1;
      wish.status = 201;
    } else if (wish.status === null) {
      // A refused request had no effect; its key may yet succeed, and then counts as done.
      this.figures.refused += 1;
      wish.status = answer.status;
    }
  }

  async #request(
    method: string,
    through: number,
    path: string,
    body: string | null,
    key: string | null = null,
  ): Promise<{ status: number; body: Json } | null> {
    const { apiUrls, token } = this.#options.service;
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

  #note(line: Readonly<Record<string, unknown>>): void {
    appendFileSync(this.#journal, `${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`);
  }

  /** An outside payer pays. If the answer is lost, the bank's books show the outcome afterwards. */
  async #payIn(account: Json, amount: string): Promise<void> {
    const { iban, accountNumber, routingCodes } = account;
    const receiver = iban === null ? { accountNumber, routingCodes } : { iban };
    const body = JSON.stringify({ amount: Number(amount), currency: 'GBP', scheme: 'faster-payments', ...receiver });
    try {
      const response = await fetch(`${this.#options.service.sandboxUrl}/bank/payments-in`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(HUNG_AFTER_MS),
      });
      const answer: Json = await response.json();
      if (response.status !== 201) throw new Error(`the bank refused a payment: ${JSON.stringify(answer)}`);
      this.paidIn.add(answer.paymentId);
      this.figures.paymentsIn += 1;
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('the bank refused')) throw error;
    }
  }

  async #create(path: string, data: Json, code: string, connect: Json = {}): Promise<Json> {
    const answer = await this.#request('POST', 0, path, JSON.stringify({ workflow: { code }, data, connect }));
    if (answer?.status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(answer)}`);
    return answer.body.data;
  }

  async #untilActive(id: string): Promise<Json> {
    return this.#until(id, (account) => account.status === 'active');
  }

  async #untilFunded(id: string): Promise<Json> {
    return this.#until(id, (account) => account.availableBalance > 0);
  }

  async #until(id: string, good: (account: Json) => boolean): Promise<Json> {
    for (let attempt = 0; attempt < 300; attempt += 1) {
      const answer = await this.#request('GET', 0, `/accounts/${id}`, null);
      if (answer?.status === 200 && good(answer.body.data.account)) return answer.body.data.account;
      await sleep(200);
    }
    throw new Error(`the account ${id} did not come to be`);
  }
}
