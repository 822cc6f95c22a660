import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Exchange } from '../../activities/bank-files/exchange/round.ts';
import { type Transport, TransportFailed } from '../../activities/bank-files/exchange/transport.ts';
import { OPERATIONS } from '../../cli/operations/operations.ts';
import { heldInWords } from '../../cli/operations/restores/held-at-banks.ts';
import { standingByFile } from '../../cli/operations/why/bank-files.ts';
import type { Configuration } from '../../config/configuration.ts';
import { readBankFilesAttention } from '../../db/bank-files/attention.ts';
import { holdQueued } from '../../db/bank-files/holds.ts';
import { holdForRestore, listBankRestores } from '../../db/bank-files/restores.ts';
import { endAfterRestore } from '../../db/outgoing-transfers/operator-commands.ts';
import { RESTORED, TOLD_BEFORE } from '../../domain/bank-files/exchange/holds.ts';
import { type BookedEntry, UnreadableMessage } from '../../domain/bank-files/messages.ts';
import { asId } from '../../domain/common/ids.ts';
import { paymentReferenceOf } from '../../domain/common/payment-references.ts';
import type { Json } from '../harness/api.ts';
import { auditOf, TESTER } from '../harness/audit.ts';
import { FILES_BANK, type FilesWorld, filesWorld } from '../harness/bank-files/files-world.ts';
import { accountReport, creditOf, debitOf, statusOf, statusReport } from '../harness/bank-files/scripted-bank.ts';

// What people do while the bank's server is away. "The loop" is an exchange at work, which a gate holds at one of its steps.

let files: FilesWorld;
let account: Json;
let exchange: Exchange;
let folder: string;
let configuration: Configuration;
let balanceBefore = 0;

beforeAll(async () => {
  files = await filesWorld('by-hand');
  folder = mkdtempSync(join(tmpdir(), 'by-hand-'));
  const profile = files.services.bank.profile;
  configuration = {
    ...files.api.services.configuration,
    fileExchanges: new Map([[FILES_BANK, files.services.bank.settings]]),
    bankProfiles: new Map([[profile.code, profile]]),
  };
  account = await files.account(10_000);
});

beforeEach(async () => {
  exchange = files.exchange();
  balanceBefore = await balance();
});

afterEach(async () => {
  await exchange?.end();
});

