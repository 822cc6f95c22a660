import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { Hono, type MiddlewareHandler } from 'hono';
import * as v from 'valibot';
import {
  ACCOUNT_REQUEST,
  CHANGE_REQUEST,
  CLIENT_REQUEST,
  changeAccount,
  connectClient,
  MOVE_REQUEST,
  moveAccount,
  openAccount,
  showAccount,
} from './accounts.ts';
import type { Bank } from './bank.ts';
import { type AccountChange, type Change, changeKey, type Payment } from './books.ts';
import { existingAccountRoutes } from './existing-clients/existing-account-routes.ts';
import { existingClientRoutes } from './existing-clients/existing-client-routes.ts';
import { cut, gatewayPage, LOOK_UPS, lookUpRejected, NO_FAULTS, showFaults } from './faults.ts';
import { leverRequests, NO_FIELDS_REQUEST } from './payments/lever-requests.ts';
import { complete, fail, findPayment, PAYMENT_REQUEST, showPayment, submitPayment } from './payments/payments.ts';
import {
  PAYMENT_IN_REQUEST,
  RETURN_TO_PAYER_REQUEST,
  receivePayment,
  releasePayment,
  returnPaymentIn,
  showPaymentIn,
} from './payments/payments-in.ts';
import { RECALL_REQUEST, recall } from './payments/recalls.ts';
import { returnFromCreditor } from './payments/returns.ts';
import { LATE_ANSWER_MS, rejectsLookUps } from './payments/scenarios.ts';
import { positions, statement } from './payments/statement.ts';
import { isDenied, STATEMENT_FAULTS_REQUEST, statementFaultsOf } from './payments/statement-faults.ts';
import { amountMinor, answer, BankError, maybe, notFound, number, readBody } from './wire.ts';

// How long the answer to an amount ending in `.09` waits for its callback.
const CALLBACK_FIRST_MS_MAX = 3_000;

const LEVERS = leverRequests(10);
const FAULTS_REQUEST = v.object({
  latencyMs: maybe(number({ max: 60_000 })),
  errorRate: maybe(number({ max: 1 })),
  cutRate: maybe(number({ max: 1 })),
  callbacks: maybe(v.picklist(['normal', 'held', 'shuffled'], 'must be normal, held or shuffled')),
  callbackDelayMs: maybe(number({ max: 60_000 })),
  lookUps: maybe(v.picklist(LOOK_UPS, `must be one of ${LOOK_UPS.join(', ')}`)),
  statement: maybe(STATEMENT_FAULTS_REQUEST),
});

/** The routes under `/bank`. docs/sandbox.md is their contract. */
export function bankRoutes(bank: Bank): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const faulty = withFaults(bank);
  // An answer leaves only once everything in it is durable.
  const settled: MiddlewareHandler = async (_context, next) => {
    await next();
    await bank.settled();
  };
  for (const path of ['/clients/*', '/accounts', '/accounts/:ourReference', '/accounts/:ourReference/changes/*'])
    app.use(path, faulty);
  for (const path of ['/payments', '/payments/:ourReference', '/payments/:ourReference/recalls', '/statement']) {
    app.use(path, faulty);
  }
  for (const kind of ['clients', 'beneficiaries', 'accounts']) app.use(`/existing-${kind}/:sourceId/*`, faulty);
  app.use('/payments-in/:paymentId/send-back', faulty);
  const lookUps = ['/payments/:ourReference', '/payments-in/:paymentId', '/accounts/:ourReference'];
  for (const path of [...lookUps, '/accounts/:ourReference/changes/:changeReference']) app.get(path, lookedUp(bank));
  app.use(settled);

  serviceRoutes(app, bank);
  existingClientRoutes(app, bank);
  existingAccountRoutes(app, bank);
  outsideRoutes(app, bank);

  app.get('/statement', (c) => answer(c, 200, statement(bank, c.req.query())));
  app.get('/positions', (c) => answer(c, 200, { positions: positions(bank) }));
  app.get('/callbacks', (c) => answer(c, 200, { pending: bank.books.callbacks.size }));
  app.get('/faults', (c) => answer(c, 200, showFaults(bank.faults.now)));
  app.post('/faults', async (c) => {
    const asked = await readBody(c, FAULTS_REQUEST);
    const { now } = bank.faults;
    bank.faults.set({
      latencyMs: asked.latencyMs ?? now.latencyMs,
      errorRate: asked.errorRate ?? now.errorRate,
      cutRate: asked.cutRate ?? now.cutRate,
      callbacks: asked.callbacks ?? now.callbacks,
      callbackDelayMs: asked.callbackDelayMs ?? now.callbackDelayMs,
      lookUps: asked.lookUps ?? now.lookUps,
      statement: asked.statement === null ? now.statement : statementFaultsOf(bank, asked.statement),
    });
    return answer(c, 200, showFaults(bank.faults.now));
  });
  app.delete('/faults', (c) => {
    bank.faults.set(NO_FAULTS);
    return answer(c, 200, showFaults(bank.faults.now));
  });
  return app;
}

