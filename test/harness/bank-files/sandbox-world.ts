import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect } from 'vitest';
import { accountProviderCalls, accountTransitions } from '../../../activities/accounts/activities.ts';
import { exchangedBanks } from '../../../activities/bank-files/exchange/banks.ts';
import { type Exchange, exchangeWith } from '../../../activities/bank-files/exchange/round.ts';
import { TransportFailed } from '../../../activities/bank-files/exchange/transport.ts';
import type { ActivityDependencies } from '../../../activities/common/dependencies.ts';
import type { Provider } from '../../../activities/providers/port.ts';
import { createProviders } from '../../../activities/providers/providers.ts';
import { createDatabase } from '../../../db/client.ts';
import { makeClockMovable } from '../../../db/common/sandbox-clock.ts';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';
import { WaitedTooLong } from '../../tools/run/waited-too-long.ts';
import { type Json, startApi, type TestApi, type TestApiOptions } from '../api.ts';
import { type MoneyWorld, moneyWorld } from '../money.ts';
import { createTestDatabase } from '../servers/postgres.ts';
import { SANDBOX_SECRET, startSandbox, temporaryDirectory } from '../servers/sandbox.ts';
import { incomingSteps, inTime, paymentSteps } from '../transfers/payment-steps.ts';
import { compareBooks, compareSums } from './books.ts';
import { PGP_TEST_PASSPHRASE } from './pgp-keys.ts';
import { type SandboxExchange, sandboxExchanges } from './sandbox-exchange.ts';

/** An account of a client at a provider that pays by files. */
export interface FileAccount {
  readonly id: string;
  readonly clientId: string;
  readonly currency: string;
  /** By which payers name it. */
  readonly ledgerNumber: string;
  readonly provider: string;
}

/** The service and the sandbox's file bank, which meet over SFTP, and by one clock. Workflows' steps are taken by the test. */
export interface SandboxWorld {
  readonly api: TestApi;
  readonly world: MoneyWorld;
  /** A client's account at a provider, with money that has come in through the bank. */
  account(provider: string, amount: number): Promise<FileAccount>;
  /** One without money. */
  openAccount(provider: string): Promise<FileAccount>;
  /** Of one without money. */
  closeAccount(account: FileAccount): Promise<void>;
  /** A payment to a company of this name, submitted as its workflow does. */
  pay(from: FileAccount, amount: number, change?: PaymentChange): Promise<string>;
  transfer(id: string): Promise<Json>;
  /** Money from outside, and the transfer that it has become. The bank's own id of it is in `paymentId`. */
  receive(provider: string, payment: Json): Promise<Json>;
  /** One round of each exchange, and the steps that its news allow. */
  round(): Promise<void>;
  /** How many rounds so far had a bank whose server did not do its part. */
  readonly failedRounds: number;
  /** Between rounds; a service's are a second apart at least. */
  pause: () => Promise<unknown>;
  /** Rounds until something is found; what is there instead, if it is not found in time. */
  until<Found>(what: string, look: () => Promise<Found | undefined>, instead?: () => Promise<Found>): Promise<Found>;
  /** The bank's own view of a payment. */
  atBank(id: string): Promise<Json>;
  /** Undefined: the bank has not taken it yet. */
  findAtBank(id: string): Promise<Json | undefined>;
  /** What the bank has booked on a provider's account. */
  bookedAtBank(provider: string): Promise<readonly Json[]>;
  /** Calls a route of the file bank, which must take it. */
  bank(path: string, body?: Json, method?: string): Promise<Json>;
  /** Every file that the bank has written so far has been taken. */
  quiet(): Promise<void>;
  /** Asks for a recall by the API, which the workflow then makes; the answer's status. */
  recall(id: string): Promise<number>;
  moveClock(move: Json): Promise<void>;
  /** A customer's own folder at the bank. */
  folder(provider: string): string;
  rows(query: string): Promise<Json[]>;
  /** Each movement of our accounts at a provider is one that the bank has booked on the account that they share. */
  booksAgree(provider: string): Promise<void>;
  /** The same of the sums alone, where money in has gone back. */
  sumsAgree(provider: string): Promise<void>;
  close(): Promise<void>;
}

