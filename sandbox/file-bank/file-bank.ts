import { join } from 'node:path';
import { Bank } from '../bank/bank.ts';
import { PAYMENT_ACTIONS } from '../bank/payments/payments.ts';
import { isCustomerName, openCustomer, settingsOf } from './customers.ts';
import { FileFaultSwitch } from './faults.ts';
import { CustomerFolders } from './folders.ts';
import { endLeftOver, takeFile } from './intake/inbox.ts';
import { submitDue, submitLeftOver } from './intake/submissions.ts';
import { BankPgp } from './messages/seals.ts';
import { News } from './news.ts';
import { compose } from './outbox/composition.ts';
import { deliver } from './outbox/delivery.ts';
import { closeDays } from './outbox/statements.ts';

const LOOK_EVERY_MS = 200;

/**
 * A bank whose customers send and get files: the sandbox bank's books and outcomes, in a journal of its own, behind folders in place of
 * HTTP.
 */
export class FileBank {
  readonly bank: Bank;
  readonly folders: CustomerFolders;
  readonly pgp: BankPgp;
  readonly faults = new FileFaultSwitch();
  /** Paths that are being written through SFTP. */
  readonly beingWritten = new Set<string>();
  readonly #onFailure: (error: unknown) => void;
  #wake: () => void = () => {};
  #waiting: (() => void)[] = [];
  #isWoken = false;
  #day: string | null = null;
  #looking: Promise<void> = Promise.resolve();

  private constructor(bank: Bank, folders: CustomerFolders, pgp: BankPgp, onFailure: (error: unknown) => void) {
    this.bank = bank;
    this.folders = folders;
    this.pgp = pgp;
    this.#onFailure = onFailure;
  }

  /** Opens the books and goes on where a crash has stopped. */
  static async open(options: {
    readonly directory: string;
    readonly now: () => Date;
    readonly onFailure: (error: unknown) => void;
  }): Promise<FileBank> {
    const { directory, now, onFailure } = options;
    const folders = new CustomerFolders(directory);
    const news = new News();
    const bank = await Bank.open({
      journalFile: join(directory, 'bank.journal'),
      callbacks: null,
      now,
      actions: { ...NO_ACCOUNTS, ...PAYMENT_ACTIONS },
      completed: (of, change) => news.completed(of, change),
      onFailure,
    });
    for (const name of bank.books.fileCustomers.keys()) folders.prepare(name);
    const fileBank = new FileBank(bank, folders, new BankPgp(join(directory, 'pgp')), onFailure);
    await endLeftOver(bank, folders);
    await submitLeftOver(bank);
    fileBank.#looking = fileBank.#lookUntilClosed().catch(onFailure);
    return fileBank;
  }

  async openCustomer(name: string): Promise<void> {
    await openCustomer(this.bank, name);
    this.folders.prepare(name);
  }

  /** What is in a customer's file, which may be sealed. */
  async opened(customer: string, bytes: Buffer): Promise<Buffer> {
    const settings = settingsOf(this.bank, customer);
    return settings.pgp === 'none' ? bytes : this.pgp.open(bytes, settings);
  }

  /** Resolves when it has looked once more for all that there is to do. */
  looked(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.look();
    });
  }

  /** Looks now for what there is to do. */
  look(): void {
    this.#isWoken = true;
    this.#wake();
  }

  nextTimerAfter(instant: Date): Date | null {
    return this.bank.nextTimerAfter(instant);
  }

  clockMoved(): void {
    this.bank.clockMoved();
    this.look();
  }

  async close(): Promise<void> {
    this.bank.closing.abort();
    this.#wake();
    await this.#looking;
    await this.bank.close();
  }

  async #lookUntilClosed(): Promise<void> {
    const { signal } = this.bank.closing;
    while (!signal.aborted) {
      this.#isWoken = false;
      const waiting = this.#waiting;
      this.#waiting = [];
      try {
        await this.#lookOnce();
        for (const resolve of waiting) resolve();
      } catch (error) {
        if (!signal.aborted) return this.#onFailure(error);
      }
      if (this.#isWoken) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOOK_EVERY_MS);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async #lookOnce(): Promise<void> {
    const { bank, folders, faults, pgp } = this;
    for (const customer of await folders.customers()) {
      if (!isCustomerName(customer)) continue;
      for (const name of await folders.waiting(customer)) {
        if (this.beingWritten.has(folders.path(customer, 'in', name))) continue;
        await takeFile({ bank, folders, pgp }, customer, name);
      }
    }
    await submitDue(bank);
    await compose(bank);
    const today = bank.now().toISOString().slice(0, 10);
    if (today !== this.#day) await closeDays(bank, today);
    this.#day = today;
    await deliver({ bank, folders, pgp }, faults);
  }
}

/** Customers of files open their accounts at the counter. */
const NO_ACCOUNTS = { 'open-account': () => null, 'finish-change': () => null };
