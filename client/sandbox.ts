import { ApiError } from './errors.ts';
import { reasonOf } from './http/answers.ts';
import { isObject } from './http/json.ts';

export interface SandboxOptions {
  /** Where the sandbox is, such as `http://127.0.0.1:3100`. */
  readonly baseUrl: string;
  readonly fetch?: typeof fetch;
}

/** A payment by someone outside. The receiver is an IBAN, an account with its routing codes, or a ledger number in `reference`. */
export interface PaymentIn {
  readonly amount: number;
  readonly currency: string;
  readonly scheme: string;
  readonly iban?: string;
  readonly accountNumber?: string;
  readonly routingCodes?: Readonly<Record<string, string>>;
  readonly reference?: string;
  readonly senderName?: string;
  /** The bank keeps it until `releasePaymentIn`. */
  readonly hold?: boolean;
}

/** How far the clock is moved. */
export type ClockMove =
  /** An ISO 8601 duration, such as `P1DT2H`. */
  { readonly advanceBy: string } | { readonly advanceTo: Date } | { readonly advanceToNext: 'cut-off' | 'deadline' };

/** The outside world of a service that runs against the sandbox: what payers and banks do, and the time. */
export interface Sandbox {
  payIn(payment: PaymentIn): Promise<{ readonly paymentId: string }>;
  releasePaymentIn(paymentId: string): Promise<void>;
  /** Completes an outgoing transfer that the bank has open. */
  settle(outgoingTransferId: string): Promise<void>;
  reject(outgoingTransferId: string, reason?: { readonly code?: string }): Promise<void>;
  /** Sends the money of a completed one back, all of it unless an amount is given. */
  returnPayment(outgoingTransferId: string, how?: { readonly code?: string; readonly amount?: number }): Promise<void>;
  moveAccount(accountId: string, status: 'active' | 'inactive' | 'suspended' | 'closed'): Promise<void>;
  /** What the bank knows before the service does, to be migrated by its `sourceId`. */
  addClient(client: { readonly sourceId: string; readonly [field: string]: unknown }): Promise<void>;
  addAccount(account: { readonly sourceId: string; readonly [field: string]: unknown }): Promise<void>;
  now(): Promise<Date>;
  /** Answers when everything that waits has been woken. */
  moveClock(move: ClockMove): Promise<Date>;
}

/** Levers of the sandbox, which take no token. */
export function createSandbox({ baseUrl, fetch: given = fetch }: SandboxOptions): Sandbox {
  const call = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const headers = { 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const operation = `${method} ${path}`;
    const failed = (cause: unknown) => {
      const message = `No answer came${reasonOf(cause)}.`;
      throw new ApiError({ operation, code: 'client.connection.failed', message, cause });
    };
    const response = await given(`${baseUrl.replace(/\/+$/, '')}${path}`, { method, headers, ...sent }).catch(failed);
    return answerOf(operation, response.status, await response.text().catch(failed));
  };
  const lever = async (payment: string, name: string, body: object = {}) => {
    await call('POST', `/bank/payments/${encodeURIComponent(payment)}/${name}`, body);
  };
  const instant = (answer: Readonly<Record<string, unknown>>) => new Date(`${answer.now}`);
  return {
    payIn: async (payment) => ({ paymentId: `${(await call('POST', '/bank/payments-in', payment)).paymentId}` }),
    releasePaymentIn: async (paymentId) => {
      await call('POST', `/bank/payments-in/${encodeURIComponent(paymentId)}/release`);
    },
    settle: (id) => lever(id, 'settle'),
    reject: (id, reason) => lever(id, 'reject', reason),
    returnPayment: (id, how) => lever(id, 'return', how),
    moveAccount: async (id, status) => {
      await call('POST', `/bank/accounts/${encodeURIComponent(id)}/status`, { status });
    },
    addClient: async (client) => {
      await call('POST', '/bank/existing-clients', client);
    },
    addAccount: async (account) => {
      await call('POST', '/bank/existing-accounts', account);
    },
    now: async () => instant(await call('GET', '/clock')),
    moveClock: async (move) => instant(await call('POST', '/clock', move)),
  };
}

function answerOf(operation: string, status: number, text: string): Readonly<Record<string, unknown>> {
  const context = { operation, status };
  const body: unknown = text.startsWith('{') ? JSON.parse(text) : {};
  if (!isObject(body)) throw new ApiError({ ...context, code: 'client.answer.invalid', message: text });
  if (status < 300) return body;
  const error = isObject(body.error) ? body.error : body;
  throw new ApiError({ ...context, code: `${error.code}`, message: `${error.message}` });
}
