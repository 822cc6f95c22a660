import { execFile } from 'node:child_process';
import { existsSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { FILE_OUTCOMES } from '../../../sandbox/file-bank/outcomes.ts';
import { eventually, temporaryDirectory } from '../../harness/servers/sandbox.ts';
import { type ToldMessage, told } from './bank-answers.ts';
import { CUSTOMER, expectAddedUp, FileBankServer, survivesKills, toldEntries } from './file-bank-server.ts';
import { type HandWrittenPayment, paymentFile } from './payment-file.ts';
import { collect, send, signIn } from './sftp-customer.ts';

// The sandbox's file bank through its SFTP server, by the client that the service uses, and through kills of its process.

const directory = temporaryDirectory();
let bank: FileBankServer;

beforeAll(async () => {
  bank = await FileBankServer.start(directory.path);
});

beforeEach(async () => {
  await bank.post('/faults', {}, 'DELETE');
  await bank.signInAgain();
});

afterEach(async () => {
  await bank?.client.end().catch(() => false);
});

afterAll(async () => {
  await bank?.sandbox.kill();
  directory.remove();
});

const payment = (endToEndId: string, amount = '1.00'): HandWrittenPayment => ({ endToEndId, amount });
const fileOf = (messageId: string, ...payments: HandWrittenPayment[]) =>
  paymentFile({ messageId, batches: [payments] });

/** Those that need no minutes: what the amounts do at the server has tests of its own. */
const ENDINGS = Object.keys(FILE_OUTCOMES).filter((ending) => !['5', '6', '7', '16'].includes(ending));

test('twenty payments of all outcomes: what the customer collects adds up to the bank’s books', async () => {
  const payments = Array.from({ length: 20 }, (_, index) => {
    const ending = (ENDINGS[index] ?? String(20 + index)).padStart(2, '0');
    return payment(`ALL${ending}`, `${10 + index}.${ending}`);
  });
  await send(bank.client, 'all.xml', fileOf('ALL', ...payments));
  await bank.taken('ALL');
  // What comes last: the second copy of `.08`, the return of `.03`, the acceptance of `.09`.
  await eventually('all is told', () => {
    const files = bank.told();
    const details = files.flatMap(({ message }) => message.entries.flatMap((entry) => entry.details));
    const statuses = files.flatMap(({ message }) => message.statuses);
    const isTold =
      details.filter((one) => one.startsWith('ALL08 ')).length === 2 && details.some((one) => one.endsWith('AC06'));
    return isTold && statuses.includes('ALL09 ACSC') ? true : undefined;
  });
  const collected = await collect(bank.client);
  expect(await bank.post('/end-of-day')).toBe(200);
  const statements = await eventually('the statement', () => {
    const files = bank.told().filter(({ message }) => message.version.startsWith('camt.053'));
    return files.length > 0 ? files : undefined;
  });

  const own = await bank.entries('ALL');
  const inBooks = own
    .map(({ direction, endToEndId, amount }) => `${direction} ${endToEndId} ${amount.toFixed(2)}`)
    .sort();
  expect(toldEntries(statements).sort()).toEqual(inBooks);
  const notified = new Set(toldEntries(collected.filter(({ message }) => message.version.startsWith('camt.054'))));
  const untold = inBooks.filter((entry) => !notified.has(entry));
  expect(untold).toEqual([expect.stringMatching(/^debit ALL04 /)]);
  expectAddedUp(own);
  const rejected = collected.flatMap(({ message }) => message.statuses.filter((one) => one.includes('RJCT')));
  expect(rejected.sort()).toEqual(['ALL01 RJCT AC03', 'ALL11 RJCT BE08', 'ALL12 RJCT BE08']);
});

test.each(['cut-in-write', 'cut-after-write'] as const)(
  '%s: the customer gets an error, the temporary file is there, and nothing of it is read',
  async (connection) => {
    const id = connection.toUpperCase();
    const content = fileOf(id, payment(id));
    expect(await bank.post('/faults', { connection, times: 1 })).toBe(200);
    await expect(bank.client.put(Buffer.from(content), `/in/${id}.part`)).rejects.toThrow();
    await bank.signInAgain();
    const size = (await bank.client.stat(`/in/${id}.part`)).size;
    if (connection === 'cut-in-write') expect(size).toBeLessThan(Buffer.byteLength(content));
    else expect(size).toBe(Buffer.byteLength(content));
    expect(await bank.received(id)).toEqual([]);
    await bank.client.delete(`/in/${id}.part`);
    await send(bank.client, `${id}.xml`, content);
    await bank.taken(id);
    expect(await bank.entries(id)).toHaveLength(1);
  },
);

test.each([
  ['by the switch', '1.00', 'SWITCH'],
  ['by an amount of .05', '1.05', 'AMOUNT'],
])('cut at the rename %s: the file is taken all the same, and sent again it pays nothing', async (_, amount, id) => {
  const content = fileOf(id, payment(id, amount));
  if (amount === '1.00') await bank.post('/faults', { connection: 'cut-at-rename', times: 1 });
  await expect(send(bank.client, `${id}.xml`, content)).rejects.toThrow();
  await bank.taken(id);
  await bank.signInAgain();
  await bank.client.put(Buffer.from(content), `/in/${id}.tmp`);
  // Another name, as a file with .05 would be cut again: this one is not renamed through the server.
  await bank.post('/faults', {}, 'DELETE');
  await bank.client.rename(`/in/${id}.tmp`, `/in/${id}-2.xml`).catch(() => {});
  await bank.taken(id, 2);
  expect((await bank.received(id)).map(({ outcome }) => outcome)).toEqual(['taken', 'duplicate']);
  expect(await bank.entries(id)).toHaveLength(1);
});

test('a file with an amount of .06: its rename fails twice and is without effect, the third works', async () => {
  await bank.client.put(Buffer.from(fileOf('SIX', payment('SIX', '1.06'))), '/in/six.part');
  for (const _ of [1, 2]) await expect(bank.client.rename('/in/six.part', '/in/six.xml')).rejects.toThrow();
  expect(await bank.client.exists('/in/six.part')).toBe('-');
  await bank.client.rename('/in/six.part', '/in/six.xml');
  await bank.taken('SIX');
  expect(await bank.entries('SIX')).toHaveLength(1);
});

test('the server is away, its disk is full, or it says ok and has nothing: a customer that looks finds out', async () => {
  const content = fileOf('FAULTS', payment('FAULTS'));
  await bank.post('/faults', { connection: 'away' });
  await expect(signIn(bank.sandbox, directory.path, CUSTOMER)).rejects.toThrow();
  await bank.post('/faults', { connection: 'normal', uploads: 'disk-full' });
  await bank.signInAgain();
  await expect(bank.client.put(Buffer.from(content), '/in/faults.part')).rejects.toThrow();
  await bank.post('/faults', { uploads: 'lost' });
  await send(bank.client, 'faults.xml', content);
  expect(await bank.client.exists('/in/faults.xml')).toBe(false);
  expect((await bank.client.list('/archive')).filter(({ name }) => name.includes('faults'))).toEqual([]);
  expect(await bank.received('FAULTS')).toEqual([]);
  await bank.post('/faults', {}, 'DELETE');
  await send(bank.client, 'faults.xml', content);
  await bank.taken('FAULTS');
});

test('a customer sees its own folders only, and does not write where the bank does', async () => {
  await send(bank.client, 'own.xml', fileOf('OWN', payment('OWN')));
  await bank.taken('OWN');
  const other = await signIn(bank.sandbox, directory.path, 'other');
  try {
    expect((await other.list('/')).map(({ name }) => name).sort()).toEqual(['archive', 'in', 'out']);
    expect(await other.list('/archive')).toEqual([]);
    expect(await other.realPath('/../../acme')).toBe('/acme');
    expect(await other.exists('/../acme/archive')).toBe(false);
    await expect(other.put(Buffer.from('x'), '/out/x.xml')).rejects.toThrow(/ermission/);
    await expect(other.put(Buffer.from('x'), '/../other/in/../../x.xml')).rejects.toThrow(/ermission/);
    await expect(other.rename('/in', '/archive/in')).rejects.toThrow(/ermission/);
  } finally {
    await other.end();
  }
  await expect(signIn(bank.sandbox, directory.path, '../acme')).rejects.toThrow();
});

/** What OpenSSH's own client does is not what the library does. */
const OPENSSH = '/usr/bin/sftp';

test.skipIf(!existsSync(OPENSSH))('OpenSSH’s sftp lists, puts, renames, gets and removes', async () => {
  const { sftpPort } = await bank.get<{ sftpPort: number }>('');
  const file = join(directory.path, 'openssh.xml');
  const copy = join(directory.path, 'copy.xml');
  writeFileSync(file, fileOf('OPENSSH', payment('OPENSSH')));
  const batch = join(directory.path, 'batch');
  writeFileSync(
    batch,
    `ls -l /in\nput ${file} /in/o.part\nget /in/o.part ${copy}\nrename /in/o.part /in/o.xml\nmkdir /in/f\nrmdir /in/f\n`,
  );
  const key = join(directory.path, 'sandbox/file-bank/client_key');
  const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'BatchMode=yes'].flatMap((one) => [
    '-o',
    one,
  ]);
  await promisify(execFile)(OPENSSH, [
    '-b',
    batch,
    '-i',
    key,
    '-P',
    String(sftpPort),
    ...options,
    `${CUSTOMER}@127.0.0.1`,
  ]);
  expect(readFileSync(copy, 'utf8')).toBe(readFileSync(file, 'utf8'));
  await bank.taken('OPENSSH');
});

