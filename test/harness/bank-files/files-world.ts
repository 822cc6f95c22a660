import { randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect } from 'vitest';
import { accountProviderCalls } from '../../../activities/accounts/activities.ts';
import type { Bank, BankServices } from '../../../activities/bank-files/exchange/bank.ts';
import { folderTransport } from '../../../activities/bank-files/exchange/folder.ts';
import { type Exchange, exchangeWith } from '../../../activities/bank-files/exchange/round.ts';
import type { ActivityDependencies } from '../../../activities/common/dependencies.ts';
import { iso20022Provider } from '../../../activities/providers/iso20022/iso20022.ts';
import type { Provider } from '../../../activities/providers/port.ts';
import type { Configuration } from '../../../config/configuration.ts';
import type { FileExchange } from '../../../config/schema/file-exchange.ts';
import type { Database } from '../../../db/query/database.ts';
import type { BankProfile } from '../../../domain/bank-files/profiles.ts';
import type { Provider as ConfiguredProvider } from '../../../domain/providers/providers.ts';
import { type Json, startApi, type TestApi } from '../api.ts';
import { type MoneyWorld, moneyWorld } from '../money.ts';
import { createTestDatabase } from '../servers/postgres.ts';
import { paymentSteps } from '../transfers/payment-steps.ts';
import { FILES_OFFER } from './offer.ts';
import { readPlainMessage } from './plain-messages.ts';
import { accountReport, creditOf, type ScriptedBank, scriptedBank } from './scripted-bank.ts';

export const FILES_BANK = 'files-bank';

export const PROFILE: BankProfile = {
  code: 'test',
  paymentMessage: 'pain.001.001.09',
  schemes: {
    'faster-payments': { serviceLevel: 'URNS', localInstrument: null, chargeBearer: 'SHAR', clearingSystem: 'GBDSC' },
  },
  characters: 'utf-8',
  lengths: { name: 70, remittance: 100, reference: 35 },
  endsBy: 'camt.054',
  releasedBy: 'pain.002',
  silenceHours: 24,
  payeeCheck: 'none',
  takesCancellations: true,
};

const OFFERING: ConfiguredProvider = {
  code: FILES_BANK,
  method: 'built-in',
  offers: [FILES_OFFER],
};

/** Noon of a Wednesday. */
const NOON = Date.parse('2027-06-16T12:00:00Z');

export interface FilesWorld {
  readonly api: TestApi;
  readonly world: MoneyWorld;
  readonly bank: ScriptedBank;
  readonly services: BankServices;
  readonly adapter: Provider;
  /** As the service's processes have it, by this database. */
  adapterOf(database: Database): Provider;
  readonly dependencies: ActivityDependencies;
  /** An account at the bank, with money; of another client if one is given. */
  account(pounds: number, clientId?: string): Promise<Json>;
  /** A payment as it is ordered. */
  order(accountId: string, pounds: number, changed?: Json): Json;
  /** A payment that is not submitted yet. */
  create(accountId: string, pounds: number, description?: string): Promise<string>;
  /** A payment, submitted as its workflow does. */
  pay(accountId: string, pounds: number, description?: string): Promise<string>;
  /** The bank changes what it takes, which shows at the next submission. */
  takes(changed: Partial<BankProfile>): void;
  /** The workflow's next steps. */
  go(transferId: string): Promise<unknown>;
  transfer(id: string): Promise<Json>;
  /** Another bank of these rules on the same folder. */
  exchange(changed?: { readonly profile?: Partial<BankProfile>; readonly settings?: Partial<FileExchange> }): Exchange;
  exchangeOf(services: BankServices): Exchange;
  /** Two rounds: the bank's files are seen twice before they are fetched. */
  rounds(exchange: Exchange): Promise<void>;
  /** As after the kill of a process: its lease runs out. */
  loseLease(): Promise<void>;
  rows(query: string): Promise<Json[]>;
  close(): Promise<void>;
}