/** Routes for the customer's service. */
function serviceRoutes(app: Hono<{ Bindings: HttpBindings }>, bank: Bank): void {
  app.post('/clients', async (c) => {
    const result = await connectClient(bank, await readBody(c, CLIENT_REQUEST));
    if ('category' in result) return answer(c, 422, { status: 'rejected', error: result });
    const { ourReference, reference } = result;
    return answer(c, 201, { ourReference, reference, status: 'connected' });
  });

  app.post('/accounts', async (c) => {
    const account = await openAccount(bank, await readBody(c, ACCOUNT_REQUEST));
    return answer(c, account.status === 'opening' ? 202 : 200, showAccount(account));
  });
  app.get('/accounts/:ourReference', (c) => {
    const account = bank.books.accounts.get(c.req.param('ourReference'));
    if (account === undefined) throw notFound('account');
    return answer(c, 200, showAccount(account));
  });
  app.post('/accounts/:ourReference/changes', async (c) => {
    const change = await changeAccount(bank, c.req.param('ourReference'), await readBody(c, CHANGE_REQUEST));
    return answer(c, change.status === 'accepted' ? 202 : 200, showChange(change));
  });
  app.get('/accounts/:ourReference/changes/:changeReference', (c) => {
    const change = bank.books.accountChanges.get(changeKey(c.req.param()));
    if (change === undefined) throw notFound('change');
    return answer(c, 200, showChange(change));
  });

  app.post('/payments', async (c) => {
    const { payment, answer: manner } = await submitPayment(bank, await readBody(c, PAYMENT_REQUEST));
    if (payment === null) throw new BankError(503, 'unavailable', 'The bank is temporarily unavailable.');
    if (manner === 'cut') return cut(c);
    if (manner === 'late') await sleep(LATE_ANSWER_MS, undefined, { signal: bank.closing.signal });
    if (manner === 'after-callback') await completeAndNotify(bank, payment);
    return answer(c, statusOf(payment), showPayment(payment));
  });
  app.get('/payments/:ourReference', (c) => {
    const payment = findPayment(bank, c.req.param('ourReference'));
    if (payment === null || isDenied(bank, payment.paymentId)) throw notFound('payment');
    if (rejectsLookUps(payment)) throw lookUpRejected();
    return answer(c, 200, showPayment(payment));
  });

  app.post('/payments/:ourReference/recalls', async (c) => {
    const asked = await readBody(c, RECALL_REQUEST);
    const payment = findPayment(bank, c.req.param('ourReference'));
    if (payment === null) throw notFound('payment');
    const { ourReference } = payment;
    const result = await recall(bank, payment, asked);
    if ('category' in result) return answer(c, 422, { ourReference, status: 'rejected', error: result });
    return answer(c, 202, { ourReference, ...result });
  });

  app.post('/payments-in/:paymentId/send-back', async (c) => {
    const payment = await returnPaymentIn(bank, c.req.param('paymentId'), await readBody(c, RETURN_TO_PAYER_REQUEST));
    return answer(c, 201, showPaymentIn(bank, payment));
  });
}

