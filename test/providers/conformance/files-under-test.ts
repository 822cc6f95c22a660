import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect } from 'vitest';
import { accountProviderCalls } from '../../../activities/accounts/activities.ts';
import { exchangedBanks } from '../../../activities/bank-files/exchange/banks.ts';
import { MOUNTED } from '../../../activities/bank-files/exchange/folder.ts';
import type { ActivityDependencies } from '../../../activities/common/dependencies.ts';
import {
  type OutgoingTransferNext,
  outgoingTransferTransitions,
} from '../../../activities/outgoing-transfers/activities.ts';
import type { Provider } from '../../../activities/providers/port.ts';
import type { PaymentRequest } from '../../../activities/providers/ports/payment-port.ts';
import { createProviders } from '../../../activities/providers/providers.ts';
import type { Configuration } from '../../../config/configuration.ts';
import { readDueSubmission, readReturn } from '../../../db/outgoing-transfers/payment-submissions.ts';
import { fileBankExchange } from '../../../dev/servers/file-bank-exchange.ts';
import { asId, type IncomingTransferId, type OutgoingTransferId } from '../../../domain/common/ids.ts';
import { formatAmount } from '../../../domain/common/money.ts';
import { bankFileExchange } from '../../../loops/bank-files.ts';
import { type Json, startApi, type TestApi } from '../../harness/api.ts';
import { moneyWorld } from '../../harness/money.ts';
import { createTestDatabase } from '../../harness/servers/postgres.ts';
import { eventually, temporaryDirectory } from '../../harness/servers/sandbox.ts';
import { inTime } from '../../harness/transfers/payment-steps.ts';
import type { ProviderUnderTest } from './every-provider.ts';
import { type FileBankHere, startFileBankHere } from './file-bank-here.ts';

/** A bank that takes files, and what is paid through it. */
export interface BankOfFiles {
  readonly place: 'DE' | 'GB';
  readonly transport: 'folder' | 'sftp';
  readonly scheme: string;
  readonly currency: string;
  /** A payee's account at another bank. */
  readonly payee: Json;
}

const BANK = 'files-bank';
const PASSPHRASE = 'a passphrase of the test';
/** Noon of a Wednesday, in the bank's time and in ours. */
const NOON = Date.parse('2027-06-16T12:00:00Z');
const DAY_MS = 86_400_000;
/** So that no amount is missing money. */
const FUNDS_MINOR = 100_000_000n;
const ROUND_SECONDS = 0.05;

/** The adapter of ISO 20022, its exchange of files, and behind them the sandbox's bank of files with books of its own. */
export async function filesUnderTest(of: BankOfFiles): Promise<ProviderUnderTest> {
  const directory = temporaryDirectory();
  let aheadMs = NOON - Date.now();
  const bank = await startFileBankHere(directory.path, () => new Date(Date.now() + aheadMs));
  const { file, account } = await configurationFor(of, bank, directory.path);
  const testDatabase = await createTestDatabase(`provider-${of.transport}`);
  const providers = new Map<string, Provider>();
  const api = await startApi(testDatabase, {
    providers,
    clockOffset: () => `${Math.round(aheadMs)} milliseconds`,
    env: { CONFIG_FILE: file },
    configuration: withShortRounds,
  });
  const { port, dependencies, stop } = await startExchange(api, providers);
  const payments = await paymentsThrough(of, { api, bank, dependencies, account });
  return {
    port,
    currency: of.currency,
    afterFailure: 'returned',
    ...payments,
    account: null,
    handedOver: null,
    endDay: async () => {
      aheadMs += DAY_MS;
      bank.clockMoved();
      const today = new Date(Date.now() + aheadMs).toISOString().slice(0, 10);
      return { from: new Date(0), to: new Date(today) };
    },
    stop: async () => {
      await stop();
      await moneyWorld(api).invariantsHold();
      await api.stop();
      await testDatabase.drop();
      await bank.stop();
      directory.remove();
    },
  };
}

/** The service's configuration for its exchange with the bank, in a file, and the number of its account there. */
async function configurationFor({ place, transport }: BankOfFiles, bank: FileBankHere, dataDirectory: string) {
  const { out, in: into, archive } = bank.folders(BANK);
  const exchange = await fileBankExchange({
    sandbox: { url: bank.url, dataDirectory },
    customer: BANK,
    place,
    accountNumber: place === 'GB' ? '31926819' : '0031926819',
    passphrase: PASSPHRASE,
    // The bank's words for its folders are those of the other side.
    ...(transport === 'folder' ? { settings: { transport: { kind: 'folder', out: into, in: out, archive } } } : {}),
  });
  for (const folder of transport === 'folder' ? [out, into, archive] : []) writeFileSync(join(folder, MOUNTED), '');
  const file = join(dataDirectory, 'configuration.json');
  writeFileSync(file, JSON.stringify({ providers: { [BANK]: exchange.provider } }));
  return { file, account: exchange.account };
}

function withShortRounds(configuration: Configuration): Configuration {
  const exchanges = [...configuration.fileExchanges].map(
    ([code, settings]) => [code, { ...settings, pollSeconds: ROUND_SECONDS }] as const,
  );
  return { ...configuration, prices: [], retryPauseSeconds: 0, fileExchanges: new Map(exchanges) };
}

