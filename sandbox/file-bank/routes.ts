import type { HttpBindings } from '@hono/node-server';
import { Hono, type MiddlewareHandler } from 'hono';
import * as v from 'valibot';
import { amountNumber } from '../../domain/common/money.ts';
import type { Change, Payment } from '../bank/books.ts';
import { leverRequests, NO_FIELD, NO_FIELDS_REQUEST } from '../bank/payments/lever-requests.ts';
import { complete, findPayment, showPayment } from '../bank/payments/payments.ts';
import {
  PAYMENT_IN_REQUEST,
  receivePayment,
  releasePayment,
  returnByHand,
  showPaymentIn,
} from '../bank/payments/payments-in.ts';
import { returnFromCreditor } from '../bank/payments/returns.ts';
import { positions } from '../bank/payments/statement.ts';
import { amountMinor, answer, BankError, invalid, notFound, readBody, reference } from '../bank/wire.ts';
import { changeSettings, requireCustomerOf, SETTINGS_REQUEST } from './customers.ts';
import { FILE_FAULTS_REQUEST, NO_FILE_FAULTS } from './faults.ts';
import type { FileBank } from './file-bank.ts';
import { confirm, withdraw } from './intake/submissions.ts';
import { deliverStrange } from './outbox/delivery.ts';
import { closeDays, dayAfter, dayOf } from './outbox/statements.ts';
import { BANK_KEYS, type Booking, type Instruction, type OutgoingMessage, type ReceivedFile } from './records.ts';
import type { SftpServer } from './sftp/server.ts';
import { STRANGE_FILES, strangeFile } from './strange-files.ts';

const LEVERS = leverRequests(4);
const STRANGE_REQUEST = v.strictObject(
  { customer: reference(), kind: v.picklist(STRANGE_FILES, `must be one of ${STRANGE_FILES.join(', ')}`) },
  NO_FIELD,
);

type App = Hono<{ Bindings: HttpBindings }>;

/** The routes under `/file-bank`: the bank behind the files, for people and tests. */
export function fileBankRoutes(fileBank: FileBank, sftp: Pick<SftpServer, 'port' | 'hostKeyFingerprint'>): App {
  const app: App = new Hono();
  const { bank } = fileBank;
  const settled: MiddlewareHandler = async (_context, next) => {
    await next();
    await bank.settled();
    fileBank.look();
  };
  app.use(settled);
  const { port, hostKeyFingerprint } = sftp;
  app.get('/', (c) => answer(c, 200, { sftpPort: port, hostKeyFingerprint }));
  app.get('/pgp-keys', async (c) => {
    const [present, next] = await Promise.all(BANK_KEYS.map((name) => fileBank.pgp.publicKey(name)));
    return answer(c, 200, { present, next });
  });
  bookRoutes(app, fileBank);
  leverRoutes(app, fileBank);
  faultRoutes(app, fileBank);

  app.get('/customers', (c) => answer(c, 200, { customers: [...bank.books.fileCustomers.values()] }));
  app.post('/customers/:name', async (c) => {
    const customer = await changeSettings(bank, c.req.param('name'), await readBody(c, SETTINGS_REQUEST));
    fileBank.folders.prepare(customer.name);
    return answer(c, 200, customer);
  });
  return app;
}

/** What there is to look at. */
function bookRoutes(app: App, { bank }: FileBank): void {
  const { books } = bank;
  app.get('/files', (c) => {
    const isAsked = ({ customer }: { customer: string }) => [undefined, customer].includes(c.req.query('customer'));
    const written = [...books.messagesDue.values(), ...books.messagesOut.values()].filter(isAsked);
    return answer(c, 200, {
      received: [...books.receivedFiles.values()].filter(isAsked).map(showReceived),
      written: written.map((message) => showWritten(message, !books.messagesDue.has(message.id))),
    });
  });
  app.get('/files/:id', (c) => {
    const message = books.messagesOut.get(c.req.param('id')) ?? books.messagesDue.get(c.req.param('id'));
    if (message === undefined) throw notFound('file');
    return c.body(message.content, 200, { 'content-type': 'application/xml' });
  });
  app.get('/statement', (c) => {
    const { account, date } = c.req.query();
    const shown = [...books.bookings.values()].filter(
      (booking) => [undefined, booking.account].includes(account) && [undefined, dayOf(booking)].includes(date),
    );
    return answer(c, 200, { entries: shown.map(showBooking) });
  });
  app.get('/positions', (c) => answer(c, 200, { positions: positions(bank) }));
  app.get('/payments/:endToEndId', (c) => {
    const { instruction, payment } = found(bank, c.req.param('endToEndId'), c.req.query('customer'));
    return answer(c, 200, shown(instruction, payment));
  });
}

