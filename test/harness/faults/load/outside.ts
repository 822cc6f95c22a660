import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../../api.ts';
import type { WholeService } from '../../servers/whole-service.ts';
import { HUNG_AFTER_MS } from './calls.ts';

// The sandbox bank as an outside payer and the bank's own operator use it.

/** `path` begins with `/bank` or `/file-bank`. */
export async function post(service: WholeService, path: string, body: Json): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${service.sandboxUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(HUNG_AFTER_MS),
  });
  return { status: response.status, body: await response.json() };
}

export interface PaymentIn {
  readonly amount: number;
  readonly currency: string;
  readonly scheme: string;
  readonly to: { readonly iban?: string | null; readonly accountNumber: string | null; readonly routingCodes: Json };
}

/** Returns the payment's id. If the answer is lost, null: the bank's books show the outcome afterwards. */
export async function payIn(service: WholeService, { to, ...payment }: PaymentIn): Promise<string | null> {
  const { iban = null, accountNumber, routingCodes } = to;
  const receiver = iban === null ? { accountNumber, routingCodes } : { iban };
  const paid = await sendPaymentIn(service, '/bank/payments-in', { ...payment, ...receiver });
  return paid?.paymentId ?? null;
}

/** Returns the bank's answer; null if it is lost. */
export async function sendPaymentIn(service: WholeService, path: string, payment: Json): Promise<Json | null> {
  const answer = await post(service, path, payment).catch(() => null);
  if (answer === null) return null;
  if (answer.status !== 201) throw new Error(`the bank rejected a payment: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Settles or returns a payment out. The bank may be away, or reject: its books show the outcome. */
export async function steerPayment(
  service: WholeService,
  id: string,
  action: 'settle' | 'return',
  body: Json,
): Promise<void> {
  await post(service, `/bank/payments/${id}/${action}`, body).catch(() => null);
}

/** A bank that is killed again and again on a slow machine is away for minutes. */
const ADD_ATTEMPTS_MAX = 600;

/** Adds to the bank what it had before the service. A source id that is in use was added by an attempt whose answer was lost. */
export async function addExisting(service: WholeService, kind: 'clients' | 'accounts', body: Json): Promise<void> {
  for (let attempt = 0; attempt < ADD_ATTEMPTS_MAX; attempt += 1) {
    const answer = await post(service, `/bank/existing-${kind}`, body).catch(() => null);
    if (answer?.status === 201 || answer?.status === 409) return;
    if (answer !== null && answer.status < 500)
      throw new Error(`the bank rejected existing ${kind}: ${JSON.stringify(answer.body)}`);
    await sleep(500);
  }
  throw new Error(`the bank does not answer about existing ${kind}`);
}

/** An account as the bank shows it; null if it has none. */
export async function accountAtBank(service: WholeService, id: string): Promise<Json | null> {
  const response = await fetch(`${service.sandboxUrl}/bank/accounts/${id}`);
  const body: Json = await response.json();
  return response.ok ? body : null;
}

/** Reference and status of the recall of a payment that the bank shows under this path. */
export async function recallAtBank(service: WholeService, path: string): Promise<readonly (string | undefined)[]> {
  const response = await fetch(`${service.sandboxUrl}${path}`);
  const shown: Json = await response.json();
  const { recall } = shown.payment ?? shown;
  return [recall?.recallReference, recall?.status];
}