async function eventuallyTold(what: string, isTold: (message: ToldMessage) => boolean): Promise<ToldMessage> {
  return eventually(what, () =>
    bank
      .told()
      .map(({ message }) => message)
      .find(isTold),
  );
}

test('levers move what is open, repeat without effect, and are told by files', async () => {
  await send(
    bank.client,
    'levers.xml',
    fileOf('LEVERS', payment('LEVER1', '1.10'), payment('LEVER2', '1.13'), payment('LEVER3', '1.10')),
  );
  await bank.taken('LEVERS');
  for (const _ of [1, 2]) {
    expect(await bank.post('/payments/LEVER1/settle')).toBe(200);
    expect(await bank.post('/payments/LEVER1/return', { amount: '0.60', code: 'AC04', returnReference: 'R' })).toBe(
      200,
    );
    expect(await bank.post('/payments/LEVER2/reject', { code: 'AC06' })).toBe(200);
  }
  expect(await bank.post('/payments/LEVER2/settle')).toBe(409);
  expect(await bank.post('/payments/LEVER9/settle')).toBe(404);
  expect(await bank.post('/payments/LEVER3/settle', { code: 'AC04' })).toBe(400);
  expect(await bank.post('/payments/LEVER3/confirm')).toBe(200);
  expect(
    (await bank.entries('LEVER')).map(({ direction, endToEndId, amount }) => `${direction} ${endToEndId} ${amount}`),
  ).toEqual(['debit LEVER1 1.1', 'credit LEVER1 0.6', 'debit LEVER2 1.13', 'credit LEVER2 1.13']);
  await eventuallyTold('the return', ({ entries }) =>
    entries.some(({ details }) => details.includes('LEVER1 0.60 AC04')),
  );
  await eventuallyTold('the failure', ({ entries }) =>
    entries.some(({ details }) => details.includes('LEVER2 1.13 AC06')),
  );
});

