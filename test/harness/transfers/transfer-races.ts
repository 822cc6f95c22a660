import { expect } from 'vitest';
import { admitWaitingTransfers } from '../../../db/outgoing-transfers/admissions.ts';
import {
  failOutgoingTransfer,
  moveToNextWindow,
  requestLookUp,
  retrySubmission,
} from '../../../db/outgoing-transfers/operator-commands.ts';
import {
  advanceOutgoingTransfer,
  applyPaymentReport,
  recordLookUp,
  recordSubmission,
} from '../../../db/outgoing-transfers/outgoing-transfers.ts';
import { applyRecallRejection, recordRecallAnswer } from '../../../db/outgoing-transfers/recalls.ts';
import { paymentRecall } from '../../../db/outgoing-transfers/requested-changes.ts';
import type { Transaction } from '../../../db/query/database.ts';
import { changeUnderLocks } from '../../../db/transfers/requested-changes.ts';
import { DomainError } from '../../../domain/common/errors.ts';
import { asId, type OutgoingTransferId } from '../../../domain/common/ids.ts';
import type { RecallReport } from '../../../domain/outgoing-transfers/outcomes/recalls.ts';
import type { LookedUpPayment, PaymentOutcome } from '../../../domain/outgoing-transfers/reports.ts';
import type { ApiResponse, Json, TestApi } from '../api.ts';
import { TESTER } from '../audit.ts';
import { builtInAccounts } from '../built-in-accounts.ts';
import { moneyWorld } from '../money.ts';
import type { Random } from '../random.ts';
import { reviews } from './reviews.ts';
import { checkMoney, checkStory, type Racing, type RacingAccount } from './transfer-race-checks.ts';

/**
 * Transfers of every kind to which everything that can happen to a transfer happens at random instants: by callers, approvers, reviewers,
 * operators, the provider and the steps of the workflow. In the end each is settled, and what is left is compared with what happened.
 */

const CONCURRENT = 16;
const EVENTS_OF_EACH = 8;
const TOMORROW = '2027-06-17';
const WORDS: readonly PaymentOutcome[] = ['queued', 'released', 'completed', 'failed', 'returned'];
/** Of a rejection: most are retryable. */
const CODES = ['BE08', 'MS03', 'BE08', 'AC04'];
const ANSWERS: readonly RecallReport['outcome'][] = ['asked', 'accepted', 'rejected'];
const RESULTS = ['all-passed', 'soft-stop', 'hard-stop', 'hard-stop-accepted', 'hard-stop-rejected'];

/** The rules differ by API: `plain` has none, the others authorize, review, or both. */
export interface RaceApis {
  readonly plain: TestApi;
  readonly others: readonly TestApi[];
  /** Whose callers may decide every review. */
  readonly reviewing: TestApi;
}

/** Creates `count` transfers, races and settles them; the ledger is for the caller to check. */
export async function raceTransfers(apis: RaceApis, random: Random, count: number): Promise<void> {
  const race = new Race(apis, random);
  await race.open();
  const transfers = await race.create(count);
  expect(transfers.length).toBeGreaterThan(count / 2);
  await race.run(transfers.flatMap((transfer) => race.happeningsOf(transfer)));
  await race.run(transfers.map((transfer) => () => race.settle(transfer)));
  for (const { id } of transfers) await checkStory(apis.plain, id);
  await checkMoney(apis.plain, race.accounts);
}

class Race {
  readonly #api: TestApi;
  readonly #apis: RaceApis;
  readonly #random: Random;
  readonly accounts: RacingAccount[] = [];
  #bankAccount = '';
  #payments = 0;

  constructor(apis: RaceApis, random: Random) {
    this.#api = apis.plain;
    this.#apis = apis;
    this.#random = random;
  }

