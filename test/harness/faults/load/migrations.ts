import type { Json } from '../../api.ts';
import { isDone, type LoadRequest, type Operation } from './calls.ts';
import { type LoadKind, type LoadWorld, plainAmount } from './kind.ts';
import { accountOf } from './orders.ts';
import { accountAtBank, addExisting, payIn } from './outside.ts';

const FROM_BANK = { type: 'explicit', serviceProvider: 'sandbox-bank' };
const ROUTING_CODES = { 'sort-code': '040075' };
/** Numbers that the bank has not given to others; it draws its own from all of eight digits. */
const FIRST_ACCOUNT_NUMBER = 80_000_000;
const CLIENTS_MAX = 5;

/** A client or an account of the bank, and all requests for its migration. */
interface Migrated {
  readonly sourceId: string;
  readonly operations: readonly Operation[];
}

interface MigratedAccount extends Migrated {
  /** The balance before the first payment. */
  readonly balancePence: number;
  /** Paid before, during and after the migration. */
  paidPence: number;
  /** Payments that may have been made: their answers were lost. */
  perhapsPence: number;
}

/** Clients and accounts of the sandbox bank are migrated while outsiders pay in; some by two requests at once, with two keys. */
export class Migrations implements LoadKind {
  readonly #world: LoadWorld;
  readonly #clients: Migrated[] = [];
  readonly #accounts: MigratedAccount[] = [];
  #begun = 0;

  constructor(world: LoadWorld) {
    this.#world = world;
  }