/** The adapter and the loop, as the service's processes make them. */
async function startExchange(api: TestApi, providers: Map<string, Provider>) {
  const { database } = api;
  const { configuration, logger, environment, keyring } = api.services;
  const settings = { sandboxUrl: 'http://127.0.0.1:1', sandboxBankSecret: 'not asked by this test', database };
  for (const [code, provider] of createProviders(configuration, settings)) providers.set(code, provider);
  const port = providers.get(BANK);
  if (port === undefined) throw new Error(`${BANK} has no adapter`);
  const shared = { database, providers, configuration, logger, keyring };
  const dependencies: ActivityDependencies = { ...shared, publicUrl: api.url, mail: environment.mail };
  const banks = await exchangedBanks({ database, configuration, logger, sftpPassphrase: PASSPHRASE });
  const loops = banks.map(bankFileExchange);
  for (const loop of loops) loop.start();
  const stop = async () => {
    for (const loop of loops) await loop.stop();
  };
  return { port, dependencies, stop };
}

interface Places {
  readonly api: TestApi;
  readonly bank: FileBankHere;
  readonly dependencies: ActivityDependencies;
  readonly account: string;
}

type Payments = Pick<ProviderUnderTest, 'payment' | 'nextAttempt' | 'payIn' | 'sendBack' | 'returnPart'>;

/** Payments of a client with an account at the bank, and money there. */
async function paymentsThrough(of: BankOfFiles, places: Places): Promise<Payments> {
  const { api, bank, dependencies } = places;
  const { currency, place, scheme, payee } = of;
  const world = moneyWorld(api);
  const client = await world.client();
  const destination = {
    type: 'beneficiary-bank-account',
    beneficiaryBankAccountId: await world.beneficiary(client, payee),
  };
  const { account } = await created(api, '/accounts', {
    workflow: { code: 'client.issuing' },
    data: { account: { clientId: client, currency, country: place } },
    connect: { method: 'built-in', type: 'explicit', serviceProvider: BANK },
  });
  await new MockActivityEnvironment().run(accountProviderCalls(dependencies).connectClient, account.id);
  const opened = (await api.call('GET', `/accounts/${account.id}`)).body.data.account;
  expect(opened.status).toBe('active');
  await payIn(of, places, FUNDS_MINOR, currency, opened.ledgerNumber);
  const ordered = { clientId: client, source: { type: 'client-account', accountId: account.id }, destination };
  return {
    payment: async (amountMinor) => {
      const amount = Number(formatAmount(amountMinor, currency));
      const payment = { ...ordered, amount, currency, scope: 'external', scheme, description: 'invoice 17' };
      const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: payment } };
      const { outgoingTransfer } = await created(api, '/outgoing-transfers', body);
      return dueSubmission(dependencies, outgoingTransfer.id);
    },
    nextAttempt: ({ ourReference }) => dueSubmission(dependencies, ourReference),
    payIn: (amountMinor, currency) => payIn(of, places, amountMinor, currency, randomUUID()),
    sendBack: async (amountMinor) => {
      const key = await payIn(of, places, amountMinor, currency, randomUUID());
      const { reader } = api.database;
      const [row] = await reader.statement<{ id: IncomingTransferId }>(
        'SELECT id FROM incoming_transfers WHERE provider = $1 AND service_provider_id = $2',
        [BANK, key],
      );
      if (row === undefined) throw new Error(`${key} is no transfer`);
      const body = { workflow: { code: 'direct' } };
      const answer = await api.call('POST', `/incoming-transfers/${row.id}/return`, body);
      expect(answer.status, answer.text).toBe(200);
      const { request } = await readReturn(reader, row.id);
      return { ...request, code: 'AC04' };
    },
    returnPart: async ({ paymentReference }, returnedMinor) => {
      const amount = formatAmount(returnedMinor, currency);
      await bank.ask(`/payments/${paymentReference}/return`, { amount, code: 'AC06' });
    },
  };
}

async function created(api: TestApi, path: string, body: Json): Promise<Json> {
  const answer = await api.call('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data;
}

/** What the service submits next. */
function dueSubmission(dependencies: ActivityDependencies, id: string): Promise<PaymentRequest> {
  const { advanceOutgoingTransfer } = outgoingTransferTransitions(dependencies);
  const { reader } = dependencies.database;
  return eventually(`a submission of ${id} is due`, async () => {
    const next = await inTime<OutgoingTransferNext>(() =>
      new MockActivityEnvironment().run(advanceOutgoingTransfer, id),
    );
    if (next.do !== 'submit') return undefined;
    const due = await readDueSubmission(reader, asId<OutgoingTransferId>(id), next.attempt);
    return due === null ? undefined : { ...due.payment, attempt: next.attempt };
  });
}

/** Resolves when the service has heard of it. */
async function payIn(
  { place, scheme, currency: ownCurrency }: BankOfFiles,
  { api, bank, account }: Places,
  amountMinor: bigint,
  currency: string,
  reference: string,
): Promise<string> {
  const own = place === 'GB' ? { accountNumber: account, routingCodes: { 'sort-code': '601613' } } : { iban: account };
  const senderAccount = { iban: place === 'GB' ? 'GB33BUKB20201555555555' : 'FR1420041010050500013M02606' };
  const money = {
    amount: formatAmount(amountMinor, currency),
    currency,
    senderName: 'Ann Payer',
    senderAccount,
    reference,
  };
  await bank.ask('/payments-in', { ...money, ...own, scheme: currency === ownCurrency ? scheme : 'swift' });
  return eventually(`${reference} is received`, async () => {
    const [row] = await api.database.statement<Json>(
      `SELECT payload->>'serviceProviderId' AS id FROM provider_callbacks
       WHERE provider = $1 AND kind = 'payment-received' AND payload->>'remittanceText' = $2`,
      [BANK, reference],
    );
    return row?.id;
  });
}
