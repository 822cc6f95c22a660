import type { Json } from '../../api.ts';
import { isDone, type LoadRequest, type Operation } from './calls.ts';
import { type LoadKind, type LoadWorld, plainAmount } from './kind.ts';
import { accountOf, adjustment, internalTransfer, issuing, transferOf } from './orders.ts';
import { accountAtBank } from './outside.ts';

const OPEN_MAX = 6;
/** From this on, the fee of an internal transfer is the price list's maximum: what is left pays for it exactly. */
const FULL_FEE_POUNDS = 20;
const FEE_PENCE = 20;

interface Closing {
  readonly id: string;
  readonly operations: readonly Operation[];
}

/** Accounts and sub-accounts open, get money, are emptied, and close while more money arrives. */
export class OpenedAndClosed implements LoadKind {
  readonly #world: LoadWorld;
  readonly #opened: Operation[] = [];
  readonly #closings: Closing[] = [];

  constructor(world: LoadWorld) {
    this.#world = world;
  }

  async act(): Promise<void> {
    const { random } = this.#world;
    const open = this.#ids().filter((id) => !this.#isClosing(id));
    if (open.length < OPEN_MAX && random.chance(0.5)) return this.#open();
    const closing = this.#ids().filter((id) => this.#isClosing(id));
    // Outsiders keep paying to an account that has closed: an operator returns the money.
    if (closing.length > 0 && random.chance(0.1)) return this.#fill(random.pick(closing));
    if (open.length === 0) return;
    if (random.chance(0.6)) return this.#fill(random.pick(open));
    return this.#close(random.pick(open));
  }

  #ids(): string[] {
    return this.#opened.flatMap(({ ids }) => [...ids]);
  }

  #isClosing(id: string): boolean {
    return this.#closings.some((closing) => closing.id === id && closing.operations.some(isDone));
  }

  async #open(): Promise<void> {
    const { random, calls, clientId, accounts } = this.#world;
    const account = { mainAccountId: random.pick(accounts).id, alias: 'Savings' };
    const subAccount = accountOf({ code: 'client.sub-account' }, { account });
    const { request, operation } = calls.single(random.chance(0.5) ? subAccount : issuing(clientId, 'GBP'));
    this.#opened.push(operation);
    await calls.send(request);
  }

  async #fill(id: string): Promise<void> {
    const { random, calls, clientId, accounts } = this.#world;
    const account = await calls.readAccount(id);
    if (account === null) return;
    const amount = plainAmount(random, { from: FULL_FEE_POUNDS + 1, to: 60 });
    if (this.#hasBankDetails(account) && random.chance(0.6)) {
      await this.#world.payIn(account, amount, 'GBP', 'faster-payments');
    } else {
      const money = { clientId, currency: 'GBP', amount, from: random.pick(accounts).id };
      await calls.sendSingle(transferOf(internalTransfer(money, id)));
    }
  }

  /** Not a sub-account, whose bank details are its main account's, and not before its provider has opened it. */
  #hasBankDetails({ mainAccountId, iban }: Json): boolean {
    return mainAccountId === null && iban !== null;
  }

  /** Two callers close it at once, and often a payment arrives at that moment. */
  async #close(id: string): Promise<void> {
    const { random, calls } = this.#world;
    const account = await calls.readAccount(id);
    if (account?.status !== 'active') return;
    await this.#empty(account);
    const requests = [this.#closing(id), this.#closing(id)];
    this.#closings.push({ id, operations: requests.map(({ operation }) => operation) });
    await Promise.all([
      ...requests.map(({ request }) => calls.send(request)),
      ...(random.chance(0.5) ? [this.#fill(id)] : []),
    ]);
  }

  async #empty({ id, availableBalance }: Json): Promise<void> {
    const { random, calls, clientId, accounts } = this.#world;
    if (availableBalance === 0) return;
    const amount = (Math.round(availableBalance * 100) - FEE_PENCE) / 100;
    const money = { clientId, currency: 'GBP', amount, from: id };
    if (amount >= FULL_FEE_POUNDS && random.chance(0.8)) {
      await calls.sendSingle(transferOf(internalTransfer(money, random.pick(accounts).id)));
    } else await calls.sendSingle(this.#emptying(id, availableBalance));
  }

  #emptying(accountId: string, amount: number) {
    return adjustment({ accountId, direction: 'debit', amount, currency: 'GBP' });
  }

  #closing(id: string): { request: LoadRequest; operation: Operation } {
    return this.#world.calls.single({
      purpose: 'closing',
      method: 'PATCH',
      path: `/accounts/${id}`,
      body: { workflow: { code: 'client.direct' }, data: { account: { status: 'closed' } } },
      idOf: () => id,
    });
  }

  /** Money that came while the provider closed an account leaves by an adjustment, as docs/behaviour/accounts.md says, and the account closes. */
  async finish(): Promise<void> {
    const { calls } = this.#world;
    for (const { id, status, connection, availableBalance } of await this.#notYetClosed()) {
      if (connection !== null && status !== 'suspended') continue;
      if (availableBalance > 0) await calls.sendSingle(this.#emptying(id, availableBalance));
      await calls.send(this.#closing(id).request);
    }
    await calls.settle(1);
  }

  /** Accounts whose closing was acknowledged, as the API shows them. */
  async #notYetClosed(): Promise<Json[]> {
    const closing = this.#ids().filter((id) => this.#isClosing(id));
    const accounts = await Promise.all(closing.map((id) => this.#world.calls.readAccount(id)));
    return accounts.filter((account) => account !== null && account.status !== 'closed');
  }

  /** An account opens once, closes once where that was acknowledged and not otherwise, holds nothing then, and its provider agrees. */
  async findProblems(): Promise<string[]> {
    const { service } = this.#world;
    const rows = await service.database.reader.statement<AccountRow>(ACCOUNTS, []);
    const problems: string[] = [];
    for (const { id, mainAccountId, status, money, activated, closed } of rows) {
      const wrong = (problem: string) => problems.push(`account ${id}, ${status}: ${problem}`);
      if (activated !== 1) wrong(`activated ${activated} times`);
      if (closed !== (status === 'closed' ? 1 : 0)) wrong(`closed ${closed} times`);
      if (this.#isClosing(id) !== (status === 'closed'))
        wrong(`its closing was ${this.#isClosing(id) ? '' : 'not '}acknowledged`);
      if (status === 'closed' && money > 0n) wrong(`it holds or expects ${money}`);
      if (mainAccountId !== null) continue;
      const atBank = await accountAtBank(service, id);
      if ((atBank?.status === 'closed') !== (status === 'closed')) wrong(`the bank says ${atBank?.status}`);
    }
    return problems;
  }
}

interface AccountRow {
  readonly id: string;
  readonly mainAccountId: string | null;
  readonly status: string;
  readonly money: bigint;
  readonly activated: number;
  readonly closed: number;
}

const ACCOUNTS = `SELECT id, main_account_id AS "mainAccountId", status,
    (posted_minor + reserved_minor + receivable_minor)::bigint AS money,
    (SELECT count(*) FROM events CROSS JOIN LATERAL jsonb_array_elements(entries::jsonb) AS entries_of (entry)
      WHERE resource_id = accounts.id AND entry ->> 'type' = 'account-activated')::integer AS activated,
    (SELECT count(*) FROM events CROSS JOIN LATERAL jsonb_array_elements(entries::jsonb) AS entries_of (entry)
      WHERE resource_id = accounts.id AND entry ->> 'type' = 'account-closed')::integer AS closed
  FROM accounts WHERE provider = 'sandbox-bank'`;
