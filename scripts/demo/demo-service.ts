import { setTimeout as sleep } from 'node:timers/promises';
import type { Endpoints } from '../frame/endpoints.ts';
import { RemedyError } from '../frame/remedy.ts';
import { isJson, type Json, object, text } from './demo-answers.ts';
import type { Receiver } from './demo-receiver.ts';

const WAIT_LIMIT_MS = 60_000;
const POLL_MS = 100;

/** The running service and its sandbox bank, over HTTP as a caller and a payer use them. */
export class Service {
  readonly #endpoints: Endpoints;
  readonly #token: string;

  constructor(endpoints: Endpoints, token: string) {
    this.#endpoints = endpoints;
    this.#token = token;
  }

  async post(path: string, code: string, data: unknown, connect?: unknown): Promise<Json> {
    return this.#call('POST', path, JSON.stringify({ workflow: { code }, data, connect }));
  }

  get(path: string): Promise<Json> {
    return this.#call('GET', path);
  }

  async client(givenName: string, familyName: string): Promise<string> {
    const identity = { type: 'individual', givenName, familyName, country: 'GB' };
    const profile = { identityType: 'individual', residentialAddress: { country: 'GB', city: 'London' } };
    const created = await this.post('/clients', 'direct', { client: { identity, profile } });
    return text(created, 'client', 'id');
  }

  /** Makes a company and its account known to the bank alone, and takes both over from it. */
  async migratedAccount(legalName: string, balance: number): Promise<Json> {
    const sourceId = `demo-${Date.now()}`;
    const connect = { type: 'explicit', serviceProvider: 'sandbox-bank' };
    const identity = { type: 'corporate', legalName, country: 'GB' };
    await this.#atBank('/existing-clients', { sourceId, identity, address: { country: 'GB', city: 'Leeds' } });
    await this.#atBank('/existing-accounts', {
      sourceId,
      clientSourceId: sourceId,
      currency: 'GBP',
      country: 'GB',
      balance,
    });
    const migrated = await this.post('/clients', 'migration', { sourceId }, connect);
    const account = { clientId: text(migrated, 'client', 'id'), currency: 'GBP' };
    return object(await this.post('/accounts', 'client.migration', { sourceId, account }, connect), 'account');
  }

  /** Opens an account and waits until the bank has opened it, through the workflow account-connection. */
  async openAccount(clientId: string): Promise<Json> {
    const created = await this.post('/accounts', 'client.issuing', { account: { clientId, currency: 'GBP' } });
    const id = text(created, 'account', 'id');
    return this.until(`/accounts/${id}`, 'account', ({ status }) => status === 'active');
  }

  /** The account shares the bank details of its main account, and is active at once. */
  async subAccount(main: Json, alias: string): Promise<Json> {
    const account = { mainAccountId: text(main, 'id'), alias };
    return object(await this.post('/accounts', 'client.sub-account', { account }), 'account');
  }

  /** The directory's result for a name and an account, in a word or two. */
  async comparedName(clientId: string, account: Json, name: string): Promise<string> {
    const [givenName = '', familyName = ''] = name.split(' ');
    const bankAccount = {
      accountNumber: text(account, 'accountNumber'),
      routingCodes: object(account, 'routingCodes'),
    };
    const identity = { type: 'individual', givenName, familyName };
    const answer = await this.post('/beneficiary-verifications', 'client.pay-uk.cop', {
      beneficiary: { clientId, identity, bankAccount },
    });
    const { matched, reason, accountHolderName } = object(object(answer, 'beneficiaryVerification'), 'result');
    if (matched === true) return 'matched';
    return accountHolderName === null ? `${reason}` : `${reason}, the holder is ${accountHolderName}`;
  }

  /** Writes the amount as digits: money is never a float, not even here. */
  async pay(clientId: string, from: Json, amount: string, to: Json): Promise<Json> {
    const source = { type: 'client-account', accountId: text(from, 'id') };
    const transfer = JSON.stringify({ clientId, currency: 'GBP', description: 'Demo', source, ...to });
    const withAmount = transfer.replace(/^\{/, `{"amount":${amount},`);
    const body = `{"workflow":{"code":"client.direct"},"data":{"outgoingTransfer":${withAmount}}}`;
    return object(await this.#call('POST', '/outgoing-transfers', body), 'outgoingTransfer');
  }

  /** Pays like an outside payer: at the bank, which notifies the service by a signed callback. */
  async payIn(account: Json): Promise<void> {
    const body = {
      amount: 250,
      currency: 'GBP',
      scheme: 'faster-payments',
      senderName: 'Charles Babbage',
      reference: 'Analytical Engine',
      iban: text(account, 'iban'),
    };
    await this.#atBank('/payments-in', body);
  }

  async #atBank(path: string, body: unknown): Promise<void> {
    const answer = await fetch(`${this.#endpoints.sandboxUrl}/bank${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer.status !== 201) throw new RemedyError(`The sandbox bank refused ${path}: ${await answer.text()}`);
  }

  async until(path: string, name: string, holds: (resource: Json) => boolean): Promise<Json> {
    const deadline = Date.now() + WAIT_LIMIT_MS;
    for (;;) {
      const resource = object(await this.get(path), name);
      if (holds(resource)) return resource;
      if (Date.now() > deadline) throw new RemedyError(`${path} did not get there: ${JSON.stringify(resource)}`);
      await sleep(POLL_MS);
    }
  }

  async forget(receiver: Receiver): Promise<void> {
    if (receiver.subscriptionId !== null)
      await this.#call('DELETE', `/webhook-subscriptions/${receiver.subscriptionId}`);
  }

  /** A file, as it is. */
  file(path: string): Promise<string> {
    return this.#text('GET', path);
  }

  async #call(method: string, path: string, body?: string): Promise<Json> {
    const parsed: unknown = JSON.parse(await this.#text(method, path, body));
    return isJson(parsed) ? object(parsed, 'data') : {};
  }

  async #text(method: string, path: string, body?: string): Promise<string> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${this.#endpoints.apiUrl}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    }).catch((error: unknown) => {
      throw new RemedyError(`No service answers at ${this.#endpoints.apiUrl}. Run "npm start" in another terminal.`, {
        cause: error,
      });
    });
    const content = await answer.text();
    if (!answer.ok) throw new RemedyError(`${method} ${path} answered ${answer.status}: ${content}`);
    return content;
  }
}