test('a payment in is told to the customer whose account it names', async () => {
  const asked = { amount: '12.34', currency: 'EUR', scheme: 'sepa', senderName: 'Ann Payer', reference: 'rent' };
  expect(await bank.post('/customers/payee', { accounts: ['FR1420041010050500013M02606'] })).toBe(200);
  expect(await bank.post('/payments-in', asked)).toBe(400);
  expect(await bank.post('/payments-in', { ...asked, iban: 'GB33BUKB20201555555555' })).toBe(422);
  expect(await bank.post('/payments-in', { ...asked, iban: 'FR1420041010050500013M02606' })).toBe(201);
  const payee = await signIn(bank.sandbox, directory.path, 'payee');
  const [file] = await eventually('the file', async () => {
    const files = await collect(payee);
    return files.length === 0 ? undefined : files;
  });
  await payee.end();
  expect(file?.message).toMatchObject({
    version: 'camt.054.001.08',
    entries: [{ direction: 'CRDT', amount: '12.34' }],
  });
  expect(await bank.post('/customers/payee', { accounts: 'all' })).toBe(400);
  expect(await bank.post('/customers/payee', { batchBooking: 'never' })).toBe(400);
});

test('strange files come as they are, and the latest first where the switch says so', async () => {
  expect(await bank.post('/strange-files', { customer: 'nowhere', kind: 'half' })).toBe(404);
  const strange = await signIn(bank.sandbox, directory.path, 'strange');
  for (const kind of ['garbage', 'half']) {
    expect(await bank.post('/strange-files', { customer: 'strange', kind })).toBe(201);
    await expect(collect(strange)).rejects.toThrow('no XML');
    for (const { name } of await strange.list('/out')) await strange.delete(`/out/${name}`);
  }
  expect(await bank.post('/strange-files', { customer: 'strange', kind: 'unknown-payment' })).toBe(201);
  expect(await collect(strange)).toMatchObject([{ message: { statuses: ['NEVER-SENT-1-1 ACSC'] } }]);
  for (const { name } of await strange.list('/out')) await strange.delete(`/out/${name}`);

  await bank.post('/faults', { answers: 'held' });
  const ids = ['FIRST', 'SECOND'];
  for (const id of ids) {
    await send(strange, `${id}.xml`, fileOf(id, payment(id, '1.01')));
    await bank.taken(id);
    await eventually('its answer', async () => {
      const { written } = await bank.get<{ written: { customer: string }[] }>('/files?customer=strange');
      return written.length === ids.indexOf(id) + 1 ? true : undefined;
    });
  }
  const out = join(directory.path, 'sandbox/file-bank/customers/strange/out');
  // Times of files are too coarse to tell two that are written one after the other.
  const names: string[] = [];
  const watcher = watch(out, (_, name) => {
    if (name !== null && !names.includes(name)) names.push(name);
  });
  await bank.post('/faults', { answers: 'reversed' });
  await eventually('both', async () => (names.length === 2 ? true : undefined));
  watcher.close();
  expect(names.map((name) => told(readFileSync(join(out, name))).originalMessageId)).toEqual(['SECOND', 'FIRST']);
  await strange.end();
});

test('a connection that is cut while a file is read leaves it where it is', async () => {
  await send(bank.client, 'read.xml', fileOf('READ', payment('READ')));
  await bank.taken('READ');
  await eventuallyTold('its status', ({ statuses }) => statuses.includes('READ ACSC'));
  const [first] = await bank.client.list('/out');
  await bank.post('/faults', { connection: 'cut-in-read', times: 1 });
  await expect(bank.client.get(`/out/${first?.name}`)).rejects.toThrow();
  await bank.signInAgain();
  expect(await bank.client.exists(`/out/${first?.name}`)).toBe('-');
});

test('killed while it reads a file: no payment is doubled, and no message is lost or half', () =>
  survivesKills(bank, 1, 61));
