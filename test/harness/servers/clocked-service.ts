import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEndpoints } from '../../../cli/common/endpoints.ts';
import { developmentToken } from '../../../dev/start/development-users.ts';
import type { Json } from '../api.ts';
import { until } from '../stage.ts';
import { type ServiceInstallation, type StartedService, startService } from './started-service.ts';

/** Transfers fail at the third missed cut-off, and those in euros need an approver. */
const CONFIGURATION = { rollLimit: 2, authorization: { byCurrency: { EUR: 'always' } } };

interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** A service of `npm start`, and its callers: over HTTP only, with one token that never expires. */
export class ClockedService {
  readonly installation: ServiceInstallation;
  #started: StartedService;
  readonly #token: string;

  private constructor(installation: ServiceInstallation, started: StartedService, token: string) {
    this.installation = installation;
    this.#started = started;
    this.#token = token;
  }

  static async start(installation: ServiceInstallation, settings: Json = CONFIGURATION): Promise<ClockedService> {
    const configuration = join(installation.dataDirectory, 'clocked.json');
    writeFileSync(configuration, JSON.stringify(settings));
    installation.environment.CONFIG_FILE = configuration;
    const started = await startService(installation);
    const endpoints = readEndpoints(installation.dataDirectory);
    return new ClockedService(
      installation,
      started,
      await developmentToken(installation.dataDirectory, endpoints, { now: new Date() }),
    );
  }

  async restart(): Promise<void> {
    this.#started.process.kill('SIGTERM');
    await this.#started.exitCode;
    this.#started = await startService(this.installation);
  }

  /** What the start has printed. */
  output(): string {
    return this.#started.output();
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return send(method, `${this.installation.apiUrl}${path}`, body, {
      authorization: `Bearer ${this.#token}`,
      'content-type': 'application/json',
      ...headers,
    });
  }

  /** The named resource of an answer, which must be a success. */
  async post(path: string, name: string, resource: unknown, code = 'direct', more: object = {}): Promise<Json> {
    const { status, body } = await this.call('POST', path, { workflow: { code }, data: { [name]: resource }, ...more });
    if (status > 299) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body.data[name];
  }

  async get(path: string, name: string): Promise<Json> {
    const { status, body } = await this.call('GET', path);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body.data[name];
  }

  bank(path: string, body: unknown): Promise<Answer> {
    return send('POST', `${this.installation.sandboxUrl}/bank${path}`, body);
  }

  /** The bank that is met by files. */
  fileBank(method: string, path: string, body?: unknown): Promise<Answer> {
    return send(method, `${this.installation.sandboxUrl}/file-bank${path}`, body);
  }

  moveClock(move: unknown): Promise<Answer> {
    return send('POST', `${this.installation.sandboxUrl}/clock`, move);
  }

  clock(): Promise<Answer> {
    return send('GET', `${this.installation.sandboxUrl}/clock`);
  }

  /** The service's time. */
  async now(): Promise<Date> {
    return new Date((await this.clock()).body.now);
  }

  /** A client with an account that its bank has opened, or that of a named provider. */
  async account(currency: 'GBP' | 'EUR', provider: string | null = null): Promise<Json> {
    const country = currency === 'GBP' ? 'GB' : 'DE';
    const client = await this.post('/clients', 'client', {
      identity: { type: 'individual', givenName: 'Ada', familyName: 'Lovelace', country },
      profile: { identityType: 'individual', residentialAddress: { country, city: 'Town' } },
    });
    const account = { clientId: client.id, currency, country };
    const connect = { method: 'built-in', type: 'explicit', serviceProvider: provider };
    const chosen = provider === null ? {} : { connect };
    const { id } = await this.post('/accounts', 'account', account, 'client.issuing', chosen);
    return until(
      () => this.get(`/accounts/${id}`, 'account'),
      ({ status }) => status === 'active',
    );
  }

  async payIn(account: Json, amount: number): Promise<void> {
    const before = (await this.get(`/accounts/${account.id}`, 'account')).availableBalance;
    await this.bank('/payments-in', {
      amount,
      currency: account.currency,
      scheme: account.currency === 'GBP' ? 'faster-payments' : 'sepa',
      iban: account.iban,
      senderName: 'A Payer',
    });
    await until(
      () => this.get(`/accounts/${account.id}`, 'account'),
      ({ availableBalance }) => availableBalance === before + amount,
    );
  }

  /** A payment to a beneficiary outside, as it was accepted. */
  async pay(account: Json, amount: number, scheme: string, change: object = {}): Promise<Json> {
    const bankAccount =
      account.currency === 'GBP'
        ? { country: 'GB', currency: 'GBP', accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } }
        : { country: 'DE', currency: 'EUR', iban: 'DE89370400440532013000' };
    const { bankAccounts } = await this.post('/beneficiaries', 'beneficiary', {
      clientId: account.clientId,
      identity: { type: 'corporate', legalName: 'Brook Lane Bakery Ltd' },
      bankAccounts: [bankAccount],
    });
    return this.post(
      '/outgoing-transfers',
      'outgoingTransfer',
      {
        clientId: account.clientId,
        currency: account.currency,
        amount,
        description: 'Invoice 12',
        scope: 'external',
        scheme,
        source: { type: 'client-account', accountId: account.id },
        destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccounts[0].id },
        ...change,
      },
      'client.direct',
    );
  }

  transfer(id: string): Promise<Json> {
    return this.get(`/outgoing-transfers/${id}`, 'outgoingTransfer');
  }

  transferUntil(id: string, holds: (transfer: Json) => boolean): Promise<Json> {
    return until(() => this.transfer(id), holds);
  }
}

async function send(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}