  async act(): Promise<void> {
    const { random } = this.#world;
    const client = this.#anyClient();
    if (client === null || (this.#clients.length < CLIENTS_MAX && random.chance(0.3))) await this.#client();
    else await this.#account(client);
  }

  /** A migrated client, by its source id and its id here; null while there is none. */
  #anyClient(): { readonly sourceId: string; readonly id: string } | null {
    const migrated = this.#clients.flatMap(({ sourceId, operations }) => {
      const id = idOf(operations);
      return id === undefined ? [] : [{ sourceId, id }];
    });
    return migrated.length === 0 ? null : this.#world.random.pick(migrated);
  }

  async #client(): Promise<void> {
    const sourceId = this.#nextSourceId('client');
    const identity = { type: 'individual', givenName: 'Emmy', familyName: 'Noether', country: 'GB' };
    const address = { country: 'GB', city: 'Leeds' };
    await addExisting(this.#world.service, 'clients', { sourceId, identity, address });
    const requests = this.#once(() =>
      this.#world.calls.single({
        purpose: 'client',
        path: '/clients',
        body: { workflow: { code: 'migration' }, data: { sourceId }, connect: FROM_BANK },
        idOf: (data) => data.client.id,
      }),
    );
    this.#clients.push({ sourceId, operations: requests.map(({ operation }) => operation) });
    await this.#sendAll(requests);
  }

  async #account(client: { readonly sourceId: string; readonly id: string }): Promise<void> {
    const { random, service } = this.#world;
    const accountNumber = String(FIRST_ACCOUNT_NUMBER + this.#begun);
    const sourceId = this.#nextSourceId('account');
    const balancePence = random.chance(0.2) ? 0 : random.whole(1, 500_000);
    const owner = { sourceId, clientSourceId: client.sourceId, currency: 'GBP', country: 'GB' };
    const bankDetails = { accountNumber, routingCodes: ROUTING_CODES };
    await addExisting(service, 'accounts', { ...owner, ...bankDetails, balance: balancePence / 100 });
    const requests = this.#once(() => {
      const account = { clientId: client.id, currency: 'GBP' };
      return this.#world.calls.single(accountOf({ code: 'client.migration' }, { sourceId, account }, FROM_BANK));
    });
    const account: MigratedAccount = {
      sourceId,
      balancePence,
      operations: requests.map(({ operation }) => operation),
      paidPence: 0,
      perhapsPence: 0,
    };
    this.#accounts.push(account);
    const pay = async () => {
      const amount = plainAmount(random, { to: 90 });
      const pence = Math.round(amount * 100);
      const paid = await payIn(service, { amount, currency: 'GBP', scheme: 'faster-payments', to: bankDetails });
      if (paid === null) account.perhapsPence += pence;
      else account.paidPence += pence;
    };
    await Promise.all([pay(), this.#sendAll(requests), pay()]);
    await pay();
  }

  /** One request, or two with different keys. */
  #once<Request>(request: () => Request): Request[] {
    return this.#world.random.chance(0.3) ? [request(), request()] : [request()];
  }

  async #sendAll(requests: readonly { readonly request: LoadRequest }[]): Promise<void> {
    await Promise.all(requests.map(({ request }) => this.#world.calls.send(request)));
  }

  #nextSourceId(kind: string): string {
    this.#begun += 1;
    return `${kind}-of-the-load-${this.#begun}`;
  }

  async finish(): Promise<void> {}

  /** Each is migrated once, by one of its requests; an account with all money that it held and got, and once as its provider says. */
  async findProblems(): Promise<string[]> {
    const problems = [...this.#clients, ...this.#accounts].flatMap(({ sourceId, operations }) => {
      const done = operations.filter(isDone);
      if (done.length === 1) return [];
      return [`migration of ${sourceId}: ${done.length} of ${operations.length} requests were acknowledged`];
    });
    const rows = await this.#world.service.database.reader.statement<AccountRow>(MIGRATED, []);
    const bySource = new Map(rows.map((row) => [row.sourceId, row]));
    for (const account of this.#accounts) {
      problems.push(...(await this.#problemsOf(account, bySource.get(account.sourceId))));
    }
    if (rows.length !== this.#accounts.length) {
      problems.push(`${rows.length} accounts are migrated, ${this.#accounts.length} were asked for`);
    }
    return problems;
  }

  async #problemsOf(account: MigratedAccount, row: AccountRow | undefined): Promise<string[]> {
    const problems: string[] = [];
    const wrong = (problem: string) => problems.push(`migration of ${account.sourceId}: ${problem}`);
    if (row === undefined) return [`migration of ${account.sourceId}: there is no account`];
    if (row.id !== idOf(account.operations)) wrong(`acknowledged as ${idOf(account.operations)}, stored as ${row.id}`);
    if (row.openings > 1) wrong(`${row.openings} opening balances`);
    const atBank: Json | null = await accountAtBank(this.#world.service, row.id);
    const openingAtBank = atBank === null ? null : Math.round(atBank.openingBalance * 100);
    if (openingAtBank !== Number(row.openingPence))
      wrong(`opened with ${row.openingPence}, the bank says ${openingAtBank}`);
    const least = account.balancePence + account.paidPence;
    const total = Number(row.openingPence) + Number(row.paidPence);
    if (total < least || total > least + account.perhapsPence) {
      wrong(`${total} pence came here, ${least} and at most ${account.perhapsPence} more were there`);
    }
    return problems;
  }
}

function idOf(operations: readonly Operation[]): string | undefined {
  return operations.flatMap(({ ids }) => [...ids])[0];
}

interface AccountRow {
  readonly sourceId: string;
  readonly id: string;
  readonly openings: number;
  readonly openingPence: string;
  readonly paidPence: string;
}

const MIGRATED = `SELECT source_id AS "sourceId", account_id AS id,
    (SELECT count(*) FROM balance_adjustments AS opening
      WHERE opening.account_id = migrated.account_id AND workflow_code = 'synchronization')::integer AS openings,
    (SELECT coalesce(sum(amount_minor), 0) FROM balance_adjustments AS opening
      WHERE opening.account_id = migrated.account_id AND workflow_code = 'synchronization')::text AS "openingPence",
    (SELECT coalesce(sum(amount_minor), 0) FROM incoming_transfers AS paid
      WHERE paid.account_id = migrated.account_id AND status = 'completed')::text AS "paidPence"
  FROM account_migrations AS migrated`;
