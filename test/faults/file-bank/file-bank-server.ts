import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type SftpClient from 'ssh2-sftp-client';
import { expect } from 'vitest';
import { randomFrom } from '../../harness/random.ts';
import { eventually, type RunningSandbox, startSandbox } from '../../harness/servers/sandbox.ts';
import { told } from './bank-answers.ts';
import { PAYER_IBAN, paymentFile } from './payment-file.ts';
import { collect, type FileOfBank, send, signIn } from './sftp-customer.ts';

export const CUSTOMER = 'acme';

export interface Received {
  readonly fileName: string;
  readonly messageId: string | null;
  readonly outcome: string;
}

export interface Entry {
  readonly direction: 'debit' | 'credit';
  readonly amount: number;
  readonly balance: number;
  readonly sequence: number;
  readonly endToEndId: string | null;
}

/** The sandbox's process with its file bank: its routes, and a customer who is signed in. */
export class FileBankServer {
  readonly directory: string;
  sandbox: RunningSandbox;
  client: SftpClient;

  private constructor(directory: string, sandbox: RunningSandbox, client: SftpClient) {
    this.directory = directory;
    this.sandbox = sandbox;
    this.client = client;
  }

  static async start(directory: string): Promise<FileBankServer> {
    const sandbox = await startSandbox({ directory, callbackUrl: 'http://127.0.0.1:1/' });
    return new FileBankServer(directory, sandbox, await signIn(sandbox, directory, CUSTOMER));
  }

  /** kill -9, and up again. */
  async killAndStart(): Promise<void> {
    await this.sandbox.kill();
    this.sandbox = await startSandbox({ directory: this.directory, callbackUrl: 'http://127.0.0.1:1/' });
    await this.signInAgain();
  }

  async signInAgain(): Promise<void> {
    this.client = await signIn(this.sandbox, this.directory, CUSTOMER);
  }

  async post(path: string, body: Record<string, unknown> = {}, method = 'POST'): Promise<number> {
    const request = method === 'POST' ? { method, body: JSON.stringify(body) } : { method };
    return (await fetch(`${this.sandbox.url}/file-bank${path}`, request)).status;
  }

  async get<Body>(path: string): Promise<Body> {
    return (await (await fetch(`${this.sandbox.url}/file-bank${path}`)).json()) as Body;
  }

  async received(messageId: string): Promise<readonly Received[]> {
    const files = await this.get<{ received: Received[] }>('/files');
    return files.received.filter((file) => file.messageId === messageId && file.outcome !== 'reading');
  }

  async taken(messageId: string, times = 1): Promise<void> {
    await eventually(`${messageId} is taken`, async () =>
      (await this.received(messageId)).length >= times ? true : undefined,
    );
  }

  /** What stands in the folder now, without the way through the server: to wait for. */
  told(): readonly FileOfBank[] {
    const out = join(this.directory, 'sandbox/file-bank/customers', CUSTOMER, 'out');
    return readdirSync(out).map((name) => ({ name, message: told(readFileSync(join(out, name))) }));
  }

  /** The movements on the payer's account whose payments begin so. */
  async entries(prefix: string): Promise<readonly Entry[]> {
    const statement = await this.get<{ entries: Entry[] }>(`/statement?account=${PAYER_IBAN}`);
    return statement.entries.filter(({ endToEndId }) => endToEndId?.startsWith(prefix));
  }
}

export function toldEntries(files: readonly FileOfBank[]): string[] {
  return files
    .flatMap(({ message }) => message.entries)
    .map(
      ({ direction, details: [first = ''] }) =>
        `${direction === 'DBIT' ? 'debit' : 'credit'} ${first.split(' ').slice(0, 2).join(' ')}`,
    );
}

/** An account's entries are numbered without a gap, and each balance follows from the one before. */
export function expectAddedUp(account: readonly Entry[]): void {
  expect(account.map(({ sequence }) => sequence)).toEqual(
    account.map((_, index) => (account[0]?.sequence ?? 0) + index),
  );
  for (const [index, { direction, amount, balance }] of account.entries()) {
    const before = account[index - 1]?.balance ?? 0;
    if (index > 0) expect(balance).toBeCloseTo(before + (direction === 'credit' ? amount : -amount), 6);
  }
}

/** Files of 40 payments, each followed by a kill at some instant: paid once, told once, nothing half. */
export async function survivesKills(bank: FileBankServer, kills: number, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const payments = Array.from({ length: 40 }, (_, at) => ({ at, amount: `1.${20 + at}` }));
  const files = Array.from({ length: kills }, (_, index) => `KILL${index}`);
  for (const id of files) {
    const batch = payments.map(({ at, amount }) => ({ endToEndId: `${id}-${at}`, amount }));
    await send(bank.client, `${id}.xml`, paymentFile({ messageId: id, batches: [batch] }));
    await sleep(random.whole(0, 120));
    await bank.killAndStart();
  }
  for (const id of files) await bank.taken(id);
  const own = await bank.entries('KILL');
  const debits = own.map(({ endToEndId }) => endToEndId).sort();
  expect(debits).toEqual(files.flatMap((id) => payments.map(({ at }) => `${id}-${at}`)).sort());
  expectAddedUp(own);
  for (const id of files) expect((await bank.received(id)).map(({ outcome }) => outcome)).toEqual(['taken']);

  // Reading a message validates it: none is half.
  const notified = (files: readonly FileOfBank[]) =>
    toldEntries(files.filter(({ message }) => message.version.startsWith('camt.054')))
      .filter((entry) => entry.startsWith('debit KILL'))
      .map((entry) => entry.split(' ')[1]);
  const statusesIn = (files: readonly FileOfBank[]) =>
    files.flatMap(({ message }) => message.statuses).filter((one) => one.startsWith('KILL'));
  await eventually('every debit is told', () => {
    const files = bank.told();
    return Math.min(notified(files).length, statusesIn(files).length) >= debits.length ? true : undefined;
  });
  const collected = await collect(bank.client);
  expect(notified(collected).sort()).toEqual(debits);
  const messageIds = collected.map(({ message }) => message.messageId);
  expect(new Set(messageIds).size).toBe(messageIds.length);
  expect(statusesIn(collected).sort()).toEqual(debits.map((id) => `${id} ACSC`));
}