  async open(): Promise<void> {
    const world = moneyWorld(this.#api);
    const payer = await world.client('Ada');
    const payee = await world.client('Grace');
    this.#bankAccount = await world.beneficiary(payer);
    const read = async (id: string, clientId: string, kind: RacingAccount['kind']) => {
      const { ledgerNumber } = (await this.#api.call('GET', `/accounts/${id}`)).body.data.account;
      this.accounts.push({ id, clientId, ledgerNumber, kind, credited: 0 });
    };
    for (let number = 0; number < 3; number += 1) {
      await read((await builtInAccounts(this.#api).opened(payer)).id, payer, 'built-in');
      await read(await world.account(payer), payer, 'plug-in');
      await read(await world.account(payee), payee, 'receiver');
    }
    for (const account of this.accounts) await this.#credit(account, 15_000);
  }

  async create(count: number): Promise<Racing[]> {
    const made: Racing[] = [];
    const orders = Array.from({ length: count }, () => this.#order());
    await this.run(
      orders.map(({ by, account, body }) => async () => {
        const answer = await by.call('POST', '/outgoing-transfers', body);
        // An internal one without the money.
        if (answer.body.code === 'account.balance.insufficient') return;
        expect(answer.status, answer.text).toBe(201);
        const { id, incomingTransferId, amount } = answer.body.data.outgoingTransfer;
        made.push({ id, account, incomingTransferId, amountMinor: Math.round(amount * 100) });
      }),
    );
    return made;
  }

  #order() {
    const random = this.#random;
    const account = random.pick(this.accounts.filter(({ kind }) => kind !== 'receiver'));
    const isInternal = random.chance(0.3);
    const receiver = random.pick(this.accounts.filter(({ kind }) => kind === 'receiver'));
    const outgoingTransfer = {
      clientId: account.clientId,
      currency: 'GBP',
      amount: random.whole(100, 4_000) / 100,
      source: { type: 'client-account', accountId: account.id },
      ...(random.chance(0.1) ? { transferDate: TOMORROW } : {}),
      ...(isInternal
        ? { scope: 'internal', destination: { type: 'client-account', accountId: receiver.id } }
        : {
            scope: 'external',
            scheme: random.pick(['faster-payments', 'chaps']),
            destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: this.#bankAccount },
          }),
    };
    const workflow = { code: 'client.direct', pricing: { sourcingMethod: 'explicit' } };
    const data = { outgoingTransfer, pricing: { type: 'ratio', ratio: random.pick(['0', '0.1']) } };
    return { by: random.pick([this.#api, ...this.#apis.others]), account, body: { workflow, data } };
  }

  /** A few of all that may happen to it, in the order in which they are drawn. */
  happeningsOf(transfer: Racing): (() => Promise<void>)[] {
    return Array.from({ length: EVENTS_OF_EACH }, () => {
      const happening = this.#random.weighted(HAPPENINGS);
      const drawn = {
        outcome: this.#random.pick(WORDS),
        result: this.#random.pick(RESULTS),
        number: this.#random.whole(0, 3),
        code: this.#random.pick(CODES),
        answer: this.#random.pick(ANSWERS),
      };
      return () => this.#happen(transfer, happening, drawn);
    });
  }

  async #happen(transfer: Racing, happening: Happening, drawn: Drawn): Promise<void> {
    const { id, account, incomingTransferId } = transfer;
    const { outcome, result, number, code, answer } = drawn;
    const decide = reviews(this.#apis.reviewing).decide;
    switch (happening) {
      case 'cancel':
        return answered(await this.#patch(id, { status: 'cancelled' }));
      case 'authorize':
        return answered(
          await this.#patch(id, { requirementConfiguration: { authorizationStatus: 'fulfilled' } }, 'approver'),
        );
      case 'decide':
        return answered(await decide('outgoing-transfer', id, result));
      case 'decide about the receiver':
        if (incomingTransferId !== null) answered(await decide('incoming-transfer', incomingTransferId, result));
        return;
      case 'credit':
        return this.#credit(account, 100 * (number + 1));
      case 'admit':
        await this.#transaction((tx) => admitWaitingTransfers(tx, asId(account.id), this.#rules()));
        return;
      case 'callback':
        await this.#transaction((tx) =>
          applyPaymentReport(tx, notice(id), paymentOf(transfer, outcome), this.#rules()),
        );
        return;
      case 'caller’s report':
        // Only a provider can say that it has queued a payment.
        if (outcome === 'queued') return;
        return answered(await this.#patch(id, outcome === 'returned' ? { returned: true } : { status: outcome }));
      case 'look-up':
        await this.#transaction((tx) =>
          recordLookUp(tx, id, number, number === 3 ? 'not-found' : paymentOf(transfer, outcome), this.#rules()),
        );
        return;
      case 'command':
        return this.#command(id, number);
      case 'release':
        return this.#release(transfer, drawn);
      case 'rejection':
        await this.#release(transfer, { ...drawn, outcome: 'failed' });
        await this.#transaction((tx) =>
          applyPaymentReport(tx, notice(id), rejectionOf(transfer, 1, code), this.#rules()),
        );
        if (number > 0) return;
        await this.#transaction((tx) => retrySubmission(tx, id, this.#rules(), TESTER));
        return this.#release(transfer, drawn);
      case 'part comes back':
        await this.#release(transfer, { ...drawn, outcome: 'completed' });
        await this.#transaction((tx) => applyPaymentReport(tx, notice(id), partOf(transfer, number), this.#rules()));
        return;
      case 'recall':
        await this.#release(transfer, { ...drawn, outcome: 'completed' });
        await this.#recall(id);
        return this.#release(transfer, drawn);
      case 'answer to a recall':
        await this.#transaction((tx) => recordRecallAnswer(tx, id, { number, outcome: answer }, this.#rules()));
        return;
    }
  }

  async #command(id: OutgoingTransferId, number: number): Promise<void> {
    const commands = [
      (tx: Transaction) => failOutgoingTransfer(tx, { id, reason: 'The client asked for it.' }, this.#rules(), TESTER),
      (tx: Transaction) => moveToNextWindow(tx, id, this.#rules(), TESTER),
      (tx: Transaction) => requestLookUp(tx, id, this.#rules(), TESTER),
      (tx: Transaction) => retrySubmission(tx, id, this.#rules(), TESTER),
    ];
    const command = commands[number];
    if (command === undefined) throw new Error(`no command ${number}`);
    await this.#transaction(command);
  }

  async #recall(id: OutgoingTransferId): Promise<void> {
    const isOffered = () => true;
    await this.#transaction((tx) =>
      changeUnderLocks(tx, paymentRecall({ id, initiator: TESTER, rules: this.#rules() }, isOffered)),
    );
  }

  /** As its workflow does: what is due, and what the provider answers to that. */
  async #release(transfer: Racing, { outcome, number, code, answer }: Drawn): Promise<void> {
    const { id } = transfer;
    const step = await this.#transaction((tx) => advanceOutgoingTransfer(tx, id, this.#rules()));
    if (step?.do === 'submit') {
      const report =
        outcome === 'failed'
          ? rejectionOf(transfer, step.attempt, code)
          : paymentOf(transfer, outcome === 'returned' ? 'completed' : outcome);
      await this.#transaction((tx) => recordSubmission(tx, id, step.attempt, report, this.#rules()));
    } else if (step?.do === 'look-up') {
      const found = { ...paymentOf(transfer, outcome), recall: { number, outcome: answer } };
      const said = outcome === 'released' ? 'not-found' : found;
      await this.#transaction((tx) => recordLookUp(tx, id, step.count, said, this.#rules()));
    } else if (step?.do === 'recall') {
      const report = { number: step.number, outcome: answer };
      await this.#transaction((tx) => recordRecallAnswer(tx, id, report, this.#rules()));
    }
  }

  /** Ends it, if nothing has ended it yet. */
  async settle(transfer: Racing): Promise<void> {
    const { id, account, incomingTransferId } = transfer;
    const found = await this.#read(id);
    if (found.status === 'pending') expect((await this.#patch(id, { status: 'cancelled' })).status).toBe(200);
    if (found.status === 'processing' && found.scope === 'internal') {
      const answer = await reviews(this.#apis.reviewing).decide(
        'incoming-transfer',
        incomingTransferId ?? '',
        'all-passed',
      );
      expect(answer.status, answer.text).toBe(200);
    } else if (found.status === 'processing' || found.status === 'released') {
      if (account.kind === 'plug-in') expect((await this.#patch(id, { status: 'completed' })).status).toBe(200);
      else
        await this.#transaction((tx) =>
          applyPaymentReport(tx, notice(id), paymentOf(transfer, 'completed'), this.#rules()),
        );
    }
    expect(['completed', 'cancelled', 'failed']).toContain((await this.#read(id)).status);
    await this.#settleRecall(id);
  }

  /** Its workflow ends a recall that has nothing left to bring back; the provider rejects any other. */
  async #settleRecall(id: OutgoingTransferId): Promise<void> {
    await this.#transaction((tx) => advanceOutgoingTransfer(tx, id, this.#rules()));
    const [open] = await this.#api.database.reader.statement<{ number: number }>(
      `SELECT recall_number AS number FROM outgoing_transfers WHERE id = $1 AND recall_status IN ('due', 'asked')`,
      [id],
    );
    if (open === undefined) return;
    const rejected = this.#transaction((tx) => applyRecallRejection(tx, notice(id), open.number, this.#rules()));
    expect(await rejected).toBe('applied');
  }

  async #credit(account: RacingAccount, amountMinor: number): Promise<void> {
    account.credited += amountMinor;
    this.#payments += 1;
    if (account.kind === 'built-in') {
      await builtInAccounts(this.#api).payIn(account, `race-${account.id}-${this.#payments}`, BigInt(amountMinor));
    } else await moneyWorld(this.#api).credit(account.id, amountMinor / 100);
  }

  /** In random order, many at once. */
  async run(works: readonly (() => Promise<unknown>)[]): Promise<void> {
    const shuffled = works
      .map((work) => ({ work, place: this.#random.next() }))
      .sort((one, other) => one.place - other.place)
      .values();
    const lane = async () => {
      for (const { work } of shuffled) await work();
    };
    await Promise.all(Array.from({ length: CONCURRENT }, lane));
  }

  /** Null if the rules reject. */
  async #transaction<Value>(work: (tx: Transaction) => Promise<Value>): Promise<Value | null> {
    try {
      return await this.#api.database.transaction(work);
    } catch (error) {
      if (error instanceof DomainError) return null;
      throw error;
    }
  }

  #rules() {
    return this.#api.services.configuration;
  }

  async #read(id: string): Promise<Json> {
    return (await this.#api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer;
  }

  #patch(id: string, outgoingTransfer: Json, as: 'operator' | 'approver' = 'operator'): Promise<ApiResponse> {
    const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
    return this.#api.call('PATCH', `/outgoing-transfers/${id}`, body, { as });
  }
}

const HAPPENINGS = {
  cancel: 2,
  authorize: 4,
  decide: 4,
  'decide about the receiver': 2,
  credit: 2,
  admit: 2,
  callback: 2,
  'caller’s report': 2,
  'look-up': 1,
  command: 2,
  release: 4,
  rejection: 6,
  'part comes back': 3,
  recall: 3,
  'answer to a recall': 1,
};
type Happening = keyof typeof HAPPENINGS;

interface Drawn {
  readonly outcome: PaymentOutcome;
  readonly result: string;
  readonly number: number;
  readonly code: string;
  readonly answer: RecallReport['outcome'];
}

const notice = (id: OutgoingTransferId) => ({ id, provider: 'sandbox-bank' });

function paymentOf({ id, amountMinor }: Racing, outcome: PaymentOutcome): LookedUpPayment {
  const code = outcome === 'failed' || outcome === 'returned' ? 'AC04' : null;
  const claim = { amountMinor: amountMinor.toString(), currency: 'GBP', returned: null };
  const own = outcome === 'failed' ? { failedAfterRelease: true } : outcome === 'queued' ? { queuedAttempt: 1 } : {};
  return { outcome, ...own, serviceProviderId: `p-${id}`, serviceProviderReference: null, code, claim };
}

/** What the provider says of an attempt that it has not carried out. */
function rejectionOf(transfer: Racing, attempt: number, code: string): LookedUpPayment {
  const { failedAfterRelease: _, ...payment } = paymentOf(transfer, 'failed');
  return { ...payment, serviceProviderId: null, code, rejectedAttempt: attempt };
}

/** The provider's return of this number: the whole of it, a half, a third or a quarter. */
function partOf(transfer: Racing, number: number): LookedUpPayment {
  const { claim, ...payment } = paymentOf(transfer, 'returned');
  const amountMinor = Math.ceil(transfer.amountMinor / (number + 1)).toString();
  return { ...payment, claim: { ...claim, returned: { reference: `r-${transfer.id}-${number}`, amountMinor } } };
}

/** Either it was done, or the transfer had moved on. */
function answered({ status, text }: ApiResponse): void {
  expect([200, 409], text).toContain(status);
}