afterAll(async () => {
  await files?.world.invariantsHold();
  await files?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

const WHY = '--reason=The bank said so on the phone';

/** A command of a user of the operating system: its exit status, and what it prints as JSON. */
async function run(actor: string, ...given: readonly string[]): Promise<{ status: number; shown: Json }> {
  const lines: string[] = [];
  const status = await OPERATIONS['bank-files']?.run({
    database: files.api.database,
    // No command of files asks Temporal.
    temporal: null as never,
    initiator: { actor, requestId: null },
    arguments: [...given, '--json'],
    configuration,
    print: (line) => lines.push(line),
  });
  return { status: status ?? -1, shown: JSON.parse(lines.join('\n')) };
}

type Sent = ReturnType<FilesWorld['bank']['payment']>;

const timesArrived = (id: string) =>
  files.bank.payments().filter(({ paymentReference }) => paymentReference === paymentReferenceOf(id)).length;
const statusNow = async (id: string): Promise<string> => (await files.transfer(id)).status;
const balance = async (): Promise<number> => (await files.world.balance(account.id)).available;
/** By how much it has changed in this test. */
const gained = async () => (await balance()) - balanceBefore;
const actionsOf = async (id: string) => (await auditOf(files.api.database.reader, id)).map(({ action }) => action);
/** As if the exchange had let go of the file an hour ago, and it was asked for since. */
async function longAgo(id: string): Promise<void> {
  await files.rows(`UPDATE bank_files SET let_go_at = clock_timestamp() - interval '1 hour' WHERE id = '${id}'`);
  await files.rows(
    `UPDATE bank_file_requests r SET file_let_go_at = f.let_go_at FROM bank_files f WHERE f.id = r.file_id AND f.id = '${id}'`,
  );
}

async function fileOf(transferId: string): Promise<Json> {
  const [row] = await files.rows(
    `SELECT f.id, f.name, f.state, f.rename_began_at, f.message_id, encode(f.digest, 'hex') AS digest, i.state AS payment
     FROM bank_files f JOIN bank_instructions i ON i.file_id = f.id WHERE i.transfer_id = '${transferId}'`,
  );
  return row;
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A loop whose transport is away. */
const away = () =>
  files.exchangeOf({ ...files.services, openTransport: () => Promise.reject(new TransportFailed('away')) });

/** A payment whose file is written, and cannot be delivered. */
async function undelivered(): Promise<string> {
  const id = await files.pay(account.id, 10);
  const failing = away();
  await expect(failing.round()).rejects.toThrow('away');
  await failing.end();
  return id;
}

/** A loop that waits before one of its steps, until the gate opens. */
function gated(step: 'upload' | 'rename') {
  let arrived = () => {};
  let open = () => {};
  const reached = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const openTransport = async (): Promise<Transport> => {
    const transport = await files.services.openTransport();
    const wait = async () => {
      arrived();
      await opened;
    };
    return {
      ...transport,
      upload: async (name, content) => {
        if (step === 'upload') await wait();
        await transport.upload(name, content);
      },
      rename: async (part, name) => {
        if (step === 'rename') await wait();
        await transport.rename(part, name);
      },
    };
  };
  return { loop: files.exchangeOf({ ...files.services, openTransport }), reached, open };
}

describe('delivery by hand', () => {
  test('a file is handed out, carried and marked delivered: no upload of it ever gets its name, and the bank’s answer counts', async () => {
    const id = await undelivered();
    const { id: fileId, name, digest } = await fileOf(id);
    const path = join(folder, `${fileId}.xml`);
    const handed = await run('ada', 'deliver', fileId, `--to=${path}`, WHY);
    expect(handed).toMatchObject({ status: 0, shown: { state: 'handed-out', path, result: 'handed-out' } });
    expect(sha256(readFileSync(path))).toBe(digest);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await files.rounds(exchange);
    expect(timesArrived(id)).toBe(0);
    expect((await readBankFilesAttention(files.api.database.reader)).undeliveredSeconds).toBeGreaterThan(0);
    expect((await standingByFile(files.api.database.reader, id)).join('\n')).toContain(`mark-delivered ${fileId}`);

    // The same carrier may write it again; another would be a second carrier.
    expect((await run('ada', 'deliver', fileId, `--to=${path}2`, WHY)).shown.result).toBe('handed-out-again');
    const second = await run('bob', 'deliver', name, `--to=${path}3`, WHY);
    expect(second).toMatchObject({ status: 1, shown: { rejected: expect.stringContaining('ada carries it already') } });
    expect(() => statSync(`${path}3`)).toThrow();

    const wrong = await run('ada', 'mark-delivered', fileId, `--digest=${'0'.repeat(64)}`, WHY);
    expect(wrong).toMatchObject({
      status: 1,
      shown: { rejected: expect.stringContaining('is not that of this file') },
    });
    const given = `--digest=${digest.toUpperCase()}`;
    expect((await run('ada', 'mark-delivered', name, given, WHY)).shown.result).toBe('marked-delivered');
    expect((await run('ada', 'mark-delivered', name, given, WHY)).shown.result).toBe('unchanged');
    expect(await fileOf(id)).toMatchObject({ state: 'delivered', payment: 'delivered' });
    await files.rounds(exchange);
    expect(timesArrived(id)).toBe(0);
    expect(await actionsOf(fileId)).toEqual(['handed-out', 'handed-out-again', 'marked-delivered']);

    const { message_id: messageId } = await fileOf(id);
    files.bank.say(statusReport(messageId, { status: 'ACSP', reasons: [] }));
    await files.rounds(exchange);
    expect(await statusNow(id)).toBe('released');
  });

  test('what is handed out or marked delivered while the loop uploads it gets no name at the bank', async () => {
    for (const command of ['deliver', 'mark-delivered']) {
      const id = await files.pay(account.id, 10);
      const { loop, reached, open } = gated('upload');
      const round = loop.round();
      await reached;
      const { id: fileId, digest } = await fileOf(id);
      const option = command === 'deliver' ? `--to=${join(folder, fileId)}` : `--digest=${digest}`;
      expect((await run('ada', command, fileId, option, WHY)).status).toBe(0);
      open();
      await round;
      await files.rounds(loop);
      await loop.end();
      expect(timesArrived(id)).toBe(0);
      expect((await fileOf(id)).state).toBe(command === 'deliver' ? 'handed-out' : 'delivered');
    }
  });

  test('once its rename has begun it may have arrived, and is handed out to no one', async () => {
    const id = await files.pay(account.id, 10);
    const { loop, reached, open } = gated('rename');
    const round = loop.round();
    await reached;
    const { id: fileId } = await fileOf(id);
    const path = join(folder, `${fileId}-late`);
    const late = await run('ada', 'deliver', fileId, `--to=${path}`, WHY);
    expect(late).toMatchObject({ status: 1, shown: { rejected: expect.stringContaining('may have arrived') } });
    expect(() => statSync(path)).toThrow();
    open();
    await round;
    await loop.end();
    expect(timesArrived(id)).toBe(1);
    expect(await fileOf(id)).toMatchObject({ state: 'delivered' });
  });

  test('nothing is handed out while submissions are closed', async () => {
    const id = await undelivered();
    const { id: fileId } = await fileOf(id);
    await files.rows("UPDATE provider_submissions SET operator_closed_at = service_now(), operator_reason = 'a test'");
    const closed = await run('ada', 'deliver', fileId, `--to=${join(folder, `${fileId}-closed`)}`, WHY);
    await files.rows('UPDATE provider_submissions SET operator_closed_at = NULL, operator_reason = NULL');
    expect(closed).toMatchObject({ status: 1, shown: { rejected: expect.stringContaining('a test') } });
    expect((await fileOf(id)).state).toBe('built');
  });
});

describe('delivery once more', () => {
  /** A file that was renamed and is shown by no listing, and set aside by a person. */
  async function unproven(): Promise<{ id: string; fileId: string }> {
    const id = await files.pay(account.id, 10);
    const lost = files.exchangeOf({
      ...files.services,
      openTransport: async () => {
        const transport = await files.services.openTransport();
        // The server says that it got its name.
        return { ...transport, rename: (part) => transport.discard(part) };
      },
    });
    await lost.round();
    await lost.end();
    const { id: fileId, state } = await fileOf(id);
    expect(state).toBe('delivering');
    return { id, fileId };
  }

  test('needs another person, time for a delivery that had begun, and silence of the bank; then the same bytes go under the same name', async () => {
    const { id, fileId } = await unproven();
    const early = await run('ada', 'mark-undelivered', fileId, WHY);
    expect(early.shown.rejected).toContain('Set it aside first');
    expect((await run('ada', 'set-aside', fileId, WHY)).shown.result).toBe('set-aside');
    const { requestId } = (await run('ada', 'mark-undelivered', fileId, WHY)).shown;
    const twice = await run('bob', 'mark-undelivered', fileId, WHY);
    expect(twice.shown.rejected).toContain(requestId);
    const own = await run('ada', 'sign', requestId, WHY);
    expect(own.shown.rejected).toContain('another person must sign');
    const soon = await run('bob', 'sign', requestId, WHY);
    expect(soon.shown.rejected).toContain('may still end');
    await files.rounds(exchange);
    expect(timesArrived(id)).toBe(0);

    await longAgo(fileId);
    const before = await fileOf(id);
    const signed = await run('bob', 'sign', requestId, WHY);
    expect(signed).toMatchObject({ status: 0, shown: { result: 'signed', asked: 1, done: 1 } });
    expect((await run('bob', 'sign', requestId, WHY)).shown.rejected).toContain('it was signed');
    await files.rounds(exchange);
    expect(timesArrived(id)).toBe(1);
    expect(await fileOf(id)).toMatchObject({
      state: 'delivered',
      payment: 'delivered',
      name: before.name,
      digest: before.digest,
    });
    expect(files.bank.arrived().filter(({ name }) => name === before.name)).toHaveLength(1);
    expect(await actionsOf(fileId)).toEqual(['set-aside', 'sent-again']);
    expect(await actionsOf(requestId)).toEqual(['asked', 'signed']);

    files.bank.say(statusOf(files.bank.payment(paymentReferenceOf(id)), 'ACSP'));
    await files.rounds(exchange);
    const heard = await run('ada', 'mark-undelivered', fileId, WHY);
    expect(heard.shown.rejected).toContain('it has arrived');
  });

  test('what the bank tells between question and signature ends it; a rejected request does nothing', async () => {
    const { id, fileId } = await unproven();
    await run('ada', 'set-aside', fileId, WHY);
    const { requestId } = (await run('ada', 'mark-undelivered', fileId, WHY)).shown;
    expect((await run('bob', 'reject', requestId, WHY)).shown.result).toBe('rejected');
    expect((await fileOf(id)).state).toBe('set-aside');
    const { requestId: second } = (await run('ada', 'mark-undelivered', fileId, WHY)).shown;
    const { message_id: messageId } = await fileOf(id);
    files.bank.say(statusReport(messageId, { status: 'ACTC', reasons: [] }));
    await files.rounds(exchange);
    await longAgo(fileId);
    expect((await run('bob', 'sign', second, WHY)).shown.rejected).toContain('it has arrived');
    expect((await fileOf(id)).state).toBe('delivered');
  });

  test('what was asked for before a restore is signed no more: the file may have been sent again since', async () => {
    const { id, fileId } = await unproven();
    await run('ada', 'set-aside', fileId, WHY);
    const { requestId } = (await run('ada', 'mark-undelivered', fileId, WHY)).shown;
    await longAgo(fileId);
    await files.api.database.transaction((tx) => holdForRestore(tx, [FILES_BANK], new Date('2027-05-01T00:00:00Z')));
    await files.rows('UPDATE bank_restores SET archive_read_at = service_now()');
    expect((await run('bob', 'sign', requestId, WHY)).shown.rejected).toContain('Its time for a signature ended');
    expect((await fileOf(id)).state).toBe('set-aside');
    const { requestId: next } = (await run('ada', 'mark-undelivered', fileId, WHY)).shown;
    expect((await run('bob', 'sign', next, WHY)).shown).toMatchObject({ result: 'signed', done: 1 });
    await files.rounds(exchange);
    expect(timesArrived(id)).toBe(1);
    await files.rows('DELETE FROM bank_restores');
  });

  test('what has moved the file since the question ends it: another person marked it delivered, or the bank named it', async () => {
    for (const word of ['marked', 'named']) {
      const { id, fileId } = await unproven();
      await run('ada', 'set-aside', fileId, WHY);
      const { digest, message_id: messageId } = await fileOf(id);
      const { requestId } = (await run('ada', 'mark-undelivered', fileId, WHY)).shown;
      if (word === 'marked') await run('carl', 'mark-delivered', fileId, `--digest=${digest}`, WHY);
      else {
        files.bank.say(statusReport(messageId, { status: 'RJCT', reasons: ['DU01'] }));
        await files.rounds(exchange);
      }
      await longAgo(fileId);
      const late = await run('bob', 'sign', requestId, WHY);
      expect(late.shown.rejected).toContain(word === 'marked' ? 'has moved since' : 'it has arrived');
      expect((await fileOf(id)).state).toBe('delivered');
      expect(timesArrived(id)).toBe(0);
    }
  });

  test('a person of the console and a user of the operating system may be one: neither signs what the other asked for', async () => {
    const { fileId } = await unproven();
    await run('ada', 'set-aside', fileId, WHY);
    const { requestId } = (await run('ada', 'mark-undelivered', fileId, WHY)).shown;
    await files.rows(`UPDATE bank_file_requests SET asked_role = 'operator' WHERE id = '${requestId}'`);
    expect((await run('bob', 'sign', requestId, WHY)).shown.rejected).toContain('asked for in the console');
    await run('bob', 'reject', requestId, WHY);
  });
});

describe('files of the bank', () => {
  test('one that a person brings is read after a second signature, once, with the effects that it has over the transport', async () => {
    const path = join(folder, 'brought.xml');
    files.bank.say(
      accountReport('camt.054', creditOf(`brought ${account.id}`, 500n, account.ledgerNumber)),
      'same.xml',
    );
    // Its bytes, as they would come over the transport.
    const bytes = readFileSync(join(files.bank.folders.in, 'same.xml'));
    rmSync(join(files.bank.folders.in, 'same.xml'));
    writeFileSync(path, bytes);
    const brought = (await run('ada', 'fetch', path, `--bank=${FILES_BANK}`, WHY)).shown;
    expect(brought).toMatchObject({ result: 'asked' });
    await files.rounds(exchange);
    expect(await gained()).toBe(0);
    expect((await run('bob', 'take-again', brought.id, WHY)).shown.rejected).toContain('second signature');
    expect((await run('ada', 'sign', brought.requestId, WHY)).status).toBe(1);
    expect((await run('bob', 'sign', brought.requestId, WHY)).status).toBe(0);
    await files.rounds(exchange);
    expect(await gained()).toBe(5);
    expect((await run('ada', 'fetch', path, `--bank=${FILES_BANK}`, WHY)).shown).toMatchObject({
      id: brought.id,
      result: 'unchanged',
    });
    files.bank.say(bytes.toString(), 'over-the-transport.xml');
    await files.rounds(exchange);
    expect(await gained()).toBe(5);
    expect(await actionsOf(brought.id)).toEqual(['brought', 'taken-in']);
    const { shown } = await run('ada', 'show', brought.id);
    expect(shown).toMatchObject({
      bankFile: { state: 'taken', items: 1, unknownItems: 0, digest: sha256(bytes) },
      entries: [{ kind: 'received', outcome: 'applied', amount: '5', incomingTransferId: expect.any(String) }],
    });
  });

  test('the same bytes over the transport need no signature', async () => {
    const path = join(folder, 'twice.xml');
    files.bank.say(accountReport('camt.054', creditOf(`twice ${account.id}`, 700n, account.ledgerNumber)), 'twice.xml');
    writeFileSync(path, readFileSync(join(files.bank.folders.in, 'twice.xml')));
    const { requestId } = (await run('ada', 'fetch', path, `--bank=${FILES_BANK}`, WHY)).shown;
    await files.rounds(exchange);
    expect(await gained()).toBe(7);
    expect((await run('bob', 'sign', requestId, WHY)).shown.rejected).toContain('it is taken');
    expect(await gained()).toBe(7);
  });

  test('one that could not be read is taken again, as after an upgrade; one that a person has seen to raises no alarm', async () => {
    const unread = files.exchangeOf({
      ...files.services,
      bank: {
        ...files.services.bank,
        readBankMessage: async () => {
          throw new UnreadableMessage('a version to come');
        },
      },
    });
    files.bank.say(accountReport('camt.054', creditOf(`upgrade ${account.id}`, 300n, account.ledgerNumber)), 'new.xml');
    files.bank.say('never readable', 'never.xml');
    await files.rounds(unread);
    await unread.end();
    const attention = async () => (await readBankFilesAttention(files.api.database.reader)).setAside;
    const alarms = await attention();
    expect((await run('ada', 'take-again', 'new.xml', WHY)).shown.result).toBe('taken-again');
    expect((await run('ada', 'settle', 'never.xml', WHY)).shown.result).toBe('settled');
    expect(await attention()).toBe(alarms - 2);
    await files.rounds(exchange);
    expect(await gained()).toBe(3);
    const listed = (await run('ada', 'list', '--direction=in', '--state=set-aside', `--bank=${FILES_BANK}`)).shown;
    expect(listed.bankFiles).toContainEqual(
      expect.objectContaining({ name: 'never.xml', reason: 'a version to come' }),
    );
    expect((await run('ada', 'take-again', 'new.xml', WHY)).shown.rejected).toContain('it is taken');
  });
});

describe('held payments', () => {
  /** A payment that a restore holds: it may be in a file that is lost. */
  async function restored(): Promise<string> {
    const id = await files.pay(account.id, 10);
    await files.rows(`UPDATE bank_instructions SET held_reason = '${RESTORED}' WHERE transfer_id = '${id}'`);
    return id;
  }

  /** A payment whose first submission was rejected and booked all the same, so that its second is held. */
  async function paidBefore(): Promise<string> {
    const id = await files.pay(account.id, 10);
    await exchange.round();
    const first = files.bank.payment(paymentReferenceOf(id));
    await files.rows(`UPDATE bank_instructions SET state = 'rejected', reasons = '{MS03}' WHERE transfer_id = '${id}'`);
    files.bank.say(accountReport('camt.054', debitOf(first)));
    await files.rounds(exchange);
    await files.rows(`UPDATE outgoing_transfers SET submission_attempt = 2 WHERE id = '${id}'`);
    const party = { country: 'GB', iban: null, accountNumber: '12345674', routingCodes: { 'sort-code': '601613' } };
    const payment = { amountMinor: 1_000n, currency: 'GBP', scheme: 'faster-payments', attributes: {} };
    const parties = {
      debtor: { ...party, name: 'Ada', accountId: account.id },
      creditor: { ...party, name: 'Bob' },
      remittanceText: 'Rent',
    };
    const names = { ourReference: id, paymentReference: paymentReferenceOf(id), attempt: 2 };
    await files.adapter.submitPayment({ ...names, ...payment, ...parties }, {});
    return id;
  }

  const latest = async (id: string) =>
    (
      await files.rows(
        `SELECT state, held_reason FROM bank_instructions WHERE transfer_id = '${id}' ORDER BY attempt DESC LIMIT 1`,
      )
    )[0];

  const ask = (word: string, ...more: readonly string[]) =>
    run('ada', 'release', `--bank=${FILES_BANK}`, `--says=${word}`, ...more, WHY);

  async function release(id: string, word: string): Promise<void> {
    const { requestId } = (await ask(word, `--payment=${id}`)).shown;
    expect((await run('ada', 'sign', requestId, WHY)).shown.rejected).toContain('another person must sign');
    await files.rounds(exchange);
    expect(await latest(id)).toMatchObject({ state: 'queued', held_reason: expect.any(String) });
    expect((await run('bob', 'sign', requestId, WHY)).shown).toMatchObject({ asked: 1, done: 1 });
    expect(await actionsOf(id)).toContain('hold-ended');
    await files.rounds(exchange);
  }

  test('go on, if the bank says that it has none of it', async () => {
    const id = await restored();
    expect((await run('ada', 'held', `--bank=${FILES_BANK}`)).shown.heldPayments).toContainEqual(
      expect.objectContaining({ transferId: id, amount: '10', reason: RESTORED }),
    );
    expect((await standingByFile(files.api.database.reader, id)).join('\n')).toContain('bank-files release');
    await release(id, 'not-received');
    expect(timesArrived(id)).toBe(1);
    expect(await latest(id)).toMatchObject({ state: 'delivered', held_reason: null });
  });

  test.each(['rejected', 'withdrawn'])(
    'fail, if the bank says %s, and their money is available again',
    async (word) => {
      const id = await restored();
      await release(id, word);
      expect(timesArrived(id)).toBe(0);
      expect(await latest(id)).toMatchObject({ state: 'rejected', held_reason: null });
      expect(await statusNow(id)).toBe('failed');
      expect(await gained()).toBe(0);
    },
  );

  test('wait for the bank’s word, if it says that it has it: no file carries it', async () => {
    const id = await restored();
    await release(id, 'received');
    expect(timesArrived(id)).toBe(0);
    expect(await latest(id)).toMatchObject({ state: 'received', held_reason: null });
    expect(await statusNow(id)).toBe('processing');
  });

  test('are completed, if the bank says that it paid it, and no file ever carries them', async () => {
    const id = await paidBefore();
    await release(id, 'paid');
    expect(timesArrived(id)).toBe(1);
    expect(await latest(id)).toMatchObject({ state: 'completed', held_reason: null });
    expect(await statusNow(id)).toBe('completed');
    expect(await gained()).toBe(-10);
    expect((await ask('paid', `--payment=${id}`)).shown.rejected).toContain('is not held');
  });

  test('end as rejected after a round that broke off when their money was given back, whatever the bank tells then', async () => {
    const id = await restored();
    await release(id, 'rejected');
    const paymentReference = paymentReferenceOf(id);
    const file = { messageId: 'OTHER2' };
    const typed = { id: null, paymentReference, amountMinor: 1_000n, batchId: 'OTHER2', file } as never;
    files.bank.say(statusOf(typed, 'ACSP'));
    // The bank's file is only seen: it may still be written.
    await exchange.round();
    const asBefore = `state = 'queued', held_reason = '${RESTORED}', bank_says = 'rejected', reasons = '{}'`;
    await files.rows(`UPDATE bank_instructions SET ${asBefore} WHERE transfer_id = '${id}'`);
    await files.rounds(exchange);
    expect(await latest(id)).toEqual({ state: 'rejected', held_reason: null });
    expect(await statusNow(id)).toBe('failed');
    expect(await gained()).toBe(0);
    expect(await actionsOf(id)).not.toContain('hold-kept');
  });

  test.each<[string, string, (sent: Sent) => Partial<BookedEntry>]>([
    ['completes them', 'completed', () => ({})],
    ['is of another amount', 'processing', () => ({ amountMinor: 999n })],
    ['names them by our id only', 'processing', () => ({ instructionId: null })],
  ])('do not fail by people’s word if what is fetched by then has a debit that %s', async (_, status, changed) => {
    const id = await files.pay(account.id, 10);
    const held = status === 'completed' ? RESTORED : TOLD_BEFORE;
    await files.rows(`UPDATE bank_instructions SET held_reason = '${held}' WHERE transfer_id = '${id}'`);
    const paymentReference = paymentReferenceOf(id);
    const sent = {
      id: `${paymentReference}1`,
      paymentReference,
      amountMinor: 1_000n,
      batchId: 'OTHER1',
      file: {},
    } as never;
    files.bank.say(accountReport('camt.054', debitOf(sent, changed(sent))));
    // The bank's file is only seen: it may still be written.
    await exchange.round();
    const { requestId } = (await ask('rejected', `--payment=${id}`)).shown;
    expect((await run('bob', 'sign', requestId, WHY)).shown).toMatchObject({ asked: 1, done: 1 });
    await files.rounds(exchange);
    expect(await statusNow(id)).toBe(status);
    expect(await gained()).toBe(-10);
    expect(await actionsOf(id)).toContain('hold-kept');
    expect(timesArrived(id)).toBe(0);
    if (status === 'completed') return;
    expect(await latest(id)).toMatchObject({ state: 'queued', held_reason: expect.any(String) });
    await files.rows(`DELETE FROM bank_entries WHERE transfer_id = '${id}'`);
    await release(id, 'rejected');
    expect(await gained()).toBe(0);
  });

  test('do not fail while a file of the bank could not be read', async () => {
    const id = await restored();
    const { requestId } = (await ask('rejected', `--payment=${id}`)).shown;
    files.bank.say('nothing that can be read', 'unreadable.xml');
    await exchange.round();
    await run('bob', 'sign', requestId, WHY);
    await files.rounds(exchange);
    expect(await statusNow(id)).toBe('processing');
    expect((await run('ada', 'settle', 'unreadable.xml', WHY)).shown.result).toBe('settled');
    await exchange.round();
    expect(await statusNow(id)).toBe('failed');
  });

  test('neither go on nor fail while a debit of them stands in our books, named or among all', async () => {
    const [id, other] = [await paidBefore(), await restored()];
    for (const word of ['not-received', 'rejected', 'withdrawn']) {
      expect((await ask(word, `--payment=${id}`)).shown.rejected).toContain('it is paid');
    }
    const { requestId } = (await ask('not-received')).shown;
    expect((await run('bob', 'sign', requestId, WHY)).shown).toMatchObject({ asked: 1, done: 1 });
    await files.rounds(exchange);
    expect([timesArrived(id), timesArrived(other)]).toEqual([1, 1]);
    await release(id, 'paid');
  });

  test('are left as they are if they are held for another reason since, or while a file of the bank is being read', async () => {
    const id = await restored();
    const { requestId } = (await ask('not-received', `--payment=${id}`)).shown;
    const reading = await run('ada', 'list', `--bank=${FILES_BANK}`, '--state=taken');
    const [{ id: anyFile }] = reading.shown.bankFiles;
    await files.rows(`UPDATE bank_files SET state = 'fetched' WHERE id = '${anyFile}'`);
    expect((await run('bob', 'sign', requestId, WHY)).shown.rejected).toContain('is not read');
    await files.rows(`UPDATE bank_files SET state = 'taken' WHERE id = '${anyFile}'`);
    await files.api.database.transaction((tx) => holdQueued(tx, id));
    expect(await run('bob', 'sign', requestId, WHY)).toMatchObject({ status: 1, shown: { asked: 1, done: 0 } });
    await files.rounds(exchange);
    expect(timesArrived(id)).toBe(0);
    await release(id, 'withdrawn');
  });

  test('since a restore are decided once the bank’s archive has been read again, by people with names', async () => {
    const id = await files.pay(account.id, 10);
    await files.api.database.transaction((tx) => holdForRestore(tx, [FILES_BANK], new Date('2027-06-01T00:00:00Z')));
    const { requestId } = (await ask('not-received', `--payment=${id}`)).shown;
    expect((await run('bob', 'sign', requestId, WHY)).shown.rejected).toContain('archive');
    await files.rows('UPDATE bank_restores SET archive_read_at = service_now()');
    await expect(run('uid 1000', 'sign', requestId, WHY)).rejects.toThrow('without a name');
    expect((await run('bob', 'sign', requestId, WHY)).shown).toMatchObject({ done: 1 });
    await files.rounds(exchange);
    expect(timesArrived(id)).toBe(1);
    await files.rows('DELETE FROM bank_restores');
  });
});

test('a file is shown with what became of each of its payments', async () => {
  const ids = [await files.pay(account.id, 10), await files.pay(account.id, 20)];
  await exchange.round();
  const [one, two] = ids.map((id) => files.bank.payment(paymentReferenceOf(id)));
  if (!one || !two) throw new Error('two payments have arrived');
  files.bank.say(statusOf(one, 'RJCT', 'AC04'));
  files.bank.say(statusOf(two, 'ACSP'));
  await files.rounds(exchange);
  const { id: fileId } = await fileOf(ids[0] ?? '');
  const { shown } = await run('ada', 'show', fileId);
  expect(shown.bankFile).toMatchObject({ id: fileId, bank: FILES_BANK, direction: 'out', state: 'delivered' });
  expect(shown.payments).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ transferId: ids[0], state: 'rejected', reasons: ['AC04'], status: 'failed' }),
      expect.objectContaining({ transferId: ids[1], state: 'released', statusCode: 'ACSP', status: 'released' }),
    ]),
  );
  const path = join(folder, 'content.xml');
  await run('ada', 'show', fileId, `--content=${path}`);
  expect(sha256(readFileSync(path))).toBe(shown.bankFile.digest);
});