export interface PaymentChange {
  readonly payee?: string;
  readonly scheme?: string;
}

const PAYEES: Readonly<Record<string, { readonly scheme: string; readonly bankAccount: Json }>> = {
  EUR: {
    scheme: 'sepa',
    bankAccount: {
      country: 'FR',
      currency: 'EUR',
      iban: 'FR1420041010050500013M02606',
      routingCodes: { bic: 'PSSTFRPPXXX' },
    },
  },
  GBP: {
    scheme: 'faster-payments',
    bankAccount: { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } },
  },
  USD: {
    scheme: 'swift',
    bankAccount: { country: 'US', currency: 'USD', accountNumber: '1234567890', routingCodes: { bic: 'CHASUS33' } },
  },
};

/** What the bank rejects for a passing reason is submitted once more. */
const CONFIGURATION = { prices: [], retryPauseSeconds: 1, retryLimit: 1 };

/** Long enough for a busy machine. */
const FOUND_WITHIN_MS = 120_000;
const PAUSE_MS = 40;

export async function sandboxWorld(
  name: string,
  providersAt: Readonly<Record<string, SandboxExchange>>,
  changed: TestApiOptions['configuration'] = (configuration) => configuration,
): Promise<SandboxWorld> {
  const directory = temporaryDirectory();
  const testDatabase = await createTestDatabase(name);
  const owner = createDatabase({
    url: testDatabase.ownerUrl,
    maxConnections: 1,
    applicationName: 'preparing',
    deadlineMs: 60_000,
  });
  await makeClockMovable(owner);
  await owner.close();
  const sandbox = await startSandbox({
    directory: directory.path,
    callbackUrl: 'http://127.0.0.1:1/',
    environment: { SANDBOX_CLOCK: 'on', DATABASE_URL: testDatabase.url },
  });
  const place = { url: sandbox.url, dataDirectory: directory.path };
  const { exchanges, environment } = await sandboxExchanges(place, providersAt, CONFIGURATION);
  const providers = new Map<string, Provider>();
  const env = {
    ...environment,
    SANDBOX_URL: sandbox.url,
    SANDBOX_BANK_SECRET: SANDBOX_SECRET,
    PGP_PASSPHRASE: PGP_TEST_PASSPHRASE,
  };
  const api = await startApi(testDatabase, { providers, env, configuration: changed });
  const { database, services } = api;
  const { configuration, logger, keyring } = services;
  const settings = { sandboxUrl: sandbox.url, sandboxBankSecret: SANDBOX_SECRET, database };
  for (const [code, provider] of createProviders(configuration, settings)) providers.set(code, provider);
  const { sftpPassphrase, pgpPassphrase, mail } = services.environment;
  const banks = new Map<string, Exchange>(
    (await exchangedBanks({ database, configuration, logger, sftpPassphrase, pgpPassphrase })).map((of) => [
      of.bank.provider,
      exchangeWith(of, randomUUID()),
    ]),
  );
  const dependencies: ActivityDependencies = {
    database,
    providers,
    configuration,
    logger,
    keyring,
    publicUrl: api.url,
    mail,
  };
  const accountCalls = accountProviderCalls(dependencies);
  const steps = paymentSteps(dependencies);
  const stepsIn = incomingSteps(dependencies);
  const world = moneyWorld(api);
  const open = new Set<string>();
  let failedRounds = 0;
  const providerOf = new Map<string, string>();
  const beneficiaries = new Map<string, string>();
  const rows = (query: string) => database.statement<Json>(query, []);

  async function called(url: string, body: Json, method: string): Promise<Json> {
    const request = method === 'POST' ? { method, body: JSON.stringify(body) } : { method };
    const answer = await fetch(`${sandbox.url}${url}`, request);
    const text = await answer.text();
    expect(answer.ok, `${method} ${url}: ${text}`).toBe(true);
    return JSON.parse(text);
  }

  async function created(path: string, workflow: string, data: Json, more: Json = {}): Promise<Json> {
    const answer = await api.call('POST', path, { workflow: { code: workflow }, data, ...more });
    expect(answer.status, answer.text).toBe(201);
    return answer.body.data;
  }

  async function beneficiary({ clientId, currency }: FileAccount, payee: string): Promise<string> {
    const key = `${clientId} ${currency} ${payee}`;
    const known = beneficiaries.get(key);
    if (known !== undefined) return known;
    const identity = { type: 'corporate', legalName: payee };
    const bankAccounts = [PAYEES[currency]?.bankAccount];
    const made = await created('/beneficiaries', 'direct', { beneficiary: { clientId, identity, bankAccounts } });
    beneficiaries.set(key, made.beneficiary.bankAccounts[0].id);
    return made.beneficiary.bankAccounts[0].id;
  }

  const bank: SandboxWorld['bank'] = (path, body = {}, method = 'POST') => called(`/file-bank${path}`, body, method);
  const accountOf = (provider: string) => exchanges[provider]?.account ?? '';

  function offerOf(provider: string) {
    const offer = configuration.providers.find(({ code }) => code === provider)?.offers[0];
    const pooled = offer?.bank?.pooledAccount ?? null;
    const numbers =
      pooled?.iban == null
        ? { accountNumber: pooled?.accountNumber, routingCodes: offer?.bank?.routingCodes }
        : { iban: pooled.iban };
    return { currency: String(offer?.currencies?.[0]), country: offer?.defaultCountry ?? '', numbers };
  }

  const self: SandboxWorld = {
    api,
    world,
    rows,
    bank,
    pause: () => sleep(PAUSE_MS),
    openAccount: async (provider) => {
      const { currency, country } = offerOf(provider);
      const clientId = await world.client('Ada');
      const connect = { method: 'built-in', type: 'explicit', serviceProvider: provider };
      const issued = await created(
        '/accounts',
        'client.issuing',
        { account: { clientId, currency, country } },
        { connect },
      );
      const { id } = issued.account;
      await new MockActivityEnvironment().run(accountCalls.connectClient, id);
      const { account } = (await api.call('GET', `/accounts/${id}`)).body.data;
      expect(account.status).toBe('active');
      return { id, clientId, currency, ledgerNumber: account.ledgerNumber, provider };
    },
    closeAccount: async ({ id }) => {
      const body = { workflow: { code: 'client.direct' }, data: { account: { status: 'closed' } } };
      expect((await api.call('PATCH', `/accounts/${id}`, body)).status).toBe(200);
      const next = await inTime(() => accountTransitions(dependencies).advanceAccountConnection(id));
      if (next.do !== 'close-account') throw new Error(`the next step is ${next.do}`);
      await new MockActivityEnvironment().run(accountCalls.closeAccount, id, next.attempt);
    },
    account: async (provider, amount) => {
      const account = await self.openAccount(provider);
      await self.receive(provider, {
        amount,
        senderAccount: { accountNumber: '55779911', routingCodes: { bic: 'CHASUS33' } },
        reference: account.ledgerNumber,
      });
      expect((await world.balance(account.id)).available).toBe(amount);
      return account;
    },
    pay: async (from, amount, { payee = 'Brook Lane Bakery Ltd', scheme = PAYEES[from.currency]?.scheme } = {}) => {
      const { outgoingTransfer } = await created('/outgoing-transfers', 'client.direct', {
        outgoingTransfer: {
          clientId: from.clientId,
          source: { type: 'client-account', accountId: from.id },
          destination: {
            type: 'beneficiary-bank-account',
            beneficiaryBankAccountId: await beneficiary(from, payee),
          },
          amount,
          currency: from.currency,
          scope: 'external',
          scheme,
          description: 'Invoice 12',
        },
      });
      const { id } = outgoingTransfer;
      open.add(id);
      providerOf.set(id, from.provider);
      await steps.go(id);
      return id;
    },
    receive: async (provider, payment) => {
      const { currency, numbers } = offerOf(provider);
      const { paymentId, paymentReference } = await bank('/payments-in', {
        currency,
        scheme: PAYEES[currency]?.scheme,
        senderName: 'Grace Hopper',
        ...numbers,
        ...payment,
      });
      return self.until('the money is known', async () => {
        const [row] = await rows(
          `SELECT id, status FROM incoming_transfers WHERE provider = '${provider}' AND service_provider_reference = '${paymentReference}'`,
        );
        return row === undefined ? undefined : { ...row, paymentId };
      });
    },
    transfer: async (id) => (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer,
    round: async () => {
      let isFailed = false;
      const roundOf = async (exchange: Exchange) => {
        await exchange.round().catch((error: unknown) => {
          if (!(error instanceof TransportFailed)) throw error;
          isFailed = true;
        });
      };
      await Promise.all([...banks.values()].map(roundOf));
      if (isFailed) failedRounds += 1;
      await stepsIn.goWoken(database.reader);
      for (const id of open) {
        const next = await steps.go(id);
        if (next.do === 'end') open.delete(id);
      }
    },
    get failedRounds() {
      return failedRounds;
    },
    until: async (what, look, instead) => {
      const deadline = performance.now() + FOUND_WITHIN_MS;
      for (;;) {
        const found = await look();
        if (found !== undefined) return found;
        if (performance.now() > deadline) {
          if (instead !== undefined) return instead();
          throw new WaitedTooLong(`${what} did not happen`);
        }
        await self.round();
        await self.pause();
      }
    },
    atBank: async (id) => {
      const found = await self.findAtBank(id);
      expect(found, `the bank has no payment ${id}`).toBeDefined();
      return found;
    },
    findAtBank: async (id) => {
      const path = `/file-bank/payments/${paymentReferenceOf(id)}?customer=${providerOf.get(id)}`;
      const answer = await fetch(`${sandbox.url}${path}`);
      if (answer.status === 404) return undefined;
      expect(answer.status).toBe(200);
      return answer.json();
    },
    bookedAtBank: async (provider) => (await bank(`/statement?account=${accountOf(provider)}`, {}, 'GET')).entries,
    quiet: async () => {
      await self.until('every file of the bank is taken', async () => {
        const { received, written } = await bank('/files', {}, 'GET');
        if (received.some(({ outcome }: Json) => outcome === 'reading')) return undefined;
        const taken = await rows("SELECT name FROM bank_files WHERE direction = 'in' AND state <> 'fetched'");
        // The bank's books name the message, which may lie sealed.
        const names = new Set(taken.map(({ name }) => name.replace(/\.pgp$/, '')));
        // Of one that comes under two names, the bytes are taken once.
        const isTaken = (name: string) => names.has(name) || names.has(`2-${name}`);
        return written.every(({ fileName }: Json) => isTaken(fileName)) ? true : undefined;
      });
    },
    recall: async (id) => {
      const body = { workflow: { code: 'direct' }, data: {} };
      const { status } = await api.call('POST', `/outgoing-transfers/${id}/recall`, body);
      open.add(id);
      return status;
    },
    folder: (provider) => join(directory.path, 'sandbox/file-bank/customers', provider),
    moveClock: async (move) => {
      // Nothing starts workflows here, for which the clock would wait.
      let isMoved = false;
      const moving = called('/clock', move, 'POST').finally(() => {
        isMoved = true;
      });
      while (!isMoved) {
        await stepsIn.goWoken(database.reader);
        await rows('DELETE FROM workflow_wakeups');
        await sleep(20);
      }
      await moving;
    },
    booksAgree: async (provider) => {
      await compareBooks(provider, await self.bookedAtBank(provider), rows);
      await world.invariantsHold();
    },
    sumsAgree: async (provider) => {
      await compareSums(provider, await self.bookedAtBank(provider), rows);
      await world.invariantsHold();
    },
    close: async () => {
      for (const exchange of banks.values()) await exchange.end();
      await api.stop();
      await sandbox.stop();
      await testDatabase.drop();
      directory.remove();
    },
  };
  await self.moveClock({ advanceTo: nextWednesday().toISOString() });
  return self;
}

/** Holidays of any scheme that may be a Wednesday. */
const HOLIDAYS = ['01-01', '05-01', '06-19', '07-04', '11-11', '12-25', '12-26'];

/** Half past nine on the next Wednesday that is a working day: every scheme is open. */
function nextWednesday(): Date {
  const at = new Date(Date.now() + 24 * 3_600_000);
  while (at.getUTCDay() !== 3 || HOLIDAYS.includes(at.toISOString().slice(5, 10))) at.setUTCDate(at.getUTCDate() + 1);
  at.setUTCHours(9, 30, 0, 0);
  return at;
}