/** What an operator of the bank does, by the payment's `EndToEndId`. Levers repeat without effect. */
function leverRoutes(app: App, fileBank: FileBank): void {
  const { bank } = fileBank;
  const lever = <Request extends v.GenericSchema>(
    path: string,
    request: Request,
    pull: (found: Found, asked: v.InferOutput<Request>) => Promise<void>,
  ) =>
    app.post(`/payments/:endToEndId/${path}`, async (c) => {
      const asked = await readBody(c, request);
      const name = [c.req.param('endToEndId') ?? '', c.req.query('customer')] as const;
      await pull(found(bank, ...name), asked);
      const { instruction, payment } = found(bank, ...name);
      return answer(c, 200, shown(instruction, payment));
    });
  const commit = async (change: Change | null) => {
    if (change !== null) await bank.commit(change);
  };
  lever('confirm', NO_FIELDS_REQUEST, ({ instruction }) => confirm(bank, instruction));
  lever('settle', NO_FIELDS_REQUEST, async ({ payment }) => commit(complete(bank, submitted(payment), 0)));
  lever('reject', LEVERS.reject, ({ instruction }, { code }) => withdraw(bank, instruction, code ?? 'AC07'));
  lever('return', LEVERS.return, async ({ payment }, { code, amount, returnReference }) => {
    const of = submitted(payment);
    await commit(
      returnFromCreditor(bank, of, {
        code: code ?? undefined,
        returnReference: returnReference ?? undefined,
        amountMinor: amount === null ? undefined : amountMinor(amount, of.currency),
      }),
    );
  });
  app.post('/payments-in', async (c) => {
    const asked = await readBody(c, PAYMENT_IN_REQUEST);
    const account = asked.iban ?? asked.accountNumber;
    if (account === null) throw invalid('iban', 'name the account: iban, or accountNumber with routingCodes');
    requireCustomerOf(bank, account);
    return answer(c, 201, showPaymentIn(bank, await receivePayment(bank, asked)));
  });
  app.post('/payments-in/:paymentId/release', async (c) =>
    answer(c, 200, showPaymentIn(bank, await releasePayment(bank, c.req.param('paymentId')))),
  );
  app.post('/payments-in/:paymentId/send-back', async (c) => {
    await readBody(c, NO_FIELDS_REQUEST);
    return answer(c, 200, showPaymentIn(bank, await returnByHand(bank, c.req.param('paymentId'))));
  });
  app.post('/end-of-day', async (c) => {
    await readBody(c, NO_FIELDS_REQUEST);
    const today = bank.now().toISOString().slice(0, 10);
    return answer(c, 200, { statements: await closeDays(bank, dayAfter(today)) });
  });
}

function faultRoutes(app: App, { faults, folders, bank }: FileBank): void {
  app.get('/faults', (c) => answer(c, 200, faults.now));
  app.post('/faults', async (c) => {
    faults.change(await readBody(c, FILE_FAULTS_REQUEST));
    return answer(c, 200, faults.now);
  });
  app.delete('/faults', (c) => {
    faults.set(NO_FILE_FAULTS);
    return answer(c, 200, faults.now);
  });
  app.post('/strange-files', async (c) => {
    const { customer, kind } = await readBody(c, STRANGE_REQUEST);
    if (!bank.books.fileCustomers.has(customer)) throw notFound('customer');
    const { name, content } = strangeFile(bank, kind);
    await deliverStrange(folders, customer, name, content);
    return answer(c, 201, { fileName: name });
  });
}

interface Found {
  readonly instruction: Instruction;
  /** Null: it waits, or was rejected before it reached the books. */
  readonly payment: Payment | null;
}

function found(bank: FileBank['bank'], endToEndId: string, customer: string | undefined): Found {
  const matching = [...bank.books.instructions.values()].filter(
    (one) => one.endToEndId === endToEndId && [undefined, one.customer].includes(customer),
  );
  const [instruction, ...others] = matching;
  if (instruction === undefined) throw notFound('payment');
  if (others.length > 0) throw new BankError(409, 'ambiguous', 'Payments of several customers: add ?customer=.');
  return { instruction, payment: findPayment(bank, instruction.ourReference) };
}

function submitted(payment: Payment | null): Payment {
  if (payment === null) throw new BankError(409, 'illegal-state', 'The payment has not been carried out yet.');
  return payment;
}

function shown({ hold, payeeCheck, ...instruction }: Instruction, payment: Payment | null) {
  const { endToEndId, instructionId, messageId, batchId, customer, account } = instruction;
  return {
    endToEndId,
    instructionId,
    messageId,
    batchId,
    customer,
    account,
    hold,
    payeeCheck,
    status: payment?.status ?? null,
    payment: payment === null ? null : showPayment(payment),
  };
}

function showReceived({
  id,
  customer,
  fileName,
  digest,
  receivedAt,
  messageId,
  version,
  outcome,
  code,
  problem,
}: ReceivedFile) {
  return { id, customer, fileName, digest, receivedAt, messageId, version, outcome, code, problem };
}

function showWritten({ id, customer, version, fileName, createdAt }: OutgoingMessage, isDelivered: boolean) {
  return { id, customer, version, fileName, createdAt, isDelivered };
}

function showBooking(booking: Booking) {
  const { account, currency, sequence, bookedAt, kind, direction, entryReference, bankReference, returnCode } = booking;
  return {
    account,
    currency,
    sequence,
    bookedAt,
    kind,
    direction,
    amount: amountNumber(booking.amountMinor, currency),
    balance: amountNumber(booking.balanceMinor, currency),
    entryReference,
    bankReference,
    returnCode,
    endToEndId: booking.place?.endToEndId ?? null,
  };
}