describe('a restore at a bank that is no longer configured', () => {
  const restoredAt = (since: string) =>
    files.api.database.transaction((tx) => holdForRestore(tx, [FILES_BANK], new Date(since)));
  const open = async () =>
    (await listBankRestores(files.api.database.reader)).map((one) => heldInWords(one, configuration));
  const cancel = async (id: string) => {
    const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: { status: 'cancelled' } } };
    return (await files.api.call('PATCH', `/outgoing-transfers/${id}`, body)).status;
  };
  const failAfterRestore = (id: string) =>
    files.api.database.transaction((tx) =>
      endAfterRestore(tx, { id: asId(id), since: new Date(0), neverPaid: true }, configuration, TESTER),
    );
  const close = (actor: string) => run(actor, 'close-restore', `--bank=${FILES_BANK}`, WHY);
  let configured: Configuration;

  beforeEach(() => {
    configured = configuration;
  });

  afterEach(async () => {
    configuration = configured;
    await files.rows('UPDATE bank_instructions SET held_reason = NULL WHERE held_reason IS NOT NULL');
    await files.rows('DELETE FROM bank_restores');
  });

  test('is closed by two people, with a reason, and says how', async () => {
    const outgoingTransfer = files.order(account.id, 10, { transferDate: '2027-06-17' });
    const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
    const { id } = (await files.api.call('POST', '/outgoing-transfers', body)).body.data.outgoingTransfer;
    const held = await files.pay(account.id, 11);
    await restoredAt('2027-06-02T00:00:00Z');
    expect((await close('ada')).shown.rejected).toContain('exchanges files in this configuration');
    expect((await open()).join()).not.toContain('close-restore');
    configuration = { ...configured, fileExchanges: new Map() };
    expect((await open()).join()).toContain(
      `no longer configured: ask it what it has, then npm run -s operate -- bank-files close-restore --bank ${FILES_BANK} --reason TEXT`,
    );
    const { requestId } = (await close('ada')).shown;
    expect((await run('ada', 'sign', requestId, WHY)).shown.rejected).toContain('another person must sign');
    expect([await open(), await cancel(id)]).toMatchObject([{ length: 1 }, 409]);
    configuration = configured;
    expect((await run('bob', 'sign', requestId, WHY)).shown.rejected).toContain(
      'exchanges files in this configuration',
    );
    configuration = { ...configured, fileExchanges: new Map() };
    expect((await run('bob', 'sign', requestId, WHY)).shown).toMatchObject({ result: 'signed', asked: 1, done: 1 });
    expect(await open()).toEqual([
      expect.stringMatching(/1 payments, .*; its restore is closed: what is held waits until it is configured/),
    ]);
    expect(await cancel(id)).toBe(200);
    expect(await actionsOf('2027-06-02T00:00:00.000Z')).toContain('closed');
    // Whether it is at the bank is still not known.
    expect(await files.rows(`SELECT held_reason FROM bank_instructions WHERE transfer_id = '${held}'`)).toEqual([
      { held_reason: RESTORED },
    ]);
    expect((await close('ada')).shown.rejected).toContain('No restore is open');
    await files.rows(
      `UPDATE bank_instructions SET state = 'received', held_reason = NULL WHERE transfer_id = '${held}'`,
    );
    await files.rows(
      `UPDATE bank_files SET settled_at = service_now() WHERE state = 'set-aside' AND direction = 'out'`,
    );
    await restoredAt('2027-06-02T00:00:00Z');
    expect(await open()).toEqual([]);
    // As a process of the release before begins a restore, which does not know of a closed one.
    await files.rows("UPDATE bank_restores SET began_at = closed_at + interval '1 second'");
    expect(await open()).toEqual([expect.stringContaining('close-restore')]);
    await restoredAt('2027-06-03T00:00:00Z');
    expect(await open()).toHaveLength(1);
  });

  test('lets no file carry what has ended since: not with the word that the bank has none of it', async () => {
    const [ended, waiting] = [await files.pay(account.id, 10), await files.pay(account.id, 10)];
    await restoredAt('2027-06-05T00:00:00Z');
    await files.rows('UPDATE bank_restores SET closed_at = service_now()');
    await failAfterRestore(ended);
    expect([await statusNow(ended), await gained()]).toEqual(['failed', -10]);
    await files.rows('UPDATE bank_restores SET archive_read_at = service_now()');
    const named = [`--payment=${ended}`, `--payment=${waiting}`];
    const asked = await run('ada', 'release', `--bank=${FILES_BANK}`, '--says=not-received', ...named, WHY);
    expect((await run('bob', 'sign', asked.shown.requestId, WHY)).shown).toMatchObject({ done: 2 });
    await files.rounds(exchange);
    expect([timesArrived(ended), timesArrived(waiting)]).toEqual([0, 1]);
    expect(await files.rows(`SELECT state FROM bank_instructions WHERE transfer_id = '${ended}'`)).toEqual([
      { state: 'rejected' },
    ]);
  });

  test('lets no file be sent again with what has ended since', async () => {
    const id = await undelivered();
    await restoredAt('2027-06-06T00:00:00Z');
    await files.rows('UPDATE bank_restores SET closed_at = service_now(), archive_read_at = service_now()');
    await failAfterRestore(id);
    const { id: fileId } = await fileOf(id);
    const { shown } = await run('ada', 'mark-undelivered', fileId, WHY);
    expect(shown.rejected).toContain('has ended, and its money is free');
  });

  test('is not closed while a process exchanges files with the bank, nor signed then', async () => {
    await restoredAt('2027-06-04T00:00:00Z');
    configuration = { ...configured, fileExchanges: new Map() };
    const { requestId } = (await close('ada')).shown;
    await exchange.round();
    expect((await close('ada')).shown.rejected).toContain('A process exchanges files');
    expect((await run('bob', 'sign', requestId, WHY)).shown.rejected).toContain('A process exchanges files');
    expect(await files.rows('SELECT closed_at FROM bank_restores')).toEqual([{ closed_at: null }]);
  });
});
