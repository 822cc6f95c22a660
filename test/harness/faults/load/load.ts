import { setTimeout as sleep } from 'node:timers/promises';
import { moneyReturn } from '../../../../db/incoming-transfers/requested-changes.ts';
import { changeUnderLocks } from '../../../../db/transfers/requested-changes.ts';
import { asId, type IncomingTransferId } from '../../../../domain/common/ids.ts';
import type { Json } from '../../api.ts';
import { TESTER } from '../../audit.ts';
import type { Random } from '../../random.ts';
import type { WholeService } from '../../servers/whole-service.ts';
import { type LoadBank, type MoneyIn, SANDBOX_BANK } from './banks.ts';
import { Batches } from './batches.ts';
import { Calls, type LoadFigures, type Operation } from './calls.ts';
import { OpenedAndClosed } from './closing.ts';
import type { LoadKind, LoadWorld } from './kind.ts';
import { Migrations } from './migrations.ts';
import { adjustment, externalTransfer, internalTransfer, issuing, transferOf } from './orders.ts';
import { PaymentsBack } from './payments-back.ts';
import { startReviews } from './reviews.ts';

export interface Load {
  readonly figures: LoadFigures;
  readonly operations: readonly Operation[];
  /** Requests without a conclusive answer, by status. */
  readonly failures: ReadonlyMap<string, number>;
  /** Ids of transfers whose cancellation was acknowledged. */
  readonly cancelled: ReadonlySet<string>;
  /** Payment ids of the bank that acknowledged them, each with the account that they were for. */
  readonly paidIn: ReadonlyMap<string, string>;
  /** Stops sending; resolves when every request has ended. */
  stop(): Promise<void>;
  /** Repeats, with the same keys, every request of unknown outcome; all must settle. */
  settle(): Promise<void>;
  /** Does what other work would otherwise wait for forever; to be repeated until all work is done. */
  finish(): Promise<void>;
  /** Contradictions of the answers to the kinds of load that `everything` adds. */
  findProblems(): Promise<string[]>;
}

export interface LoadOptions {
  readonly service: WholeService;
  readonly random: Random;
  readonly callers: number;
  /** Mean pause of each caller between two requests. */
  readonly thinkMs: number;
  /** Whether reviews, adjustments, batches, migrations, retries, recalls, and accounts that open and close are part of the load. */
  readonly everything: boolean;
  /** Default: the sandbox's bank. */
  readonly bank?: LoadBank;
  /** How often callers do what, instead of the usual; all of it with `everything`. */
  readonly deeds?: Readonly<Partial<Record<Deed, number>>>;
  /** What each account has at first. */
  readonly pounds?: number;
  /** How many of the transfers of a batch are external; default a quarter. */
  readonly externalShare?: number;
  /** Callers wait while so many payments out are under way; default: never. */
  readonly openMax?: number;
}

/** Opens and funds accounts at the sandbox bank, and starts the callers. */
export async function startLoad(options: LoadOptions): Promise<Load> {
  const load = new Callers(options);
  await load.open();
  load.begin();
  return load;
}

const STERLING = { currency: 'GBP', scheme: 'faster-payments' };
const ACCOUNTS = 8;
/** Half of all money movements touch the first two accounts. */
const HOT_ACCOUNTS = 2;
const LOOK_AGAIN_MS = 2_000;
/** What callers do, and how often. */
const TRANSFERS = { internal: 50, external: 25, payIn: 15, cancel: 10 };
const EVERYTHING = { ...TRANSFERS, adjustment: 6, batches: 4, migrations: 6, closing: 20, reviews: 30, back: 12 };
export type Deed = keyof typeof EVERYTHING;