export async function filesWorld(name: string): Promise<FilesWorld> {
  const testDatabase = await createTestDatabase(name);
  const offset = `${Math.round((NOON - Date.now()) / 1_000)} seconds`;
  const bank = scriptedBank();
  const providers = new Map<string, Provider>();
  const settings: FileExchange = {
    profile: PROFILE.code,
    party: { name: 'Clients Ltd', id: 'CLIENTS', country: 'GB' },
    files: 'at-once',
    windowSeconds: 0,
    paymentsPerFileMax: 1_000,
    pollSeconds: 1,
    transport: { kind: 'folder', ...bank.folders },
  };
  const api = await startApi(testDatabase, {
    providers,
    clockOffset: () => offset,
    configuration: (configuration: Configuration) => ({
      ...configuration,
      prices: [],
      providers: [OFFERING, ...configuration.providers],
      bankProfiles: new Map([...configuration.bankProfiles, [PROFILE.code, PROFILE]]),
      fileExchanges: new Map([[FILES_BANK, settings]]),
    }),
  });
  const { database } = api;
  const { configuration, logger, environment, keyring } = api.services;
  const ofBank: Bank = { provider: FILES_BANK, profile: PROFILE, settings, readBankMessage: readPlainMessage };
  const openTransport = folderTransport({ kind: 'folder', ...bank.folders });
  const services: BankServices = { database, configuration, logger, bank: ofBank, openTransport };
  const adapterOf = (of: Database, profile: BankProfile = PROFILE) =>
    iso20022Provider({ database: of, configuration, provider: FILES_BANK, profile });
  const adapter = adapterOf(database);
  providers.set(FILES_BANK, adapter);
  const world = moneyWorld(api);
  const shared = { database, providers, configuration, logger, keyring };
  const dependencies: ActivityDependencies = { ...shared, publicUrl: api.url, mail: environment.mail };
  const steps = paymentSteps(dependencies);
  const client = await world.client('Ada');
  const beneficiary = await world.beneficiary(client);
  let credits = 0;

  const exchangeOf = (of: BankServices) => exchangeWith(of, randomUUID());
  const rows = (query: string) => database.statement<Json>(query, []);
  const self: FilesWorld = {
    api,
    world,
    bank,
    services,
    adapter,
    adapterOf,
    dependencies,
    rows,
    exchangeOf,
    exchange: ({ profile = {}, settings: changed = {} } = {}) =>
      exchangeOf({
        ...services,
        bank: { ...ofBank, profile: { ...PROFILE, ...profile }, settings: { ...settings, ...changed } },
      }),
    rounds: async (exchange) => {
      expect(await exchange.round()).toBe(true);
      expect(await exchange.round()).toBe(true);
    },
    account: async (pounds, clientId = client) => {
      const body = { workflow: { code: 'client.issuing' }, data: { account: { clientId, currency: 'GBP' } } };
      const issued = await api.call('POST', '/accounts', body);
      expect(issued.status, issued.text).toBe(201);
      const { id } = issued.body.data.account;
      await new MockActivityEnvironment().run(accountProviderCalls(dependencies).connectClient, id);
      const { account } = (await api.call('GET', `/accounts/${id}`)).body.data;
      expect(account.status).toBe('active');
      if (pounds > 0) {
        credits += 1;
        bank.say(
          accountReport('camt.054', creditOf(`credit ${name} ${credits}`, BigInt(pounds) * 100n, account.ledgerNumber)),
        );
        const exchange = exchangeOf(services);
        await self.rounds(exchange);
        await exchange.end();
        expect((await world.balance(id)).available).toBe(pounds);
      }
      return account;
    },
    order: (accountId, pounds, changed = {}) => ({
      clientId: client,
      source: { type: 'client-account', accountId },
      destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: beneficiary },
      amount: pounds,
      currency: 'GBP',
      scope: 'external',
      scheme: 'faster-payments',
      ...changed,
    }),
    create: async (accountId, pounds, description = 'Rent') => {
      const outgoingTransfer = self.order(accountId, pounds, { description });
      const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
      const created = await api.call('POST', '/outgoing-transfers', body);
      expect(created.status, created.text).toBe(201);
      return created.body.data.outgoingTransfer.id;
    },
    pay: async (accountId, pounds, description) => {
      const id = await self.create(accountId, pounds, description);
      await self.go(id);
      return id;
    },
    takes: (changed) => providers.set(FILES_BANK, adapterOf(database, { ...PROFILE, ...changed })),
    go: (id) => steps.go(id),
    transfer: async (id) => (await api.call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer,
    loseLease: async () => {
      await rows("UPDATE bank_file_leases SET held_until = clock_timestamp() - interval '1 second'");
    },
    close: async () => {
      await api.stop();
      await testDatabase.drop();
      bank.remove();
    },
  };
  return self;
}