/** Routes for the outside world: payers, and the levers on open payments. */
function outsideRoutes(app: Hono<{ Bindings: HttpBindings }>, bank: Bank): void {
  app.post('/payments-in', async (c) =>
    answer(c, 201, showPaymentIn(bank, await receivePayment(bank, await readBody(c, PAYMENT_IN_REQUEST)))),
  );
  app.get('/payments-in/:paymentId', (c) => {
    const payment = bank.books.paymentsIn.get(c.req.param('paymentId'));
    if (payment === undefined || isDenied(bank, payment.paymentId)) throw notFound('payment in');
    return answer(c, 200, showPaymentIn(bank, payment));
  });
  app.post('/payments-in/:paymentId/release', async (c) =>
    answer(c, 200, showPaymentIn(bank, await releasePayment(bank, c.req.param('paymentId')))),
  );

  app.post('/accounts/:ourReference/status', async (c) =>
    answer(c, 200, showAccount(await moveAccount(bank, c.req.param('ourReference'), await readBody(c, MOVE_REQUEST)))),
  );

  const lever = <Request extends v.GenericSchema>(
    path: string,
    request: Request,
    pull: (payment: Payment, asked: v.InferOutput<Request>) => Change | null,
  ) =>
    app.post(`/payments/:ourReference/${path}`, async (c) => {
      const asked = await readBody(c, request);
      const payment = findPayment(bank, c.req.param('ourReference'));
      if (payment === null) throw notFound('payment');
      const change = pull(payment, asked);
      if (change !== null) await bank.commit(change);
      return answer(c, 200, showPayment(findPayment(bank, payment.ourReference) ?? payment));
    });
  lever('settle', NO_FIELDS_REQUEST, (payment) => complete(bank, payment, 1));
  lever('reject', LEVERS.reject, (payment, { code }) => fail(bank, payment, code ?? undefined));
  lever('return', LEVERS.return, (payment, { code, amount, returnReference }) =>
    returnFromCreditor(bank, payment, {
      code: code ?? undefined,
      returnReference: returnReference ?? undefined,
      amountMinor: amount === null ? undefined : amountMinor(amount, payment.currency),
    }),
  );
}

function statusOf(payment: Payment): 201 | 202 | 422 {
  if (payment.status === 'rejected') return 422;
  return payment.status === 'accepted' ? 202 : 201;
}

function showChange({ changeReference, kind, status, error }: AccountChange) {
  return { changeReference, kind, status, error };
}

/** The callback arrives before the answer, which still shows the payment as accepted. */
async function completeAndNotify(bank: Bank, payment: Payment): Promise<void> {
  const change = complete(bank, payment, 1);
  const id = change?.put?.callbacks?.[0]?.id;
  if (change === null || id === undefined) return;
  const attempted = bank.callbacks.attempted(id, CALLBACK_FIRST_MS_MAX);
  await bank.commit(change);
  await attempted;
}

function lookedUp(bank: Bank): MiddlewareHandler<{ Bindings: HttpBindings }> {
  return async (context, next) => {
    const { lookUps } = bank.faults.now;
    if (lookUps === 'rejected') throw lookUpRejected();
    return lookUps === 'gateway' ? gatewayPage(context) : next();
  };
}

function withFaults(bank: Bank): MiddlewareHandler<{ Bindings: HttpBindings }> {
  return async (context, next) => {
    const { latencyMs, errorRate, cutRate } = bank.faults.now;
    if (latencyMs > 0) await sleep(latencyMs, undefined, { signal: bank.closing.signal });
    if (Math.random() < errorRate) throw new BankError(503, 'unavailable', 'The bank is temporarily unavailable.');
    await next();
    if (Math.random() < cutRate) context.res = cut(context);
  };
}