class Callers implements Load {
  readonly cancelled = new Set<string>();
  readonly paidIn = new Map<string, string>();
  readonly #options: LoadOptions;
  readonly #calls: Calls;
  readonly #accounts: Json[] = [];
  readonly #kinds = new Map<Deed, LoadKind>();
  #clientId = '';
  #bankAccountId = '';
  #stopping = false;
  #loops: Promise<void>[] = [];
  #close = async (): Promise<void> => {};

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#calls = new Calls(options.service, options.random);
  }

  get #bank(): LoadBank {
    return this.#options.bank ?? SANDBOX_BANK;
  }

  get figures(): LoadFigures {
    return this.#calls.figures;
  }

  get operations(): readonly Operation[] {
    return this.#calls.operations;
  }

  get failures(): ReadonlyMap<string, number> {
    return this.#calls.failures;
  }

  async open(): Promise<void> {
    const calls = this.#calls;
    const identity = { type: 'corporate', legalName: 'Payroll Ltd', country: 'GB' };
    const profile = { identityType: 'corporate', registrationAddress: { country: 'GB', city: 'London' } };
    const { client } = await calls.create({
      purpose: 'client',
      path: '/clients',
      body: { workflow: { code: 'direct' }, data: { client: { identity, profile } } },
      idOf: (data) => data.client.id,
    });
    this.#clientId = client.id;
    const sterling = {
      country: 'GB',
      currency: 'GBP',
      accountNumber: '31926819',
      routingCodes: { 'sort-code': '601613' },
    };
    const payee = { clientId: this.#clientId, fullName: 'Brook Lane Bakery', bankAccounts: [sterling] };
    const { beneficiary } = await calls.create({
      purpose: 'beneficiary',
      path: '/beneficiaries',
      body: { workflow: { code: 'direct' }, data: { beneficiary: payee } },
      idOf: (data) => data.beneficiary.id,
    });
    this.#bankAccountId = beneficiary.bankAccounts[0].id;
    const ids: string[] = [];
    for (let count = 0; count < ACCOUNTS; count += 1) {
      ids.push((await calls.create(issuing(this.#clientId, 'GBP', this.#bank.connect))).account.id);
    }
    for (const id of ids) {
      const account = await calls.untilAccount(id, ({ status }) => status === 'active');
      this.#accounts.push(account);
      await this.#payIn(account, { amount: this.#options.pounds ?? 5_000, ...STERLING });
    }
    for (const id of ids) await calls.untilAccount(id, ({ availableBalance }) => availableBalance > 0);
    if (this.#options.everything) await this.#openEverything();
  }

  async #openEverything(): Promise<void> {
    const { service, random } = this.#options;
    const world: LoadWorld = {
      service,
      random,
      calls: this.#calls,
      clientId: this.#clientId,
      bank: this.#bank,
      accounts: this.#accounts,
      externalShare: this.#options.externalShare ?? 0.25,
      payIn: (account, amount, currency, scheme) => this.#payIn(account, { amount, currency, scheme }),
    };
    const reviews = await startReviews(world);
    this.#close = () => reviews.close();
    this.#kinds.set('reviews', reviews);
    this.#kinds.set('closing', new OpenedAndClosed(world));
    this.#kinds.set('migrations', new Migrations(world));
    this.#kinds.set('batches', new Batches(world, this.#bankAccountId));
    this.#kinds.set('back', new PaymentsBack(world, this.#bankAccountId));
  }

  begin(): void {
    this.#loops = Array.from({ length: this.#options.callers }, () => this.#caller());
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#loops);
    await this.#close();
    this.#close = async () => {};
  }

  settle(): Promise<void> {
    return this.#calls.settle(this.#options.callers);
  }

  async finish(): Promise<void> {
    await this.#returnHeldMoney();
    await this.#bank.finish(this.#options.service);
    for (const kind of this.#kinds.values()) await kind.finish();
    await this.settle();
  }

  async findProblems(): Promise<string[]> {
    const found = await Promise.all([...this.#kinds.values()].map((kind) => kind.findProblems()));
    return found.flat();
  }

  /** Money that came for an account after it closed goes back, as by the operator's command `return-incoming`. */
  async #returnHeldMoney(): Promise<void> {
    const { database } = this.#options.service;
    const held = await database.reader.statement<{ id: string }>(
      `SELECT id FROM incoming_transfers
       WHERE status = 'on-hold' AND compliance_check_status <> 'not-checked' AND service_provider_id IS NOT NULL`,
      [],
    );
    for (const { id } of held) {
      await database.transaction((tx) =>
        changeUnderLocks(tx, moneyReturn({ id: asId<IncomingTransferId>(id), initiator: TESTER })),
      );
    }
  }

  async #caller(): Promise<void> {
    const { random, thinkMs, everything } = this.#options;
    const usual: Readonly<Record<string, number>> = everything ? EVERYTHING : TRANSFERS;
    const deeds = { ...usual, ...this.#options.deeds } as Readonly<Record<Deed, number>>;
    while (!this.#stopping) {
      await this.#untilOpenAreFew();
      await this.#act(random.weighted(deeds));
      await sleep(random.whole(0, 2 * thinkMs));
    }
  }

  async #untilOpenAreFew(): Promise<void> {
    const { openMax, service } = this.#options;
    if (openMax === undefined) return;
    while (!this.#stopping && (await countOpen(service)) > openMax) await sleep(LOOK_AGAIN_MS);
  }

  async #act(deed: Deed): Promise<void> {
    const { random } = this.#options;
    switch (deed) {
      case 'internal':
      case 'external':
        await this.#transfer(deed);
        return;
      case 'payIn':
        await this.#payIn(random.pick(this.#accounts), { amount: random.whole(500, 30_000) / 100, ...STERLING });
        return;
      case 'cancel':
        return this.#raceOfCancels();
      case 'adjustment':
        return this.#adjust();
      default:
        await this.#kinds.get(deed)?.act();
    }
  }

  async #adjust(): Promise<void> {
    const { random } = this.#options;
    const direction = random.pick(['credit', 'debit'] as const);
    const accountId: string = random.pick(this.#accounts).id;
    // Some exceed the balance, and are rejected.
    const amount = random.chance(0.1) ? 50_000 : random.whole(100, 4_000) / 100;
    await this.#calls.sendSingle(adjustment({ accountId, direction, amount, currency: 'GBP' }));
  }

  /** A transfer dated ahead is cancelled by two callers at once: one wins, unless the answer is lost. */
  async #raceOfCancels(): Promise<void> {
    const { ids } = await this.#transfer('waiting');
    const [id] = ids;
    if (id === undefined) return;
    const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
    const answers = await Promise.all(
      [0, 1].map((through) => this.#calls.request('PATCH', through, `/outgoing-transfers/${id}`, JSON.stringify(body))),
    );
    const won = answers.filter((answer) => answer?.status === 200).length;
    if (won > 1) throw new Error(`the transfer ${id} was cancelled twice`);
    if (won === 1) this.cancelled.add(id);
    this.figures.cancelsWon += won;
  }

  #transfer(kind: 'internal' | 'external' | 'waiting'): Promise<Operation> {
    const { random } = this.#options;
    const [from, to] = this.#pair();
    const external = kind === 'external';
    // Some exceed the balance: internal ones are rejected, external ones wait for funds.
    const pounds = random.chance(0.05) ? random.whole(3_000, 9_000) : random.whole(1, 40);
    const pence = external ? random.weighted(this.#bank.scenarios) : `.${String(random.whole(10, 99))}`;
    const tomorrow = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    const money = { clientId: this.#clientId, currency: 'GBP', amount: Number(`${pounds}${pence}`), from: from.id };
    const transfer = external
      ? externalTransfer(money, 'faster-payments', this.#bankAccountId)
      : internalTransfer(money, to.id);
    return this.#calls.sendSingle(transferOf(kind === 'waiting' ? { ...transfer, transferDate: tomorrow } : transfer));
  }

  #pair(): [Json, Json] {
    const { random } = this.#options;
    if (!random.chance(0.5)) return random.pair(this.#accounts);
    const pair: [Json, Json] = [
      random.pick(this.#accounts.slice(0, HOT_ACCOUNTS)),
      random.pick(this.#accounts.slice(HOT_ACCOUNTS)),
    ];
    return random.chance(0.5) ? pair : [pair[1], pair[0]];
  }

  async #payIn(to: Json, money: MoneyIn): Promise<void> {
    const bank = to.serviceProvider === this.#bank.provider ? this.#bank : SANDBOX_BANK;
    const paymentId = await bank.payIn(this.#options.service, to, money);
    if (paymentId === null) return;
    this.paidIn.set(paymentId, to.id);
    this.figures.paymentsIn += 1;
  }
}

/** Payments out under way, those that wait for a person at the bank or for the end of the day not counted; none while Postgres is away. */
async function countOpen({ database }: WholeService): Promise<number> {
  const [row] = await database.reader
    .statement<{ count: number }>(
      `SELECT count(*)::integer AS count FROM outgoing_transfers
       WHERE scope = 'external' AND status IN ('processing', 'released') AND amount_minor % 100 NOT IN (4, 10, 13)`,
      [],
    )
    .catch(() => []);
  return row?.count ?? 0;
}
